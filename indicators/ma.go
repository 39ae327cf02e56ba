package indicators

import "wick/indicators/kernel"

var indMA = overPrice(Indicator{
	Name: "ma", Title: "MA", Category: Trend,
	Doc:     "Moving average of any kind: sma, ema, wma, dema, tema, trima, kama, mama (which sets its own length) or t3. As in TA-Lib.",
	Formula: "the average that type names, over n prices",
	Params:  []Param{length(20), averageType("type", "sma", "kind of average", "ma_type", "matype", "kind"), source()},
	Warmup:  func(a Args) int { return kernel.AverageWarmup(a.Choice("type"), a.Int("length")) },
}, "MA", func(x []float64, a Args) []float64 { return kernel.Average(a.Choice("type"), x, a.Int("length")) })

// mavp returns at every bar the average over as many bars as lengths says
// there, kept between least and most. As in TA-Lib nothing is shown before the
// longest average could be, and the seeds of the others wait for it.
func mavp(x, lengths []float64, least, most int, kind string) []float64 {
	least = min(least, most)
	// The longest average decides where the result begins, whether or not it is ever
	// picked.
	longest := kernel.Average(kind, x, most)
	byLength := map[int][]float64{most: longest}
	start := max(kernel.FirstValid(longest), kernel.FirstValid(lengths))
	out := kernel.Unknown(len(x), start)
	for i := start; i < len(x); i++ {
		n := min(max(int(lengths[i]), least), most)
		// Each length that occurs is computed once, its seed moved so that it ends on
		// the bar on which that of the longest does.
		if byLength[n] == nil {
			byLength[n] = kernel.Average(kind, kernel.Skip(x, kernel.AverageLookback(kind, most)-kernel.AverageLookback(kind, n)), n)
		}
		out[i] = byLength[n][i]
	}
	return out
}
