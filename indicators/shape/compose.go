package shape

import "wick/indicators/kernel"

// The usual forms of a result, so that an indicator need not repeat them.

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
