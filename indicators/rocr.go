package indicators

var indROCR = ratio(Indicator{
	Name: "rocr", Title: "ROCR", Aliases: []string{"rate_of_change_ratio"},
	Doc:     "Rate of change as a ratio: 1 when the price is where it was n bars ago. As in TA-Lib.",
	Formula: "ROCR = x/x[n]",
}, "ROCR", 1)
