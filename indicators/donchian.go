package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Richard Donchian, who traded breakouts of four weeks.
var indDonchian = Indicator{
	Name: "donchian", Title: "Donchian", Aliases: []string{"dc", "price_channel", "donchian_channel", "donchian_channels"}, Category: Volatility, Overlay: true,
	Doc:     "Donchian channel: the highest high and the lowest low of the last bars, this bar included, and their middle. The turtles bought new highs of 20 days. As at TradingView.",
	Formula: "upper = max(high, n); lower = min(low, n); middle = (upper + lower) / 2",
	Params:  []Param{length(20)},
	Signals: []string{shape.NewHigh, shape.NewLow},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		upper, lower := kernel.Highest(s.High, n), kernel.Lowest(s.Low, n)
		r := shape.Bands(kernel.Midway(upper, lower), upper, lower)
		// This bar is part of its channel, so no close can leave it: a signal is an
		// edge that moves outwards.
		r.Signals = shape.NewExtremes(upper, lower)
		return r
	},
}
