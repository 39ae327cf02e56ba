package indicators

import "wick/indicators/shape"

var indROCR100 = Indicator{
	Name: "rocr100", Title: "ROCR 100", Aliases: []string{"rate_of_change_ratio_100"}, Category: Momentum,
	Doc:      "Rate of change as a ratio in percent: 100 when the price is where it was n bars ago. As in TA-Lib.",
	Formula:  "ROCR100 = 100 * x/x[n]",
	Params:   []Param{length(10), source()},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the line", "100"),
	Warmup:   changeWarmup,
	Compute:  ratio("ROCR100", 100),
}
