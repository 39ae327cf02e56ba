package indicators

import (
	"math"

	"wick/market"
)

var indChopZone = Indicator{
	Name: "chop_zone", Title: "Chop Zone", Aliases: []string{"chopzone"}, Category: Trend,
	Doc:     "Chop zone: the angle at which an exponential average climbs, in degrees, with a bar of time as wide as a 25th of the range of 30 bars is high. Beyond 5 degrees the market trends; between it chops. The angle is what TradingView's colours stand for.",
	Formula: "angle = atan((EMA - EMA[1]) / hlc3 * 25 * lowest low / (highest high - lowest low)) in degrees",
	Params: []Param{
		bars("length", 30, "bars of the range", "period", "len", "window"), bars("ema", 34, "exponential average", "ema_length"),
		quiet(factor("level", 5, 0, 90, "degrees of a trend", "threshold")),
	},
	Signals: []string{BreakUp, BreakDown, ZeroUp, ZeroDown},
	Warmup:  func(a Args) int { return a.Int("length") + emaMemory*a.Int("ema") },
	Compute: func(s *market.Series, a Args) *Result {
		level := a.Float("level")
		line := climb(s, a.Int("length"), a.Int("ema"))
		signals := levelCrossings(nil, line, level, BreakUp, "")
		signals = levelCrossings(signals, line, -level, "", BreakDown)
		return &Result{
			Histogram: []Histogram{{Label: "Angle", Values: line}},
			HLines:    []HLine{{Y: level}, {Y: 0}, {Y: -level}},
			Signals:   inOrder(levelCrossings(signals, line, 0, ZeroUp, ZeroDown)),
		}
	},
}

// climb returns the angle of the average of m closes; 0 in a window without
// range.
func climb(s *market.Series, n, m int) []float64 {
	hi, lo, step, price := highest(s.High, n), lowest(s.Low, n), change(ema(s.Close, m), 1), typicalPrice(s)
	out := nans(s.Len())
	for i := max(firstValid(hi), firstValid(step)); i < len(out); i++ {
		out[i] = 0
		if hi[i] > lo[i] && price[i] > 0 {
			out[i] = math.Atan(step[i]/price[i]*25*lo[i]/(hi[i]-lo[i])) * 180 / math.Pi
		}
	}
	return out
}
