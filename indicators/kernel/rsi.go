package kernel

import "math"

// RSI returns Wilder's relative strength index of x over n changes, 0 to 100. As
// in TA-Lib the first value belongs to bar n, and it is 0 when nothing moved.
func RSI(x []float64, n int) []float64 {
	return Share(WilderMoves(x, n))
}

// WilderMoves returns Wilder's averages of the gains and of the losses of x over
// n changes, both as positive numbers.
func WilderMoves(x []float64, n int) (gains, losses []float64) {
	first := FirstValid(x)
	gains, losses = Unknown(len(x), first+n), Unknown(len(x), first+n)
	if len(x)-first <= n {
		return gains, losses
	}
	share := 1 / float64(n)
	keep := 1 - share
	// The seed is the plain mean of the first n gains and losses.
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
		// Wilder's step, old*(1-1/n) + new/n, fused so that every machine rounds it
		// alike.
		gain = math.FMA(gain, keep, float64(up*share))
		loss = math.FMA(loss, keep, float64(down*share))
		ups[i], downs[i] = gain, loss
	}
	return gains, losses
}

// parts splits a move into what it rose and what it fell, one of which is 0. It
// has no branch, because no processor can foresee which way a price moves.
func parts(move float64) (up, down float64) {
	size := math.Abs(move)
	return (size + move) / 2, (size - move) / 2
}
