package indicators

import (
	"math"
	"slices"

	"wick/market"
)

var indZScore = Indicator{
	Name: "zscore", Title: "Z-score", Aliases: []string{"z_score"}, Category: Statistics,
	Doc:     "Z-score: how many deviations the price is from its average. Population deviation; no value where the window did not move.",
	Formula: "(x - SMA(x, n)) / σ(x, n)",
	Params:  slices.Concat([]Param{length(30)}, zone(-2, 2, -10, 10), []Param{source()}),
	Signals: []string{Oversold, Overbought},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		mean, dev := sma(x, a.Int("length")), stdev(x, a.Int("length"))
		z := nans(len(x))
		for i := range z {
			if dev[i] > 0 {
				z[i] = (x[i] - mean[i]) / dev[i]
			}
		}
		return zoned("Z", z, a, Oversold, Overbought)
	},
}

var indSkew = Indicator{
	Name: "skew", Title: "Skew", Aliases: []string{"skewness"}, Category: Statistics,
	Doc:     "Skewness of the last prices: positive when the long tail is above the mean. Of the population (g1), not corrected for small samples.",
	Formula: "m3 / m2^1.5, m the central moments of x over n bars",
	Params:  []Param{length(30), source()},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		skew, _ := shape(column(s, a), a.Int("length"))
		return &Result{Lines: []Line{{Label: "Skew", Tone: Primary, Values: skew}}, HLines: []HLine{{Y: 0}}}
	},
}

var indKurtosis = Indicator{
	Name: "kurtosis", Title: "Kurtosis", Aliases: []string{"excess_kurtosis"}, Category: Statistics,
	Doc:     "Excess kurtosis of the last prices: positive when the tails are heavier than a normal distribution's. Of the population (g2), not corrected for small samples.",
	Formula: "m4 / m2² - 3, m the central moments of x over n bars",
	Params:  []Param{length(30), source()},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		_, kurtosis := shape(column(s, a), a.Int("length"))
		return &Result{Lines: []Line{{Label: "Kurtosis", Tone: Primary, Values: kurtosis}}, HLines: []HLine{{Y: 0}}}
	},
}

// shape returns the skewness and the excess kurtosis of the last n values.
//
// Sums of powers slide, of distances from a value of the window itself: from
// zero, the fourth power of a price would leave nothing of its movement. The
// origin moves and the sums are taken anew every n bars, which costs one
// addition a bar and keeps rounding from adding up. A window without movement
// beyond rounding has neither.
func shape(x []float64, n int) (skew, kurtosis []float64) {
	skew, kurtosis = nans(len(x)), nans(len(x))
	first := firstValid(x)
	var sums [5]float64 // of powers 1 to 4; the first is unused
	var origin float64
	add := func(v, sign float64) {
		d := v - origin
		p := sign
		for k := 1; k <= 4; k++ {
			p *= d
			sums[k] += p
		}
	}
	for i := first + n - 1; i < len(x); i++ {
		if (i-first-n+1)%n == 0 {
			origin, sums = x[i], [5]float64{}
			for _, v := range x[i-n+1 : i+1] {
				add(v, 1)
			}
		} else {
			add(x[i], 1)
			add(x[i-n], -1)
		}
		skew[i], kurtosis[i] = central(sums, float64(n))
	}
	return skew, kurtosis
}

// central turns sums of powers around some origin into skewness and excess
// kurtosis around the mean.
func central(sums [5]float64, n float64) (skew, kurtosis float64) {
	a, b, c, d := sums[1]/n, sums[2]/n, sums[3]/n, sums[4]/n
	variance := b - float64(a*a)
	if !(variance > 1e-12*b) {
		return nan, nan
	}
	third := c - float64(3*a*b) + float64(2*a*a*a)
	fourth := d - float64(4*a*c) + float64(6*a*a*b) - float64(3*a*a*a*a)
	return third / (variance * math.Sqrt(variance)), fourth/(variance*variance) - 3
}
