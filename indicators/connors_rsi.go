package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Larry Connors and Cesar Alvarez, "An Introduction to ConnorsRSI",
// 2012.
var indConnorsRSI = oscillator(Indicator{
	Name: "connors_rsi", Title: "CRSI", Aliases: []string{"crsi"}, Category: Momentum,
	Doc:     "Connors RSI: the mean of a short RSI, an RSI of the length of the current run of rises or falls, and the rank of the last return among the returns before. Made for reversals within days. As at TradingView, but for equal returns: as Connors wrote, only smaller ones count as passed.",
	Formula: "(RSI(x, 3) + RSI(streak, 2) + percent rank of the one-bar return among 100) / 3",
	Params: slices.Concat([]Param{
		bars("rsi", 3, "RSI of the price", "length", "period", "rsi_length"), bars("streak", 2, "RSI of the run", "updown", "streak_length"),
		bars("rank", 100, "returns ranked against", "rank_length", "roc"),
	}, zone(10, 90, 0, 100), []Param{source()}),
	// The longest of the three parts, which are computed side by side.
	Warmup: func(a Args) int { return max(kernel.WilderMemory*max(a.Int("rsi"), a.Int("streak")), a.Int("rank")+2) },
}, "CRSI", func(s *market.Series, a Args) []float64 {
	x := column(s, a)
	// The return is taken in proportion to the price before; a price of 0 gives 0.
	price, run := kernel.RSI(x, a.Int("rsi")), kernel.RSI(streak(x), a.Int("streak"))
	rank := kernel.PercentRank(kernel.Ratio(kernel.Change(x, 1), kernel.Shift(x, 1), 1), a.Int("rank"))
	line := make([]float64, len(x))
	for i := range line {
		line[i] = (price[i] + run[i] + rank[i]) / 3
	}
	return line
})

// streak counts how many bars in a row x rose, or fell, then negative.
func streak(x []float64) []float64 {
	// An unchanged price ends the run: the count is 0.
	out := make([]float64, len(x))
	for i := 1; i < len(x); i++ {
		switch {
		case kernel.Compare(x[i], x[i-1]) > 0:
			out[i] = max(out[i-1], 0) + 1
		case kernel.Compare(x[i], x[i-1]) < 0:
			out[i] = min(out[i-1], 0) - 1
		}
	}
	return out
}
