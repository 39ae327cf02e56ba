package indicators

import (
	"slices"
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
	Compute: stacked(func(Args) string { return "ema" }),
}

// stacked returns the Compute of an entry with four averages of a kind, of length1
// to length4, and signals where they come into order: by their lengths, in whatever
// order those were given.
//
// Each average gets the bars that warm it up and no more. The slowest takes ten
// times as many as are shown, of which the others would compute most for nothing.
func stacked(kind func(Args) string) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		x, kind := column(s, a), kind(a)
		r := &Result{Begin: max(0, a.firstRead(s.Len())-1)} // a signal needs the bar before
		var lengths []int
		for _, name := range []string{"length1", "length2", "length3", "length4"} {
			n := a.Int(name)
			lengths = append(lengths, n)
			from := max(0, r.Begin-kernel.AverageWarmup(kind, n))
			r.Lines = append(r.Lines, Line{Label: strconv.Itoa(n), Values: kernel.Average(kind, x[from:], n)[r.Begin-from:]})
		}
		var fastFirst []Line
		for _, n := range slices.Sorted(slices.Values(lengths)) {
			fastFirst = append(fastFirst, r.Lines[slices.Index(lengths, n)])
		}
		r.Signals = shape.Stacks(fastFirst)
		return r
	}
}
