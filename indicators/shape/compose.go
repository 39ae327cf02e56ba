package shape

import "wick/indicators/kernel"

// The usual forms of a result, so that an indicator need not repeat them.

// OverPrice draws one line over the price and marks where the closes cross it.
func OverPrice(label string, closes, line []float64) *Result {
	return &Result{Lines: []Line{{Label: label, Values: line}}, Signals: PriceCrossings(closes, line)}
}

// ZeroPanel draws one line around zero and marks where it crosses zero.
func ZeroPanel(label string, line []float64) *Result {
	return LevelPanel(label, line, 0, ZeroUp, ZeroDown)
}

// LevelPanel draws one line around a level and marks where it crosses that level.
func LevelPanel(label string, line []float64, level float64, up, down string) *Result {
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: line}},
		HLines:  []HLine{{Y: level}},
		Signals: LevelCrossings(nil, line, level, up, down),
	}
}

// SignalPanel draws a line and its signal line around zero. It marks where they
// cross each other and where the line crosses zero.
func SignalPanel(label string, line, signal []float64) *Result {
	// Crossings of the two lines come first, and InOrder keeps that order for a bar that has
	// both kinds.
	signals := Crossings(nil, line, signal, CrossUp, CrossDown)
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: line}, {Label: "Signal", Tone: Second, Values: signal}},
		HLines:  []HLine{{Y: 0}},
		Signals: InOrder(LevelCrossings(signals, line, 0, ZeroUp, ZeroDown)),
	}
}

// SignalHistogram is like [SignalPanel] with the difference of the two lines as
// a histogram.
func SignalHistogram(label string, line, signal, hist []float64) *Result {
	r := SignalPanel(label, line, signal)
	r.Histogram = []Histogram{{Label: "Histogram", Values: hist}}
	return r
}

// AveragedLine draws a line with its average and marks where they cross.
func AveragedLine(label string, line, average []float64) *Result {
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: line}, {Label: "Average", Tone: Second, Values: average}},
		Signals: Crossings(nil, line, average, CrossUp, CrossDown),
	}
}

// Bands draws a middle line between two bands.
func Bands(mid, upper, lower []float64) *Result {
	return &Result{
		Lines: []Line{
			{Label: "Middle", Tone: Muted, Values: mid},
			{Label: "Upper", Tone: Band, Values: upper},
			{Label: "Lower", Tone: Band, Values: lower},
		},
		Fills: []Fill{{Y1: upper, Y2: lower, Tone: Band}},
	}
}

// Channel is like [Bands] and marks the closes that leave the bands.
func Channel(closes, mid, upper, lower []float64) *Result {
	r := Bands(mid, upper, lower)
	r.Signals = Breakouts(closes, upper, lower)
	return r
}

// StopLines splits a trailing stop into two lines, one below a rising market and one above
// a falling one, so that each has its own tone and the chart does not connect them.
func StopLines(stop []float64, up []bool) []Line {
	below, above := kernel.NaNs(len(stop)), kernel.NaNs(len(stop))
	for i, v := range stop {
		if up[i] {
			below[i] = v
		} else {
			above[i] = v
		}
	}
	return []Line{{Label: "Up", Tone: Up, Values: below}, {Label: "Down", Tone: Down, Values: above}}
}
