package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// barsSince returns how many bars ago the bars in at were, counted from each bar, and
// NaN where at is -1.
func barsSince(at []int) []float64 {
	out := make([]float64, len(at))
	for i, k := range at {
		out[i] = float64(i - k)
		if k < 0 {
			out[i] = nan
		}
	}
	return out
}

// sinceExtreme completes the record of how many bars ago the highest (sign 1) or the
// lowest (sign -1) price of the window was, with a signal where that becomes this bar.
func sinceExtreme(ind Indicator, label string, sign float64, signal string, tone Tone) Indicator {
	ind.Category, ind.Params, ind.Warmup = Statistics, []Param{length(30), source()}, changeWarmup
	ind.Signals = []string{signal}
	ind.Compute = func(s *market.Series, a Args) *Result {
		y := barsSince(kernel.ExtremeAt(column(s, a), a.Int("length"), sign, false))
		r := &Result{Lines: []Line{{Label: label, Tone: Primary, Values: y}}}
		for i := 1; i < len(y); i++ {
			// A run of new extremes gives one signal, on its first bar.
			if y[i] == 0 && y[i-1] > 0 {
				r.Signals = append(r.Signals, shape.Mark(i, 0, signal, tone))
			}
		}
		return r
	}
	return ind
}
