package indicators

import (
	"math"

	"wick/indicators/shape"
	"wick/market"
)

// The swing is that of the bars on display, so it changes with them; a fixed pair of
// turning points would need a rule for which pair.
var indFibonacci = Indicator{
	Name: "fibonacci_retracement", Title: "Fib", Also: []string{"auto_fib_retracement"}, Aliases: []string{"auto_fib", "fib", "fibonacci"}, Category: Pattern,
	Overlay: true, Repaints: true, VisibleOnly: true,
	Doc:      "Fibonacci retracements of the swing between the highest high and the lowest low on display: how much of it price has taken back. 0 is the later of the two extremes, 1 the earlier.",
	Formula:  "level = end + r * (start - end), r = 0, 0.236, 0.382, 0.5, 0.618, 0.786, 1",
	Params:   []Param{rangeBars()},
	Signals:  []string{shape.LevelTouch},
	Meanings: newestTouch,
	Compute: func(s *market.Series, a Args) *Result {
		// The levels come from the bars in range; touches are looked for at the newest
		// of all.
		all := s
		s = recent(s, a)
		high, low := 0, 0
		for i := range s.Len() {
			if s.High[i] > s.High[high] {
				high = i
			}
			if s.Low[i] < s.Low[low] {
				low = i
			}
		}
		r := &Result{}
		if s.Len() == 0 || s.High[high] == s.Low[low] {
			return r
		}
		// The move runs from the earlier extreme to the later one. If both are on one
		// bar it counts as a rise.
		start, end := s.Low[low], s.High[high]
		if low > high {
			start, end = end, start
		}
		for _, part := range []float64{0, 0.236, 0.382, 0.5, 0.618, 0.786, 1} {
			r.HLines = append(r.HLines, HLine{Y: end + float64(part*(start-end)), Label: number(math.Round(1000*part)/10) + "%", Tone: Muted})
		}
		r.Signals = shape.LastTouches(all.High, all.Low, r.HLines)
		return r
	},
}
