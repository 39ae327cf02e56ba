package kernel

import "math"

// Averages are the kinds of moving average that [Average] knows: TA-Lib's in its
// order, which numbers them from 0, then Wilder's and Hull's.
var Averages = []string{"sma", "ema", "wma", "dema", "tema", "trima", "kama", "mama", "t3", "rma", "hma"}

// For how many lengths an average depends on the value it started from. The influence of
// the start falls by the factor e every n/2 bars in an exponential average of length n, and
// every n bars in Wilder's. So after this many lengths less than a part in a hundred million
// is left.
const (
	EMAMemory    = 10
	WilderMemory = 20
)

// kinds says of each kind of average how it is computed, how many bars before the first one
// shown it needs, and how many bars of its input come before its first value; nil for n-1. The
// memory of an average over a window is its length, that of a recursive one so many bars that
// less than a part in a million of its start is left.
var kinds = map[string]struct {
	of       func(x []float64, n int) []float64
	memory   func(n int) int
	lookback func(n int) int
}{
	"sma":   {SMA, times(1), nil},
	"ema":   {EMA, times(EMAMemory), nil},
	"wma":   {WMA, times(1), nil},
	"vwma":  {nil, times(1), nil}, // it needs the volume
	"dema":  {DEMA, times(12), func(n int) int { return 2 * (n - 1) }},
	"tema":  {TEMA, times(15), func(n int) int { return 3 * (n - 1) }},
	"trima": {TRIMA, times(1), nil},
	"kama":  {func(x []float64, n int) []float64 { return KAMA(x, n, 2, 30) }, func(n int) int { return n + KAMAMemory(30) }, times(1)},
	"mama": {func(x []float64, _ int) []float64 { line, _ := MAMA(x, 0.5, 0.05); return line },
		func(int) int { return 500 + HilbertWarmup }, // FAMA's slowest weight is 0.025
		func(int) int { return hilbertEarly + hilbertWait }},
	"t3":  {func(x []float64, n int) []float64 { return T3(x, n, 0.7) }, times(20), func(n int) int { return 6 * (n - 1) }},
	"rma": {RMA, times(WilderMemory), nil},
	"hma": {HMA, func(n int) int { return n + HullRoot(n) }, func(n int) int { return n - 1 + HullRoot(n) - 1 }},
}

// times returns the function of so many lengths.
func times(by int) func(n int) int { return func(n int) int { return by * n } }

// Average returns the moving average of x of the kind named, each with the
// settings that TA-Lib gives it: Kaufman's 2 and 30, MESA's 0.5 and 0.05 (it
// sets its own length), Tillson's 0.7. A length of 1 is x itself.
func Average(kind string, x []float64, n int) []float64 {
	if n == 1 && kind != "mama" {
		return x
	}
	return kinds[kind].of(x, n)
}

// AverageWarmup returns how many bars before the first one shown an average of this kind
// needs.
func AverageWarmup(kind string, n int) int { return kinds[kind].memory(n) }

// AverageLookback returns how many bars of its input come before the first
// value of an average of this kind.
func AverageLookback(kind string, n int) int {
	switch lookback := kinds[kind].lookback; {
	case n == 1 && kind != "mama":
		return 0
	case lookback != nil:
		return lookback(n)
	}
	return n - 1
}

// DEMA returns the double exponential average, 2*e1 - e2, where e2 is the exponential
// average of e1. The second average lags the first about as much as the first lags x,
// so taking the difference off leaves a line with little lag.
func DEMA(x []float64, n int) []float64 {
	e1 := EMA(x, n)
	e2 := EMA(e1, n)
	for i, v := range e2 {
		e2[i] = float64(2*e1[i]) - v
	}
	return e2
}

// TEMA returns the triple exponential average, 3*e1 - 3*e2 + e3, each the exponential
// average of the one before. The sum is taken as e3 plus three small differences, which
// loses fewer digits.
func TEMA(x []float64, n int) []float64 {
	e1 := EMA(x, n)
	e2 := EMA(e1, n)
	e3 := EMA(e2, n)
	for i, v := range e3 {
		e3[i] = v + float64(3*(e1[i]-e2[i]))
	}
	return e3
}

// TRIMA returns the triangular average: a simple average of a simple average,
// whose lengths add up to n+1.
func TRIMA(x []float64, n int) []float64 {
	return SMA(SMA(x, (n+1)/2), n/2+1)
}

// T3 returns Tillson's average: six exponential averages in a row, the last
// four weighted by the volume factor v.
func T3(x []float64, n int, v float64) []float64 {
	e2 := EMA(EMA(x, n), n)
	e3 := EMA(e2, n)
	e4 := EMA(e3, n)
	e5 := EMA(e4, n)
	e6 := EMA(e5, n)
	// One pass is (1+v) times an average less v times the average of that average. Done
	// three times over, the weights are the terms of a cube, and add up to 1.
	v2, v3 := v*v, v*v*v
	c6, c5, c4, c3 := -v3, 3*(v2+v3), -6*v2-3*(v+v3), 1+3*v+v3+3*v2
	for i := range e6 {
		e6[i] = float64(c6*e6[i]) + float64(c5*e5[i]) + float64(c4*e4[i]) + float64(c3*e3[i])
	}
	return e6
}

// KAMAMemory returns after how many bars less than a part in a million of the start of a
// [KAMA] is left in a market without direction. There the weight of each bar is smallest:
// the square of that of the slow average.
func KAMAMemory(slow float64) int {
	weight := 2 / (slow + 1)
	return int(12 / (weight * weight))
}

// KAMA returns Kaufman's adaptive average. Its weight is between those of exponential
// averages of length fast and slow, according to the efficiency ratio: the change over n
// bars divided by the sum of all changes within them. As in TA-Lib the ratio is 1 if
// nothing moved, and the line starts from the input before its first value.
func KAMA(x []float64, n int, fast, slow float64) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first+n)
	if len(x)-first <= n {
		return out
	}
	// The weight is squared, so that a market without direction is followed hardly at all.
	least := 2 / (slow + 1)
	most := 2/(fast+1) - least
	paths := RollingSum(Absolute(Change(x, 1)), n)
	value := x[first+n-1]
	for i := first + n; i < len(x); i++ {
		ratio := 1.0
		// The path is at least as long as the distance. Where rounding says otherwise,
		// or where neither is more than zero, the ratio stays 1.
		if covered := math.Abs(x[i] - x[i-n]); covered < paths[i] {
			ratio = covered / paths[i]
		}
		weight := float64(ratio*most) + least
		value += float64(weight * weight * (x[i] - value))
		out[i] = value
	}
	return out
}

// WMA returns the average with weights 1 to n, the newest heaviest.
func WMA(x []float64, n int) []float64 {
	weights := make([]float64, n)
	for k := range weights {
		weights[k] = float64(k+1) / (float64(n) * float64(n+1) / 2)
	}
	return Convolve(x, weights)
}

// HMA returns Hull's average: a weighted average of twice the fast less the
// slow one. Half the length and its square root are rounded down, as in Pine.
func HMA(x []float64, n int) []float64 {
	fast, slow := WMA(x, max(1, n/2)), WMA(x, n)
	raw := make([]float64, len(x))
	for i := range raw {
		raw[i] = float64(2*fast[i]) - slow[i]
	}
	return WMA(raw, HullRoot(n))
}

// HullRoot returns the length of the last average in [HMA].
func HullRoot(n int) int { return int(math.Sqrt(float64(n))) }

// SWMA returns the average of the last four values with weights 1, 2, 2, 1.
func SWMA(x []float64) []float64 {
	out := NaNs(len(x))
	for i := FirstValid(x) + 3; i < len(x); i++ {
		out[i] = (x[i] + float64(2*x[i-1]) + float64(2*x[i-2]) + x[i-3]) / 6
	}
	return out
}

// Convolve returns the weighted sum of the last len(weights) values, of which
// weights[0] belongs to the oldest. It costs a multiplication per weight and
// bar.
func Convolve(x, weights []float64) []float64 {
	n := len(weights)
	first := FirstValid(x)
	out := Unknown(len(x), first+n-1)
	for i := first + n - 1; i < len(x); i++ {
		out[i] = dot(x[i-n+1:i+1], weights)
	}
	return out
}

// dot returns the sum of products, in four strands like [sumAbove].
func dot(x, w []float64) float64 {
	w = w[:len(x)]
	var a, b, c, d float64
	for len(x) >= 4 && len(w) >= 4 {
		a += float64(x[0] * w[0])
		b += float64(x[1] * w[1])
		c += float64(x[2] * w[2])
		d += float64(x[3] * w[3])
		x, w = x[4:], w[4:]
	}
	for k, v := range x {
		a += float64(v * w[k])
	}
	return a + b + c + d
}

// Regression fits a least-squares line through the last n values. It returns
// the value of that line at the newest bar and its slope per bar. With n = 1
// the slope is 0. Every window is summed up by itself: with the longest that takes
// a few milliseconds on 5,000 bars.
func Regression(x []float64, n int) (end, slope []float64) {
	first := FirstValid(x)
	end, slope = Unknown(len(x), first+n-1), Unknown(len(x), first+n-1)
	size, half := float64(n), float64(n-1)/2
	spreadX := size * (size*size - 1) / 12 // sum of squared distances of 0 … n-1 from half
	if n == 1 {
		spreadX = 1 // the slope is 0 whatever it is divided by
	}
	for i := first + n - 1; i < len(x); i++ {
		ref := x[i]
		var sum, tilt float64 // of values less ref; tilt = sum of (k-half)*value
		for k, v := range x[i-n+1 : i+1] {
			sum += v - ref
			tilt += float64((float64(k) - half) * (v - ref))
		}
		slope[i] = tilt / spreadX
		end[i] = ref + sum/size + float64(slope[i]*half)
	}
	return end, slope
}

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
