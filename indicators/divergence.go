package indicators

import (
	"math"
	"slices"

	"wick/market"
)

// Divergences: price and an oscillator that disagree about two turning points.
//
// A turning point is a pivot of the oscillator: a value strictly above (below)
// the left values before it and the right values after it. Each pivot is
// compared with the one of its kind before it, if that is not too far away, and
// the price at the same two bars, highs at tops and lows at bottoms, decides:
//
//	kind             price         oscillator
//	bullish          lower low     higher low     regular: the trend tires
//	bearish          higher high   lower high
//	hidden bullish   higher low    lower low      hidden: the trend goes on
//	hidden bearish   lower high    higher high
//
// A pivot is known only when the right bars after it are there, so a signal
// stands on that later bar; a line joins the two pivots themselves.
//
// An indicator that offers divergences appends divParams to its parameters and
// divSignals to its signals, and calls addDivergences on its result. Whoever
// needs other labels or limits takes divergences and draws their signal and line.

// divKind is one of the four kinds.
type divKind uint8

const (
	bullish divKind = iota
	bearish
	hiddenBullish
	hiddenBearish
)

// divergence is one disagreement: the bars of its two pivots, and the bar on
// which the second one became known.
type divergence struct {
	kind            divKind
	from, to, known int
}

// hidden reports whether d speaks for the trend and not against it.
func (d divergence) hidden() bool { return d.kind == hiddenBullish || d.kind == hiddenBearish }

// tone returns Up or Down.
func (d divergence) tone() Tone {
	if d.kind == bullish || d.kind == hiddenBullish {
		return Up
	}
	return Down
}

// divLabels are the labels of the four kinds, in their order.
type divLabels [4]string

var plainDivs = divLabels{BullDiv, BearDiv, HiddenBullDiv, HiddenBearDiv}

// divSignals are the labels addDivergences may emit.
var divSignals = plainDivs[:]

// divParams returns the parameters that addDivergences reads.
func divParams() []Param {
	show := choice("divergence", "divergences to mark", "regular", "hidden", "all", "off")
	show.Aliases = []string{"divergences"}
	params := []Param{
		show,
		bars("pivot_left", 5, "bars before a turning point that it must exceed", "lookback_left"),
		bars("pivot_right", 5, "bars after a turning point that it must exceed; a divergence is known so much later", "lookback_right"),
		bars("div_range", 60, "bars at most between the two turning points", "max_range"),
	}
	for i := range params {
		params[i].Quiet = true
	}
	return params
}

// addDivergences adds to r the divergences between the prices of s and osc
// that a asks for: signals on the bars where they became known, lines between
// the pivots. The signals of r are in order afterwards.
func addDivergences(r *Result, s *market.Series, osc []float64, a Args) {
	show := a.Choice("divergence")
	if show == "off" {
		return
	}
	for _, d := range divergences(s, osc, a.Int("pivot_left"), a.Int("pivot_right"), a.Int("div_range")) {
		if show == "all" || d.hidden() == (show == "hidden") {
			r.Signals = append(r.Signals, d.signal(osc, plainDivs))
			r.DivLines = append(r.DivLines, d.line(osc))
		}
	}
	inOrder(r.Signals)
}

// signal returns the mark on osc where d became known.
func (d divergence) signal(osc []float64, labels divLabels) Signal {
	return Signal{d.known, osc[d.known], labels[d.kind], d.tone()}
}

// line returns the line between the pivots of d on osc.
func (d divergence) line(osc []float64) DivLine {
	return DivLine{X1: d.from, Y1: osc[d.from], X2: d.to, Y2: osc[d.to], Dashed: d.hidden(), Tone: d.tone()}
}

// divergences returns all divergences between the prices of s and osc, in the
// order in which they became known. Pivots have the given widths; those more
// than within bars apart are not compared.
func divergences(s *market.Series, osc []float64, left, right, within int) []divergence {
	var found []divergence
	compare := func(pivots []int, price []float64, sign float64, regular, hidden divKind) {
		for k := 1; k < len(pivots); k++ {
			from, to := pivots[k-1], pivots[k]
			if to-from > within {
				continue
			}
			// Positive means further out than before: higher at a top, lower
			// at a bottom.
			priceMove, oscMove := sign*(price[to]-price[from]), sign*(osc[to]-osc[from])
			switch {
			case priceMove > 0 && oscMove < 0:
				found = append(found, divergence{regular, from, to, to + right})
			case priceMove < 0 && oscMove > 0:
				found = append(found, divergence{hidden, from, to, to + right})
			}
		}
	}
	compare(peaks(osc, left, right), s.High, 1, bearish, hiddenBearish)
	compare(troughs(osc, left, right), s.Low, -1, bullish, hiddenBullish)
	slices.SortStableFunc(found, func(a, b divergence) int { return a.known - b.known })
	return found
}

// peaks returns the bars whose value is above the left values before and the
// right values after it, all of which must exist. A plateau has no peak.
//
// One pass, whatever the widths: falling holds the bars that no later value has
// reached, highest first, so the last of them that survives a new bar tells how
// far that bar sees to the left, and a bar that is still there right bars later
// is a peak.
func peaks(x []float64, left, right int) []int {
	var found, falling []int
	standing := make([]bool, len(x)) // sees far enough left, and not reached since
	edge := -1                       // bar before the first value
	for i, v := range x {
		if math.IsNaN(v) {
			clear(standing[max(0, i-right):i])
			falling, edge = falling[:0], i
			continue
		}
		blocked := edge // the last bar that is at least as high
		for len(falling) > 0 && blocked == edge {
			top := falling[len(falling)-1]
			if x[top] >= v {
				blocked = top
			}
			if x[top] > v {
				break
			}
			standing[top] = false
			falling = falling[:len(falling)-1]
		}
		falling = append(falling, i)
		standing[i] = i-blocked > left
		if c := i - right; c >= 0 && standing[c] {
			found = append(found, c)
		}
	}
	return found
}

// troughs returns the bars that are peaks upside down.
func troughs(x []float64, left, right int) []int {
	upsideDown := make([]float64, len(x))
	for i, v := range x {
		upsideDown[i] = -v
	}
	return peaks(upsideDown, left, right)
}
