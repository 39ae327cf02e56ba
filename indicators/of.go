package indicators

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"wick/indicators/kernel"
	"wick/limit"
	"wick/market"
)

// An indicator of an indicator: "source" may be another request, by name or as an
// object, with "line" to choose another of its lines than the first. The line is
// taken for a market whose bars open, trade and close at its value, with the
// volume of the bars. So every entry that has a source can be computed of any
// line, and its signals mean what they say: an average of the RSI is crossed by
// the RSI.

// maxSources bounds how deep requests may be nested.
const maxSources = 4

var errSources = fmt.Errorf("%w: more than %d indicators of each other", ErrParam, maxSources)

// setSource gives parameter i, a source, what a client sent: a price, or a request.
func (a *Args) setSource(i int, raw json.RawMessage) (err error) {
	// A price wins over an indicator of the same name.
	if a.values[i], err = a.ind.Params[i].parse(raw); err == nil {
		delete(a.of, "source")
		return nil
	}
	inner, innerErr := parseSource(raw)
	// An object can only have meant a request, so its own error is told; a word may
	// have been meant as either.
	switch {
	case innerErr != nil && strings.HasPrefix(strings.TrimSpace(string(raw)), "{"):
		return innerErr
	case innerErr != nil:
		return fmt.Errorf("%w, nor an indicator", err)
	}
	a.values[i] = a.ind.Params[i].Default
	put(&a.of, "source", inner)
	return nil
}

// parseSource reads a request that stands for a price. Its key is the line that
// is taken.
func parseSource(raw json.RawMessage) (*Request, error) {
	// Each level reads all that is within it again. One may take two pairs of braces: its
	// own and those of "params".
	if bytes.Count(raw, []byte("{")) > 2*maxSources {
		return nil, errSources
	}
	// "line" belongs to this nesting and is no parameter of the indicator: it is taken
	// out before the rest is read like any other request.
	var members map[string]json.RawMessage
	var line string
	if json.Unmarshal(raw, &members) == nil {
		if text, ok := members["line"]; ok {
			if err := json.Unmarshal(text, &line); err != nil {
				return nil, fmt.Errorf(`%w: "line" %s is not the name of a line`, ErrParam, limit.Clip(string(text)))
			}
			delete(members, "line")
			if raw, _ = json.Marshal(members); raw == nil {
				return nil, ErrParam // an object that was read can be written
			}
		}
	}
	r, err := parseItem(raw)
	if err != nil {
		return nil, err
	}
	if r.Ind.VisibleOnly || r.Ind.Repaints {
		return nil, fmt.Errorf("%w: %s changes with the bars shown or after the fact: nothing can be computed of it", ErrParam, r.Ind.Name)
	}
	if slices.ContainsFunc(r.Ind.Params, func(p Param) bool { return p.Kind == Expression }) {
		return nil, fmt.Errorf("%w: %s cannot stand for a price: name the indicator in a formula instead", ErrParam, r.Ind.Name)
	}
	// Each level computes all bars again, and a client chooses the depth.
	depth := 1
	for inner := r.Args.of["source"]; inner != nil; inner = inner.Args.of["source"] {
		depth++
	}
	if depth > maxSources {
		return nil, errSources
	}
	r.Key, err = r.lineCalled(line)
	return &r, err
}

// lineCalled returns the label of the line that name spells, the first for none.
func (r Request) lineCalled(name string) (string, error) {
	names := r.LineNames()
	for _, label := range names {
		if name == "" || strings.EqualFold(label, name) {
			return label, nil
		}
	}
	if len(names) == 0 {
		return "", fmt.Errorf("%w: %s has no lines", ErrParam, r.Ind.Name)
	}
	return "", fmt.Errorf("%w: %s has no line %q; it has %s", ErrParam, r.Ind.Name, limit.Clip(name), strings.Join(names, ", "))
}

// withoutSource returns r computed of a price.
func (r Request) withoutSource() Request {
	r.Args.of = nil
	return r
}

// computeOf runs r over the line of inner. Where that has no values, r has none:
// each run of values is a market of its own.
func (r Request) computeOf(inner Request, s *market.Series) *Result {
	n := s.Len()
	base := inner.Compute(s)
	line := lineOf(base, inner.Key)
	// The result over no bars has the right lines, histograms and fills; they get as
	// many NaN as there are bars, and the runs are copied in.
	outer := r.withoutSource()
	whole := outer.Compute(s.Slice(0, 0)) // its lines, without values
	for i := range whole.Lines {
		whole.Lines[i].Values = kernel.NaNs(n)
	}
	for i := range whole.Histogram {
		whole.Histogram[i].Values = kernel.NaNs(n)
	}
	for i := range whole.Fills {
		whole.Fills[i] = Fill{Y1: kernel.NaNs(n), Y2: kernel.NaNs(n), Tone: whole.Fills[i].Tone, Below: whole.Fills[i].Below}
	}
	for from := 0; from < n; {
		// A run ends at the next NaN, which the next one begins after.
		to := from
		for to < n && !isNaN(line[to]) {
			to++
		}
		if to > from {
			insert(whole, outer.Compute(asMarket(s.Slice(from, to), line[from:to])), from)
		}
		from = to + 1
	}
	whole.Overlay, whole.Label = r.Ind.Overlay && base.Overlay, r.Label()
	if r.Ind.Overlay && !base.Overlay { // in a panel of their own both are needed
		whole.Lines = append(whole.Lines, Line{Label: inner.Label(), Tone: Muted, Values: line})
	}
	return whole
}

// lineOf returns the line or histogram with this label; all lines that LineNames
// tells are there on any bars.
func lineOf(r *Result, label string) []float64 {
	for _, l := range r.Lines {
		if l.Label == label {
			return l.Values
		}
	}
	for _, h := range r.Histogram {
		if h.Label == label {
			return h.Values
		}
	}
	panic("indicators: " + r.Label + " has no line " + label)
}

// asMarket returns the bars of s with all four prices those of the line.
func asMarket(s *market.Series, line []float64) *market.Series {
	t := *s
	t.Open, t.High, t.Low, t.Close = line, line, line, line
	return &t
}

// insert copies a part, computed from bar from on, into the whole.
func insert(whole, part *Result, from int) {
	for i, l := range part.Lines {
		copy(whole.Lines[i].Values[from:], l.Values)
	}
	for i, h := range part.Histogram {
		copy(whole.Histogram[i].Values[from:], h.Values)
	}
	for i, f := range part.Fills {
		copy(whole.Fills[i].Y1[from:], f.Y1)
		copy(whole.Fills[i].Y2[from:], f.Y2)
	}
	// Bars of a part are counted from its own first one.
	for _, sig := range part.Signals {
		sig.Bar += from
		whole.Signals = append(whole.Signals, sig)
	}
	for _, d := range part.DivLines {
		d.X1, d.X2 = d.X1+from, d.X2+from
		whole.DivLines = append(whole.DivLines, d)
	}
	whole.HLines, whole.YRange = part.HLines, part.YRange
}
