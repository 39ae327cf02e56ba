package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// How two columns move together. TA-Lib takes any two series; a chart has one
// symbol, so they are two of its columns.

var indCorrel = Indicator{
	Name: "correl", Title: "Correlation", Aliases: []string{"correlation", "correlation_coefficient"}, Category: Statistics,
	Doc:     "Pearson's correlation of two columns of the bars, -1 to 1; by default of close and volume: does the volume follow the price? As in TA-Lib, which takes any two series; 0 where one does not move.",
	Formula: "r = cov(x, y) / (σx * σy) over n bars",
	Params:  []Param{lengthFrom(2, 30), source(), against("volume")},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		r := shape.ZeroPanel("Correlation", correlation(column(s, a), columnOf(s, a.Choice("against")), a.Int("length")))
		r.YRange = &[2]float64{-1, 1}
		return r
	},
}

// against returns the parameter for the second column of a comparison.
func against(def string) Param {
	return sourceOf("against", def, "column it is compared with", "other", "y", "second")
}

// correlation returns Pearson's coefficient of the last n values of x and y.
func correlation(x, y []float64, n int) []float64 {
	varX, varY, out := kernel.Covariance(x, y, n)
	for i, c := range out {
		// Rounding may carry a perfect correlation past 1.
		if scale := math.Sqrt(varX[i] * varY[i]); scale != 0 {
			out[i] = max(-1, min(1, c/scale))
		} else {
			out[i] = 0
		}
	}
	return out
}

// beta returns the slope of y's returns on x's over n returns.
func beta(x, y []float64, n int) []float64 {
	varX, _, out := kernel.Covariance(kernel.Rate(x, 1, 1, -1), kernel.Rate(y, 1, 1, -1), n)
	for i, c := range out {
		if varX[i] != 0 {
			out[i] = c / varX[i]
		} else {
			out[i] = 0
		}
	}
	return out
}
