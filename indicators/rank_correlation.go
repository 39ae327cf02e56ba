package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Spearman's coefficient with the bars' own order as the second ranking; the kernel
// keeps the window sorted.
var indRankCorrelation = Indicator{
	Name: "rank_correlation", Title: "RCI", Aliases: []string{"rci", "rank_correlation_index"}, Category: Momentum,
	Doc:     "Rank correlation index: Spearman's correlation of price and time in percent, 100 when every bar closed higher, 0 when all are equal. Equal prices share the mean of their ranks.",
	Formula: "RCI = 100 * correlation(rank of the price, rank of the bar) over n bars",
	Params:  slices.Concat([]Param{lengthFrom(2, 10)}, zone(-80, 80, -100, 100), []Param{source()}),
	Signals: []string{shape.Oversold, shape.Overbought},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		r := zoned("RCI", kernel.RankCorrelation(column(s, a), a.Int("length")), a, shape.Oversold, shape.Overbought)
		r.YRange = &[2]float64{-100, 100}
		return r
	},
}
