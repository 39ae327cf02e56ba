package indicators

import (
	"math"
	"sort"

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
// each in percent from the highest so far in that window.
//
// Bars are cut into blocks of n, so a window is the end of one block and the
// start of the next. For every start in a block, drawdownsToEnd knows the
// squares to the end of the block and the highest value there. In the next
// block that value stays the highest up to the first one above it, and from
// there on the block's own highest counts, whose squares are a running sum. So
// each bar costs one search in the running highest, whatever n.
func windowUlcer(x []float64, n int) []float64 {
	first := firstValid(x)
	out := unknown(len(x), first+n-1)
	squares, top := make([]float64, n+1), make([]float64, n+1) // of the block before, by start; the last is empty
	highs, own, heads := make([]float64, n), make([]float64, n+1), make([]depths, n+1)
	for start := first; start < len(x); start += n {
		block := x[start:min(start+n, len(x))]
		for k, v := range block {
			highs[k] = v
			head := heads[k] // falls from highs[k-1]
			if k > 0 {
				highs[k] = max(v, highs[k-1])
				head = head.from(highs[k] - highs[k-1])
			}
			own[k+1] = own[k] + depths{1, highs[k] - v, 0}.squared(highs[k])
			heads[k+1] = head.join(depths{1, highs[k] - v, 0})
			if start > first || k == n-1 {
				// The first q values of this block lie below the top before it.
				q := sort.Search(k+1, func(j int) bool { return highs[j] > top[k+1] })
				sum := squares[k+1] + own[k+1] - own[q]
				if q > 0 {
					sum += heads[q].from(top[k+1] - highs[q-1]).squared(top[k+1])
				}
				out[start+k] = 1e4 * sum / float64(n)
			}
		}
		if len(block) == n {
			drawdownsToEnd(block, squares, top)
		}
	}
	return out
}

// drawdownsToEnd sets, for each start in the block, squares to the sum of
// squared drawdowns from there to the block's end and top to the highest value
// there. Backwards, a value stays the highest over the stretches of those that
// follow it up to the first one above; stretches join, each once.
func drawdownsToEnd(block, squares, top []float64) {
	n := len(block)
	next, stretch := make([]int, n), make([]depths, n)
	for k := n - 1; k >= 0; k-- {
		stretch[k] = depths{1, 0, 0}
		j := k + 1
		for j < n && block[j] <= block[k] {
			stretch[k] = stretch[k].join(stretch[j].from(block[k] - block[j]))
			j = next[j]
		}
		next[k] = j
		squares[k], top[k] = stretch[k].squared(block[k]), block[k]
		if j < n {
			squares[k] += squares[j]
			top[k] = top[j]
		}
	}
}

// depths is a set of falls below a top: how many, their mean, and the sum of
// squared distances from it. Plain sums of squares would keep the rounding of
// a spike long after it left.
type depths struct{ count, mean, squares float64 }

// join returns the falls of both sets, which have one top.
func (a depths) join(b depths) depths {
	count, d := a.count+b.count, b.mean-a.mean
	return depths{count, a.mean + d*b.count/count, a.squares + b.squares + float64(d*d*a.count*b.count/count)}
}

// from returns the falls from a top that is higher by rise.
func (a depths) from(rise float64) depths { return depths{a.count, a.mean + rise, a.squares} }

// squared returns the sum of the squared falls as fractions of the top; 0 from
// a top that is no price.
func (a depths) squared(top float64) float64 {
	if !(top > 0) {
		return 0
	}
	return (a.squares + float64(a.count*a.mean*a.mean)) / (top * top)
}
