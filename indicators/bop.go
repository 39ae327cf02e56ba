package indicators

import "wick/market"

// Attributed to Igor Livshin, "Balance of Market Power", Technical Analysis of Stocks
// & Commodities, August 2001.
var indBOP = aroundZero(Indicator{
	Name: "bop", Title: "BOP", Aliases: []string{"balance_of_power"}, Category: Momentum,
	Doc:     "Balance of power: the body of the bar as a share of its range, -1 to 1. As in TA-Lib: 0 when there is no range.",
	Formula: "BOP = (close - open) / (high - low)",
	Warmup:  barWarmup,
}, "BOP", func(s *market.Series, _ Args) []float64 {
	out := make([]float64, s.Len())
	for i, c := range s.Close {
		// A bar without range counts as balanced.
		if height := s.High[i] - s.Low[i]; height > 0 {
			out[i] = (c - s.Open[i]) / height
		}
	}
	return out
})
