package indicators

import (
	"iter"

	"wick/indicators/kernel"
	"wick/market"
)

// Compute runs the indicator over s and returns its lines and signals, labelled. If its
// source is another indicator, it runs over that one's line.
func (r Request) Compute(s *market.Series) *Result {
	if inner := r.Args.of["source"]; inner != nil {
		return r.computeOf(*inner, s)
	}
	result := r.Ind.Compute(s, r.Args)
	addZoneEntries(result, r.Args)
	result.Overlay = result.Overlay || r.Ind.Overlay
	if result.Label == "" {
		result.Label = r.Label()
	}
	return result
}

// Reading returns r for who reads the newest n bars of a result only. What Compute
// then returns may begin with a later bar than the first (see [Result.Begin]), and
// lack signals before those n bars.
func (r Request) Reading(n int) Request {
	if r.Args.of["source"] == nil { // else it runs over parts of the bars
		r.Args.newest = n
	}
	return r
}

// An indicator of an indicator: "source" may be another request, by name or as an
// object, with "line" to choose another of its lines than the first. The line is
// taken for a market whose bars open, trade and close at its value, with the
// volume of the bars. So every entry that has a source can be computed of any
// line, and its signals mean what they say: an average of the RSI is crossed by
// the RSI.

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

// withoutSource returns r computed of a price.
func (r Request) withoutSource() Request {
	r.Args.of = nil
	return r
}

// lineOf returns the line or histogram with this label; all lines that lineNames
// tells are there on any bars.
func lineOf(r *Result, label string) []float64 {
	for name, values := range columns(r) {
		if name == label {
			return values
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

// columns yields the lines and then the histograms of a result by their labels. It is
// the order in which a line is looked for everywhere: a line wins over a histogram of
// the same name.
func columns(r *Result) iter.Seq2[string, []float64] {
	return func(yield func(string, []float64) bool) {
		for _, l := range r.Lines {
			if !yield(l.Label, l.Values) {
				return
			}
		}
		for _, h := range r.Histogram {
			if !yield(h.Label, h.Values) {
				return
			}
		}
	}
}

// lineNames returns the labels of the lines and histograms of r, which Watch takes.
// It computes no bars at all: which lines there are follows from the
// parameters, except for those that only some bars have.
func (r Request) lineNames() []string {
	var names []string
	for label := range columns(r.Compute(&market.Series{})) {
		names = append(names, label)
	}
	return names
}
