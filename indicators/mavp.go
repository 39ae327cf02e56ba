package indicators

import "wick/indicators/kernel"

// TA-Lib's MAVP, whose lengths come from the caller; a chart has no such column, so
// the cycle gives them.
var indMAVP = overPrice(Indicator{
	Name: "mavp", Title: "MAVP", Aliases: []string{"variable_period_ma", "ma_variable_period"}, Category: Trend,
	Doc: "Moving average of a length that changes from bar to bar. TA-Lib takes the lengths from its caller; here they are the period of the dominant cycle (ht_dcperiod), " +
		"within the bounds, so that one whole cycle is averaged.",
	Formula: "MAVP[i] = average of the last p[i] prices, p = cycle period, minimum ≤ p ≤ maximum",
	Params: []Param{
		bars("minimum", 2, "shortest length", "min_period", "minperiod"),
		{Name: "maximum", Aliases: []string{"max_period", "maxperiod"}, Doc: "longest length", Kind: Int, Default: 30, Min: 1, Max: kernel.LongestCycle},
		averageType("type", "sma", "kind of average", "ma_type", "matype", "kind"), source(),
	},
	Warmup: func(a Args) int {
		return kernel.HilbertWarmup + kernel.AverageWarmup(a.Choice("type"), a.Int("maximum"))
	},
}, "MAVP", func(x []float64, a Args) []float64 {
	return mavp(x, kernel.CyclePeriod(x), a.Int("minimum"), a.Int("maximum"), a.Choice("type"))
})
