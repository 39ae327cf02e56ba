package kernel

import (
	"math"
	"slices"

	"wick/market"
)

// renewal is after how many bars a sliding sum is computed again from its window, unless
// the window is longer. That bounds the rounding errors that add up, and costs about one
// addition per bar.
const renewal = 256

// outlier is how many times larger than the values around it a value must be for its
// rounding error to matter in a sum that it has left.
const outlier = 4e3

// SMA returns the mean of the last n values.
//
// The mean slides: it moves by the difference between the value that comes in and the one
// that goes out, divided by n. So equal values leave it unchanged to the last bit.
func SMA(x []float64, n int) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first+n-1)
	share := 1 / float64(n)
	fresh := 0 // values that windows were computed from
	for i := first + n - 1; i < len(x); {
		average := mean(x[i-n+1 : i+1])
		out[i] = average
		i++
		rest := x[i:min(i+max(n, renewal)-1, len(x))]
		gone, means := x[i-n:][:len(rest)], out[i:][:len(rest)]
		k := 0
		for ; k < len(rest) && k < len(gone) && k < len(means); k++ {
			move := rest[k] - gone[k]
			moved := average + float64(move*share)
			// Squares, because absolute values take longer.
			if move*move > outlier*outlier*(moved*moved) {
				break // a far larger value has left: the mean is computed afresh
			}
			average = moved
			means[k] = average
		}
		i += k
		// Of values that cancel out, such leaps may come on every bar. Sums of blocks take the
		// same time whatever the values are.
		if fresh += n; fresh > 8*len(x) {
			for k, sum := range RollingSum(x[i-n+1:], n)[n-1:] {
				out[i+k] = sum * share
			}
			return out
		}
	}
	return out
}

// mean returns the mean of x, exactly the value if all are equal.
func mean(x []float64) float64 { return x[0] + sumAbove(x, x[0])/float64(len(x)) }

// sumAbove returns the sum of the distances of x from ref. It adds up four partial sums,
// since with one sum every addition would wait for the one before.
func sumAbove(x []float64, ref float64) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += x[0] - ref
		b += x[1] - ref
		c += x[2] - ref
		d += x[3] - ref
	}
	for _, v := range x {
		a += v - ref
	}
	return a + b + c + d
}

// RollingSum returns the sum of the last n values without ever subtracting, see [Windows]: the
// sum of a window of zeros is exactly zero whatever came before it, which matters for sums that
// are divisors.
func RollingSum(x []float64, n int) []float64 {
	return Windows(x, n, func(a, b float64) float64 { return a + b })
}

// Windows combines the values of every window of n bars with f, which must be associative but
// for rounding.
//
// The bars are cut into blocks of n. A window consists of the end of one block and the
// beginning of the next. One pass computes f over the ends of blocks and another over
// their beginnings, so the work is three steps for each bar, however long the window is.
// Unlike a sliding sum this never subtracts, so errors do not add up, and a NaN affects only
// the windows that contain it.
func Windows(x []float64, n int, f func(a, b float64) float64) []float64 {
	begin := FirstValid(x)
	out, end := Unknown(len(x), begin+n-1), make([]float64, len(x))
	for from := begin; from < len(x); from += n {
		to := min(from+n, len(x))
		end[to-1] = x[to-1] // from a bar to the end of its block
		for i := to - 2; i >= from; i-- {
			end[i] = f(x[i], end[i+1])
		}
		begun := x[from] // from the beginning of the block to bar i
		for i := from; i < to; i++ {
			if i > from {
				begun = f(begun, x[i])
			}
			switch first := i - n + 1; {
			case first == from:
				out[i] = begun
			case first >= begin:
				out[i] = f(end[first], begun)
			}
		}
	}
	return out
}

// Cumulative returns the sum of all values so far.
func Cumulative(x []float64) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first)
	var sum float64
	for i := first; i < len(x); i++ {
		sum += x[i]
		out[i] = sum
	}
	return out
}

// Means of the prices of each bar: (high+low)/2, (high+low+close)/3, (open+high+low+close)/4 and
// (high+low+2*close)/4. Those which should be equal are equal, see means.
func MedianPrice(s *market.Series) []float64   { return means(2, s.High, s.Low) }
func TypicalPrice(s *market.Series) []float64  { return means(3, s.High, s.Low, s.Close) }
func AveragePrice(s *market.Series) []float64  { return means(4, s.High, s.Low, s.Close, s.Open) }
func WeightedClose(s *market.Series) []float64 { return means(4, s.High, s.Low, Scaled(s.Close, 2)) }

// means returns the mean of the prices that columns have, a sum divided by n. Means that should
// be equal, such as the thirds of 10.01 + 10.03 + 10.02 and of 10.02 + 10.02 + 10.02, may differ in
// the last bit. So the sum is rounded to 13 or 14 significant decimal digits first, more than any
// market quotes: then they are the same number. Rounding the mean itself would also make them
// equal, but a third has no end, so that would change a small difference of two means by a part in 1e11.
func means(n float64, columns ...[]float64) []float64 {
	x := slices.Clone(columns[0])
	for _, column := range columns[1:] {
		for i, v := range column {
			x[i] += v
		}
	}
	before, scale := uint64(0), 0.0 // the scale follows from the exponent, which few prices change
	for i, sum := range x {
		if exponent := math.Float64bits(sum) >> 52 & 0x7ff; exponent != before {
			before, scale = exponent, decimals(int(exponent)-1023)
		}
		if scale > 0 {
			sum = math.Round(sum*scale) / scale
		}
		x[i] = sum / n
	}
	return x
}

// decimals returns the power of ten that leaves 13 or 14 significant decimal digits of a
// number with this binary exponent, which is cheaper than a logarithm and at most one digit
// off; 0 for none. Powers of ten up to 22 are exact; NaN, zero and prices beyond 1e12 or
// below 1e-10 stay as they are.
func decimals(exponent int) float64 {
	const log2 = 0.30102999566398120 // decimal digits per binary digit
	digits := 12 - int(math.Floor(float64(exponent)*log2))
	if digits < 0 || digits > 22 {
		return 0
	}
	return math.Pow10(digits)
}
