package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// The usual forms of an indicator of one line, which its record has as Line or Of. Each completes
// the record by how the line is drawn, under its label, and which signals it has.

// panel completes the record of a line in a panel of its own.
func panel(events ...Event) func(ind *Indicator, label string) {
	return func(ind *Indicator, label string) {
		ind.Plots, ind.Events = []Plot{mainly(label)}, append(ind.Events, events...)
	}
}

// crossed completes the record of a line over the price, with the signals of the close
// crossing it; bending that of one that is smooth enough for its turns to be the signals.
// movable is like crossed, for a line that may be drawn later.
func crossed(ind *Indicator, label string) {
	panel(price(label))(ind, label)
	ind.Traits, ind.Plots = Overlay, []Plot{over(label)}
}
func bending(ind *Indicator, label string) {
	crossed(ind, label)
	ind.Events = []Event{turnsOf(label)}
}
func movable(ind *Indicator, label string) {
	plain := ind.Line
	ind.Line = func(in Input) []float64 {
		if later := in.Int("offset"); later > 0 {
			return kernel.Shift(plain(in), later)
		}
		return plain(in)
	}
	crossed(ind, label)
}

// aroundZero completes the record of an oscillator around zero, with the signals of its
// crossing zero.
func aroundZero(ind *Indicator, label string) {
	panel(zero(label))(ind, label)
	ind.centredOn(0)
}

// centredOn draws a level, if the record has none of its own.
func (ind *Indicator) centredOn(level float64) {
	if ind.Levels == nil {
		ind.Levels = constant(level)
	}
}

// followed completes the record of a line and its average over the parameter n, with the signals of
// their crossing each other, and divergences if it has their parameters.
func followed(average func(x []float64, n int) []float64, n, name string) func(ind *Indicator, label string) {
	return func(ind *Indicator, label string) {
		ind.Plots, ind.Events = []Plot{mainly(label), second(name)}, []Event{lines(label, name)}
		if ind.index("divergence") >= 0 {
			ind.Events = append(ind.Events, diverges(label))
		}
		ind.Calc = func(in Input) Columns {
			y := ind.Line(in)
			return Columns{y, average(y, in.Int(n))}
		}
	}
}

// signalled is like followed by a signal line over the parameter "signal", for a line around zero,
// with the signals of its crossing zero. withHistogram is that with an exponential average, and
// with the distance of the two as bars.
func signalled(average func(x []float64, n int) []float64) func(ind *Indicator, label string) {
	return func(ind *Indicator, label string) {
		followed(average, "signal", "Signal")(ind, label)
		ind.Events = append(ind.Events, zero(label))
		ind.centredOn(0)
	}
}
func withHistogram(ind *Indicator, label string) {
	signalled(kernel.EMA)(ind, label)
	ind.Plots = append(ind.Plots, histogram("Histogram"))
	ind.Calc = func(in Input) Columns { return signalOf(ind.Line(in), in.Int("signal")) }
}

// signalOf returns a line, its exponential average and their distance.
func signalOf(line []float64, n int) Columns {
	average := kernel.EMA(line, n)
	return Columns{line, average, kernel.Minus(line, average)}
}

// turning completes the record of a line in a panel whose direction alone has a meaning:
// its signals are the turns. They are silent, because such a line turns every few bars.
func turning(ind *Indicator, label string) { panel(silently(turnsOf(label)))(ind, label) }

// volatile completes the record of a measure of volatility, with signals where it spikes.
func volatile(ind *Indicator, label string) { panel(spikes(label))(ind, label) }

// usualBars is how many bars make the usual size of a volatility.
const usualBars = 50

// oscillator completes the record of a line with zones that never leaves the panel of which
// zone was told, and with divergences if it has their parameters. Its signals have the plain
// labels.
func oscillator(ind *Indicator, label string) {
	zone := ind.Params[ind.mustHave("oversold")]
	ind.Levels, ind.Between = zoneLevels, [2]float64{zone.Min, zone.Max}
	panel(leaves(label, Oversold, Overbought))(ind, label)
	if ind.index("divergence") >= 0 {
		ind.Events = append(ind.Events, diverges(label))
	}
	ind.Events = append(ind.Events, enters(label, ""))
}

var nan = math.NaN()

// MaxLength bounds the length of every window: no chart has enough bars for a longer one.
const MaxLength = 1000

// length returns the parameter "length" with its usual aliases.
func length(def float64) Param {
	return Param{Name: "length", Aliases: []string{"period", "len", "window", "timeperiod"},
		Doc: "bars in the window", Kind: Int, Default: def, Min: 1, Max: MaxLength}
}

// lengthFrom is like length, with a minimum above 1.
func lengthFrom(least, def float64) Param { return atLeast(least, length(def)) }

// atLeast returns p with another lower bound.
func atLeast(least float64, p Param) Param {
	p.Min = least
	return p
}

// bars returns a whole-number parameter that counts bars, from 1 to MaxLength.
func bars(name string, def float64, doc string, aliases ...string) Param {
	return Param{Name: name, Aliases: aliases, Doc: doc, Kind: Int, Default: def, Min: 1, Max: MaxLength}
}

// factor returns a parameter that is any number within bounds.
func factor(name string, def, lo, hi float64, doc string, aliases ...string) Param {
	return Param{Name: name, Aliases: aliases, Doc: doc, Default: def, Min: lo, Max: hi}
}

// offset returns the parameter "offset": by how many bars a line is drawn later.
func offset() Param {
	return quiet(factorInt("offset", 0, 0, MaxLength, "bars by which the line is drawn later", "shift", "displacement"))
}

// factorInt is like factor, for a whole number.
func factorInt(name string, def, lo, hi float64, doc string, aliases ...string) Param {
	p := factor(name, def, lo, hi, doc, aliases...)
	p.Kind = Int
	return p
}

// quiet returns p left out of the label.
func quiet(p Param) Param {
	p.Quiet = true
	return p
}

// named returns p with further names.
func named(p Param, names ...string) Param {
	p.Aliases = append(p.Aliases, names...)
	return p
}

// inPercent returns p, left out of the label, that may be written as 3 or "3%". The
// values are percentages either way; 0.03 is three hundredths of a percent.
func inPercent(p Param) Param {
	p.Percent = true
	return quiet(p)
}

// beginning returns a parameter that is a date or a time, left out of the label. Zero is its
// default; none says what that means.
func beginning(name, doc, none string, aliases ...string) Param {
	return Param{Name: name, Aliases: aliases, Doc: doc + ": a date (2026-01-31), a time in UTC (2026-01-31 14:30) or unix seconds; 0 is " + none, Kind: Date, Quiet: true}
}

// instead returns p, a condition, in whose place the date called name may be given.
func instead(p Param, name string) Param {
	p.Instead = name
	return p
}

// zone returns the parameters "oversold" and "overbought": levels of a panel
// that runs from lo to hi.
func zone(oversold, overbought, lo, hi float64) []Param {
	return []Param{
		quiet(factor("oversold", oversold, lo, hi, "lower level", "lower")),
		quiet(factor("overbought", overbought, lo, hi, "upper level", "upper")),
	}
}

// usually returns a choice with another default than the first.
func usually(def string, p Param) Param {
	p.Default = float64(slices.Index(p.Choices, def))
	return p
}

// averageType returns a parameter that names a kind of moving average, def by
// default. It is chosen by name; TA-Lib's numbers for the kinds are not taken.
func averageType(name, def, doc string, aliases ...string) Param {
	return usually(def, named(choice(name, doc, kernel.Averages...), aliases...))
}

// toggle returns a true-or-false parameter.
func toggle(name string, def bool, doc string, aliases ...string) Param {
	p := Param{Name: name, Aliases: aliases, Doc: doc, Kind: Bool}
	if def {
		p.Default = 1
	}
	return p
}

// choice returns a parameter that is one of choices, the first by default.
func choice(name, doc string, choices ...string) Param {
	return Param{Name: name, Doc: doc, Kind: Choice, Choices: choices}
}

// manyOf returns a choice of which several may be given.
func manyOf(name, doc string, choices ...string) Param {
	p := choice(name, doc, choices...)
	p.Many = true
	return p
}

// barsInYear returns the parameter "periods", which turns figures of a bar into those
// of a year. perYear reads it.
func barsInYear() Param {
	p := quiet(factor("periods", 0, 0, 1e6, "bars in a year; 0 or auto: by the interval and the hours of the market"))
	p.Auto = true
	return p
}

// perYear returns how many bars of s a year has: what the parameter "periods" says, or else
// those of the 252 days and the hours of an exchange, or of a market that never closes if
// the source tells no hours. It does not count the bars of s, so that it is the same however
// many there are.
func perYear(in Input) float64 {
	const day, year = 24 * 60 * 60, 365 * 24 * 60 * 60
	length := float64(in.Interval.Seconds())
	switch periods := in.Float("periods"); {
	case periods > 0:
		return periods
	case length == 0: // bars of unknown length are most likely days of an exchange
		return 252
	case length > day || in.Hours == (market.Hours{}):
		return year / length
	}
	return 252 * math.Ceil(float64(in.Hours.Close-in.Hours.Open)/length)
}

// Sources are the prices a computation may start from.
var Sources = []string{"close", "open", "high", "low", "hl2", "hlc3", "ohlc4", "hlcc4", "volume"}

// source returns the parameter "source": which price a computation starts from.
func source() Param {
	return named(choice("source", "price it is computed from", Sources...), "price", "input")
}

// defaultSource is like source, with another default.
func defaultSource(def string) Param { return usually(def, source()) }

// sourceOf is like defaultSource, with another name and description.
func sourceOf(name, def, doc string, aliases ...string) Param {
	p := defaultSource(def)
	p.Name, p.Doc, p.Aliases = name, doc, aliases
	return p
}

// columnOf returns the column called name, one of Sources. Those of the bars are not copies.
func columnOf(s *market.Series, name string) []float64 { return sourceColumns[name](s) }

var sourceColumns = map[string]func(s *market.Series) []float64{
	"open":   func(s *market.Series) []float64 { return s.Open },
	"high":   func(s *market.Series) []float64 { return s.High },
	"low":    func(s *market.Series) []float64 { return s.Low },
	"close":  func(s *market.Series) []float64 { return s.Close },
	"volume": func(s *market.Series) []float64 { return s.Volume },
	"hl2":    kernel.MedianPrice, "hlc3": kernel.TypicalPrice, "ohlc4": kernel.AveragePrice, "hlcc4": kernel.WeightedClose,
}

// plainDivs are the labels of the four kinds of divergence, in their order.
var plainDivs = [4]string{BullDiv, BearDiv, HiddenBullDiv, HiddenBearDiv}

// divParams returns the parameters that the event diverges reads.
func divParams() []Param {
	params := []Param{
		choice("divergence", "divergences to mark", "regular", "hidden", "all", "off"),
		bars("pivot_left", 5, "bars before a turning point"),
		bars("pivot_right", 5, "bars after it; then it is known"),
		bars("div_range", 60, "bars at most between two"),
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

// diverges returns the events of a column diverging from the price: signals on the bars where
// divergences became known, with lines between the pivots.
func diverges(of string) Event {
	e := own(func(d *drawing) (signals []Signal) {
		show, osc, a := d.Choice("divergence"), d.of(of), d.Args
		if show == "off" {
			return nil
		}
		unread := d.unread(divergenceWarmup(a))
		for _, found := range Divergences(d.High[unread:], d.Low[unread:], osc[unread:], a.Int("pivot_left"), a.Int("pivot_right"), a.Int("div_range")) {
			if show == "all" || found.Hidden() == (show == "hidden") {
				found.From, found.To, found.Known = found.From+unread, found.To+unread, found.Known+unread
				signals = append(signals, found.Signal(osc, plainDivs))
				d.r.DivLines = append(d.r.DivLines, found.Line(osc))
			}
		}
		return signals
	}, plainDivs[:]...)
	e.unset = func(r Request, label string) string {
		hidden := label == HiddenBullDiv || label == HiddenBearDiv
		if show := r.Args.Choice("divergence"); show == "all" || show == "hidden" && hidden || show == "regular" && !hidden {
			return ""
		}
		return "divergence to all"
	}
	return e
}
