package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The mean and the deviation include this bar, so the score is bounded by the root of
// n-1.
var indZScore = Indicator{
	Name: "zscore", Title: "Z-score", Aliases: []string{"z_score"}, Category: Statistics,
	Doc:     "Z-score: how many deviations the price is from its average. Population deviation; no value where the window did not move.",
	Formula: "(x - SMA(x, n)) / σ(x, n)",
	Params:  slices.Concat([]Param{lengthFrom(2, 30)}, zone(-2, 2, -10, 10), []Param{source()}),
	Signals: []string{shape.Oversold, shape.Overbought},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		mean, dev := kernel.SMA(x, a.Int("length")), kernel.StdDev(x, a.Int("length"))
		z := kernel.NaNs(len(x))
		for i := range z {
			// A window of equal prices has no deviation to measure by, and no value.
			if dev[i] > 0 {
				z[i] = (x[i] - mean[i]) / dev[i]
			}
		}
		return zoned("Z", z, a, shape.Oversold, shape.Overbought)
	},
}
