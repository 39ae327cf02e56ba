package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
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
	Signals:  []string{shape.BreakUp, shape.BreakDown, shape.ZeroUp, shape.ZeroDown},
	Meanings: shape.BreakMeanings("the angle", "the upper level", "the lower level"),
	Warmup:   func(a Args) int { return a.Int("length") + kernel.EMAMemory*a.Int("ema") },
	Compute: func(s *market.Series, a Args) *Result {
		level := a.Float("level")
		// Zero and both levels are three sets of crossings; InOrder puts them together
		// by bar.
		line := climb(s, a.Int("length"), a.Int("ema"))
		signals := shape.LevelCrossings(nil, line, level, shape.BreakUp, "")
		signals = shape.LevelCrossings(signals, line, -level, "", shape.BreakDown)
		return &Result{
			Histogram: []Histogram{{Label: "Angle", Values: line}},
			HLines:    []HLine{{Y: level}, {Y: 0}, {Y: -level}},
			Signals:   shape.InOrder(shape.LevelCrossings(signals, line, 0, shape.ZeroUp, shape.ZeroDown)),
		}
	},
}

// climb returns the angle of the average of m closes; 0 in a window without
// range.
func climb(s *market.Series, n, m int) []float64 {
	hi, lo, step, price := kernel.Highest(s.High, n), kernel.Lowest(s.Low, n), kernel.Change(kernel.EMA(s.Close, m), 1), kernel.TypicalPrice(s)
	out := kernel.NaNs(s.Len())
	for i := max(kernel.FirstValid(hi), kernel.FirstValid(step)); i < len(out); i++ {
		// Without a range there is no scale, and the line is level.
		out[i] = 0
		if hi[i] > lo[i] && price[i] > 0 {
			out[i] = math.Atan(step[i]/price[i]*25*lo[i]/(hi[i]-lo[i])) * 180 / math.Pi
		}
	}
	return out
}
