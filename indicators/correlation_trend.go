package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to John F. Ehlers, "Correlation as a Trend Indicator", Technical Analysis
// of Stocks & Commodities, May 2020.
var indCorrelationTrend = Indicator{
	Name: "correlation_trend", Title: "CTI", Aliases: []string{"cti", "trend_strength_index", "correlation_trend_indicator"}, Category: Trend,
	Doc:      "Correlation trend indicator of Ehlers: how well the prices of the window lie on a straight line, 1 rising, -1 falling, 0 without trend or movement.",
	Formula:  "CTI = correlation of x with time over n bars",
	Params:   []Param{lengthFrom(2, 12), quiet(factor("level", 0.5, 0, 1, "level of a trend", "threshold")), source()},
	Signals:  []string{shape.BreakUp, shape.BreakDown, shape.ZeroUp, shape.ZeroDown},
	Meanings: shape.BreakMeanings("the line", "the upper level", "the lower level"),
	Warmup:   changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		level := a.Float("level")
		line := trendCorrelation(column(s, a), a.Int("length"))
		// A trend begins where the line passes a level outwards; coming back gives no
		// signal but that of zero.
		signals := shape.LevelCrossings(nil, line, level, shape.BreakUp, "")
		signals = shape.LevelCrossings(signals, line, -level, "", shape.BreakDown)
		return &Result{
			YRange:  &[2]float64{-1, 1},
			Lines:   []Line{{Label: "CTI", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: level}, {Y: 0}, {Y: -level}},
			Signals: shape.InOrder(shape.LevelCrossings(signals, line, 0, shape.ZeroUp, shape.ZeroDown)),
		}
	},
}

// trendCorrelation returns the correlation of x with time: the slope of the
// regression line in deviations of x per deviation of time.
func trendCorrelation(x []float64, n int) []float64 {
	// A correlation is a slope measured in deviations on both axes, so the sliding
	// kernels for slope and deviation are enough.
	_, slope := kernel.Regression(x, n)
	dev := kernel.StdDev(x, n)
	// The deviation of the numbers 1 to n is the root of (n² - 1)/12.
	perBar := math.Sqrt((float64(n)*float64(n) - 1) / 12)
	out := kernel.Unknown(len(x), kernel.FirstValid(dev))
	for i := kernel.FirstValid(dev); i < len(x); i++ {
		if dev[i] > 0 {
			out[i] = max(-1, min(1, slope[i]*perBar/dev[i]))
		}
	}
	return out
}
