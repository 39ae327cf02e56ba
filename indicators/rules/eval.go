package rules

import (
	"math"
	"slices"
	"time"

	"wick/indicators/kernel"
)

// Evaluator computes expressions over the same bars. It keeps the values it has computed,
// so a part that several expressions share is computed once. Only one goroutine may use
// it; expressions may be shared.
type Evaluator struct {
	bars   Bars
	memo   map[string][]float64
	others map[Place]*other
}

// other is an evaluator for another place. at has, for each of our bars, the index of a
// bar there, as [Bars.Other] returns it.
type other struct {
	*Evaluator
	at []int
}

// NewEvaluator returns an evaluator for bars.
func NewEvaluator(b Bars) *Evaluator {
	return &Evaluator{bars: b, memo: make(map[string][]float64), others: make(map[Place]*other)}
}

// Values returns the value of e at every bar. If e is a condition, that is 1 where it is
// true and 0 where it is false. A value that is not known is NaN. The result must not be
// changed.
func (v *Evaluator) Values(e *Expr) []float64 { return v.values(e.root) }

// values returns the value of n at every bar, computed once. Nodes with the same
// canonical text share it, also those of different expressions.
func (v *Evaluator) values(n *node) []float64 {
	if out, ok := v.memo[n.text]; ok {
		return out
	}
	out := v.compute(n)
	v.memo[n.text] = out
	return out
}

// compute returns the value of n at every bar. The result must not be changed, since it may
// be a column of the bars or the value of an argument.
func (v *Evaluator) compute(n *node) []float64 {
	switch n.kind {
	case kindNumber:
		return slices.Repeat([]float64{n.value}, v.bars.Len())
	case kindColumn:
		return v.bars.Column(n.name)
	case kindClock:
		return v.clock(n)
	case kindLine:
		return v.line(n)
	case kindStudy:
		return v.bars.Line(n.study)
	case kindSignal:
		return v.bars.Signal(n.study, n.name)
	case kindPlace:
		return v.elsewhere(n)
	case kindNegative:
		x := v.values(n.args[0])
		return v.fill(func(i int) float64 { return -x[i] })
	case kindBack:
		x := v.values(n.args[0])
		return v.fill(func(i int) float64 { return ago(x, i, n.n) })
	case kindWindow:
		return v.window(n)
	case kindSeveral:
		return v.several(n)
	case kindSince:
		return v.since(v.values(n.args[0]))
	case kindCross:
		return v.cross(n)
	case kindLogic:
		return v.logic(n)
	case kindCompare:
		return compare(n.name, v.values(n.args[0]), v.values(n.args[1]))
	}
	// A result that is not finite, such as that of a division by zero, is unknown.
	a, b, f := v.values(n.args[0]), v.values(n.args[1]), operators[n.name]
	return v.fill(func(i int) float64 { return finite(f(a[i], b[i])) })
}

// fill returns a column with the value of f for every bar. It calls f for the bars in
// order, which since relies on.
func (v *Evaluator) fill(f func(i int) float64) []float64 {
	out := make([]float64, v.bars.Len())
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// ago returns the value of x n bars before bar i, or NaN if there is no such bar.
func ago(x []float64, i, n int) float64 {
	if i < n {
		return math.NaN()
	}
	return x[i-n]
}

// elsewhere computes the argument on the bars of another place and takes, for each of
// our bars, the value of the newest bar that was closed there. The other place has an
// evaluator of its own, kept for further parts of the same or another expression.
func (v *Evaluator) elsewhere(n *node) []float64 {
	o := v.others[n.place]
	if o == nil {
		bars, at := v.bars.Other(n.place)
		o = &other{NewEvaluator(bars), at}
		v.others[n.place] = o
	}
	x := o.values(n.args[0])
	return v.fill(func(i int) float64 {
		if o.at[i] < 0 {
			return math.NaN()
		}
		return x[o.at[i]]
	})
}

// operators has what the signs of arithmetic do.
var operators = map[string]func(a, b float64) float64{
	"+": plus,
	"-": func(a, b float64) float64 { return plus(a, -b) },
	"*": func(a, b float64) float64 { return a * b },
	"/": func(a, b float64) float64 { return a / b },
	"%": math.Mod,
}

// plus returns a+b, and exactly 0 if they cancel out up to [kernel.Rounding]: otherwise
// close - sma(5) > 0 would be true or false by a rounding error where the price stands still.
func plus(a, b float64) float64 {
	if sum := a + b; math.IsInf(sum, 0) {
		return sum
	}
	return kernel.Difference(a, -b)
}

// finite returns y, or NaN if y is infinite.
func finite(y float64) float64 {
	if math.IsInf(y, 0) {
		return math.NaN()
	}
	return y
}

// outcomes has the result of each comparison if the first value is less than the second,
// equal to it, or greater.
var outcomes = map[string][3]float64{
	"<": {1, 0, 0}, "<=": {1, 1, 0}, "==": {0, 1, 0}, "!=": {1, 0, 1}, ">=": {0, 1, 1}, ">": {0, 0, 1},
}

// compare compares two columns. Values that differ by no more than [kernel.Rounding] are
// equal. A comparison with an unknown value is unknown; so is != of two unknown values.
func compare(operator string, a, b []float64) []float64 {
	is := outcomes[operator]
	out := make([]float64, len(a))
	for i, x := range a {
		if y := b[i]; x != x || y != y {
			out[i] = math.NaN()
		} else {
			out[i] = is[1+kernel.Compare(x, y)]
		}
	}
	return out
}

// truth returns 1 for true and 0 for false.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// logic computes and, or and not. If one condition decides the result by itself, it does
// not matter that the other is unknown.
func (v *Evaluator) logic(n *node) []float64 {
	a := v.values(n.args[0])
	if n.name == "not" {
		return v.fill(func(i int) float64 { return 1 - a[i] })
	}
	b, decides := v.values(n.args[1]), truth(n.name == "or")
	out := make([]float64, len(a))
	for i, x := range a {
		switch y := b[i]; {
		case x == decides || y == decides:
			out[i] = decides
		case x != x || y != y:
			out[i] = math.NaN()
		default:
			out[i] = 1 - decides
		}
	}
	return out
}

// cross computes crosses_above and crosses_below, as [kernel.Crossings] has them.
func (v *Evaluator) cross(n *node) []float64 {
	a, b, way := v.values(n.args[0]), v.values(n.args[1]), crossings[n.name]
	sides := kernel.CrossingsOf(a, b)
	before := kernel.Missing
	return v.fill(func(i int) float64 {
		was, now := before, sides[i]
		before = now
		switch {
		case now != kernel.Missing && now != way || was == way: // either alone says no, whatever the other is
			return 0
		case now == way && was != kernel.Missing:
			return 1
		}
		return math.NaN() // a value that decides is not known
	})
}

// crossings has which way the first value crosses the second.
var crossings = map[string]int8{"crosses_above": 1, "crosses_below": -1}

// window computes a function of the newest n bars, including the current one. An unknown
// value makes only those windows unknown that contain it.
func (v *Evaluator) window(n *node) []float64 {
	x := v.values(n.args[0])
	switch n.name {
	case "change":
		return v.fill(func(i int) float64 { return finite(plus(x[i], -ago(x, i, n.n))) })
	case "highest":
		return kernel.Windows(x, n.n, math.Max)
	case "lowest":
		return kernel.Windows(x, n.n, math.Min)
	}
	sum, by := kernel.Windows(x, n.n, plus), 1.0
	if n.name == "avg" {
		by = float64(n.n)
	}
	return v.fill(func(i int) float64 { return finite(sum[i]) / by })
}

// several computes abs, min and max of the values of one bar.
func (v *Evaluator) several(n *node) []float64 {
	if n.name == "abs" {
		x := v.values(n.args[0])
		return v.fill(func(i int) float64 { return math.Abs(x[i]) })
	}
	f := math.Max
	if n.name == "min" {
		f = math.Min
	}
	out := v.values(n.args[0])
	for _, arg := range n.args[1:] {
		a, b := out, v.values(arg)
		out = v.fill(func(i int) float64 { return f(a[i], b[i]) })
	}
	return out
}

// clocks have what a clock shows when a bar opens, and the least and the greatest of it.
var clocks = map[string]struct {
	of     func(t time.Time) int
	lo, hi float64
}{
	"hour":    {time.Time.Hour, 0, 23},
	"minute":  {time.Time.Minute, 0, 59},
	"weekday": {func(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }, 1, 7}, // Monday is 1
	"day":     {time.Time.Day, 1, 31},
	"month":   {func(t time.Time) int { return int(t.Month()) }, 1, 12},
	"year":    {time.Time.Year, 1970, math.Inf(1)},
}

// clock computes what a clock shows when the bars open.
func (v *Evaluator) clock(n *node) []float64 {
	opened, zone := v.bars.Opened()
	if n.zone != nil {
		zone = n.zone
	}
	return v.fill(func(i int) float64 { return float64(clocks[n.name].of(time.Unix(opened[i], 0).In(zone))) })
}

// line computes the straight line through two points, from the first one on.
func (v *Evaluator) line(n *node) []float64 {
	opened, _ := v.bars.Opened()
	a, b := n.points[0], n.points[1]
	return v.fill(func(i int) float64 {
		if opened[i] < a.at {
			return math.NaN()
		}
		return a.y + float64((b.y-a.y)*float64(opened[i]-a.at)/float64(b.at-a.at))
	})
}

// since counts the bars since x was last true; it is 0 where x is true. If that is more
// than MaxBack bars ago, it is MaxBack+1, however long ago it is. It is unknown if x was
// not true on any bar that far back, but was unknown on one of them. So the value does not
// depend on how much history was loaded.
func (v *Evaluator) since(x []float64) []float64 {
	// Before the first bar everything is unknown.
	last, unknown := -MaxBack-1, -1
	return v.fill(func(i int) float64 {
		if x[i] == 1 {
			last = i
		}
		if x[i] != x[i] {
			unknown = i
		}
		switch {
		case last >= 0 && i-last <= MaxBack:
			return float64(i - last)
		case i-unknown > MaxBack:
			return MaxBack + 1
		}
		return math.NaN()
	})
}
