package indicators

import (
	"math"

	"wick/market"
)

var indALMA = Indicator{
	Name: "alma", Title: "ALMA", Aliases: []string{"arnaud_legoux", "arnaud_legoux_ma"}, Category: Trend, Overlay: true,
	Doc:     "Arnaud Legoux moving average: bell-shaped weights whose peak lies near the newest bar. The peak is not rounded to a bar, as at TradingView by default.",
	Formula: "ALMA = Σ w[j] * x[j] / Σ w[j], w[j] = exp(-(j - offset*(n-1))² / (2 (n/sigma)²)), j = n-1 is the newest bar",
	Params: []Param{
		almaLength(),
		factor("offset", 0.85, 0, 1, "where the peak lies, 1 = newest bar"),
		factor("sigma", 6, 0.1, 100, "sharpness of the peak"), source(),
	},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  func(a Args) int { return a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		line := convolve(column(s, a), almaWeights(a.Int("length"), a.Float("offset"), a.Float("sigma")))
		return &Result{
			Lines:   []Line{{Label: "ALMA", Values: line}},
			Signals: priceCrossings(s, line),
		}
	},
}

// almaLength is length with a smaller upper bound: a bell has no shortcut, so
// every bar costs its length, and 200 keep that near what others cost.
func almaLength() Param {
	p := length(9)
	p.Max = 200
	return p
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

// convolve returns the weighted sum of the last len(w) values, w[0] being the
// weight of the oldest.
func convolve(x, w []float64) []float64 {
	n := len(w)
	first := firstValid(x)
	out := unknown(len(x), first+n-1)
	for i := first + n - 1; i < len(x); i++ {
		out[i] = dot(x[i-n+1:i+1], w)
	}
	return out
}

// dot returns the sum of products. Four sums run side by side: one alone
// would wait for every addition.
func dot(x, w []float64) float64 {
	w = w[:len(x)]
	var a, b, c, d float64
	for len(x) >= 4 && len(w) >= 4 {
		a += float64(x[0] * w[0])
		b += float64(x[1] * w[1])
		c += float64(x[2] * w[2])
		d += float64(x[3] * w[3])
		x, w = x[4:], w[4:]
	}
	for k, v := range x {
		a += float64(v * w[k])
	}
	return a + b + c + d
}
