package indicators

import "wick/market"

var indMOM = Indicator{
	Name: "mom", Title: "Momentum", Aliases: []string{"momentum"}, Category: Momentum,
	Doc:     "Momentum: how far the price moved in n bars. As in TA-Lib.",
	Formula: "MOM = x - x[n]",
	Params:  []Param{length(10), source()},
	Signals: []string{ZeroUp, ZeroDown},
	Warmup:  changeWarmup,
	Compute: aroundZero("MOM", func(s *market.Series, a Args) []float64 { return change(column(s, a), a.Int("length")) }),
}

var indROC = Indicator{
	Name: "roc", Title: "ROC", Aliases: []string{"rate_of_change"}, Category: Momentum,
	Doc:     "Rate of change: how far the price moved in n bars, in percent. As in TA-Lib, with TradingView's length 9.",
	Formula: "ROC = 100 * (x/x[n] - 1)",
	Params:  []Param{length(9), source()},
	Signals: []string{ZeroUp, ZeroDown},
	Warmup:  changeWarmup,
	Compute: aroundZero("ROC", rateIn(100, -1)),
}

var indROCP = Indicator{
	Name: "rocp", Title: "ROCP", Aliases: []string{"rate_of_change_fraction"}, Category: Momentum,
	Doc:     "Rate of change as a fraction. As in TA-Lib.",
	Formula: "ROCP = x/x[n] - 1",
	Params:  []Param{length(10), source()},
	Signals: []string{ZeroUp, ZeroDown},
	Warmup:  changeWarmup,
	Compute: aroundZero("ROCP", rateIn(1, -1)),
}

var indROCR = Indicator{
	Name: "rocr", Title: "ROCR", Aliases: []string{"rate_of_change_ratio"}, Category: Momentum,
	Doc:     "Rate of change as a ratio: 1 when the price is where it was n bars ago. As in TA-Lib.",
	Formula: "ROCR = x/x[n]",
	Params:  []Param{length(10), source()},
	Signals: []string{CrossUp, CrossDown},
	Warmup:  changeWarmup,
	Compute: ratio("ROCR", 1),
}

var indROCR100 = Indicator{
	Name: "rocr100", Title: "ROCR 100", Aliases: []string{"rate_of_change_ratio_100"}, Category: Momentum,
	Doc:     "Rate of change as a ratio in percent: 100 when the price is where it was n bars ago. As in TA-Lib.",
	Formula: "ROCR100 = 100 * x/x[n]",
	Params:  []Param{length(10), source()},
	Signals: []string{CrossUp, CrossDown},
	Warmup:  changeWarmup,
	Compute: ratio("ROCR100", 100),
}

func changeWarmup(a Args) int { return a.Int("length") + 1 }

// rateIn returns the rate of change of the source in the unit given.
func rateIn(unit, less float64) func(*market.Series, Args) []float64 {
	return func(s *market.Series, a Args) []float64 {
		return rate(column(s, a), a.Int("length"), unit, less)
	}
}

// ratio returns the Compute of a rate of change around the level one.
func ratio(label string, one float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		y := rate(column(s, a), a.Int("length"), one, 0)
		return &Result{
			Lines:   []Line{{Label: label, Tone: Primary, Values: y}},
			HLines:  []HLine{{Y: one}},
			Signals: levelCrossings(nil, y, one, CrossUp, CrossDown),
		}
	}
}

// rate returns unit*(x/x[k] + less); as in TA-Lib it is 0 where x[k] is.
func rate(x []float64, k int, unit, less float64) []float64 {
	out := unknown(len(x), k+firstValid(x))
	for i := k + firstValid(x); i < len(x); i++ {
		if before := x[i-k]; before != 0 {
			out[i] = unit * (x[i]/before + less)
		}
	}
	return out
}
