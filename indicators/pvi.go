package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indPVI = volumeIndex(Indicator{
	Name: "pvi", Title: "PVI", Aliases: []string{"positive_volume_index"},
	Doc:     "Positive volume index of Dysart and Fosback: follows the price only on bars with more volume than the bar before, when the crowd is there.",
	Formula: "PVI = PVI[1] * close / close[1] when volume > volume[1], else PVI[1]",
}, func(volume, before float64) bool { return volume > before })

// volumeIndex completes the record of an index that moves with the close on the bars
// that counts accepts. PVI and NVI differ in these bars alone.
func volumeIndex(ind Indicator, counts func(volume, before float64) bool) Indicator {
	ind.Category, ind.Total, ind.Product = Volume, true, true
	ind.Doc += " It begins at start on the first bar loaded, so its level means nothing, its course does."
	ind.Params = []Param{
		factor("start", 1000, 0.001, 1e9, "first value", "initial"), bars("signal", 255, "average of the index", "length", "ema", "signal_length"),
	}
	ind.Signals = []string{shape.CrossUp, shape.CrossDown}
	ind.Warmup = func(a Args) int { return kernel.EMAMemory * a.Int("signal") }
	ind.Compute = func(s *market.Series, a Args) *Result {
		// The index multiplies, so that it follows the closes in proportion whatever
		// its level.
		line := make([]float64, s.Len())
		value := a.Float("start")
		for i := range line {
			// A close of 0 has no relative change to follow.
			if i > 0 && counts(s.Volume[i], s.Volume[i-1]) && s.Close[i-1] > 0 {
				value *= s.Close[i] / s.Close[i-1]
			}
			line[i] = value
		}
		return shape.AveragedLine(ind.Title, line, kernel.EMA(line, a.Int("signal")))
	}
	return ind
}
