package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to John F. Ehlers, "FRAMA - Fractal Adaptive Moving Average", Technical
// Analysis of Stocks & Commodities, October 2005.
var indFRAMA = Indicator{
	Name: "frama", Title: "FRAMA", Aliases: []string{"fractal_adaptive", "fractal_adaptive_ma"}, Category: Trend, Overlay: true,
	Doc:     "Fractal adaptive moving average of Ehlers: an exponential average that quickens when price moves in a line and slows when it fills its range. Of hl2; an odd length is raised by one, because the window is halved.",
	Formula: "D = (ln(N1 + N2) - ln N3) / ln 2, N the ranges per bar of both halves and of the whole; weight = e^(-4.6 (D - 1)), 0.01 to 1",
	Params:  []Param{bars("length", 16, "bars in the window", "period", "len")},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	// In a market that fills its range the weight is 0.01, and 500 bars leave less than
	// a hundredth of the start.
	Warmup: func(a Args) int { return a.Int("length") + 500 },
	Compute: func(s *market.Series, a Args) *Result {
		return shape.OverPrice("FRAMA", s.Close, frama(s, (a.Int("length")+1)/2))
	},
}

// frama returns the average over a window of two halves. It begins with the
// price of the first whole window.
func frama(s *market.Series, half int) []float64 {
	out, x := kernel.NaNs(s.Len()), kernel.MedianPrice(s)
	// The extremes of one half serve for both: the older half is the same column half a
	// window ago.
	top, bottom := kernel.Highest(s.High, half), kernel.Lowest(s.Low, half)
	for i := 2*half - 1; i < len(out); i++ {
		// Two halves that each cover the whole range fill it: dimension 2, the smallest
		// weight. Two that share it evenly make a line: dimension 1, the weight 1.
		recent, older := top[i]-bottom[i], top[i-half]-bottom[i-half]
		whole := max(top[i], top[i-half]) - min(bottom[i], bottom[i-half])
		weight := 1.0 // of a window without range: there is nothing to smooth
		if recent+older > 0 {
			// ln(N1+N2) - ln(N3), with the factors 1/half and 1/(2 half) taken out
			dimension := math.Log(2*(recent+older)/whole) / math.Ln2
			weight = max(0.01, min(1, math.Exp(-4.6*(dimension-1))))
		}
		if i == 2*half-1 {
			out[i] = x[i]
			continue
		}
		out[i] = out[i-1] + float64(weight*(x[i]-out[i-1]))
	}
	return out
}
