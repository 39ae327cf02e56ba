package indicators

var indEMA = Indicator{
	Name: "ema", Title: "EMA", Aliases: []string{"exp_ma", "xma", "exponential_ma", "exponential_moving_average"}, Category: Trend, Overlay: true,
	Doc:     "Exponential moving average: every older price weighs less by the same factor. As in TA-Lib, seeded with the mean of the first n prices.",
	Formula: "EMA = EMA[1] + 2/(n+1) * (x - EMA[1])",
	Params:  []Param{length(20), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  emaWarmup,
	Compute: overPrice("EMA", func(x []float64, a Args) []float64 { return ema(x, a.Int("length")) }),
}

var indDEMA = Indicator{
	Name: "dema", Title: "DEMA", Aliases: []string{"double_ema"}, Category: Trend, Overlay: true,
	Doc:     "Double exponential average: twice an exponential average less the average of it, which cancels most of its lag. As in TA-Lib.",
	Formula: "DEMA = 2*EMA(x) - EMA(EMA(x))",
	Params:  []Param{length(20), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  func(a Args) int { return averageWarmup("dema", a.Int("length")) },
	Compute: overPrice("DEMA", func(x []float64, a Args) []float64 { return dema(x, a.Int("length")) }),
}

var indTEMA = Indicator{
	Name: "tema", Title: "TEMA", Aliases: []string{"triple_ema"}, Category: Trend, Overlay: true,
	Doc:     "Triple exponential average: three exponential averages in a row, combined so that most of the lag cancels. As in TA-Lib.",
	Formula: "TEMA = 3*e1 - 3*e2 + e3, e1 = EMA(x), e2 = EMA(e1), e3 = EMA(e2)",
	Params:  []Param{length(20), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  func(a Args) int { return averageWarmup("tema", a.Int("length")) },
	Compute: overPrice("TEMA", func(x []float64, a Args) []float64 { return tema(x, a.Int("length")) }),
}
