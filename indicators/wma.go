package indicators

var indWMA = Indicator{
	Name: "wma", Title: "WMA", Aliases: []string{"lwma", "linear_weighted", "weighted_ma", "weighted_moving_average"}, Category: Trend, Overlay: true,
	Doc:     "Weighted moving average: weights fall in a straight line from the newest price to the oldest. As in TA-Lib.",
	Formula: "WMA = (n*x[0] + (n-1)*x[1] + … + x[n-1]) / (n*(n+1)/2)",
	Params:  []Param{length(20), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  windowWarmup,
	Compute: overPrice("WMA", func(x []float64, a Args) []float64 { return wma(x, a.Int("length")) }),
}

var indTRIMA = Indicator{
	Name: "trima", Title: "TRIMA", Aliases: []string{"triangular_ma", "tma"}, Category: Trend, Overlay: true,
	Doc:     "Triangular average: a simple average of a simple average, so that the middle of the window weighs most. As in TA-Lib.",
	Formula: "TRIMA = SMA(SMA(x, (n+1)/2), n/2+1), divisions rounded down",
	Params:  []Param{length(20), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  windowWarmup,
	Compute: overPrice("TRIMA", func(x []float64, a Args) []float64 { return trima(x, a.Int("length")) }),
}
