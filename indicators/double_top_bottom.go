package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule, for tops; bottoms mirrored. Two swing highs in succession are a double
// top in the making if they differ by at most tolerance mean true ranges and the
// lowest low between them, the neckline, lies at least depth of them below the
// lower one. A close below the neckline completes it; a close above the higher
// top, or lookback bars, end it.
var indDoubleTopBottom = Indicator{
	Name: "double_top_bottom", Title: "Double top/bottom", Aliases: []string{"double_top", "double_bottom"}, Category: Pattern, Overlay: true,
	Doc:     "Double tops and bottoms: two swings at nearly the same price with a valley between them. The lines are the tops and the neckline of the newest one in the making; the signal fires when a close goes through the neckline. Nothing repaints.",
	Formula: "|top2 - top1| <= tolerance * R and min(top1, top2) - lowest low between >= depth * R; R: mean true range of 14 bars; complete: close < neckline",
	Params:  append(swingParams(5, 100), tolerance(1), depth(2)),
	Signals: []string{shape.DoubleTop, shape.DoubleBottom},
	Warmup:  structureWarmup(2),
	Compute: func(s *market.Series, a Args) *Result {
		return bothSides(s, func(s *market.Series, side int) *Result {
			names := [2][2]string{{"Tops", "Neckline of tops"}, {"Bottoms", "Neckline of bottoms"}}[side]
			return formations(s, a, doubleTop, names, [2]string{shape.DoubleTop, shape.DoubleBottom}[side], [2]Tone{Down, Up}[side])
		})
	},
}

// depth returns the parameter that says how far a pattern must stand out.
func depth(def float64) Param {
	return quiet(factor("depth", def, 0, 50, "least height of the pattern, in mean true ranges", "height"))
}

// formation is a pattern of highs in the making: the price that ends it, and the
// straight neckline through two points, a close below which completes it. Double tops
// and head and shoulders differ in how a formation is found; what becomes of it is
// the same.
type formation struct {
	since    int     // bar of its last swing
	limit    float64 // a close above it ends the pattern
	from, to swing   // points of the neckline
}

// neckline returns the neckline at bar i.
func (f formation) neckline(i int) float64 { return lineThrough(f.from, f.to, i) }

// doubleTop returns the double top that the last of highs completes, of which all
// are known. Reach is the mean true range.
func doubleTop(s *market.Series, highs []swing, a Args, reach float64) (f formation, ok bool) {
	if len(highs) < 2 {
		return f, false
	}
	first, second := highs[len(highs)-2], highs[len(highs)-1]
	neck := lowestBetween(s, first.bar, second.bar)
	height := min(first.price, second.price) - neck.price
	ok = second.bar-first.bar <= a.Int("lookback") && nearEqual(first.price, second.price, a.Float("tolerance")*reach) &&
		kernel.Compare(height, a.Float("depth")*reach) >= 0
	level := swing{bar: neck.bar + 1, price: neck.price} // a second point makes the neckline level
	return formation{since: second.bar, limit: max(first.price, second.price), from: neck, to: level}, ok
}

// lowestBetween returns the lowest low between two bars, the earliest of equals. The
// two bars themselves are left out; swings are at least two bars apart, so there is
// one between.
func lowestBetween(s *market.Series, from, to int) swing {
	at := from + 1
	for i := from + 2; i < to; i++ {
		if s.Low[i] < s.Low[at] {
			at = i
		}
	}
	return swing{bar: at, price: s.Low[at]}
}

// formations draws the newest pattern in the making, the price that ends it and its
// neckline, from the bar that confirms its last swing on. It marks the close that
// completes it. The find function is given the swings known so far, the newest last,
// and the mean true range at this bar.
func formations(s *market.Series, a Args, find func(*market.Series, []swing, Args, float64) (formation, bool), names [2]string, label string, tone Tone) *Result {
	limit, neckline, usual := kernel.NaNs(s.Len()), kernel.NaNs(s.Len()), trueRangeMean(s)
	highs, next := swingHighs(s, a.Int("left"), a.Int("right")), 0
	r := &Result{}
	var f formation
	live := false
	for i := range s.Len() {
		// Swings that become known on this bar may begin a new formation, which takes
		// the place of the old one.
		before, was := f, live
		for ; next < len(highs) && highs[next].known <= i; next++ {
			if g, ok := find(s, highs[:next+1], a, usual[i]); ok {
				f, live = g, true
			}
		}
		if live = live && i-f.since <= a.Int("lookback"); !live {
			continue
		}
		limit[i], neckline[i] = f.limit, f.neckline(i)
		// The neckline is judged first: a close below it completes the pattern.
		switch {
		case kernel.Compare(s.Close[i], neckline[i]) < 0:
			r.Signals = append(r.Signals, shape.Mark(i, neckline[i], label, tone))
			live = false
		case kernel.Compare(s.Close[i], f.limit) > 0:
			live = false
		}
		// A line that jumped to another formation is broken, so that nothing joins the
		// two.
		if was && before != f {
			apart(i, limit, neckline)
		}
	}
	r.Lines = []Line{{Label: names[0], Tone: tone, Style: Step, Values: limit}, {Label: names[1], Tone: Accent, Values: neckline}}
	return r
}
