package indicators

import (
	"slices"

	"wick/market"
)

var indCCI = Indicator{
	Name: "cci", Title: "CCI", Aliases: []string{"commodity_channel_index"}, Category: Momentum,
	Doc:     "Lambert's commodity channel index: how far the typical price lies from its mean, in mean deviations, scaled so that most values fall within ±100. As in TA-Lib, with TradingView's length 20; 0 when nothing moved.",
	Formula: "CCI = (p - SMA(p, n)) / (0.015 * mean |p - SMA(p, n)|), p = (high + low + close) / 3",
	Params:  slices.Concat([]Param{length(20)}, zone(-100, 100, -1000, 1000), divParams()),
	Signals: append([]string{Oversold, Overbought, ZeroUp, ZeroDown}, divSignals...),
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := cci(typicalPrice(s), a.Int("length"))
		r := zoned("CCI", y, a, Oversold, Overbought)
		r.Signals = inOrder(levelCrossings(r.Signals, y, 0, ZeroUp, ZeroDown))
		addDivergences(r, s, y, a)
		return r
	},
}

// cci returns the distance of x from its mean over n values in units of 0.015
// of their mean deviation.
func cci(x []float64, n int) []float64 {
	y, deviation := centred(x, n)
	for i, d := range deviation {
		if d != 0 {
			y[i] /= 0.015 * d
		}
	}
	return y
}
