package indicators

var indROCP = aroundZero(Indicator{
	Name: "rocp", Title: "ROCP", Aliases: []string{"rate_of_change_fraction"}, Category: Momentum,
	Doc:     "Rate of change as a fraction. As in TA-Lib.",
	Formula: "ROCP = x/x[n] - 1",
	Params:  []Param{length(10), source()},
	Warmup:  changeWarmup,
}, "ROCP", rateIn(1, -1))
