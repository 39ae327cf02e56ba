package indicators

import "wick/market"

// The usual shapes of results, so that a record says only what is its own.

// overPrice returns the Compute of a line over the price: the line, and where
// the close crosses it.
func overPrice(label string, line func(x []float64, a Args) []float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		y := line(column(s, a), a)
		return &Result{Lines: []Line{{Label: label, Values: y}}, Signals: priceCrossings(s, y)}
	}
}

// aroundZero returns the Compute of an oscillator around zero: the line, the
// level, and where it is crossed.
func aroundZero(label string, line func(s *market.Series, a Args) []float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		return zeroPanel(label, line(s, a))
	}
}

// zeroPanel draws one line around zero and marks where it crosses.
func zeroPanel(label string, line []float64) *Result {
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: line}},
		HLines:  []HLine{{Y: 0}},
		Signals: levelCrossings(nil, line, 0, ZeroUp, ZeroDown),
	}
}

// plain returns the Compute of a line in a panel that emits nothing.
func plain(label string, line func(s *market.Series, a Args) []float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		return &Result{Lines: []Line{{Label: label, Tone: Primary, Values: line(s, a)}}}
	}
}

// zoned returns a line with the levels of zone, the middle between them, and
// signals where it leaves the zones.
func zoned(label string, y []float64, a Args, oversold, overbought string) *Result {
	lo, hi := a.Float("oversold"), a.Float("overbought")
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: y}},
		HLines:  []HLine{{Y: hi}, {Y: (lo + hi) / 2}, {Y: lo}},
		Signals: zoneExits(nil, y, lo, hi, oversold, overbought),
	}
}

// lineWithSignal returns an oscillator around zero, its signal line and their
// difference, with the crossings of the two and of zero.
func lineWithSignal(label string, line, signal, hist []float64) *Result {
	r := signalPanel(label, line, signal)
	r.Histogram = []Histogram{{Label: "Histogram", Values: hist}}
	return r
}

// signalPanel draws a line and its signal line around zero and marks where
// they cross each other and the line crosses zero.
func signalPanel(label string, line, signal []float64) *Result {
	signals := crossings(nil, line, signal, CrossUp, CrossDown)
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: line}, {Label: "Signal", Tone: Second, Values: signal}},
		HLines:  []HLine{{Y: 0}},
		Signals: inOrder(levelCrossings(signals, line, 0, ZeroUp, ZeroDown)),
	}
}

// oscillator is zoned for a line between 0 and 100.
func oscillator(label string, line []float64, a Args) *Result {
	r := zoned(label, line, a, Oversold, Overbought)
	r.YRange = &[2]float64{0, 100}
	return r
}

// averagedLine draws a line with its average and marks where they cross.
func averagedLine(label string, line, average []float64) *Result {
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: line}, {Label: "Average", Tone: Second, Values: average}},
		Signals: crossings(nil, line, average, CrossUp, CrossDown),
	}
}

// bandResult draws a middle line between two bands and marks the closes that
// leave them.
func bandResult(s *market.Series, mid, upper, lower []float64) *Result {
	r := bands(mid, upper, lower)
	r.Signals = breakouts(s, upper, lower)
	return r
}

// bands draws a middle line between two bands.
func bands(mid, upper, lower []float64) *Result {
	return &Result{
		Lines: []Line{
			{Label: "Middle", Tone: Muted, Values: mid},
			{Label: "Upper", Tone: Band, Values: upper},
			{Label: "Lower", Tone: Band, Values: lower},
		},
		Fills: []Fill{{Y1: upper, Y2: lower, Tone: Band}},
	}
}

// breakouts marks the closes that leave a band, each placed on the close.
func breakouts(s *market.Series, upper, lower []float64) []Signal {
	var signals []Signal
	for i := 1; i < s.Len(); i++ {
		now, before := s.Close[i], s.Close[i-1]
		switch {
		case now >= upper[i] && before < upper[i-1]:
			signals = append(signals, Signal{i, now, BreakUp, Up})
		case now <= lower[i] && before > lower[i-1]:
			signals = append(signals, Signal{i, now, BreakDown, Down})
		}
	}
	return signals
}

// How many lengths an average remembers its seed: an exponential average of
// length n forgets it by a factor e every n/2 bars, Wilder's every n, so after
// this many less than a part in a hundred million is left.
const (
	emaMemory    = 10
	wilderMemory = 20
)

func windowWarmup(a Args) int { return a.Int("length") }
func emaWarmup(a Args) int    { return emaMemory * a.Int("length") }
func wilderWarmup(a Args) int { return wilderMemory * a.Int("length") }
