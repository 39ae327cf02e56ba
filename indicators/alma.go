package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indALMA = Indicator{
	Name: "alma", Title: "ALMA", Aliases: []string{"arnaud_legoux", "arnaud_legoux_ma"}, Category: Trend, Overlay: true,
	Doc:     "Arnaud Legoux moving average: bell-shaped weights whose peak lies near the newest bar. The peak is not rounded to a bar, as at TradingView by default.",
	Formula: "ALMA = Σ w[j] * x[j] / Σ w[j], w[j] = exp(-(j - offset*(n-1))² / (2 (n/sigma)²)), j = n-1 is the newest bar",
	Params: []Param{
		length(9),
		factor("offset", 0.85, 0, 1, "where the peak lies, 1 = newest bar"),
		factor("sigma", 6, 0.1, 100, "sharpness of the peak"), source(),
	},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  func(a Args) int { return a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		line := kernel.Convolve(column(s, a), almaWeights(a.Int("length"), a.Float("offset"), a.Float("sigma")))
		return &Result{
			Lines:   []Line{{Label: "ALMA", Values: line}},
			Signals: shape.PriceCrossings(s.Close, line),
		}
	},
}

// almaWeights returns the weights, oldest bar first. Their sum is 1.
func almaWeights(n int, offset, sigma float64) []float64 {
	w := make([]float64, n)
	peak, width := offset*float64(n-1), float64(n)/sigma
	var sum float64
	for j := range w {
		d := (float64(j) - peak) / width
		w[j] = math.Exp(-d * d / 2)
		sum += w[j]
	}
	for j := range w {
		w[j] /= sum
	}
	return w
}
