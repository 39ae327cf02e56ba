package kernel

import "math"

// EMA returns the exponential average of weight 2/(n+1). As in TA-Lib its first
// value is the mean of the first n inputs.
func EMA(x []float64, n int) []float64 { return Smooth(x, n, 2/(float64(n)+1)) }

// RMA returns Wilder's average, of weight 1/n, seeded like [EMA].
func RMA(x []float64, n int) []float64 { return Smooth(x, n, 1/float64(n)) }

// Smooth returns the exponential average of the given weight, whose first value
// is the mean of the first n inputs.
//
// From bar to bar it keeps how far the input is above the average, which stays exactly 0
// while inputs are equal. The fused multiplication gives the same bits on every machine. It
// also makes the loop fast, since each step waits for the one before.
func Smooth(x []float64, n int, weight float64) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first+n-1)
	if len(x)-first < n {
		return out
	}
	last := first + n - 1
	out[last] = mean(x[first : last+1])
	// With a as the average and d = x-a, the usual step a += weight*(x-a) becomes d =
	// keep*(d + change of x), and a = x-d.
	keep, before, above := 1-weight, x[last], x[last]-out[last]
	rest := out[last+1:]
	for i, v := range x[last+1:] {
		above = math.FMA(keep, above, float64(keep*(v-before)))
		rest[i], before = v-above, v
	}
	return out
}

// Follow returns the exponential average of the given weight that starts with
// the first value of x itself.
func Follow(x []float64, weight float64) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first)
	value := 0.0
	for i := first; i < len(x); i++ {
		if i == first {
			value = x[i]
		}
		value += float64(weight * (x[i] - value))
		out[i] = value
	}
	return out
}

// MACD returns the difference of two exponential averages, the exponential
// average of that difference, and the distance of the two.
//
// As in TA-Lib the shorter length is the fast one however they are given, the
// seed of the fast average ends on the bar on which the slow one begins, and
// all three columns begin with the signal line.
func MACD(x []float64, fast, slow, signal int) (line, signalLine, hist []float64) {
	fast, slow = min(fast, slow), max(fast, slow)
	first := FirstValid(x)
	begin := first + slow - 1
	line = Unknown(len(x), begin)
	if begin < len(x) {
		// As in Smooth, how far the price lies above each average is carried
		// on; the line is how much further it lies above the slow one.
		before := x[begin]
		quick, steady := before-mean(x[begin-fast+1:begin+1]), before-mean(x[first:begin+1])
		line[begin] = level(steady-quick, before)
		keepQuick, keepSteady := 1-2/(float64(fast)+1), 1-2/(float64(slow)+1)
		rest := line[begin+1:]
		for i, v := range x[begin+1:] {
			move := v - before
			quick = math.FMA(keepQuick, quick, float64(keepQuick*move))
			steady = math.FMA(keepSteady, steady, float64(keepSteady*move))
			rest[i], before = level(steady-quick, v), v
		}
	}
	return WithSignal(line, EMA(line, signal))
}

// level returns d, a difference of two averages of prices near price, and 0 if
// it is no more than [Rounding] of that price.
func level(d, price float64) float64 { return noiseless(d, Rounding*math.Abs(price)) }

// noiseless returns d, and 0 if it is no more than noise.
func noiseless(d, noise float64) float64 {
	if math.Abs(d) <= noise {
		return 0
	}
	return d
}

// WithSignal returns the line from the bar on which its signal line begins, the signal
// line, and the line minus the signal line.
func WithSignal(line, signal []float64) (cut, signalLine, hist []float64) {
	return From(line, FirstValid(signal)), signal, Minus(line, signal)
}
