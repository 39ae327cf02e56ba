package indicators

import (
	"math"

	"wick/market"
)

var indCorrelationTrend = Indicator{
	Name: "correlation_trend", Title: "CTI", Aliases: []string{"cti", "trend_strength_index", "correlation_trend_indicator"}, Category: Trend,
	Doc:     "Correlation trend indicator of Ehlers: how well the prices of the window lie on a straight line, 1 rising, -1 falling, 0 without trend or movement.",
	Formula: "CTI = correlation of x with time over n bars",
	Params:  []Param{lengthFrom(2, 12), quiet(factor("level", 0.5, 0, 1, "level of a trend", "threshold")), source()},
	Signals: []string{BreakUp, BreakDown, ZeroUp, ZeroDown},
	Warmup:  func(a Args) int { return a.Int("length") + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		level := a.Float("level")
		line := trendCorrelation(column(s, a), a.Int("length"))
		signals := levelCrossings(nil, line, level, BreakUp, "")
		signals = levelCrossings(signals, line, -level, "", BreakDown)
		return &Result{
			YRange:  &[2]float64{-1, 1},
			Lines:   []Line{{Label: "CTI", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: level}, {Y: 0}, {Y: -level}},
			Signals: inOrder(levelCrossings(signals, line, 0, ZeroUp, ZeroDown)),
		}
	},
}

// trendCorrelation returns the correlation of x with time: the slope of the
// regression line in deviations of x per deviation of time.
func trendCorrelation(x []float64, n int) []float64 {
	_, slope := regression(x, n)
	dev := stdev(x, n)
	perBar := math.Sqrt((float64(n)*float64(n) - 1) / 12)
	out := unknown(len(x), firstValid(dev))
	for i := firstValid(dev); i < len(x); i++ {
		if dev[i] > 0 {
			out[i] = max(-1, min(1, slope[i]*perBar/dev[i]))
		}
	}
	return out
}
