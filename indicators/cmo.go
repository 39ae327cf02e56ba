package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Tushar S. Chande and Stanley Kroll, "The New Technical Trader", 1994.
var indCMO = oscillator(Indicator{
	Name: "cmo", Title: "CMO", Aliases: []string{"chande_momentum", "chande_momentum_oscillator"}, Category: Momentum,
	Doc: "Chande's momentum oscillator: gains less losses as a share of all movement, -100 to 100. The variant talib smooths gains and losses as Wilder's RSI does, " +
		"as TA-Lib; the variant sum adds up the last n changes, as Chande and TradingView. The default length is TradingView's.",
	Formula: "CMO = 100 * (G - L) / (G + L), G and L averages (talib) or sums (sum) of gains and losses",
	Params:  slices.Concat([]Param{length(9), choice("variant", "whose definition", "talib", "sum")}, zone(-50, 50, -100, 100), []Param{source()}),
	Warmup: func(a Args) int {
		if a.Choice("variant") == "sum" {
			return a.Int("length") + 1
		}
		return wilderWarmup(a)
	},
}, "CMO", func(s *market.Series, a Args) []float64 {
	moves := kernel.WilderMoves
	if a.Choice("variant") == "sum" {
		moves = summedMoves
	}
	gain, loss := moves(column(s, a), a.Int("length"))
	// Without any movement gain is 0, and so is the result; NaN stays NaN.
	for i, g := range gain {
		if move := g + loss[i]; move != 0 {
			gain[i] = 100 * (g - loss[i]) / move
		}
	}
	return gain
})

// summedMoves returns the sums of the gains and of the losses of x, both
// positive, over n changes.
func summedMoves(x []float64, n int) (gains, losses []float64) {
	// max keeps a NaN, so the first change stays unknown in both.
	moves := kernel.Change(x, 1)
	falls := make([]float64, len(x))
	for i, m := range moves {
		falls[i] = max(-m, 0)
		moves[i] = max(m, 0)
	}
	return kernel.RollingSum(moves, n), kernel.RollingSum(falls, n)
}
