package indicators

import (
	"strconv"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Daryl Guppy, "Trend Trading", 2004, whose twelve lengths these are.
var indGMMA = Indicator{
	Name: "gmma", Title: "GMMA", Aliases: []string{"guppy", "guppy_mma", "guppy_multiple_moving_average"}, Category: Trend, Overlay: true,
	Doc:     "Guppy multiple moving averages: six fast and six slow exponential averages, traders against investors. A group that fans out is sure of itself; one that narrows is not. Each average is seeded with the mean of its first prices.",
	Formula: "EMA(x, n) for n = 3 5 8 10 12 15 and 30 35 40 45 50 60",
	Params:  []Param{source()},
	Signals: []string{shape.CrossUp, shape.CrossDown},
	Meanings: map[string]string{
		shape.CrossUp:   "the lowest fast average meets or crosses the highest slow one from below",
		shape.CrossDown: "the highest fast average meets or crosses the lowest slow one from above",
	},
	Warmup: func(Args) int { return kernel.EMAMemory * 60 },
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		r := &Result{}
		for k, n := range []int{3, 5, 8, 10, 12, 15, 30, 35, 40, 45, 50, 60} {
			// The first six are the traders' averages, the others the investors'.
			tone := Primary
			if k >= 6 {
				tone = Second
			}
			r.Lines = append(r.Lines, Line{Label: strconv.Itoa(n), Tone: tone, Values: kernel.EMA(x, n)})
		}
		// One signal when a whole group has passed the other, not one for each pair of
		// lines.
		r.Signals = groupCrossings(r.Lines[:6], r.Lines[6:])
		return r
	},
}

// groupCrossings marks the bars on which all lines of fast have come to lie above all
// lines of slow, or below them all. It is enough to compare the edges of the groups:
// the lowest fast line with the highest slow one, and the other way round.
func groupCrossings(fast, slow []Line) []Signal {
	bars := len(fast[0].Values)
	fastLow, fastHigh := edges(fast, bars)
	slowLow, slowHigh := edges(slow, bars)
	signals := shape.Crossings(nil, fastLow, slowHigh, shape.CrossUp, "")
	return shape.InOrder(shape.Crossings(signals, fastHigh, slowLow, "", shape.CrossDown))
}

// edges returns the lowest and the highest of the lines at each bar. NaN in any line
// makes both edges NaN, so nothing crosses before the slowest line begins.
func edges(lines []Line, bars int) (lo, hi []float64) {
	lo, hi = make([]float64, bars), make([]float64, bars)
	for i := range lo {
		lo[i], hi[i] = lines[0].Values[i], lines[0].Values[i]
		for _, l := range lines[1:] {
			lo[i], hi[i] = min(lo[i], l.Values[i]), max(hi[i], l.Values[i])
		}
	}
	return lo, hi
}
