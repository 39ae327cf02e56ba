package indicators

var indROC = aroundZero(Indicator{
	Name: "roc", Title: "ROC", Aliases: []string{"rate_of_change"}, Category: Momentum,
	Doc:     "Rate of change: how far the price moved in n bars, in percent. As in TA-Lib, with TradingView's length 9.",
	Formula: "ROC = 100 * (x/x[n] - 1)",
	Params:  []Param{length(9), source()},
	Warmup:  changeWarmup,
}, "ROC", rateIn(100, -1))
