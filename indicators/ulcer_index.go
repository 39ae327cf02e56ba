package indicators

import (
	"math"

	"wick/market"
)

var indUlcerIndex = Indicator{
	Name: "ulcer_index", Title: "Ulcer", Aliases: []string{"ui", "ulcer"}, Category: Volatility,
	Doc: "Ulcer index of Martin: the usual depth of drawdowns in percent, which unlike a deviation minds only falls. As at TradingView each drawdown is measured from the highest price of the n bars before it; " +
		"the variant window looks at nothing before the window itself.",
	Formula: "UI = √(Σ d² / n), d = 100 * (x / highest - 1)",
	Params: []Param{
		length(14), choice("variant", "where a drawdown is measured from", "nested", "window"), source(),
	},
	Warmup: func(a Args) int { return 2 * a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		var line []float64
		if a.Choice("variant") == "window" {
			line = windowUlcer(x, n)
		} else {
			top := highest(x, n)
			falls := ratioLine(minus(x, top), top, 100)
			line = sma(times(falls, falls), n)
		}
		for i, v := range line {
			line[i] = math.Sqrt(max(0, v))
		}
		return &Result{Lines: []Line{{Label: "Ulcer", Tone: Primary, Values: line}}}
	},
}

// windowUlcer returns the mean square of drawdowns within the last n values,
// each from the highest so far in that window.
func windowUlcer(x []float64, n int) []float64 {
	out := nans(len(x))
	for i := firstValid(x) + n - 1; i < len(x); i++ {
		top, sum := x[i-n+1], 0.0
		for _, v := range x[i-n+1 : i+1] {
			top = max(top, v)
			if top > 0 {
				d := 100 * (v - top) / top
				sum += float64(d * d)
			}
		}
		out[i] = sum / float64(n)
	}
	return out
}
