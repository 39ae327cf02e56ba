package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Spearman's coefficient with the bars' own order as the second ranking; the kernel
// keeps the window sorted.
var indRankCorrelation = oscillator(Indicator{
	Name: "rank_correlation", Title: "RCI", Aliases: []string{"rci", "rank_correlation_index"}, Category: Momentum,
	Doc:     "Rank correlation index: Spearman's correlation of price and time in percent, 100 when every bar closed higher, 0 when all are equal. Equal prices share the mean of their ranks.",
	Formula: "RCI = 100 * correlation(rank of the price, rank of the bar) over n bars",
	Params:  slices.Concat([]Param{lengthFrom(2, 10)}, zone(-80, 80, -100, 100), []Param{source()}),
	Warmup:  changeWarmup,
}, "RCI", func(s *market.Series, a Args) []float64 {
	return kernel.RankCorrelation(column(s, a), a.Int("length"))
})
