package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The usual ways to compute a result, so that records need not repeat them.

// overPrice returns the Compute of a line over the price, with the signals of
// the close crossing it.
func overPrice(label string, line func(x []float64, a Args) []float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		y := line(column(s, a), a)
		if a.linesOnly {
			return &Result{Lines: []Line{{Label: label, Values: y}}}
		}
		return shape.OverPrice(label, s.Close, y)
	}
}

// turningOver returns the Compute of a line over the price that is smooth enough for its
// turns to be the signals.
func turningOver(label string, line func(x []float64, a Args) []float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		y := line(column(s, a), a)
		return &Result{Lines: []Line{{Label: label, Values: y}}, Signals: shape.Turns(nil, y)}
	}
}

// aroundZero returns the Compute of an oscillator around zero, with the signals
// of its crossing zero.
func aroundZero(label string, line func(s *market.Series, a Args) []float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		return shape.ZeroPanel(label, line(s, a))
	}
}

// turning returns the Compute of a line in a panel whose direction alone has a meaning: its
// signals are the turns. They are silent, because such a line turns every few bars.
func turning(label string, line func(s *market.Series, a Args) []float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		y := line(s, a)
		return &Result{
			Lines:   []Line{{Label: label, Tone: Primary, Values: y}},
			Signals: shape.Silently(shape.Turns(nil, y)),
		}
	}
}

// volatile returns the Compute of a measure of volatility.
func volatile(label string, line func(s *market.Series, a Args) []float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result { return volatility(label, line(s, a)) }
}

// volatility draws a measure of volatility and marks where it rises above half again
// its mean of the last 50 bars. A spike is one signal: the bar before must have been
// below.
func volatility(label string, y []float64) *Result {
	// A measure may have holes, as the deviation of returns has where a price is not
	// positive; the mean starts anew after each.
	usual := kernel.InRuns(y, func(x []float64) []float64 { return kernel.SMA(x, usualBars) })
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: y}},
		Signals: shape.Spikes(y, usual, 1.5),
	}
}

// usualBars is how many bars make the usual size of a volatility.
const usualBars = 50

// usually returns a warm-up that is longer by the bars of volatility's mean.
func usually(warmup func(Args) int) func(Args) int {
	return func(a Args) int { return warmup(a) + usualBars + 1 }
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

// oscillator is like zoned, for lines that range from 0 to 100. Its signals have the
// plain labels; an entry with labels of its own calls zoned.
func oscillator(label string, line []float64, a Args) *Result {
	r := zoned(label, line, a, shape.Oversold, shape.Overbought)
	r.YRange = &[2]float64{0, 100}
	return r
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
