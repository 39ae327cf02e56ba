package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to E. W. Dreiss.
var indChoppiness = Indicator{
	Name: "choppiness", Title: "CHOP", Aliases: []string{"chop", "choppiness_index"}, Category: Volatility, Beyond: true,
	Doc: "Choppiness index of Dreiss: how much of their way bars lose within their range. 0 to 100, and more across gaps, which count as way but not as range. Above 61.8 the market goes sideways, below 38.2 it trends. As at TradingView; " +
		"the variant true_range measures the range from gap to gap, with the close before each bar.",
	Formula: "CHOP = 100 * log(ΣTR / (highest high - lowest low)) / log(n) over n bars",
	Params: []Param{
		lengthFrom(2, 14), choice("variant", "what counts as the range", "high_low", "true_range"),
		quiet(factor("lower", 38.2, 0, 100, "level of a trend")), quiet(factor("upper", 61.8, 0, 100, "level of a sideways market")),
	},
	Signals: []string{shape.ModeTrend, shape.ModeCycle},
	Warmup:  crossingWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		n, hi, lo := a.Int("length"), s.High, s.Low
		if a.Choice("variant") == "true_range" {
			// The first bar has no close before it and drops out with the NaN.
			before := kernel.Shift(s.Close, 1)
			hi, lo = kernel.Greater(hi, before), kernel.Lesser(lo, before)
		}
		// The logarithms scale it: 0 is a straight way through the range, 100 are n
		// bars that each cover all of it.
		line := choppiness(kernel.RollingSum(kernel.TrueRange(s), n), kernel.Minus(kernel.Highest(hi, n), kernel.Lowest(lo, n)), n)
		signals := shape.LevelCrossings(nil, line, a.Float("lower"), "", shape.ModeTrend)
		return &Result{
			YRange:  &[2]float64{0, 100},
			Lines:   []Line{{Label: "CHOP", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: a.Float("upper")}, {Y: 50}, {Y: a.Float("lower")}},
			Signals: shape.InOrder(shape.LevelCrossings(signals, line, a.Float("upper"), shape.ModeCycle, "")),
		}
	},
}

// choppiness returns the index; a window that never moved has none.
func choppiness(way, reach []float64, n int) []float64 {
	out := kernel.NaNs(len(way))
	for i := range out {
		if way[i] > 0 && reach[i] > 0 {
			out[i] = 100 * math.Log(way[i]/reach[i]) / math.Log(float64(n))
		}
	}
	return out
}
