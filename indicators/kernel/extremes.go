package kernel

// Highest returns the largest of the last n values.
func Highest(x []float64, n int) []float64 { return extremes(x, n, 1) }

// Lowest returns the smallest of the last n values.
func Lowest(x []float64, n int) []float64 { return extremes(x, n, -1) }

// extremes returns the largest of the last n values of sign*x, times sign.
//
// The bars are divided into blocks of n, so a window crosses at most one border between
// blocks. Its extreme is the larger of two: the extreme from its start to the border, which
// was computed backwards for the whole block, and the running extreme since the border.
// That takes three comparisons per bar, whatever n is (van Herk; Gil and Werman). The builtin
// max takes as long at every n; a branch would be quicker where n is above 20 or so, and
// slower at the usual lengths.
func extremes(x []float64, n int, sign float64) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first+n-1)
	tails := make([]float64, n+1) // tails[k]: the extreme of the block before, from its bar k to its end
	for start := first; start < len(x); start += n {
		block := x[start:min(start+n, len(x))]
		run := sign * block[0]
		// A window that is exactly a block takes nothing from the block before. For it this
		// entry is used, which cannot exceed the running extreme.
		tails[n] = run
		results, rest := out[start:start+len(block)], tails[1:len(block)+1]
		for k, v := range block {
			run = max(run, sign*v)
			// The first block has no block before it, so there only its last bar ends a
			// whole window.
			if start > first || k == n-1 {
				results[k] = sign * max(run, rest[k])
			}
		}
		// Prepare the block's tails for the windows that end in the next one.
		run = sign * block[len(block)-1]
		for k := len(block) - 1; k >= 0; k-- {
			run = max(run, sign*block[k])
			tails[k] = run
		}
	}
	return out
}

// ExtremeAt returns the bar of the largest of the last n values of sign*x, and -1 before
// there are n. A new value that equals the extreme takes its place. When the extreme leaves
// the window and several equal values are the next largest, the newest of them counts if
// latest is set; otherwise the oldest, as in TA-Lib's MAXINDEX.
func ExtremeAt(x []float64, n int, sign float64, latest bool) []int {
	first := FirstValid(x)
	out := make([]int, len(x))
	at := first
	for i := range x {
		switch {
		case i < first:
		case at <= i-n: // it has left the window
			at = i - n + 1
			for k := at + 1; k <= i; k++ {
				if v, best := sign*x[k], sign*x[at]; v > best || latest && v == best {
					at = k
				}
			}
		case sign*x[i] >= sign*x[at]:
			at = i
		}
		if out[i] = at; i < first+n-1 {
			out[i] = -1
		}
	}
	return out
}

// Stochastic returns where x is between the lowest of low and the highest of high of the
// last n bars, from 0 to 100. It is 0 if that range is no larger than [Rounding].
func Stochastic(x, high, low []float64, n int) []float64 {
	out, bottom := Highest(high, n), Lowest(low, n)
	for i, top := range out {
		lo := bottom[i]
		if span := Difference(top, lo); span != 0 {
			out[i] = 100 * (x[i] - lo) / span
		} else {
			out[i] = 0
		}
	}
	return out
}

// HeldStochastic is like [Stochastic] of x alone, but a window without range
// keeps the value of the bar before.
func HeldStochastic(x []float64, n int) []float64 {
	hi, lo := Highest(x, n), Lowest(x, n)
	out := Unknown(len(x), FirstValid(hi))
	value := 0.0
	for i := FirstValid(hi); i < len(x); i++ {
		if span := Difference(hi[i], lo[i]); span > 0 {
			value = 100 * Difference(x[i], lo[i]) / span
		}
		out[i] = value
	}
	return out
}
