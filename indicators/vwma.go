package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Its signals compare it with the plain average of the same length: above it, volume
// came with higher prices.
var indVWMA = Indicator{
	Name: "vwma", Title: "VWMA", Aliases: []string{"volume_weighted_ma", "volume_weighted_moving_average"}, Category: Trend, Overlay: true,
	Doc:      "Volume weighted moving average: bars with more volume count for more. Above the simple average when volume came with higher prices. No value where the window traded nothing.",
	Formula:  "VWMA = Σ x * volume / Σ volume over n bars",
	Params:   []Param{length(20), source()},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the line", "the simple average of as many bars"),
	Warmup:   windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		line := volumeWeighted(s, x, n)
		return &Result{
			Lines:   []Line{{Label: "VWMA", Values: line}},
			Signals: shape.Crossings(nil, line, kernel.SMA(x, n), shape.CrossUp, shape.CrossDown),
		}
	},
}

// volumeWeighted returns the mean of the last n values of x, each weighted by the
// volume of its bar, and NaN where nothing was traded.
func volumeWeighted(s *market.Series, x []float64, n int) []float64 {
	return kernel.Quotient(kernel.RollingSum(kernel.Times(x, s.Volume), n), kernel.RollingSum(s.Volume, n))
}
