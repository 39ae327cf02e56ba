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

// LineNames returns the labels of the lines and histograms of r, which Watch
// takes.
func (r Request) LineNames() []string {
	var names []string
	result := r.Compute(&market.Series{})
	for _, l := range result.Lines {
		names = append(names, l.Label)
	}
	for _, h := range result.Histogram {
		names = append(names, h.Label)
	}
	return names
}

// Watch returns a signal wherever a line of the result reaches the level from
// below ("crosses_above") or from above ("crosses_below"). The line is named by
// its label in any case; an empty name means the first one. It fails, and says
// which lines there are, if r has none of that name.
func (r Request) Watch(result *Result, line string, level float64) ([]Signal, error) {
	for _, l := range result.Lines {
		if line == "" || strings.EqualFold(l.Label, line) {
			return shape.LevelCrossings(nil, l.Values, level, shape.CrossAbove, shape.CrossBelow), nil
		}
	}
	for _, h := range result.Histogram {
		if line == "" || strings.EqualFold(h.Label, line) {
			return shape.LevelCrossings(nil, h.Values, level, shape.CrossAbove, shape.CrossBelow), nil
		}
	}
	names := r.LineNames()
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: %s has no lines to watch", ErrParam, r.Ind.Name)
	}
	return nil, fmt.Errorf("%w: %s has no line %q%s; it has %s", ErrParam, r.Ind.Name, limit.Clip(line), didYouMean(line, names), strings.Join(names, ", "))
}

// Meaning returns in one line when a signal of ind with this label fires, or ""
// if ind emits no such signal.
func (ind *Indicator) Meaning(label string) string {
	if text := ind.Meanings[label]; text != "" {
		return text
	}
	if label == shape.CrossAbove || label == shape.CrossBelow || slices.Contains(ind.Signals, label) {
		return shape.Meaning(label)
	}
	return ""
}
