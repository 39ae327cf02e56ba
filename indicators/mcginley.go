package indicators

import "wick/indicators/kernel"

// Attributed to John R. McGinley, Jr., "McGinley Dynamics", Market Technicians
// Association Journal, 1997.
var indMcGinley = overPrice(Indicator{
	Name: "mcginley", Title: "McGinley", Aliases: []string{"mcgd", "mcginley_dynamic", "dynamic", "md"}, Category: Trend,
	Doc:     "McGinley dynamic: an average that quickens when the price falls below it and slows when it runs ahead. Starts from the first price. The factor k is 1 as at TradingView; 0.6, McGinley's own advice, is Skender's and others' choice.",
	Formula: "MD = MD[1] + (x - MD[1]) / (k * n * (x / MD[1])⁴)",
	Params:  []Param{length(14), factor("k", 1, 0.1, 2, "factor of the length, 1 or 0.6", "constant"), source()},
	Warmup:  wilderWarmup,
}, "McGinley", func(x []float64, a Args) []float64 { return mcginley(x, a.Float("k")*float64(a.Int("length"))) })

// mcginley returns the dynamic of x with n bars. The divisor is kept at 1 or
// more: below it one step would overshoot the price, and after a crash the
// fourth power would throw the line to infinity.
func mcginley(x []float64, n float64) []float64 {
	out := kernel.NaNs(len(x))
	first := kernel.FirstValid(x)
	if first == len(x) {
		return out
	}
	value := x[first]
	out[first] = value
	for i := first + 1; i < len(x); i++ {
		// A line at 0 has no ratio; the divisor is then 1, and the line jumps to the
		// price.
		ratio := 0.0
		if value != 0 {
			ratio = x[i] / value
		}
		value += (x[i] - value) / max(1, n*ratio*ratio*ratio*ratio)
		out[i] = value
	}
	return out
}
