package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

// An indicator that offers divergences (see [shape.Divergences]) appends
// divParams to its parameters and divSignals to its signals, and calls
// addDivergences on its result.

// plainDivs are the labels of the four kinds of divergence, in their order.
var plainDivs = [4]string{shape.BullDiv, shape.BearDiv, shape.HiddenBullDiv, shape.HiddenBearDiv}

// divSignals are the labels addDivergences may emit.
var divSignals = plainDivs[:]

// divParams returns the parameters that addDivergences reads.
func divParams() []Param {
	show := choice("divergence", "divergences to mark", "regular", "hidden", "all", "off")
	show.Aliases = []string{"divergences"}
	params := []Param{
		show,
		bars("pivot_left", 5, "bars before a turning point", "lookback_left"),
		bars("pivot_right", 5, "bars after it; then it is known", "lookback_right"),
		bars("div_range", 60, "bars at most between two", "max_range"),
	}
	for i := range params {
		params[i].Quiet = true
	}
	return params
}

// divergenceWarmup returns how many more bars are needed for the divergences that a asks
// for: the first of the two turning points may be that far back.
func divergenceWarmup(a Args) int {
	if a.ind.index("pivot_left") < 0 || a.Choice("divergence") == "off" {
		return 0
	}
	return a.Int("pivot_left") + a.Int("pivot_right") + a.Int("div_range")
}

// addDivergences adds to r the divergences between the prices of s and osc
// that a asks for: signals on the bars where they became known, lines between
// the pivots. The signals of r are in order afterwards.
func addDivergences(r *Result, s *market.Series, osc []float64, a Args) {
	show := a.Choice("divergence")
	if show == "off" || a.linesOnly {
		return
	}
	// A divergence that becomes known on a bar has both turning points within the
	// bars of its warm-up.
	from := max(0, a.firstRead(s.Len())-divergenceWarmup(a))
	for _, d := range shape.Divergences(s.High[from:], s.Low[from:], osc[from:], a.Int("pivot_left"), a.Int("pivot_right"), a.Int("div_range")) {
		d = d.Later(from)
		if show == "all" || d.Hidden() == (show == "hidden") {
			r.Signals = append(r.Signals, d.Signal(osc, plainDivs))
			r.DivLines = append(r.DivLines, d.Line(osc))
		}
	}
	shape.InOrder(r.Signals)
}
