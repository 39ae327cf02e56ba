package indicators

import "wick/indicators/shape"

var indROCR = Indicator{
	Name: "rocr", Title: "ROCR", Aliases: []string{"rate_of_change_ratio"}, Category: Momentum,
	Doc:      "Rate of change as a ratio: 1 when the price is where it was n bars ago. As in TA-Lib.",
	Formula:  "ROCR = x/x[n]",
	Params:   []Param{length(10), source()},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the line", "1"),
	Warmup:   changeWarmup,
	Compute:  ratio("ROCR", 1),
}
