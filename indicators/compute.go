package indicators

import (
	"iter"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Compute runs the indicator over s and returns its labelled result. If its source is
// another indicator, it runs over a line of that.
func (r Request) Compute(s *market.Series) *Result {
	if inner := r.Args.of; inner != nil {
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

// Reading returns r for a caller that reads only the newest n bars of the result. Then the
// result of Compute may begin with a later bar than the first (see [Result.Begin]), and
// lack signals before those n bars.
func (r Request) Reading(n int) Request {
	if r.Args.of == nil { // otherwise it runs over parts of the bars
		r.Args.newest = n
	}
	return r
}

// An indicator of an indicator: "source" may be another request, by name or as an
// object, with "line" to choose a line other than the first. The line is treated like a
// market whose bars open, trade and close at its value, with the volume of the real bars.
// So every entry with a source can be computed from any line, and its signals have their
// usual meaning: an average of the RSI is crossed by the RSI.

// computeOf runs r over the line of inner. Where the line has no values, r has none either:
// each unbroken run of values is computed like a market of its own.
func (r Request) computeOf(inner Request, s *market.Series) *Result {
	n := s.Len()
	base := inner.Compute(s)
	line := lineOf(base, inner.Key)
	// The result for no bars has the right lines, histograms and fills. They are filled with
	// NaN for all bars, and the results of the runs are copied in.
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
	// Where the history began matters to the line itself, and to the first run of values: the
	// others begin after a bar that has none.
	whole.Settles = base.Settles
	for from, first := 0, true; from < n; {
		// A run ends at the next NaN, which the next one begins after.
		to := from
		for to < n && !isNaN(line[to]) {
			to++
		}
		if to > from {
			part := outer.Compute(asMarket(s.Slice(from, to), line[from:to]))
			insert(whole, part, from)
			if first {
				whole.Settles = max(whole.Settles, from+part.Settles)
			}
			first = false
		}
		from = to + 1
	}
	whole.Overlay, whole.Label = r.Ind.Overlay && base.Overlay, r.Label()
	if r.Ind.Overlay && !base.Overlay { // in a panel of their own both are needed
		whole.Lines = append(whole.Lines, Line{Label: inner.Label(), Tone: Muted, Values: line})
	}
	return whole
}

// withoutSource returns r with the close as its source. The default of an entry may be the
// volume, or a mean of prices that is rounded.
func (r Request) withoutSource() Request {
	r.Args.of = nil
	if i := r.Ind.index("source"); i >= 0 {
		r.Args.values = slices.Clone(r.Args.values)
		r.Args.values[i] = float64(slices.Index(r.Ind.Params[i].Choices, "close"))
	}
	return r
}

// lineOf returns the line or histogram with this label. All lines that lineNames returns
// exist whatever the bars are.
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

// columns yields the lines and then the histograms of a result by their labels. Everything
// that searches for a line uses this order, so a line comes before a histogram of the same
// name.
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

// lineNames returns the labels of the lines and histograms of r, which Watch accepts. It
// computes a result for no bars: which lines there are depends on the parameters, except
// for those that only some bars have.
func (r Request) lineNames() []string {
	var names []string
	for label := range columns(r.Compute(&market.Series{})) {
		names = append(names, label)
	}
	return names
}
