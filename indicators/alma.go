package indicators

import (
	"math"

	"wick/indicators/kernel"
)

// Attributed to Arnaud Legoux and Dimitrios Kouzis-Loukas, 2009, who published it on
// pages of their own.
var indALMA = overPrice(Indicator{
	Name: "alma", Title: "ALMA", Aliases: []string{"arnaud_legoux", "arnaud_legoux_ma"}, Category: Trend,
	Doc:     "Arnaud Legoux moving average: bell-shaped weights whose peak lies near the newest bar. The peak is not rounded to a bar, as at TradingView by default.",
	Formula: "ALMA = Σ w[j] * x[j] / Σ w[j], w[j] = exp(-(j - offset*(n-1))² / (2 (n/sigma)²)), j = n-1 is the newest bar",
	Params: []Param{
		length(9),
		factor("offset", 0.85, 0, 1, "where the peak lies, 1 = newest bar"),
		factor("sigma", 6, 0.1, 100, "sharpness of the peak"), source(),
	},
	Warmup: windowWarmup,
}, "ALMA", func(x []float64, a Args) []float64 {
	return kernel.Convolve(x, almaWeights(a.Int("length"), a.Float("offset"), a.Float("sigma")))
})

// almaWeights returns the weights, oldest bar first. Their sum is 1.
func almaWeights(n int, offset, sigma float64) []float64 {
	return bell(n, offset*float64(n-1), float64(n)/sigma)
}

// bell returns n weights whose sum is 1, in the shape of a normal distribution of
// the given width around peak, which need not be a whole number.
func bell(n int, peak, width float64) []float64 {
	w := make([]float64, n)
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
