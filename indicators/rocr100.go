package indicators

var indROCR100 = ratio(Indicator{
	Name: "rocr100", Title: "ROCR 100", Aliases: []string{"rate_of_change_ratio_100"},
	Doc:     "Rate of change as a ratio in percent: 100 when the price is where it was n bars ago. As in TA-Lib.",
	Formula: "ROCR100 = 100 * x/x[n]",
}, "ROCR100", 100)
