package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Unlike drawdown it forgets: a fall from a high before the window does not count,
// and the same bar has the same value on every chart.
var indMaxDrawdown = Indicator{
	Name: "max_drawdown", Title: "Max DD", Aliases: []string{"mdd", "maximum_drawdown"}, Category: Statistics,
	Doc:     "Maximum drawdown of the last bars: the deepest fall from a high to a later low among them, in percent, 0 or below.",
	Formula: "min over i <= j in the last n bars of 100 * (x[j] / x[i] - 1)",
	Params:  []Param{length(252), source()},
	Signals: []string{shape.NewLow},
	Meanings: map[string]string{
		shape.NewLow: "the deepest fall of the window becomes deeper",
	},
	Warmup: changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		line := deepestFall(column(s, a), a.Int("length"))
		return &Result{Lines: []Line{{Label: "Max DD", Tone: Primary, Values: line}}, HLines: []HLine{{Y: 0}}, Signals: shape.NewExtremes(nil, line)}
	},
}

// deepestFall returns the deepest fall within the last n values in percent. A
// window is walked once, from its highest value so far.
func deepestFall(x []float64, n int) []float64 {
	first := kernel.FirstValid(x)
	out := kernel.Unknown(len(x), first+n-1)
	for i := first + n - 1; i < len(x); i++ {
		// Rescanned for each bar: a top that leaves the window changes every fall that
		// was measured from it.
		top, worst := x[i-n+1], 0.0
		for _, v := range x[i-n+1 : i+1] {
			// fall < worst*top is fall/top < worst without a division.
			if v > top {
				top = v
			} else if fall := v - top; fall < worst*top && top > 0 {
				worst = fall / top
			}
		}
		out[i] = 100 * worst
	}
	return out
}
