package indicators

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"wick/indicators/kernel"
	"wick/market"
)

// Most entries declare what they show and signal: Plots are the columns that Calc returns,
// Levels the constants beside them, Events the signals that follow from them. The list of
// signals and their meanings follow from that, so that none is written twice. An entry that
// draws more, such as zones or a profile, has a Draw of its own, and perhaps events too.

// Columns are the values of an entry, one column for each of its Plots.
type Columns [][]float64

// together returns what a function with several results returned.
func together(columns ...[]float64) Columns { return columns }

// Plot says how a column is drawn.
type Plot struct {
	Label  string
	Tone   Tone
	Style  Style
	Bars   bool // a histogram
	Unseen bool // not drawn: events need it

	Back func(a Args) int // by how many bars it is drawn earlier, see [Line.Back]; nil for none
}

// Shade fills the region between two columns, in the tone Below where the first is the lower
// one, if that is set.
type Shade struct {
	A, B        string
	Tone, Below Tone
}

// Event is a kind of signal, or a pair of kinds, that follows from the columns.
type Event struct {
	labels []string
	means  map[string]string // of labels with a special meaning in this entry
	back   func(a Args) int  // how many bars before a bar its signals look at; nil for one
	silent bool              // its signals are not drawn, because they come often
	// unset returns which parameter keeps it from ever emitting a signal, and the value that it
	// needs, such as "divergence to all"; "" if none does. Nil if no parameter can.
	unset func(r Request, label string) string
	find  func(d *drawing) []Signal // nil if Draw has its signals already
}

// Input is what an entry computes from: the bars, and its parameters.
type Input struct {
	*market.Series
	Args
}

// source returns the column that the parameter "source" names.
func (in Input) source() []float64 { return columnOf(in.Series, in.Choice("source")) }

// unread returns how many of the first bars need not be looked at for signals: nobody reads
// those on them, and the signals that are read look at so many bars before their own.
func (in Input) unread(back int) int {
	if in.newest == 0 {
		return 0
	}
	return max(0, in.Len()-in.newest-back)
}

// drawing is a result in the making.
type drawing struct {
	Input
	columns Columns // of a declared entry
	r       *Result
}

// of returns the column with this label. Of an entry that draws by itself it is a line of the
// result, the first one if the label is empty.
func (d *drawing) of(label string) []float64 {
	if d.columns == nil {
		return lineOf(d.r, label)
	}
	return d.columns[slices.IndexFunc(d.ind.Plots, func(p Plot) bool { return p.Label == label })]
}

// declared completes an entry by what follows from its form and its events.
func (ind *Indicator) declared() {
	ind.Aliases = strings.Fields(ind.Also)
	if ind.Of != nil {
		ind.Line = func(in Input) []float64 { return ind.Of(in.source(), in.Int("length")) }
	}
	if ind.Form != nil {
		ind.Form(ind, cmp.Or(ind.Label, ind.Title))
	}
	if ind.Calc == nil && ind.Line != nil {
		ind.Calc = func(in Input) Columns { return Columns{ind.Line(in)} }
	}
	ind.Meanings = make(map[string]string)
	for _, e := range ind.Events {
		ind.Signals = slices.Concat(ind.Signals, e.labels)
		maps.Copy(ind.Meanings, e.means)
	}
}

// draw returns the result for s, with its signals.
func (ind *Indicator) draw(in Input) *Result {
	d := &drawing{Input: in}
	if ind.Draw != nil {
		d.r = ind.Draw(in)
	} else {
		d.columns = ind.Calc(in)
		d.r = d.drawn()
	}
	for _, e := range ind.Events {
		if in.linesOnly || e.find == nil {
			continue
		}
		found := e.find(d)
		if in.newest > 0 { // nobody will read those before
			first := max(0, in.Len()-in.newest)
			found = slices.DeleteFunc(found, func(s Signal) bool { return s.Bar < first })
		}
		for i := range found {
			found[i].Silent = found[i].Silent || e.silent
		}
		if d.r.Signals == nil { // most entries have one event, whose signals need no copy
			d.r.Signals = found
		} else {
			d.r.Signals = append(d.r.Signals, found...)
		}
	}
	d.r.Signals = inOrder(d.r.Signals)
	return d.r
}

// drawn returns the columns of a declared entry as a result.
func (d *drawing) drawn() *Result {
	ind, r := d.ind, &Result{}
	for i, p := range ind.Plots {
		switch {
		case p.Unseen:
		case p.Bars:
			r.Histogram = append(r.Histogram, Histogram{Label: p.Label, Tone: p.Tone, Values: d.columns[i]})
		default:
			line := Line{Label: p.Label, Tone: p.Tone, Style: p.Style, Values: d.columns[i]}
			if p.Back != nil {
				line.Back = p.Back(d.Args)
			}
			r.Lines = append(r.Lines, line)
		}
	}
	for _, f := range ind.Shades {
		r.Fills = append(r.Fills, Fill{Y1: d.of(f.A), Y2: d.of(f.B), Tone: f.Tone, Below: f.Below})
	}
	if ind.Levels != nil {
		for _, y := range ind.Levels(d.Args) {
			r.HLines = append(r.HLines, HLine{Y: y})
		}
	}
	if settles := ind.Memory.settles; settles != nil {
		r.Settles = settles(d)
	}
	if ind.Between != [2]float64{} {
		between := ind.Between
		r.YRange = &between
	}
	return r
}

// mainly returns the plot of the main line of a panel, over that of a line over the price.
func mainly(label string) Plot { return Plot{Label: label, Tone: Primary} }
func over(label string) Plot   { return Plot{Label: label} }

// second returns the plot of a companion of the main line, unseen that of a column that is
// not drawn, histogram that of a histogram.
func second(label string) Plot    { return Plot{Label: label, Tone: Second} }
func unseen(label string) Plot    { return Plot{Label: label, Unseen: true} }
func histogram(label string) Plot { return Plot{Label: label, Bars: true} }

// withSignal returns the plots of a line and its signal line, signalEvents their events: the
// two cross each other, and the line crosses zero.
func withSignal(label string) []Plot    { return []Plot{mainly(label), second("Signal")} }
func signalEvents(label string) []Event { return []Event{lines(label, "Signal"), zero(label)} }

// constant returns constant levels.
func constant(levels ...float64) func(Args) []float64 { return func(Args) []float64 { return levels } }

// zoneLevels returns the levels of zones and the middle between them.
func zoneLevels(a Args) []float64 {
	lo, hi := a.Float("oversold"), a.Float("overbought")
	return []float64{hi, (lo + hi) / 2, lo}
}

// edgesOfZones returns the levels of zones.
func edgesOfZones(a Args) []float64 { return []float64{a.Float("overbought"), a.Float("oversold")} }

// plusMinus returns the parameter "level", zero and its negative.
func plusMinus(a Args) []float64 { return []float64{a.Float("level"), 0, -a.Float("level")} }

// emits returns the event of signals that Draw returns with the lines; switched that of signals
// which a toggle switches.
func emits(labels ...string) Event { return Event{labels: labels} }
func (e Event) switched(toggle string) Event {
	e.unset = func(r Request, _ string) string {
		if r.Args.Bool(toggle) {
			return ""
		}
		return toggle + " to true"
	}
	return e
}

// own returns an event of the entry's own: find returns its signals.
func own(find func(d *drawing) []Signal, labels ...string) Event {
	return Event{labels: slices.DeleteFunc(labels, func(l string) bool { return l == "" }), find: find}
}

// event returns the event of the bars for which a function says 1, with the label up, or -1,
// with the label down, one of which may be empty. Its signals are at the height of a column.
func event(of, up, down string, way func(d *drawing) func(i int) int) Event {
	return own(func(d *drawing) []Signal { return marked(d.of(of), up, down, way(d)) }, up, down)
}

// crosses returns the event of a column crossing what to returns: lines another column, with the
// usual labels, crossesAt a constant, zero zero, and levelOf a parameter times by. An empty label is none.
func crosses(of string, to func(d *drawing) []float64, up, down string) Event {
	return own(func(d *drawing) []Signal { return crossings(d.of(of), to(d), up, down) }, up, down)
}
func lines(a, b string) Event {
	return crosses(a, func(d *drawing) []float64 { return d.of(b) }, CrossUp, CrossDown)
}
func crossesAt(of string, y float64, up, down string) Event {
	return crosses(of, func(*drawing) []float64 { return []float64{y} }, up, down)
}
func zero(of string) Event { return crossesAt(of, 0, ZeroUp, ZeroDown) }
func levelOf(of, param string, by float64, up, down string) Event {
	return crosses(of, func(d *drawing) []float64 { return []float64{by * d.Float(param)} }, up, down)
}

// both is the event of the signals of two.
func both(a, b Event) Event {
	return own(func(d *drawing) []Signal { return append(a.find(d), b.find(d)...) }, append(a.labels, b.labels...)...)
}

// price returns the event of the close crossing a column.
func price(of string) Event {
	return own(func(d *drawing) []Signal { return markAt(d.of(of), PriceUp, PriceDown, across(d.Close, d.of(of))) }, PriceUp, PriceDown)
}

// breaks returns the event of the close leaving two columns.
func breaks(upper, lower string) Event {
	return own(func(d *drawing) []Signal { return breakouts(d.Close, d.of(upper), d.of(lower)) }, BreakUp, BreakDown)
}

// reaches returns the event of the bar reaching two bands.
func reaches(upper, lower string) Event {
	return own(func(d *drawing) []Signal { return touches(d.Series, d.of(upper), d.of(lower)) }, TouchUpper, TouchLower)
}

// highs and lows are the events of a highest value rising and of a lowest one falling.
func highs(of string) Event {
	return event(of, NewHigh, "", func(d *drawing) func(int) int { return moves(d.of(of)) })
}
func lows(of string) Event {
	return event(of, "", NewLow, func(d *drawing) func(int) int { return moves(d.of(of)) })
}

// goesBeyond returns the event of a column going beyond the parameter "level", or below its
// negative. What says what the column is.
func goesBeyond(of, what string) Event {
	return both(levelOf(of, "level", 1, BreakUp, ""), levelOf(of, "level", -1, "", BreakDown)).meaning(
		what+" crosses the upper level from below", what+" crosses the lower level from above")
}

// turnsOf returns the event of a column changing its direction.
func turnsOf(of string) Event {
	return event(of, TurnUp, TurnDown, func(d *drawing) func(int) int { return bends(d.of(of), noSize) }).needing(turnBars)
}

// turnsBeside is like turnsOf, for a column that is a difference of larger numbers: size
// returns how large they are at a bar. For prices that is the close, for
// percentages a hundred.
func turnsBeside(of string, size func(s *market.Series, i int) float64) Event {
	return event(of, TurnUp, TurnDown, func(d *drawing) func(int) int {
		return bends(d.of(of), func(i int) float64 { return size(d.Series, i) })
	}).needing(2)
}
func closesOf(s *market.Series, i int) float64 { return s.Close[i] }
func hundred(*market.Series, int) float64      { return 100 }

// turnBars is how many bars back a direction is looked for: while a line does not change, its
// direction stays what it was.
const turnBars = 10

// needing returns e for signals that look at so many bars before.
func (e Event) needing(bars int) Event {
	e.back = func(Args) int { return bars }
	return e
}

// spikes returns the event of a measure rising above half again its mean of the last 50
// bars. A measure may have holes, as the deviation of returns has where a price is not
// positive; the mean starts anew after each.
func spikes(of string) Event {
	return own(func(d *drawing) []Signal {
		usual := kernel.InRuns(d.of(of), func(x []float64) []float64 { return kernel.SMA(x, usualBars) })
		return spikesOver(d.of(of), kernel.Scaled(usual, 1.5))
	}, Spike).needing(usualBars + 1)
}

// leaves returns the event of a column leaving its zones, enters that of its coming into them.
// The names of the parameters that bound them begin with prefix.
func leaves(of, oversold, overbought string) Event {
	return both(levelOf(of, "oversold", 1, oversold, ""), levelOf(of, "overbought", 1, "", overbought))
}
func enters(of, prefix string) Event {
	e := silently(both(levelOf(of, prefix+"oversold", 1, "", EntersOversold), levelOf(of, prefix+"overbought", 1, EntersOverbought, "")))
	// A zone is empty if it begins where the line ends.
	e.unset = func(r Request, label string) string {
		lo, hi, bounded := r.Bounds("")
		switch {
		case !bounded:
		case label == EntersOversold && r.Args.Float(prefix+"oversold") <= lo:
			return prefix + "oversold to more than " + number(lo)
		case label == EntersOverbought && r.Args.Float(prefix+"overbought") >= hi:
			return prefix + "overbought to less than " + number(hi)
		}
		return ""
	}
	return e
}

// inZones returns the event of one column crossing another, with labels of their own for
// crossings within the zones.
func inZones(a, b string) Event {
	return own(func(d *drawing) []Signal {
		return zonedCrossings(d.of(a), d.of(b), d.Float("oversold"), d.Float("overbought"))
	}, CrossUp, CrossDown, CrossUpOS, CrossDownOB)
}

// bands are the plots of a middle line between two bands, bandShade the shade between those.
func bands() []Plot {
	return []Plot{{Label: "Middle", Tone: Muted}, {Label: "Upper", Tone: Band}, {Label: "Lower", Tone: Band}}
}

var bandShade = []Shade{{A: "Upper", B: "Lower", Tone: Band}}

// flips returns the event of a trend changing its direction, which the column "Side" has. The
// first bar with a value has none.
func flips(of string) Event {
	return event(of, FlipUp, FlipDown, func(d *drawing) func(int) int {
		y, side := d.of(of), d.of("Side")
		return func(i int) int {
			if i == 0 || (side[i] > 0) == (side[i-1] > 0) || isNaN(y[i-1]) {
				return 0
			}
			return either(side[i] > 0, true)
		}
	})
}

// silently returns e with signals that are not drawn.
func silently(e Event) Event {
	e.silent = true
	return e
}

// meaning returns e with special meanings of its labels, in their order.
func (e Event) meaning(words ...string) Event {
	e.means = make(map[string]string)
	for i, label := range e.labels {
		e.means[label] = words[i]
	}
	return e
}

// crossedBy returns e with the meanings of one thing crossing another.
func (e Event) crossedBy(line, other string) Event {
	return e.meaning(line+" crosses "+other+" from below", line+" crosses "+other+" from above")
}
