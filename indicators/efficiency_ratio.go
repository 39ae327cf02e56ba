package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Perry J. Kaufman, "Smarter Trading", 1995, where it steers the
// adaptive average.
var indEfficiencyRatio = Indicator{
	Name: "efficiency_ratio", Title: "ER", Aliases: []string{"er", "kaufman_efficiency"}, Category: Statistics,
	Doc:     "Kaufman's efficiency ratio: how far price got, as a share of the way it went, over n changes. 1 is a straight line, 0 no progress; a price that did not move has no ratio.",
	Formula: "ER = |x - x[n]| / Σ |x - x[1]| over n bars",
	Params:  []Param{length(10), source()},
	Signals: []string{shape.ModeTrend, shape.ModeCycle},
	Warmup:  crossingWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		// The way is the sum of all changes, up and down; the ratio is how much of it
		// led somewhere.
		way := kernel.RollingSum(kernel.Absolute(kernel.Change(x, 1)), n)
		ratio := kernel.NaNs(len(x))
		for i := n; i < len(x); i++ {
			if way[i] > 0 {
				ratio[i] = min(1, math.Abs(x[i]-x[i-n])/way[i]) // rounding could exceed 1
			}
		}
		// Between 0.3 and 0.6 the market keeps the mode it was in.
		return &Result{
			YRange:  &[2]float64{0, 1},
			Lines:   []Line{{Label: "ER", Tone: Primary, Values: ratio}},
			HLines:  []HLine{{Y: 0.6}, {Y: 0.3}},
			Signals: shape.InOrder(shape.LevelCrossings(shape.LevelCrossings(nil, ratio, 0.6, shape.ModeTrend, ""), ratio, 0.3, "", shape.ModeCycle)),
		}
	},
}
