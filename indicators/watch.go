package indicators

import (
	"fmt"
	"slices"
	"strings"

	"wick/indicators/shape"
	"wick/limit"
	"wick/market"
)

// Beside its own signals, every indicator with lines can be watched for a level:
// the two labels shape.CrossAbove and shape.CrossBelow ("crosses_above",
// "crosses_below") come from Watch and not from Compute, which knows no level.

// Watch returns a signal wherever a line of the result reaches the level from
// below ("crosses_above") or from above ("crosses_below"). The line is named by
// its label in any case; an empty name means the first one. It fails, and says
// which lines there are, if r has none of that name.
func (r Request) Watch(result *Result, line string, level float64) ([]Signal, error) {
	for label, values := range columns(result) {
		if line == "" || strings.EqualFold(label, line) {
			return shape.LevelCrossings(nil, values, level, shape.CrossAbove, shape.CrossBelow), nil
		}
	}
	names := r.lineNames()
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: %s has no lines to watch", errParam, r.Ind.Name)
	}
	return nil, fmt.Errorf("%w: %s has no line %q%s; it has %s", errParam, r.Ind.Name, limit.Clip(line), didYouMean(line, names), strings.Join(names, ", "))
}

// Bounds returns the range that a line of r never leaves, and false if there is none or the
// catalogue does not know it. The line is named as in Watch.
func (r Request) Bounds(line string) (lo, hi float64, ok bool) {
	for _, e := range r.Args.exprs["expr"] { // each line of a formula has bounds of its own
		if line == "" || strings.EqualFold(e.Source(), line) {
			return e.Bounds()
		}
	}
	if fixed := r.Compute(&market.Series{}).YRange; fixed != nil && !r.Ind.Beyond {
		return fixed[0], fixed[1], true
	}
	return 0, 0, false
}

// Late reports whether the newest bar never has a value, since later bars fill it in. No
// alert can then see a line cross a level: it looks at the newest bar only.
func (r Request) Late() bool { return r.Ind == &indChikou && r.Args.Int("displacement") > 1 }

// Meaning returns in one line when a signal of ind with this label fires, or ""
// if ind emits no such signal.
func (ind *Indicator) Meaning(label string) string {
	if text := ind.Meanings[label]; text != "" {
		return text
	}
	if label == shape.CrossAbove || label == shape.CrossBelow || slices.Contains(ind.Signals, label) {
		return ind.usualMeaning(label)
	}
	return ""
}

// usualMeaning returns the meaning that the label has in most indicators. Where
// crossings within a zone have a label of their own, the plain one is for the others.
func (ind *Indicator) usualMeaning(label string) string {
	own := map[string]string{shape.CrossUp: shape.CrossUpOS, shape.CrossDown: shape.CrossDownOB}[label]
	if own != "" && slices.Contains(ind.Signals, own) {
		return strings.Replace(shape.Meaning(own), " is in ", " is not in ", 1)
	}
	return shape.Meaning(label)
}
