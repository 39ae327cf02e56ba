package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule, for falling lines; rising ones mirrored. Two swing highs in
// succession of which the second is lower make a line, if no close between them
// lies above it. It is drawn on from the bar that confirms the second until a
// close above it, which is a breakout, or until newer swings make another, which
// is drawn from the next bar on.
var indTrendLines = Indicator{
	Name: "trend_lines", Title: "Trend lines", Aliases: []string{"trendlines", "trend_line", "auto_trendlines"}, Category: Pattern, Overlay: true,
	Doc:     "Trend lines found from the bars: a falling line through the last two swing highs and a rising one through the last two swing lows, drawn on from where they are known until a close breaks them. Nothing repaints.",
	Formula: "falling: through two swing highs in succession, the second lower, no close between them above the line; broken: close > line",
	Params:  swingParams(5, 200),
	Signals: []string{shape.BreakUp, shape.BreakDown},
	Meanings: map[string]string{
		shape.BreakUp:   "the close rises above the falling line",
		shape.BreakDown: "the close falls below the rising line",
	},
	Warmup: structureWarmup(2),
	Compute: func(s *market.Series, a Args) *Result {
		return bothSides(s, func(s *market.Series, side int) *Result {
			line, signals := trendLine(s, a, [2]string{shape.BreakUp, shape.BreakDown}[side], [2]Tone{Up, Down}[side])
			return &Result{
				Lines:   []Line{{Label: [2]string{"Resistance", "Support"}[side], Tone: [2]Tone{Down, Up}[side], Values: line}},
				Signals: signals,
			}
		})
	},
}

// trendLine returns the falling line at each bar, and a signal where it breaks.
func trendLine(s *market.Series, a Args, label string, tone Tone) (line []float64, signals []Signal) {
	line = kernel.NaNs(s.Len())
	highs, next := swingHighs(s, a.Int("left"), a.Int("right")), 0
	var from, to swing
	live := false
	for i := range s.Len() {
		// Swings that become known on this bar may make another line, which takes the
		// place of the one there is.
		before, was := to, live
		for ; next < len(highs) && highs[next].known <= i; next++ {
			if next > 0 && linesUp(s, highs[next-1], highs[next], a.Int("lookback")) {
				from, to, live = highs[next-1], highs[next], true
			}
		}
		if live = live && i-to.bar <= a.Int("lookback"); !live {
			continue
		}
		line[i] = lineThrough(from, to, i)
		if kernel.Compare(s.Close[i], line[i]) > 0 {
			signals = append(signals, shape.Mark(i, line[i], label, tone))
			live = false
		}
		// A bar on which one line follows another is left out, so that nothing joins
		// the two.
		if was && before != to {
			apart(i, line)
		}
	}
	return line, signals
}

// linesUp reports whether two swing highs make a falling line: at most within bars
// apart, the second one lower, and no close between them above the line.
func linesUp(s *market.Series, from, to swing, within int) bool {
	if to.bar-from.bar > within || kernel.Compare(to.price, from.price) >= 0 {
		return false
	}
	for i := from.bar + 1; i < to.bar; i++ {
		if kernel.Compare(s.Close[i], lineThrough(from, to, i)) > 0 {
			return false
		}
	}
	return true
}
