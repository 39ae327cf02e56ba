package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
)

// Source, not checked against the original: the public script "Trend Regularity
// Adaptive Moving Average" by LuxAlgo on TradingView.
var indTRAMA = Indicator{
	Name: "trama", Title: "TRAMA", Aliases: []string{"trend_regularity_ma"}, Category: Trend, Overlay: true,
	Doc:     "Trend regularity adaptive average: it moves the faster, the more of the last bars made a new extreme of the window, and stands still while none does. After LuxAlgo's script, starting from the first price it can, not checked against its text.",
	Formula: "w = (share of the last n bars with a new highest or lowest of n)²; TRAMA = TRAMA[1] + w * (x - TRAMA[1])",
	Params:  []Param{lengthFrom(2, 99), source()},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  func(a Args) int { return 60 * a.Int("length") },
	Compute: overPrice("TRAMA", func(x []float64, a Args) []float64 { return trama(x, a.Int("length")) }),
}

// trama returns the average of x. The share counts bars on which the highest of n
// rose or the lowest fell.
func trama(x []float64, n int) []float64 {
	top, bottom := kernel.Highest(x, n), kernel.Lowest(x, n)
	fresh := kernel.NaNs(len(x))
	for i := kernel.FirstValid(top) + 1; i < len(x); i++ {
		fresh[i] = 0
		if kernel.Compare(top[i], top[i-1]) > 0 || kernel.Compare(bottom[i], bottom[i-1]) < 0 {
			fresh[i] = 1
		}
	}
	share := kernel.Scaled(kernel.RollingSum(fresh, n), 1/float64(n))
	first := kernel.FirstValid(share)
	out := kernel.Unknown(len(x), first)
	for i := first; i < len(x); i++ {
		// The line starts with the price.
		before := x[i]
		if i > first {
			before = out[i-1]
		}
		out[i] = before + float64(share[i]*share[i]*(x[i]-before))
	}
	return out
}
