package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

var indPsychologicalLine = oscillator(Indicator{
	Name: "psychological_line", Title: "PSL", Aliases: []string{"psl", "psy", "psychological"}, Category: Momentum,
	Doc:     "Psychological line: the percentage of the last bars that closed above the bar before, a plain count of the mood.",
	Formula: "PSL = 100 * rises among the last n changes / n",
	Params:  slices.Concat([]Param{length(12)}, zone(25, 75, 0, 100), []Param{source()}),
	Warmup:  crossingWarmup,
}, "PSL", func(s *market.Series, a Args) []float64 {
	x, n := column(s, a), a.Int("length")
	// The mean of 0 and 100 is the percentage of rises.
	rises := kernel.NaNs(len(x))
	for i := 1; i < len(x); i++ {
		rises[i] = 0
		if kernel.Compare(x[i], x[i-1]) > 0 {
			rises[i] = 100
		}
	}
	return kernel.SMA(rises, n)
})
