package indicators

import (
	"slices"

	"wick/indicators/kernel"
)

// DivKind is one of the four kinds of divergence.
type DivKind uint8

// The kinds. A regular divergence suggests that a trend is ending, a hidden one that it
// continues.
const (
	Bullish       DivKind = iota // lower low of the price, higher low of the oscillator
	Bearish                      // higher high of the price, lower high of the oscillator
	HiddenBullish                // higher low of the price, lower low of the oscillator
	HiddenBearish                // lower high of the price, higher high of the oscillator
)

// Divergence says that price and oscillator moved in opposite directions between two
// turning points of the oscillator.
type Divergence struct {
	Kind     DivKind
	From, To int // bars of the two turning points
	Known    int // bar on which the second turning point became known
}

// Divergences returns all divergences between the prices and osc, in the order
// in which they became known.
//
// A turning point is a peak or trough of osc in the sense of pivots, with the widths left
// and right. Each peak is compared with the peak before it, and each trough with the trough
// before it, if that is at most within bars away. The price is compared at the same two
// bars: its highs at peaks, its lows at troughs. A turning point becomes known when right
// bars have followed it.
func Divergences(high, low, osc []float64, left, right, within int) []Divergence {
	var found []Divergence
	compare := func(pivots []int, price []float64, sign int, regular, hidden DivKind) {
		for k := 1; k < len(pivots); k++ {
			from, to := pivots[k-1], pivots[k]
			if to-from > within {
				continue
			}
			// Above zero means higher than before at a peak, lower than before at a trough.
			priceMove, oscMove := sign*kernel.Compare(price[to], price[from]), sign*kernel.Compare(osc[to], osc[from])
			switch {
			case priceMove > 0 && oscMove < 0:
				found = append(found, Divergence{regular, from, to, to + right})
			case priceMove < 0 && oscMove > 0:
				found = append(found, Divergence{hidden, from, to, to + right})
			}
		}
	}
	peaks, troughs := pivots(osc, left, right)
	compare(peaks, high, 1, Bearish, HiddenBearish)
	compare(troughs, low, -1, Bullish, HiddenBullish)
	// Peaks come before troughs that became known on the same bar.
	slices.SortStableFunc(found, func(a, b Divergence) int { return a.Known - b.Known })
	return found
}

// Hidden reports whether d is a hidden divergence.
func (d Divergence) Hidden() bool { return d.Kind == HiddenBullish || d.Kind == HiddenBearish }

// Tone returns Up for the bullish kinds and Down for the bearish ones.
func (d Divergence) Tone() Tone {
	if d.Kind == Bullish || d.Kind == HiddenBullish {
		return Up
	}
	return Down
}

// Signal returns the signal of d, on the bar on which d became known and at the value of
// osc there. The labels are those of the four kinds, in their order.
func (d Divergence) Signal(osc []float64, labels [4]string) Signal {
	return Mark(d.Known, osc[d.Known], labels[d.Kind], d.Tone())
}

// Line returns the line between the turning points of d on osc.
func (d Divergence) Line(osc []float64) DivLine {
	return DivLine{X1: d.From, Y1: osc[d.From], X2: d.To, Y2: osc[d.To], Dashed: d.Hidden(), Tone: d.Tone()}
}

// pivots returns the peaks and the troughs of x: the bars whose value is above, or below, each of the
// left values before it and each of the right values after it. All these values must exist, and left
// and right must be at least 1. A plateau has none. One at bar i becomes known on bar i+right.
//
// A bar above the one before it can only be a peak, and one below it only a trough. Most bars are
// ruled out because the next one goes on in the same direction.
func pivots(x []float64, left, right int) (peaks, troughs []int) {
	if len(x) <= left+right {
		return nil, nil
	}
	next := kernel.Compare(x[left], x[left-1])
	for i := left; i+right < len(x); i++ {
		side := next
		next = kernel.Compare(x[i+1], x[i])
		switch {
		// A bar that equals the one before it is neither.
		case side == 0 || next != -side || !standsOut(x, i, left, right, side):
		case side > 0:
			peaks = append(peaks, i)
		default:
			troughs = append(troughs, i)
		}
	}
	return peaks, troughs
}

// standsOut reports whether bar i is above (side 1) or below (side -1) each of the left
// bars before it and the right bars after it. It does not check the two neighbours, which
// pivots has checked. It goes outwards from bar i, since most bars are ruled out after one
// or two comparisons, whatever the widths.
func standsOut(x []float64, i, left, right, side int) bool {
	for k := 2; k <= max(left, right); k++ {
		if k <= right && kernel.Compare(x[i], x[i+k]) != side || k <= left && kernel.Compare(x[i], x[i-k]) != side {
			return false
		}
	}
	return true
}
