package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Bands around the line as it ends at each bar. The usual drawing, one channel
// through the newest bars, would change its past with every bar.
var indLinregChannel = Indicator{
	Name: "linreg_channel", Title: "LinReg", Aliases: []string{"stdev_channels", "linear_regression_channel", "regression_channel"}, Category: Trend, Overlay: true,
	Doc:     "Linear regression channel: the end of the straight line that fits the last prices best, and bands a multiple of their deviation from it away. Every bar shows the line as it was then; a channel drawn through past bars would show them what came later.",
	Formula: "middle = end of the regression over n bars; upper, lower = middle ± mult * √(mean squared distance from the line)",
	Params: []Param{
		lengthFrom(2, 100), factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "std_dev", "stddev", "deviation", "multiplier"), source(),
	},
	Signals: []string{shape.BreakUp, shape.BreakDown},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		mid, dev := regressionSpread(column(s, a), a.Int("length"))
		return shape.Channel(s.Close, mid, kernel.Offset(mid, dev, a.Float("mult")), kernel.Offset(mid, dev, -a.Float("mult")))
	},
}

// regressionSpread returns the end of the regression line and the deviation
// of the values from the line: of their variance what the slope leaves over.
func regressionSpread(x []float64, n int) (end, dev []float64) {
	end, slope := kernel.Regression(x, n)
	dev = kernel.Variance(x, n)
	// A line of slope b has the variance b² times that of time; the rest is the spread
	// around it, which rounding may leave just below zero.
	time := (float64(n)*float64(n) - 1) / 12 // variance of n bars
	for i, v := range dev {
		dev[i] = math.Sqrt(max(0, v-float64(slope[i]*slope[i]*time)))
	}
	return end, dev
}
