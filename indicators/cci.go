package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Donald R. Lambert, "Commodity Channel Index", Commodities, October
// 1980.
var indCCI = Indicator{
	Name: "cci", Title: "CCI", Aliases: []string{"commodity_channel_index"}, Category: Momentum,
	Doc:     "Lambert's commodity channel index: how far the price, by default the typical one, lies from its mean, in mean deviations, scaled so that most values fall within ±100. As in TA-Lib, with TradingView's length 20; 0 when nothing moved.",
	Formula: "CCI = (p - SMA(p, n)) / (0.015 * mean |p - SMA(p, n)|), p = (high + low + close) / 3 or the source",
	Params:  slices.Concat([]Param{lengthFrom(2, 20), defaultSource("hlc3")}, zone(-100, 100, -1000, 1000), divParams()),
	Signals: append([]string{shape.Oversold, shape.Overbought, shape.ZeroUp, shape.ZeroDown}, divSignals...),
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := kernel.CCI(column(s, a), a.Int("length"))
		r := zoned("CCI", y, a, shape.Oversold, shape.Overbought)
		r.Signals = shape.InOrder(shape.LevelCrossings(r.Signals, y, 0, shape.ZeroUp, shape.ZeroDown))
		addDivergences(r, s, y, a)
		return r
	},
}
