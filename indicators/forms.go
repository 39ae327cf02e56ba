package indicators

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"wick/indicators/kernel"
	"wick/market"
)

// The usual forms of an indicator. Each completes a record that has its names, parameters
// and warm-up by what it computes, how that is drawn and which signals it has.

// row is an entry of one line that depends on one length alone. Tables of rows are completed by
// one of the forms below.
type row struct {
	name, title, aliases, doc, formula string
	label                              string // of the line; empty for the title
	length, least                      float64
	offset                             bool                                    // it may be drawn later
	of                                 func(x []float64, n int) []float64      // what is computed of the source
	ofBars                             func(s *market.Series, n int) []float64 // or of the bars, which then have no source
	memory                             Memory
}

// form completes a record by one line.
type form func(ind Indicator, label string, line func(in Input) []float64) Indicator

// rows returns the entries of a table.
func rows(category string, complete form, table ...row) (list []Indicator) {
	for _, r := range table {
		ind := Indicator{Name: r.name, Title: r.title, Aliases: strings.Fields(r.aliases), Category: category,
			Doc: r.doc, Formula: r.formula, Params: []Param{lengthFrom(max(1, r.least), r.length)}, Memory: r.memory}
		line := func(in Input) []float64 { return r.ofBars(in.Series, in.Int("length")) }
		if r.of != nil {
			ind.Params = append(ind.Params, source())
			line = func(in Input) []float64 { return r.of(in.source(), in.Int("length")) }
		}
		if r.offset {
			ind.Params, ind.Memory = append(ind.Params, offset()), after(r.memory, window("offset"))
			plain := line
			line = func(in Input) []float64 {
				if later := in.Int("offset"); later > 0 {
					return kernel.Shift(plain(in), later)
				}
				return plain(in)
			}
		}
		list = append(list, complete(ind, cmp.Or(r.label, r.title), line))
	}
	return list
}

// crossed completes the record of a line over the price, with the signals of the close
// crossing it; bending that of one that is smooth enough for its turns to be the signals.
func crossed(ind Indicator, label string, line func(in Input) []float64) Indicator {
	ind = panel(ind, label, line, price(label))
	ind.Traits, ind.Plots = Overlay, []Plot{over(label)}
	return ind
}
func bending(ind Indicator, label string, line func(in Input) []float64) Indicator {
	ind = crossed(ind, label, line)
	ind.Events = []Event{turnsOf(label)}
	return ind
}

// overPrice and turningOver are like crossed and bending, for what is computed of the source.
func overPrice(ind Indicator, label string, line func(x []float64, a Args) []float64) Indicator {
	return crossed(ind, label, func(in Input) []float64 { return line(in.source(), in.Args) })
}
func turningOver(ind Indicator, label string, line func(x []float64, a Args) []float64) Indicator {
	return bending(ind, label, func(in Input) []float64 { return line(in.source(), in.Args) })
}

// panel completes the record of one line in a panel of its own.
func panel(ind Indicator, label string, line func(in Input) []float64, events ...Event) Indicator {
	ind.Plots, ind.Events = []Plot{mainly(label)}, events
	ind.Calc = func(in Input) Columns { return Columns{line(in)} }
	return ind
}

// aroundZero completes the record of an oscillator around zero, with the signals of its
// crossing zero.
func aroundZero(ind Indicator, label string, line func(in Input) []float64) Indicator {
	ind.Levels = constant(0)
	return panel(ind, label, line, zero(label))
}

// signalled completes the record of a line around zero and its signal line, an average over the
// parameter "signal", with the signals of their crossing each other and of the line crossing
// zero. The histogram is the distance of the two.
func signalled(ind Indicator, label string, average func(x []float64, n int) []float64, line func(in Input) []float64) Indicator {
	ind.Plots, ind.Events = withSignal(label), signalEvents(label)
	if ind.Levels == nil {
		ind.Levels = constant(0)
	}
	ind.Calc = func(in Input) Columns {
		y := line(in)
		return Columns{y, average(y, in.Int("signal"))}
	}
	return ind
}
func withHistogram(ind Indicator) Indicator {
	ind.Plots = append(ind.Plots, histogram("Histogram"))
	lines := ind.Calc
	ind.Calc = func(in Input) Columns {
		c := lines(in)
		return append(c, kernel.Minus(c[0], c[1]))
	}
	return ind
}

// turning completes the record of a line in a panel whose direction alone has a meaning:
// its signals are the turns. They are silent, because such a line turns every few bars.
func turning(ind Indicator, label string, line func(in Input) []float64) Indicator {
	return panel(ind, label, line, silently(turnsOf(label)))
}

// volatile completes the record of a measure of volatility, with signals where it spikes.
func volatile(ind Indicator, label string, line func(in Input) []float64) Indicator {
	return panel(ind, label, line, spikes(label))
}

// usualBars is how many bars make the usual size of a volatility.
const usualBars = 50

// oscillator completes the record of a line with zones that never leaves the panel of which
// zone was told, and with divergences if it has their parameters. Its signals have the plain
// labels.
func oscillator(ind Indicator, label string, line func(in Input) []float64) Indicator {
	zone := ind.Params[ind.mustHave("oversold")]
	ind = panel(ind, label, line, leaves(label, Oversold, Overbought))
	ind.Levels, ind.Between = zoneLevels, [2]float64{zone.Min, zone.Max}
	if ind.index("divergence") >= 0 {
		ind.Events = append(ind.Events, diverges(label))
	}
	ind.Events = append(ind.Events, enters(label, ""))
	return ind
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
		quiet(factor("oversold", oversold, lo, hi, "lower level", "lower", "os", "oversold_level")),
		quiet(factor("overbought", overbought, lo, hi, "upper level", "upper", "ob", "overbought_level")),
	}
}

// averageType returns a parameter that names a kind of moving average, def by
// default. It is chosen by name; TA-Lib's numbers for the kinds are not taken.
func averageType(name, def, doc string, aliases ...string) Param {
	p := choice(name, doc, kernel.Averages...)
	p.Aliases = aliases
	p.Default = float64(slices.Index(kernel.Averages, def))
	return p
}

// alsoOf returns a choice with one more.
func alsoOf(more string, p Param) Param {
	p.Choices = slices.Concat(p.Choices, []string{more})
	return p
}

// toggle returns a true-or-false parameter.
func toggle(name string, def bool, doc string, aliases ...string) Param {
	p := Param{Name: name, Aliases: aliases, Doc: doc, Kind: Bool}
	if def {
		p.Default = 1
	}
	return p
}

// silentUnless returns what Indicator.Silent does for a signal that a toggle switches.
func silentUnless(a Args, toggle string) string {
	if a.Bool(toggle) {
		return ""
	}
	return toggle + " to true"
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
	p := quiet(factor("periods", 0, 0, 1e6, "bars in a year; 0 or auto: by the interval and the hours of the market", "annual", "periods_per_year", "trading_days", "annualize"))
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
	p := choice("source", "price it is computed from", Sources...)
	p.Aliases = []string{"src", "price", "input"}
	return p
}

// defaultSource is like source, with another default.
func defaultSource(def string) Param {
	p := source()
	p.Default = float64(slices.Index(p.Choices, def))
	return p
}

// sourceOf is like defaultSource, with another name and description.
func sourceOf(name, def, doc string, aliases ...string) Param {
	p := defaultSource(def)
	p.Name, p.Doc, p.Aliases = name, doc, aliases
	return p
}

// columnOf returns the column called name. The price columns are those of s, not copies.
// Every name of Sources has a case, except close, which is the last line.
func columnOf(s *market.Series, name string) []float64 {
	switch name {
	case "open":
		return s.Open
	case "high":
		return s.High
	case "low":
		return s.Low
	case "hl2":
		return kernel.MedianPrice(s)
	case "hlc3":
		return kernel.TypicalPrice(s)
	case "ohlc4":
		return kernel.AveragePrice(s)
	case "hlcc4":
		return kernel.WeightedClose(s)
	case "volume":
		return s.Volume
	}
	return s.Close
}

// plainDivs are the labels of the four kinds of divergence, in their order.
var plainDivs = [4]string{BullDiv, BearDiv, HiddenBullDiv, HiddenBearDiv}

// divParams returns the parameters that the event diverges reads.
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

// diverges returns the events of a column diverging from the price: signals on the bars where
// divergences became known, with lines between the pivots.
func diverges(of string) Event {
	e := own(func(d *drawing) (signals []Signal) {
		show, osc, a := d.Choice("divergence"), d.of(of), d.Args
		if show == "off" {
			return nil
		}
		for _, found := range Divergences(d.High, d.Low, osc, a.Int("pivot_left"), a.Int("pivot_right"), a.Int("div_range")) {
			if show == "all" || found.Hidden() == (show == "hidden") {
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
