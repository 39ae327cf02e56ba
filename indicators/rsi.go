package indicators

import (
	"math"
	"slices"

	"wick/market"
)

var indRSI = Indicator{
	Name: "rsi", Title: "RSI", Aliases: []string{"relative_strength", "relative_strength_index"}, Category: Momentum,
	Doc:     "Relative strength index: the share of gains in all movement, 0 to 100, in Wilder's smoothing. As in TA-Lib: first value at bar n, 0 when nothing moved.",
	Formula: "RSI = 100 * G / (G + L), G and L Wilder averages of gains and losses",
	Params:  slices.Concat([]Param{length(14)}, zone(30, 70, 0, 100), []Param{source()}, divParams()),
	Signals: append([]string{RSIOversold, RSIOverbought}, divSignals...),
	Warmup:  wilderWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		line := wilderRSI(column(s, a), a.Int("length"))
		r := zoned("RSI", line, a, RSIOversold, RSIOverbought)
		r.YRange = &[2]float64{0, 100}
		addDivergences(r, s, line, a)
		return r
	},
}

// wilderRSI returns the relative strength index of x over n changes.
func wilderRSI(x []float64, n int) []float64 {
	gain, loss := wilderMoves(x, n)
	for i, g := range gain {
		if move := g + loss[i]; move != 0 {
			gain[i] = 100 * g / move
		}
	}
	return gain
}

// wilderMoves returns Wilder's averages of the gains and losses of x, both
// positive, over n changes.
func wilderMoves(x []float64, n int) (gains, losses []float64) {
	first := firstValid(x)
	gains, losses = unknown(len(x), first+n), unknown(len(x), first+n)
	if len(x)-first <= n {
		return gains, losses
	}
	share := 1 / float64(n)
	keep := 1 - share
	var gain, loss float64
	before := x[first]
	for _, v := range x[first+1 : first+n+1] {
		up, down := parts(v - before)
		gain += up
		loss += down
		before = v
	}
	gain, loss = gain*share, loss*share
	gains[first+n], losses[first+n] = gain, loss
	in := x[first+n+1:]
	ups, downs := gains[first+n+1:][:len(in)], losses[first+n+1:][:len(in)]
	for i, v := range in {
		up, down := parts(v - before)
		before = v
		gain = math.FMA(gain, keep, float64(up*share))
		loss = math.FMA(loss, keep, float64(down*share))
		ups[i], downs[i] = gain, loss
	}
	return gains, losses
}

// parts splits a move into what it rose and what it fell, one of which is 0.
// No branch: which it is cannot be foreseen, and wrong guesses cost more than
// the arithmetic.
func parts(move float64) (up, down float64) {
	size := math.Abs(move)
	return (size + move) / 2, (size - move) / 2
}
