package indicators

import (
	"math"

	"wick/market"
)

// Kernels. Each is a pure function over columns: the result is aligned with
// the input, NaN before it is warm, and costs one pass whatever the window.
// Leading NaNs (an unwarmed input) only delay a kernel; bars are checked when
// they enter the house, so no NaN comes after the first value. A window n < 1
// is a broken promise of the caller and panics.
//
// A product that feeds a sum is written float64(a*b) + c: without the
// conversion some machines fuse the two and the last bit differs.

// renewal is how many bars a sliding sum may run before it is computed afresh,
// if its window is shorter. It bounds what rounding can add up to and costs
// less than one addition per bar.
const renewal = 256

// outlierLeft reports whether the value that left the window of n ending at
// bar i dwarfs what is in it now, so that what a sliding sum has kept of it is
// rounding.
func outlierLeft(x []float64, i, n int) bool {
	limit := 1e3 * math.Abs(x[i])
	return math.Abs(x[i-n]-x[i]) > limit && math.Abs(x[i-n+1]-x[i]) <= limit
}

// nans returns n values that are not yet known.
func nans(n int) []float64 { return unknown(n, n) }

// unknown returns n values for a kernel to fill, of which the first warm are
// NaN and the rest zero.
func unknown(n, warm int) []float64 {
	out := make([]float64, n)
	for i := range out[:min(max(warm, 0), n)] {
		out[i] = nan
	}
	return out
}

// firstValid returns the index of the first value of x that is not NaN, or
// len(x).
func firstValid(x []float64) int {
	for i, v := range x {
		if !math.IsNaN(v) {
			return i
		}
	}
	return len(x)
}

// sma returns the mean of the last n values. The difference of the value that
// comes and the one that goes is added to a running sum, so that equal values
// leave it as it is to the last bit. Differences are gathered by four, so that
// the sum waits for one addition in four bars.
func sma(x []float64, n int) []float64 {
	first := firstValid(x)
	out := unknown(len(x), first+n-1)
	if len(x)-first < n {
		return out
	}
	share, sum := 1/float64(n), total(x[first:first+n])
	out[first+n-1] = sum * share
	in, gone, rest := x[first+n:], x[first:], out[first+n:]
	for len(in) >= 4 && len(gone) >= 4 && len(rest) >= 4 {
		a := in[0] - gone[0]
		b := a + (in[1] - gone[1])
		c := b + (in[2] - gone[2])
		d := c + (in[3] - gone[3])
		rest[0], rest[1], rest[2], rest[3] = (sum+a)*share, (sum+b)*share, (sum+c)*share, (sum+d)*share
		sum += d
		in, gone, rest = in[4:], gone[4:], rest[4:]
	}
	var moved float64
	for i, v := range in {
		moved += v - gone[i]
		rest[i] = (sum + moved) * share
	}
	return out
}

// rollingSum returns the sum of the last n values without ever subtracting:
// the window is the end of one block of n values and the start of the next, and
// both are running sums within their block. So a window of zeros sums to
// exactly zero whatever stood before it (sums become divisors), nothing drifts,
// and a NaN spoils the windows that hold it and no other.
func rollingSum(x []float64, n int) []float64 {
	first := firstValid(x)
	out := unknown(len(x), first+n-1)
	tails := make([]float64, n) // tails[k]: sum of the block before from its value k on
	for start := first; start < len(x); start += n {
		block := x[start:min(start+n, len(x))]
		var sum float64
		for k, v := range block {
			sum += v
			switch {
			case k == n-1:
				out[start+k] = sum
			case start > first:
				out[start+k] = tails[k+1] + sum
			}
		}
		sum = 0
		for k := len(block) - 1; k >= 0; k-- {
			sum += block[k]
			tails[k] = sum
		}
	}
	return out
}

// total returns the sum of x, added up in four strands.
func total(x []float64) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += x[0]
		b += x[1]
		c += x[2]
		d += x[3]
	}
	for _, v := range x {
		a += v
	}
	return a + b + c + d
}

// cumulative returns the sum of all values so far.
func cumulative(x []float64) []float64 {
	first := firstValid(x)
	out := unknown(len(x), first)
	var sum float64
	for i := first; i < len(x); i++ {
		sum += x[i]
		out[i] = sum
	}
	return out
}

// ema returns the exponential average with weight 2/(n+1). As in TA-Lib its
// first value is the mean of the first n inputs.
func ema(x []float64, n int) []float64 {
	return smooth(x, n, 2/(float64(n)+1))
}

// rma returns Wilder's average, weight 1/n, seeded like ema.
func rma(x []float64, n int) []float64 {
	return smooth(x, n, 1/float64(n))
}

// smooth returns the exponential average with the given weight, whose first
// value is the mean of the first n inputs. It carries on how far the input lies
// above the average, which stays 0 while inputs are equal. Two bars are taken at
// once, because each step waits for the one before; multiplications are fused
// with additions, which is the same to the bit on every machine.
func smooth(x []float64, n int, weight float64) []float64 {
	first := firstValid(x)
	out := unknown(len(x), first+n-1)
	if len(x)-first < n {
		return out
	}
	last := first + n - 1
	mean := total(x[first:last+1]) / float64(n)
	out[last] = mean
	keep, before, above := 1-weight, x[last], x[last]-mean
	in, rest := x[last+1:], out[last+1:]
	for len(in) >= 2 && len(rest) >= 2 {
		a, b := keep*(in[0]-before), keep*(in[1]-in[0])
		rest[0] = in[0] - math.FMA(keep, above, a)
		above = math.FMA(keep*keep, above, math.FMA(keep, a, b))
		rest[1] = in[1] - above
		before, in, rest = in[1], in[2:], rest[2:]
	}
	if len(in) == 1 {
		rest[0] = in[0] - math.FMA(keep, above, float64(keep*(in[0]-before)))
	}
	return out
}

// wma returns the average with weights 1 to n, the newest heaviest.
func wma(x []float64, n int) []float64 {
	first := firstValid(x)
	out := unknown(len(x), first+n-1)
	weights := float64(n) * float64(n+1) / 2
	var ref, sum, weighted float64 // of values less ref
	age := n
	for i := first + n - 1; i < len(x); i++ {
		if age++; age > n || outlierLeft(x, i, n) {
			age = 1
			ref, sum, weighted = x[i], 0, 0
			for k, v := range x[i-n+1 : i+1] {
				sum += v - ref
				weighted += float64(float64(k+1) * (v - ref))
			}
		} else {
			v := x[i] - ref
			weighted += float64(float64(n)*v) - sum
			sum += v - (x[i-n] - ref)
		}
		out[i] = ref + weighted/weights
	}
	return out
}

// stdev returns the population deviation of the last n values.
func stdev(x []float64, n int) []float64 {
	_, out := meanVariance(x, n)
	for i, v := range out {
		out[i] = math.Sqrt(v)
	}
	return out
}

// variance returns the population variance of the last n values.
func variance(x []float64, n int) []float64 {
	_, out := meanVariance(x, n)
	return out
}

// meanVariance returns the mean and the population variance of the last n
// values. It slides the mean and the sum of squares around it, both of values
// less a reference near them, because the mean of squares less the square of
// the mean cancels at high prices and small ticks. When the squares have
// fallen far below their highest (a spike left the window), what is left of
// them is mostly rounding, and they are computed afresh.
func meanVariance(x []float64, n int) (mean, variance []float64) {
	const fallen = 1e-2
	first := firstValid(x)
	mean, variance = unknown(len(x), first+n-1), unknown(len(x), first+n-1)
	share, lifetime := 1/float64(n), max(n, renewal)
	for i := first + n - 1; i < len(x); {
		ref := x[i]
		mid, squares := spread(x[i-n+1:i+1], ref)
		mean[i], variance[i] = ref+mid, squares*share
		floor := fallen * squares
		i++
		rest := x[i:min(i+lifetime-1, len(x))]
		gone, means, variances := x[i-n:][:len(rest)], mean[i:][:len(rest)], variance[i:][:len(rest)]
		for k, v := range rest {
			in, out := v-ref, gone[k]-ref
			change, old := in-out, mid
			mid += float64(change * share)
			squares += float64(change * ((in - mid) + (out - old)))
			if fallen*squares > floor {
				floor = fallen * squares
			}
			if squares < floor {
				break
			}
			means[k], variances[k] = ref+mid, squares*share
			i++
		}
	}
	return mean, variance
}

// spread returns the mean of x, less ref, and the sum of squared distances
// from it.
func spread(x []float64, ref float64) (mean, squares float64) {
	for _, v := range x {
		mean += v - ref
	}
	mean /= float64(len(x))
	for _, v := range x {
		squares += float64((v - ref - mean) * (v - ref - mean))
	}
	return mean, squares
}

// highest returns the largest of the last n values.
func highest(x []float64, n int) []float64 { return extremes(x, n, 1) }

// lowest returns the smallest of the last n values.
func lowest(x []float64, n int) []float64 { return extremes(x, n, -1) }

// extremes returns the largest of the last n values of sign*x, times sign. A
// window reaches over at most one border of blocks of n bars: its extreme is
// the larger of the extreme from its start to the border, prepared backwards
// for the whole block, and the running extreme since the border. That is three
// comparisons per bar, whatever n (van Herk, Gil and Werman). They are made on
// whole numbers in the order of the values, because the processor takes the
// larger of two without a branch: on prices every branch is a guess.
func extremes(x []float64, n int, sign float64) []float64 {
	first := firstValid(x)
	out := unknown(len(x), first+n-1)
	tails := make([]int64, n+1) // tails[k]: extreme of the block before from its bar k on
	tails[n] = math.MinInt64
	for start := first; start < len(x); start += n {
		block := x[start:min(start+n, len(x))]
		run := int64(math.MinInt64)
		results, rest := out[start:start+len(block)], tails[1:len(block)+1]
		for k, v := range block {
			run = max(run, toOrder(sign*v))
			if start > first || k == n-1 {
				results[k] = sign * fromOrder(max(run, rest[k]))
			}
		}
		if len(block) < n {
			break
		}
		run = math.MinInt64
		for k := n - 1; k >= 0; k-- {
			run = max(run, toOrder(sign*block[k]))
			tails[k] = run
		}
	}
	return out
}

// toOrder returns a whole number that is larger for a larger v: the bits of a
// float64 are in order already, but for negative ones, whose order is turned.
func toOrder(v float64) int64 {
	bits := int64(math.Float64bits(v))
	return bits ^ (bits >> 63 & math.MaxInt64)
}

// fromOrder undoes toOrder.
func fromOrder(bits int64) float64 {
	return math.Float64frombits(uint64(bits ^ (bits >> 63 & math.MaxInt64)))
}

// highestAt returns the bar of the largest of the last n values, -1 before
// there are n. Of equal ones it is the latest.
func highestAt(x []float64, n int) []int { return extremeAt(x, n, 1, true) }

// lowestAt returns the bar of the smallest of the last n values, the latest of
// equal ones, -1 before there are n.
func lowestAt(x []float64, n int) []int { return extremeAt(x, n, -1, true) }

// extremeAt returns the bar of the largest of the last n values of sign*x. A
// queue keeps the bars that can still become the extreme, largest first. An
// equal newcomer takes over from the extreme; when the extreme leaves the
// window and several are next, latest decides between the newest of them and,
// as TA-Lib's MAXINDEX has it, the oldest.
func extremeAt(x []float64, n int, sign float64, latest bool) []int {
	first := firstValid(x)
	out := make([]int, len(x))
	queue := make([]int, len(x)) // every bar enters once
	head, tail := 0, 0
	for i := range x {
		out[i] = -1
		if i < first {
			continue
		}
		v := sign * x[i]
		if head < tail && queue[head] <= i-n {
			head++
		} else if head < tail && v >= sign*x[queue[head]] {
			tail = head
		}
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

// regression slides a least-squares line through the last n values. It
// returns the value of the line at the newest bar and its slope per bar; one
// value alone has slope 0.
func regression(x []float64, n int) (end, slope []float64) {
	first := firstValid(x)
	end, slope = unknown(len(x), first+n-1), unknown(len(x), first+n-1)
	size, half := float64(n), float64(n-1)/2
	spreadX := size * (size*size - 1) / 12 // sum of squared distances of 0 … n-1 from half
	if n == 1 {
		spreadX = 1 // of 0: the slope is 0 whatever stands here
	}
	var ref, sum, tilt float64 // of values less ref; tilt = sum of (k-half)*value
	age := n
	for i := first + n - 1; i < len(x); i++ {
		if age++; age > n || outlierLeft(x, i, n) {
			age = 1
			ref, sum, tilt = x[i], 0, 0
			for k, v := range x[i-n+1 : i+1] {
				sum += v - ref
				tilt += float64((float64(k) - half) * (v - ref))
			}
		} else {
			in, gone := x[i]-ref, x[i-n]-ref
			tilt += float64(half*(in+gone)) + gone - sum
			sum += in - gone
		}
		slope[i] = tilt / spreadX
		end[i] = ref + sum/size + float64(slope[i]*half)
	}
	return end, slope
}

// covariance returns the population variances of the last n values of x and
// of y, and their covariance, with the care that meanVariance takes.
func covariance(x, y []float64, n int) (varX, varY, cov []float64) {
	const fallen = 1e-2
	first := max(firstValid(x), firstValid(y))
	varX, varY, cov = unknown(len(x), first+n-1), unknown(len(x), first+n-1), unknown(len(x), first+n-1)
	size, lifetime := float64(n), max(n, renewal)
	var midX, midY, xx, yy, xy, peakX, peakY, refX, refY float64
	age := lifetime
	for i := first + n - 1; i < len(x); i++ {
		if age < lifetime {
			inX, inY, goneX, goneY := x[i]-refX, y[i]-refY, x[i-n]-refX, y[i-n]-refY
			oldX, oldY := midX, midY
			midX += (inX - goneX) / size
			midY += (inY - goneY) / size
			xx += float64((inX - goneX) * (inX - midX + goneX - oldX))
			yy += float64((inY - goneY) * (inY - midY + goneY - oldY))
			xy += float64((inX-oldX)*(inY-midY)) - float64((goneX-oldX)*(goneY-midY))
			peakX, peakY = max(peakX, xx), max(peakY, yy)
			age++
		}
		if age == lifetime || xx < fallen*peakX || yy < fallen*peakY {
			refX, refY, xy = x[i], y[i], 0
			midX, xx = spread(x[i-n+1:i+1], refX)
			midY, yy = spread(y[i-n+1:i+1], refY)
			for k := i - n + 1; k <= i; k++ {
				xy += float64((x[k] - refX - midX) * (y[k] - refY - midY))
			}
			peakX, peakY, age = xx, yy, 0
		}
		varX[i], varY[i], cov[i] = max(0, xx)/size, max(0, yy)/size, xy/size
	}
	return varX, varY, cov
}

// trueRange returns the larger of the bar's range and its distance from the
// close before. As in TA-Lib the first bar has none.
func trueRange(s *market.Series) []float64 {
	out := unknown(s.Len(), 1)
	for i := 1; i < len(out); i++ {
		out[i] = rangeOf(s, i)
	}
	return out
}

// rangeOf returns the true range of bar i, which is not the first.
func rangeOf(s *market.Series, i int) float64 {
	hi, lo, before := s.High[i], s.Low[i], s.Close[i-1]
	if before > hi {
		hi = before
	}
	if before < lo {
		lo = before
	}
	return hi - lo
}

// trueRangePine is trueRange with the range of the first bar, as in Pine.
func trueRangePine(s *market.Series) []float64 {
	out := trueRange(s)
	if len(out) > 0 {
		out[0] = s.High[0] - s.Low[0]
	}
	return out
}

// shift returns x as it was k bars ago; the first k bars have no value.
func shift(x []float64, k int) []float64 {
	out := unknown(len(x), k)
	if k < len(x) {
		copy(out[k:], x)
	}
	return out
}

// change returns how far x moved in k bars.
func change(x []float64, k int) []float64 {
	out := unknown(len(x), k)
	for i := k; i < len(x); i++ {
		out[i] = x[i] - x[i-k]
	}
	return out
}

// minus returns a-b.
func minus(a, b []float64) []float64 {
	out := make([]float64, len(a))
	b = b[:len(a)]
	for i, v := range a {
		out[i] = v - b[i]
	}
	return out
}

// nz returns x with 0 in place of what is not known.
func nz(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		if !math.IsNaN(v) {
			out[i] = v
		}
	}
	return out
}

// meanDeviation returns the mean distance of the last n values from their
// mean.
func meanDeviation(x []float64, n int) []float64 {
	_, deviation := centred(x, n)
	return deviation
}

// centred returns how far the newest of the last n values lies from their mean
// and how far they all do on average. A short window is simply added up, in
// stretches of values less the first of them; for a long one see
// [longDeviation].
func centred(x []float64, n int) (distance, deviation []float64) {
	const short = 60 // where the two take the same time
	first := firstValid(x)
	distance, deviation = unknown(len(x), first+n-1), unknown(len(x), first+n-1)
	if len(x)-first < n {
		return distance, deviation
	}
	if n > short {
		longDeviation(x[first:], distance[first:], deviation[first:], n)
		return distance, deviation
	}
	share := 1 / float64(n)
	stretch := make([]float64, 0, renewal+n)
	for i := first + n - 1; i < len(x); {
		stretch = stretch[:0]
		for k, v := range x[i-n+1 : min(i+renewal, len(x))] {
			if k >= n && math.Abs(v-x[i]) > 1e3*math.Abs(v) {
				break // x[i] is no level for what follows
			}
			stretch = append(stretch, v-x[i])
		}
		sum := total(stretch[:n])
		for k := range stretch[n-1:] {
			w := stretch[k : k+n]
			if k > 0 {
				gone := stretch[k-1]
				if sum += w[n-1] - gone; math.Abs(gone) > 1e3*math.Abs(sum) {
					sum = total(w) // what is left is mostly rounding
				}
			}
			mean := sum * share
			distance[i], deviation[i] = w[n-1]-mean, distances(w, mean)*share
			i++
		}
	}
	return distance, deviation
}

// distances returns the sum of |v - mean| over x. Four sums run side by side:
// one alone would wait for every addition.
func distances(x []float64, mean float64) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += math.Abs(x[0] - mean)
		b += math.Abs(x[1] - mean)
		c += math.Abs(x[2] - mean)
		d += math.Abs(x[3] - mean)
	}
	for _, v := range x {
		a += math.Abs(v - mean)
	}
	return a + b + c + d
}
