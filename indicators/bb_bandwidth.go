package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Four deviations over the mean at the usual factor: a measure of volatility in parts
// of the price.
var indBBBandwidth = Indicator{
	Name: "bb_bandwidth", Title: "BBW", Also: []string{"bollinger_bands_width", "bollinger_bandwidth", "bbwidth", "bb_width"}, Aliases: []string{"bbw", "bandwidth", "bollinger_bandwidth"}, Category: Volatility,
	Doc:     "Bollinger bandwidth: the width of the bands as a fraction of the middle (TradingView shows it in percent). squeeze_on fires where it becomes the narrowest of the lookback, which Bollinger puts at half a year.",
	Formula: "BBW = (upper - lower) / middle",
	Params:  append(bollingerParams(), bars("lookback", 125, "bars in which a squeeze is the narrowest", "squeeze")),
	Signals: []string{shape.SqueezeOn},
	Warmup:  func(a Args) int { return a.Int("length") + a.Int("lookback") + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		// The width from the deviation itself: upper less lower would cancel digits.
		line := kernel.Quotient(kernel.Scaled(kernel.StdDev(x, n), 2*a.Float("mult")), kernel.SMA(x, n))
		return &Result{
			Lines:   []Line{{Label: "BBW", Tone: Primary, Values: line}},
			Signals: narrowest(line, a.Int("lookback")),
		}
	},
}
