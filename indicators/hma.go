package indicators

import "wick/indicators/kernel"

// Attributed to Alan Hull, who published it on his own pages in 2005.
var indHMA = turningOver(Indicator{
	Name: "hma", Title: "HMA", Also: []string{"moving_average_hull"}, Aliases: []string{"hull", "hull_ma", "hull_moving_average"}, Category: Trend,
	Doc:     "Hull moving average: a weighted average that takes back its own lag, smooth and quick. Half length and square root are rounded down, as at TradingView.",
	Formula: "HMA = WMA(2 * WMA(x, n/2) - WMA(x, n), √n)",
	Params:  []Param{length(9), source()},
	// The two windows in a row, and two bars more for a turn.
	Warmup: func(a Args) int { n := a.Int("length"); return n + kernel.HullRoot(n) + 2 },
}, "HMA", func(x []float64, a Args) []float64 { return kernel.HMA(x, a.Int("length")) })
