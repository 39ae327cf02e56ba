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
	// The ratio, 0 to 1, moves the weight from least to least+most, and the weight is
	// squared before it is used, so that a market without direction is followed hardly
	// at all.
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
