package indicators

var indMA = Indicator{
	Name: "ma", Title: "MA", Category: Trend, Overlay: true,
	Doc:     "Moving average of any kind: sma, ema, wma, dema, tema, trima, kama, mama (which sets its own length) or t3. As in TA-Lib.",
	Formula: "the average that type names, over n prices",
	Params:  []Param{length(20), averageType("type", "sma", "kind of average", "ma_type", "matype", "kind"), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  func(a Args) int { return averageWarmup(a.Choice("type"), a.Int("length")) },
	Compute: overPrice("MA", func(x []float64, a Args) []float64 { return average(a.Choice("type"), x, a.Int("length")) }),
}

var indMAVP = Indicator{
	Name: "mavp", Title: "MAVP", Aliases: []string{"variable_period_ma", "ma_variable_period"}, Category: Trend, Overlay: true,
	Doc: "Moving average of a length that changes from bar to bar. TA-Lib takes the lengths from its caller; here they are the period of the dominant cycle (ht_dcperiod), " +
		"within the bounds, so that one whole cycle is averaged.",
	Formula: "MAVP[i] = average of the last p[i] prices, p = cycle period, minimum ≤ p ≤ maximum",
	Params: []Param{
		bars("minimum", 2, "shortest length", "min_period", "minperiod"),
		{Name: "maximum", Aliases: []string{"max_period", "maxperiod"}, Doc: "longest length", Kind: Int, Default: 30, Min: 1, Max: longestCycle},
		averageType("type", "sma", "kind of average", "ma_type", "matype", "kind"), source(),
	},
	Signals: []string{PriceUp, PriceDown},
	Warmup: func(a Args) int {
		return hilbertWarmup + averageWarmup(a.Choice("type"), a.Int("maximum"))
	},
	Compute: overPrice("MAVP", func(x []float64, a Args) []float64 {
		return mavp(x, cyclePeriod(x), a.Int("minimum"), a.Int("maximum"), a.Choice("type"))
	}),
}

// mavp returns at every bar the average over as many bars as lengths says
// there, kept between least and most. As in TA-Lib nothing is shown before the
// longest average could be, and the seeds of the others wait for it.
func mavp(x, lengths []float64, least, most int, kind string) []float64 {
	least = min(least, most)
	longest := average(kind, x, most)
	byLength := map[int][]float64{most: longest}
	start := max(firstValid(longest), firstValid(lengths))
	out := unknown(len(x), start)
	for i := start; i < len(x); i++ {
		n := min(max(int(lengths[i]), least), most)
		if byLength[n] == nil {
			byLength[n] = average(kind, skip(x, averageLookback(kind, most)-averageLookback(kind, n)), n)
		}
		out[i] = byLength[n][i]
	}
	return out
}
