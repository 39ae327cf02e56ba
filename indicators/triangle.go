package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule: the last four swings are two highs and two lows in turn. If the upper
// line through the highs does not rise, the lower one through the lows does not
// fall, and one of the two moves by more than tolerance mean true ranges, the
// lines meet and make a triangle: ascending if the highs are level, descending if
// the lows are, else symmetrical. A close outside the lines is a breakout; the
// point where they meet, or lookback bars, end it.
var indTriangle = Indicator{
	Name: "triangle", Title: "Triangle", Aliases: []string{"triangles", "ascending_triangle", "descending_triangle"}, Category: Pattern, Overlay: true,
	Doc:     "Triangles: two swing highs and two swing lows in turn between lines that meet, with level or falling highs and level or rising lows. The lines are those of the newest triangle, from the bar that confirms its last swing on; breakouts are closes outside it. Nothing repaints.",
	Formula: "high2 - high1 <= tolerance * R, low2 - low1 >= -tolerance * R, and the lines converge by more than tolerance * R; R: mean true range of 14 bars",
	Params:  append(swingParams(5, 150), tolerance(0.5)),
	Signals: []string{shape.BreakUp, shape.BreakDown},
	Meanings: map[string]string{
		shape.BreakUp:   "the close rises above the triangle",
		shape.BreakDown: "the close falls below the triangle",
	},
	Warmup: structureWarmup(2),
	Compute: func(s *market.Series, a Args) *Result {
		upper, lower, signals := triangles(s, a)
		return &Result{
			Lines:   []Line{{Label: "Upper", Tone: Down, Values: upper}, {Label: "Lower", Tone: Up, Values: lower}},
			Fills:   []Fill{{Y1: upper, Y2: lower, Tone: Band}},
			Signals: signals,
		}
	},
}

// wedge is a pair of lines through two swings each.
type wedge struct{ high, low [2]swing }

// triangleOf returns the triangle of the last four turns, if they make one. A
// triangle may have one level side: then the other must converge by more than the
// tolerance alone.
func triangleOf(turns []turn, a Args, reach float64) (w wedge, ok bool) {
	if len(turns) < 4 {
		return w, false
	}
	last := turns[len(turns)-4:]
	// Highs and lows must take turns, so there are two of each.
	var highs, lows []swing
	for i, t := range last {
		if i > 0 && t.high == last[i-1].high {
			return w, false
		}
		if t.high {
			highs = append(highs, t.swing)
		} else {
			lows = append(lows, t.swing)
		}
	}
	w = wedge{[2]swing(highs), [2]swing(lows)}
	slack := a.Float("tolerance") * reach
	// Each line may give way by the tolerance; together they must come closer by more.
	falls, rises := w.high[0].price-w.high[1].price, w.low[1].price-w.low[0].price
	ok = last[3].bar-last[0].bar <= a.Int("lookback") && kernel.Compare(falls, -slack) >= 0 && kernel.Compare(rises, -slack) >= 0 &&
		kernel.Compare(falls+rises, slack) > 0
	return w, ok
}

// triangles returns the lines of the newest triangle at each bar, and a signal
// where a close leaves it.
func triangles(s *market.Series, a Args) (upper, lower []float64, signals []Signal) {
	upper, lower = kernel.NaNs(s.Len()), kernel.NaNs(s.Len())
	turns, usual, next := allTurns(s, a.Int("left"), a.Int("right")), trueRangeMean(s), 0
	var w wedge
	live := false
	for i := range s.Len() {
		before, was := w, live
		for ; next < len(turns) && turns[next].known <= i; next++ {
			// A newer triangle takes the place of the one there is.
			if found, ok := triangleOf(turns[:next+1], a, usual[i]); ok {
				w, live = found, true
			}
		}
		if live = live && i-max(w.high[1].bar, w.low[1].bar) <= a.Int("lookback"); !live {
			continue
		}
		// Both lines at this bar, drawn on from their swings.
		hi, lo := lineThrough(w.high[0], w.high[1], i), lineThrough(w.low[0], w.low[1], i)
		if kernel.Compare(hi, lo) <= 0 {
			live = false // the lines have met
			continue
		}
		upper[i], lower[i] = hi, lo
		switch {
		// The bar that leaves the triangle is its last.
		case kernel.Compare(s.Close[i], hi) > 0:
			signals, live = append(signals, shape.Mark(i, hi, shape.BreakUp, Up)), false
		case kernel.Compare(s.Close[i], lo) < 0:
			signals, live = append(signals, shape.Mark(i, lo, shape.BreakDown, Down)), false
		}
		if was && before != w {
			apart(i, upper, lower)
		}
	}
	return upper, lower, signals
}
