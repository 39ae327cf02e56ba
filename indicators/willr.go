package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

var indWillR = oscillator(Indicator{
	Name: "willr", Title: "%R", Also: []string{"williams_percent_range"}, Aliases: []string{"williams_r", "williams", "wpr", "pr", "percent_r"}, Category: Momentum,
	Doc:     "Williams %R: how far the close lies below the highest high of the last bars, in percent of the range, -100 to 0. As in TA-Lib: 0 when there is no range.",
	Formula: "%R = -100 * (highest high - close) / (highest high - lowest low)",
	Params:  slices.Concat([]Param{length(14)}, zone(-80, -20, -100, 0)),
	Warmup:  windowWarmup,
}, "%R", func(s *market.Series, a Args) []float64 {
	return williamsR(s, a.Int("length"))
})

// williamsR returns Williams %R of n bars, -100 to 0.
func williamsR(s *market.Series, n int) []float64 {
	y, bottom := kernel.Highest(s.High, n), kernel.Lowest(s.Low, n)
	for i, top := range y {
		// A NaN differs from everything, itself included, and stays.
		if top != bottom[i] {
			y[i] = -100 * (top - s.Close[i]) / (top - bottom[i])
		} else {
			y[i] = 0
		}
	}
	return y
}
