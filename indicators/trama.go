package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Source: the public script "Trend Regularity Adaptive Moving Average" by LuxAlgo on
// TradingView. Its extremes are those of highs and lows, whatever is averaged.
var indTRAMA = Indicator{
	Name: "trama", Title: "TRAMA", Aliases: []string{"trend_regularity_ma"}, Category: Trend, Overlay: true,
	Doc:     "Trend regularity adaptive average: it moves the faster, the more of the last bars made a new high or low of the window, and stands still while none does. After LuxAlgo's script; extremes that are not known yet count as none.",
	Formula: "w = (share of the last n bars with a new highest high or lowest low of n)²; TRAMA = TRAMA[1] + w * (x - TRAMA[1])",
	Params:  []Param{lengthFrom(2, 99), source()},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	// The weight is the square of a share and often small, so the start is remembered
	// for long.
	Warmup: func(a Args) int { return 60 * a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		return shape.OverPrice("TRAMA", s.Close, trama(s, column(s, a), a.Int("length")))
	},
}

// trama returns the average of x from the bar on that ends the first window, where
// it starts from the value before. The share counts bars on which the highest high
// of n rose or the lowest low fell.
func trama(s *market.Series, x []float64, n int) []float64 {
	top, bottom := kernel.Highest(s.High, n), kernel.Lowest(s.Low, n)
	// 1 on the bars that made a new extreme; the mean of it over the window is the
	// share.
	fresh := make([]float64, len(x))
	for i := n; i < len(x); i++ {
		if kernel.Compare(top[i], top[i-1]) > 0 || kernel.Compare(bottom[i], bottom[i-1]) < 0 {
			fresh[i] = 1
		}
	}
	share := kernel.Scaled(kernel.RollingSum(fresh, n), 1/float64(n))
	first := max(n-1, kernel.FirstValid(x)+1)
	out := kernel.Unknown(len(x), first)
	for i := first; i < len(x); i++ {
		before := x[i-1]
		if i > first {
			before = out[i-1]
		}
		out[i] = before + float64(share[i]*share[i]*(x[i]-before))
	}
	return out
}
