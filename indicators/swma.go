package indicators

import "wick/market"

var indSWMA = Indicator{
	Name: "swma", Title: "SWMA", Aliases: []string{"symmetric_weighted_ma", "symmetrically_weighted_ma"}, Category: Trend, Overlay: true,
	Doc:     "Symmetrically weighted moving average of four bars, the middle two counting double: it removes jitter at a lag of a bar and a half. As TradingView's ta.swma.",
	Formula: "SWMA = (x + 2x[1] + 2x[2] + x[3]) / 6",
	Params:  []Param{source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  func(Args) int { return 4 },
	Compute: func(s *market.Series, a Args) *Result {
		line := swma(column(s, a))
		return &Result{
			Lines:   []Line{{Label: "SWMA", Values: line}},
			Signals: priceCrossings(s, line),
		}
	},
}

// swma returns the average with weights 1, 2, 2, 1.
func swma(x []float64) []float64 {
	out := nans(len(x))
	for i := firstValid(x) + 3; i < len(x); i++ {
		out[i] = (x[i] + float64(2*x[i-1]) + float64(2*x[i-2]) + x[i-3]) / 6
	}
	return out
}
