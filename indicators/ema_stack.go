package indicators

import (
	"strconv"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indEMAStack = Indicator{
	Name: "ema_stack", Title: "EMA", Category: Trend, Overlay: true,
	Doc:     "Four exponential averages of the close, fast to slow. In a trend they lie in order: rising when the fastest is on top. As in TA-Lib, each seeded with the mean of its first closes.",
	Formula: "EMA = EMA[1] + 2/(n+1) * (close - EMA[1])",
	Params: []Param{
		bars("length1", 8, "fastest average", "fast"), bars("length2", 21, "second average"),
		bars("length3", 50, "third average"), bars("length4", 200, "slowest average", "slow"), source(),
	},
	Signals: []string{shape.StackUp, shape.StackDown},
	Warmup:  func(a Args) int { return kernel.EMAMemory * longest(a, "length1", "length2", "length3", "length4") },
	Compute: func(s *market.Series, a Args) *Result {
		r := &Result{}
		// Stacks takes the lines in the order of the parameters, not of their lengths.
		for _, name := range []string{"length1", "length2", "length3", "length4"} {
			n := a.Int(name)
			r.Lines = append(r.Lines, Line{Label: strconv.Itoa(n), Values: kernel.EMA(column(s, a), n)})
		}
		r.Signals = shape.Stacks(r.Lines)
		return r
	},
}
