package indicators

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"wick/indicators/kernel"
	"wick/indicators/rules"
	"wick/internal/limit"
	"wick/market"
)

// Compute runs the indicator over s and returns its labelled result. If its source is
// another indicator, it runs over a line of that.
func (r Request) Compute(s *market.Series) *Result {
	if inner := r.Args.of; inner != nil {
		return r.computeOf(*inner, s)
	}
	result := r.Ind.draw(Input{s, r.Args})
	result.Overlay = result.Overlay || r.Ind.Traits.Has(Overlay)
	if result.Label == "" {
		result.Label = r.Label()
	}
	return result
}

// Reading returns r for a caller that reads only the newest bars of the result, which may
// lack signals before them.
func (r Request) Reading(bars int) Request {
	if r.Args.of == nil { // otherwise it runs over parts of the bars
		r.Args.newest = bars
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
	whole.series(func(v *Values) { *v = kernel.NaNs(n) })
	// Where the history began matters to the line itself, and to the first run of values: the
	// others begin after a bar that has none.
	whole.Settles = base.Settles
	for from, first := 0, true; from < n; {
		// A run ends at the next NaN, which the next one begins after. The line is like a market
		// whose four prices are its value.
		to := from
		for to < n && !isNaN(line[to]) {
			to++
		}
		if to > from {
			run := *s.Slice(from, to)
			values := line[from:to]
			run.Open, run.High, run.Low, run.Close = values, values, values, values
			part := outer.Compute(&run)
			insert(whole, part, from)
			if first {
				whole.Settles = max(whole.Settles, from+part.Settles)
			}
			first = false
		}
		from = to + 1
	}
	whole.Overlay, whole.Label = r.Ind.Traits.Has(Overlay) && base.Overlay, r.Label()
	if r.Ind.Traits.Has(Overlay) && !base.Overlay { // in a panel of their own both are needed
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

// lineOf returns the line or histogram with this label, the first one if the label is empty. All
// lines that lineNames returns exist whatever the bars are.
func lineOf(r *Result, label string) []float64 {
	for name, values := range columns(r) {
		if name == label || label == "" {
			return values
		}
	}
	panic("indicators: " + r.Label + " has no line " + label)
}

// insert copies a part, computed from bar from on, into the whole.
func insert(whole, part *Result, from int) {
	var columns []Values
	part.series(func(v *Values) { columns = append(columns, *v) })
	whole.series(func(v *Values) {
		copy((*v)[from:], columns[0])
		columns = columns[1:]
	})
	whole.Signals = append(whole.Signals, later(from, part.Signals)...)
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

// lineNames returns the labels of the lines and histograms of r, which Watch accepts. For an
// entry that does not declare them it computes a result for no bars: which lines there are
// depends on the parameters, except for those that only some bars have.
func (r Request) lineNames() []string {
	var names []string
	if r.Ind.Calc != nil && r.Args.of == nil {
		for _, bars := range []bool{false, true} {
			for _, p := range r.Ind.Plots {
				if p.Bars == bars && !p.Unseen {
					names = append(names, p.Label)
				}
			}
		}
		return names
	}
	for label := range columns(r.Compute(&market.Series{})) {
		names = append(names, label)
	}
	return names
}

// Beside its own signals, every indicator with lines can be watched for a level:
// the two labels CrossAbove and CrossBelow ("crosses_above",
// "crosses_below") come from Watch and not from Compute, which knows no level.

// Watch returns a signal wherever a line of the result reaches the level from
// below ("crosses_above") or from above ("crosses_below"). The line is named by
// its label in any case; an empty name means the first one. It fails, and says
// which lines there are, if r has none of that name.
func (r Request) Watch(result *Result, line string, level float64) ([]Signal, error) {
	var labels []string
	for label := range columns(result) {
		labels = append(labels, label)
	}
	label, err := r.lineCalled(line, labels)
	if err != nil {
		return nil, err
	}
	return levelCrossings(lineOf(result, label), level, CrossAbove, CrossBelow), nil
}

// Bounds returns the range that a line of r never leaves, and false if there is none or the
// catalogue does not know it. The line is named as in Watch.
func (r Request) Bounds(line string) (lo, hi float64, ok bool) {
	for _, e := range r.Args.exprs["expr"] { // each line of a formula has bounds of its own
		if line == "" || strings.EqualFold(e.Source(), line) {
			return e.Bounds()
		}
	}
	fixed := &r.Ind.Between
	if r.Ind.Calc == nil || r.Args.of != nil {
		fixed = r.Compute(&market.Series{}).YRange
	}
	if fixed == nil || *fixed == [2]float64{} || r.Ind.Traits.Has(Beyond) {
		return 0, 0, false
	}
	return fixed[0], fixed[1], true
}

// Meaning returns in one line when a signal of ind with this label fires, or ""
// if ind emits no such signal.
func (ind *Indicator) Meaning(label string) string {
	if text := ind.Meanings[label]; text != "" {
		return text
	}
	if label != CrossAbove && label != CrossBelow && !slices.Contains(ind.Signals, label) {
		return ""
	}
	// Where crossings within a zone have a label of their own, the plain one is for the others.
	if own := map[string]string{CrossUp: CrossUpOS, CrossDown: CrossDownOB}[label]; own != "" && slices.Contains(ind.Signals, own) {
		return strings.Replace(meaningOf(own), " is in ", " is not in ", 1)
	}
	return meaningOf(label)
}

// Silent returns which parameter keeps r from ever emitting one of its signals, and the
// value that it needs, such as "divergence to all"; "" if none does.
func (r Request) Silent(label string) (set string) {
	for _, e := range r.Ind.Events {
		if e.unset != nil && slices.Contains(e.labels, label) {
			return e.unset(r, label)
		}
	}
	return ""
}

// Label returns the title with the parameters, as a legend shows it.
func (r Request) Label() string { return r.Args.label() }

// label writes the indicator's title and its numeric parameters, as a legend
// shows them: "MACD(12, 26, 9)". Choices appear only when they are not the
// default, switches and quiet parameters never.
func (a Args) label() string {
	var parts []string
	for i, p := range a.ind.Params {
		switch {
		case p.Quiet:
		case p.Many && len(a.chosen[p.Name]) > 1:
			parts = append(parts, strings.Join(a.Chosen(p.Name), " "))
		case p.Kind == Symbol:
			parts = append(parts, a.texts[p.Name])
		case p.Name == "source" && a.of != nil:
			parts = append(parts, a.of.Label())
		case p.Kind == Choice && a.values[i] != p.Default:
			parts = append(parts, p.Choices[int(a.values[i])])
		case p.Kind == Expression:
			for _, e := range a.exprs[p.Name] {
				parts = append(parts, limit.Clip(e.Source()))
			}
		case p.Kind == Number || p.Kind == Int:
			parts = append(parts, number(a.values[i]))
		}
	}
	if len(parts) == 0 {
		return a.ind.Title
	}
	return a.ind.Title + "(" + strings.Join(parts, ", ") + ")"
}

// Identity returns the canonical text of the call, which is the same for two requests that
// compute the same: rsi(14), sma(20, source="hl2"). Numbers are given by position as long
// as none was left out before them. Switches, choices and quiet numbers are written only if
// they differ from the default.
func (r Request) Identity() string {
	var parts []string
	left := false // a number was left out
	for i, p := range r.Ind.Params {
		v := r.Args.values[i]
		switch {
		case p.Many && len(r.Args.chosen[p.Name]) > 1:
			parts = append(parts, fmt.Sprintf("%s=%q", p.Name, strings.Join(r.Args.Chosen(p.Name), ",")))
		case p.Kind == Expression:
			for _, e := range r.Args.exprs[p.Name] {
				parts = append(parts, fmt.Sprintf("%s=%q", p.Name, e))
			}
		case p.Kind == Symbol:
			parts = append(parts, fmt.Sprintf("%s=%q", p.Name, r.Args.texts[p.Name]))
		case p.Name == "source" && r.Args.of != nil:
			parts = append(parts, fmt.Sprintf("%s=%q of %s", p.Name, r.Args.of.Key, r.Args.of.Identity()))
		case p.Kind == Choice && v != p.Default:
			parts = append(parts, fmt.Sprintf("%s=%q", p.Name, p.Choices[int(v)]))
		case p.Kind == Bool && v != p.Default:
			parts = append(parts, fmt.Sprintf("%s=%t", p.Name, v != 0))
		case p.Kind == Choice || p.Kind == Bool: // the default is not written
		case p.Quiet && v == p.Default:
			left = true
		case left:
			parts = append(parts, p.Name+"="+number(v))
		default:
			parts = append(parts, number(v))
		}
	}
	name := r.Ind.Name
	// An indicator with the name of a function of the language needs a prefix.
	if rules.Builtin(name) {
		name = "ta." + name
	}
	if len(parts) == 0 {
		return name
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// number writes v in the shortest plain form.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
