package indicators

import "wick/market"

var indStdDev = Indicator{
	Name: "stddev", Title: "StdDev", Aliases: []string{"stdev", "standard_deviation"}, Category: Statistics,
	Doc:     "Standard deviation of the last prices (population: divided by n), times a factor. As in TA-Lib.",
	Formula: "σ = sqrt(Σ(x - mean)² / n) * mult",
	Params:  []Param{length(20), quiet(factor("mult", 1, 0.01, 100, "factor", "nbdev", "multiplier", "deviation")), source()},
	Warmup:  windowWarmup,
	Compute: plain("StdDev", func(s *market.Series, a Args) []float64 {
		y, by := stdev(column(s, a), a.Int("length")), a.Float("mult")
		for i := range y {
			y[i] *= by
		}
		return y
	}),
}

var indVariance = Indicator{
	Name: "variance", Title: "Variance", Aliases: []string{"var"}, Category: Statistics,
	Doc:     "Variance of the last prices (population: divided by n). As in TA-Lib.",
	Formula: "σ² = Σ(x - mean)² / n",
	Params:  []Param{length(20), source()},
	Warmup:  windowWarmup,
	Compute: plain("Variance", func(s *market.Series, a Args) []float64 { return variance(column(s, a), a.Int("length")) }),
}

var indAvgDev = Indicator{
	Name: "avgdev", Title: "AvgDev", Aliases: []string{"mad", "mean_deviation", "average_deviation"}, Category: Statistics,
	Doc:     "Mean deviation: how far the last prices lie from their mean on average. As in TA-Lib.",
	Formula: "AvgDev = Σ|x - mean| / n",
	Params:  []Param{length(14), source()},
	Warmup:  windowWarmup,
	Compute: plain("AvgDev", func(s *market.Series, a Args) []float64 { return meanDeviation(column(s, a), a.Int("length")) }),
}
