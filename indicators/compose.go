package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The usual forms of an indicator. Each completes a record that has its names, parameters
// and warm-up by what it computes, how that is drawn and which signals it has.

// overPrice completes the record of a line over the price, with the signals of the close
// crossing it.
func overPrice(ind Indicator, label string, line func(x []float64, a Args) []float64) Indicator {
	ind.Overlay, ind.Signals = true, []string{shape.PriceUp, shape.PriceDown}
	ind.Compute = func(s *market.Series, a Args) *Result {
		y := line(column(s, a), a)
		if a.linesOnly {
			return &Result{Lines: []Line{{Label: label, Values: y}}}
		}
		return shape.OverPrice(label, s.Close, y)
	}
	return ind
}

// turningOver completes the record of a line over the price that is smooth enough for its
// turns to be the signals.
func turningOver(ind Indicator, label string, line func(x []float64, a Args) []float64) Indicator {
	ind.Overlay, ind.Signals = true, []string{shape.TurnUp, shape.TurnDown}
	ind.Compute = func(s *market.Series, a Args) *Result {
		y := line(column(s, a), a)
		return &Result{Lines: []Line{{Label: label, Values: y}}, Signals: shape.Turns(nil, y)}
	}
	return ind
}

// aroundZero completes the record of an oscillator around zero, with the signals of its
// crossing zero.
func aroundZero(ind Indicator, label string, line func(s *market.Series, a Args) []float64) Indicator {
	ind.Signals = []string{shape.ZeroUp, shape.ZeroDown}
	ind.Compute = func(s *market.Series, a Args) *Result { return shape.ZeroPanel(label, line(s, a)) }
	return ind
}

// turning completes the record of a line in a panel whose direction alone has a meaning:
// its signals are the turns. They are silent, because such a line turns every few bars.
func turning(ind Indicator, label string, line func(s *market.Series, a Args) []float64) Indicator {
	ind.Signals = []string{shape.TurnUp, shape.TurnDown}
	ind.Compute = func(s *market.Series, a Args) *Result {
		y := line(s, a)
		return &Result{
			Lines:   []Line{{Label: label, Tone: Primary, Values: y}},
			Signals: shape.Silently(shape.Turns(nil, y)),
		}
	}
	return ind
}

// volatile completes the record of a measure of volatility, with signals where it rises
// above half again its mean of the last 50 bars. A spike is one signal: the bar before must
// have been below.
func volatile(ind Indicator, label string, line func(s *market.Series, a Args) []float64) Indicator {
	ind.Signals = []string{shape.Spike}
	ind.Compute = func(s *market.Series, a Args) *Result {
		y := line(s, a)
		// A measure may have holes, as the deviation of returns has where a price is not
		// positive; the mean starts anew after each.
		usual := kernel.InRuns(y, func(x []float64) []float64 { return kernel.SMA(x, usualBars) })
		return &Result{
			Lines:   []Line{{Label: label, Tone: Primary, Values: y}},
			Signals: shape.Spikes(y, usual, 1.5),
		}
	}
	return ind
}

// usualBars is how many bars make the usual size of a volatility.
const usualBars = 50

// usually returns a warm-up that is longer by the bars of volatile's mean.
func usually(warmup func(Args) int) func(Args) int {
	return func(a Args) int { return warmup(a) + usualBars + 1 }
}

// displaced returns a warm-up that is longer by the parameter "offset".
func displaced(warmup func(Args) int) func(Args) int {
	return func(a Args) int { return warmup(a) + a.Int("offset") }
}

// zoned returns a line with the levels of the parameters that zone returns, and
// signals where the line leaves the zones beyond them.
func zoned(label string, y []float64, a Args, oversold, overbought string) *Result {
	lo, hi := a.Float("oversold"), a.Float("overbought")
	r := &Result{
		Lines:  []Line{{Label: label, Tone: Primary, Values: y}},
		HLines: []HLine{{Y: hi}, {Y: (lo + hi) / 2}, {Y: lo}},
	}
	if !a.linesOnly {
		r.Signals = shape.ZoneExits(nil, y, lo, hi, oversold, overbought)
	}
	return r
}

// oscillator completes the record of a line with zones that never leaves the panel of which
// zone was told, and with divergences if it has their parameters. Its signals have the plain
// labels; an entry with labels of its own calls zoned.
func oscillator(ind Indicator, label string, line func(s *market.Series, a Args) []float64) Indicator {
	ind.Signals = []string{shape.Oversold, shape.Overbought}
	diverges := ind.index("divergence") >= 0
	if diverges {
		ind.Signals = append(ind.Signals, divSignals...)
	}
	level := ind.Params[ind.mustHave("oversold")]
	ind.Compute = func(s *market.Series, a Args) *Result {
		y := line(s, a)
		r := zoned(label, y, a, shape.Oversold, shape.Overbought)
		r.YRange = &[2]float64{level.Min, level.Max}
		if diverges {
			addDivergences(r, s, y, a)
		}
		return r
	}
	return ind
}

var nan = math.NaN()

// longest returns the largest of the named parameters, for the warm-up of several averages
// that do not depend on each other.
func longest(a Args, names ...string) int {
	n := 0
	for _, name := range names {
		n = max(n, a.Int(name))
	}
	return n
}

// The usual warm-ups, in bars before the first one shown: none; the bar before; a window; a
// window of changes; a window of changes and the bar before, which a crossing needs; a
// turn; an exponential average; Wilder's average; the dominant cycle. An average always
// depends a little on its start: its memory is so many bars that this can no longer be
// seen.
func noWarmup(Args) int         { return 0 }
func barWarmup(Args) int        { return 1 }
func windowWarmup(a Args) int   { return a.Int("length") }
func changeWarmup(a Args) int   { return a.Int("length") + 1 }
func crossingWarmup(a Args) int { return a.Int("length") + 2 }
func turnWarmup(a Args) int     { return a.Int("length") + 10 } // while the line does not change, its direction stays what it was
func emaWarmup(a Args) int      { return kernel.EMAMemory * a.Int("length") }
func wilderWarmup(a Args) int   { return kernel.WilderMemory * a.Int("length") }
func cycleWarmup(Args) int      { return kernel.HilbertWarmup }
