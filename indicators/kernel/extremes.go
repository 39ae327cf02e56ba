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
	queue := make([]int, len(x)) // bars that can still become the extreme, largest first
	head, tail := 0, 0
	for i := range x {
		out[i] = -1
		if i < first {
			continue
		}
		v := sign * x[i]
		// The head leaves when it falls out of the window, at most one a bar. A new
		// value at least as large as it empties the queue.
		if head < tail && queue[head] <= i-n {
			head++
		} else if head < tail && v >= sign*x[queue[head]] {
			tail = head
		}
		// Bars that the new value beats can never be the extreme again.
		for tail > head && (sign*x[queue[tail-1]] < v || latest && sign*x[queue[tail-1]] == v) {
			tail--
		}
		queue[tail] = i
		tail++
		if i >= first+n-1 {
			out[i] = queue[head]
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
