package indicators

import (
	"maps"
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Most entries declare what they show and signal: Plots are the columns that Calc returns,
// Levels the constants beside them, Events the signals that follow from them. The list of
// signals, their meanings and Draw follow from that, so that none is written twice. An
// entry that draws more, such as zones or a profile, has a Draw of its own.

// Columns are the values of an entry, one column for each of its Plots.
type Columns [][]float64

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
	mark   func(d *drawing)
}

// drawing is a result in the making.
type drawing struct {
	s       *market.Series
	a       Args
	columns Columns
	r       *Result
}

// of returns the column with this label.
func (d *drawing) of(label string) []float64 {
	i := slices.IndexFunc(d.a.ind.Plots, func(p Plot) bool { return p.Label == label })
	if i < 0 {
		panic("indicators: " + d.a.ind.Name + " has no plot " + label)
	}
	return d.columns[i]
}

// add adds signals to the result. Most entries have one event, whose signals need no copy.
func (d *drawing) add(signals []Signal) {
	if d.r.Signals == nil {
		d.r.Signals = signals
		return
	}
	d.r.Signals = append(d.r.Signals, signals...)
}

// declared completes an entry that has Calc.
func (ind *Indicator) declared() {
	if ind.Calc == nil {
		return
	}
	for _, e := range ind.Events {
		ind.Signals = slices.Concat(ind.Signals, e.labels)
		if e.means != nil {
			meanings := maps.Clone(e.means)
			maps.Copy(meanings, ind.Meanings)
			ind.Meanings = meanings
		}
	}
	ind.Draw = drawn
}

// drawn computes the columns of a declared entry and draws them.
func drawn(s *market.Series, a Args) *Result {
	d := &drawing{s: s, a: a, columns: a.ind.Calc(s, a), r: &Result{}}
	for i, p := range a.ind.Plots {
		switch {
		case p.Unseen:
		case p.Bars:
			d.r.Histogram = append(d.r.Histogram, Histogram{Label: p.Label, Tone: p.Tone, Values: d.columns[i]})
		default:
			line := Line{Label: p.Label, Tone: p.Tone, Style: p.Style, Values: d.columns[i]}
			if p.Back != nil {
				line.Back = p.Back(a)
			}
			d.r.Lines = append(d.r.Lines, line)
		}
	}
	for _, f := range a.ind.Shades {
		d.r.Fills = append(d.r.Fills, Fill{Y1: d.of(f.A), Y2: d.of(f.B), Tone: f.Tone, Below: f.Below})
	}
	if a.ind.Levels != nil {
		for _, y := range a.ind.Levels(a) {
			d.r.HLines = append(d.r.HLines, HLine{Y: y})
		}
	}
	if settles := a.ind.Memory.settles; settles != nil {
		d.r.Settles = settles(d)
	}
	if between := a.ind.Between; between != [2]float64{} {
		d.r.YRange = &between
	}
	if !a.linesOnly {
		for _, e := range a.ind.Events {
			e.mark(d)
		}
		shape.InOrder(d.r.Signals)
	}
	return d.r
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

// crossing returns the event of one column crossing another. An empty label is none.
func crossing(a, b, up, down string) Event {
	return Event{labels: named(up, down), mark: func(d *drawing) {
		d.r.Signals = shape.Crossings(d.r.Signals, d.of(a), d.of(b), up, down)
	}}
}

// named returns the labels that are not empty.
func named(labels ...string) []string {
	return slices.DeleteFunc(labels, func(l string) bool { return l == "" })
}

// lines is the crossing of two columns with the usual labels.
func lines(a, b string) Event { return crossing(a, b, shape.CrossUp, shape.CrossDown) }

// crossesAt returns the event of a column crossing a constant, zero that of crossing zero.
func crossesAt(of string, y float64, up, down string) Event {
	return Event{labels: named(up, down), mark: func(d *drawing) {
		d.r.Signals = shape.LevelCrossings(d.r.Signals, d.of(of), y, up, down)
	}}
}
func zero(of string) Event { return crossesAt(of, 0, shape.ZeroUp, shape.ZeroDown) }

// levelOf is like crossesAt, for a level that is a parameter times by.
func levelOf(of, param string, by float64, up, down string) Event {
	return Event{labels: named(up, down), mark: func(d *drawing) {
		d.r.Signals = shape.LevelCrossings(d.r.Signals, d.of(of), by*d.a.Float(param), up, down)
	}}
}

// price returns the event of the close crossing a column.
func price(of string) Event {
	return Event{labels: []string{shape.PriceUp, shape.PriceDown}, mark: func(d *drawing) {
		d.add(shape.PriceCrossings(d.s.Close, d.of(of)))
	}}
}

// breaks returns the event of the close leaving two columns.
func breaks(upper, lower string) Event {
	return Event{labels: []string{shape.BreakUp, shape.BreakDown}, mark: func(d *drawing) {
		d.add(shape.Breakouts(d.s.Close, d.of(upper), d.of(lower)))
	}}
}

// reaches returns the event of the bar reaching two bands, extremes that of the edges of a
// channel moving outwards.
func reaches(upper, lower string) Event {
	return own(func(d *drawing) []Signal { return shape.Touches(d.s.High, d.s.Low, d.of(upper), d.of(lower)) }, shape.TouchUpper, shape.TouchLower)
}
func extremes(upper, lower string) Event {
	return own(func(d *drawing) []Signal { return shape.NewExtremes(d.of(upper), d.of(lower)) }, shape.NewHigh, shape.NewLow)
}

// highs and lows are the events of a highest value rising and of a lowest one falling.
func highs(of string) Event {
	return own(func(d *drawing) []Signal { return shape.NewExtremes(d.of(of), nil) }, shape.NewHigh)
}
func lows(of string) Event {
	return own(func(d *drawing) []Signal { return shape.NewExtremes(nil, d.of(of)) }, shape.NewLow)
}

// goesBeyond returns the event of a column going beyond the parameter "level", or below its
// negative. What says what the column is.
func goesBeyond(of, what string) Event {
	e := own(func(d *drawing) []Signal {
		level := d.a.Float("level")
		return shape.LevelCrossings(shape.LevelCrossings(nil, d.of(of), level, shape.BreakUp, ""), d.of(of), -level, "", shape.BreakDown)
	}, shape.BreakUp, shape.BreakDown)
	e.means = shape.BreakMeanings(what, "the upper level", "the lower level")
	return e
}

// turnsBeside is like turnsOf, for a column that is a difference of larger numbers: size
// returns how large they are at a bar. For prices that is the close, for
// percentages a hundred.
func turnsBeside(of string, size func(s *market.Series, i int) float64) Event {
	return own(func(d *drawing) []Signal {
		return shape.TurnsOf(nil, d.of(of), func(i int) float64 { return size(d.s, i) })
	}, shape.TurnUp, shape.TurnDown).needing(2)
}
func closesOf(s *market.Series, i int) float64 { return s.Close[i] }
func hundred(*market.Series, int) float64      { return 100 }

// turnsOf returns the event of a column changing its direction.
func turnsOf(of string) Event {
	return Event{labels: []string{shape.TurnUp, shape.TurnDown}, mark: func(d *drawing) {
		d.r.Signals = shape.Turns(d.r.Signals, d.of(of))
	}}.needing(turnBars)
}

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
	return Event{labels: []string{shape.Spike}, mark: func(d *drawing) {
		usual := kernel.InRuns(d.of(of), func(x []float64) []float64 { return kernel.SMA(x, usualBars) })
		d.add(shape.Spikes(d.of(of), usual, 1.5))
	}}.needing(usualBars + 1)
}

// leaves returns the event of a column leaving its zones.
func leaves(of, oversold, overbought string) Event {
	return Event{labels: []string{oversold, overbought}, mark: func(d *drawing) {
		d.r.Signals = shape.ZoneExits(d.r.Signals, d.of(of), d.a.Float("oversold"), d.a.Float("overbought"), oversold, overbought)
	}}
}

// diverges returns the events of a column diverging from the price.
func diverges(of string) Event {
	return Event{labels: divSignals, mark: func(d *drawing) { addDivergences(d.r, d.s, d.of(of), d.a) }}
}

// own returns an event of the entry's own: find returns its signals.
func own(find func(d *drawing) []Signal, labels ...string) Event {
	return Event{labels: labels, mark: func(d *drawing) { d.add(find(d)) }}
}

// inZones returns the event of one column crossing another, with labels of their own for
// crossings within the zones.
func inZones(a, b string) Event {
	return own(func(d *drawing) []Signal {
		return shape.ZonedCrossings(d.of(a), d.of(b), d.a.Float("oversold"), d.a.Float("overbought"))
	}, shape.CrossUp, shape.CrossDown, shape.CrossUpOS, shape.CrossDownOB)
}

// bands are the plots of a middle line between two bands, bandShade the shade between those.
func bands() []Plot {
	return []Plot{{Label: "Middle", Tone: Muted}, {Label: "Upper", Tone: Band}, {Label: "Lower", Tone: Band}}
}

var bandShade = []Shade{{A: "Upper", B: "Lower", Tone: Band}}

// flips returns the event of a trend changing its direction, which the column "Side" has. The
// first bar with a value has none.
func flips(of string) Event {
	return own(func(d *drawing) (signals []Signal) {
		y, side := d.of(of), d.of("Side")
		for i := 1; i < len(y); i++ {
			switch {
			case (side[i] > 0) == (side[i-1] > 0) || isNaN(y[i-1]):
			case side[i] > 0:
				signals = append(signals, shape.Mark(i, y[i], shape.FlipUp, Up))
			default:
				signals = append(signals, shape.Mark(i, y[i], shape.FlipDown, Down))
			}
		}
		return signals
	}, shape.FlipUp, shape.FlipDown)
}

// stacks returns the event of columns, the fastest first, coming into order.
func stacks(labels ...string) Event {
	return own(func(d *drawing) []Signal {
		var list []Line
		for _, l := range labels {
			list = append(list, Line{Values: d.of(l)})
		}
		return shape.Stacks(list)
	}, shape.StackUp, shape.StackDown)
}

// silently returns e with signals that are not drawn, because they come often.
func silently(e Event) Event {
	mark := e.mark
	e.mark = func(d *drawing) {
		before := len(d.r.Signals)
		mark(d)
		shape.Silently(d.r.Signals[before:])
	}
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
