package indicators

import "math"

// Moving averages that are made of others or adapt to the market, and the one
// place that knows them all by name.

// averages are the kinds of moving average in TA-Lib's order (its "matype").
var averages = []string{"sma", "ema", "wma", "dema", "tema", "trima", "kama", "mama", "t3"}

// averageType returns a parameter that names a kind of moving average.
func averageType(name, def, doc string, aliases ...string) Param {
	p := choice(name, doc, averages...)
	p.Aliases = aliases
	for i, kind := range averages {
		if kind == def {
			p.Default = float64(i)
		}
	}
	return p
}

// average returns the moving average of x of the kind named, each with the
// settings that TA-Lib gives it: Kaufman's 2 and 30, MESA's 0.5 and 0.05 (it
// sets its own length), Tillson's 0.7. A length of 1 is x itself.
func average(kind string, x []float64, n int) []float64 {
	if n == 1 && kind != "mama" {
		return x
	}
	switch kind {
	case "ema":
		return ema(x, n)
	case "wma":
		return wma(x, n)
	case "dema":
		return dema(x, n)
	case "tema":
		return tema(x, n)
	case "trima":
		return trima(x, n)
	case "kama":
		return kama(x, n, 2, 30)
	case "mama":
		line, _ := mama(x, 0.5, 0.05)
		return line
	case "t3":
		return t3(x, n, 0.7)
	}
	return sma(x, n)
}

// averageWarmup returns how many bars before the first one shown an average
// of this kind needs: the window of the finite ones, and for the recursive
// ones so many that less than a part in a million of the start is left.
func averageWarmup(kind string, n int) int {
	switch kind {
	case "sma", "wma", "trima":
		return n
	case "dema":
		return 12 * n
	case "tema":
		return 15 * n
	case "t3":
		return 20 * n
	case "kama":
		return n + 20*30
	case "mama":
		return 500 + hilbertWarmup // FAMA's slowest weight is 0.025
	}
	return emaMemory * n
}

// averageLookback returns how many bars of its input come before the first
// value of an average of this kind.
func averageLookback(kind string, n int) int {
	switch {
	case kind == "mama":
		return hilbertEarly + hilbertWait
	case n == 1:
		return 0
	}
	switch kind {
	case "dema":
		return 2 * (n - 1)
	case "tema":
		return 3 * (n - 1)
	case "kama":
		return n
	case "t3":
		return 6 * (n - 1)
	}
	return n - 1
}

// dema returns the double exponential average, 2*e1 - e2.
func dema(x []float64, n int) []float64 {
	e1 := ema(x, n)
	e2 := ema(e1, n)
	for i, v := range e2 {
		e2[i] = float64(2*e1[i]) - v
	}
	return e2
}

// tema returns the triple exponential average, 3*e1 - 3*e2 + e3.
func tema(x []float64, n int) []float64 {
	e1 := ema(x, n)
	e2 := ema(e1, n)
	e3 := ema(e2, n)
	for i, v := range e3 {
		e3[i] = v + float64(3*(e1[i]-e2[i]))
	}
	return e3
}

// trima returns the triangular average: a simple average of a simple average,
// whose lengths add up to n+1.
func trima(x []float64, n int) []float64 {
	return sma(sma(x, (n+1)/2), n/2+1)
}

// t3 returns Tillson's average: six exponential averages in a row, the last
// four weighted by the volume factor v.
func t3(x []float64, n int, v float64) []float64 {
	e2 := ema(ema(x, n), n)
	e3 := ema(e2, n)
	e4 := ema(e3, n)
	e5 := ema(e4, n)
	e6 := ema(e5, n)
	v2, v3 := v*v, v*v*v
	c6, c5, c4, c3 := -v3, 3*(v2+v3), -6*v2-3*(v+v3), 1+3*v+v3+3*v2
	for i := range e6 {
		e6[i] = float64(c6*e6[i]) + float64(c5*e5[i]) + float64(c4*e4[i]) + float64(c3*e3[i])
	}
	return e6
}

// kama returns Kaufman's adaptive average. The efficiency ratio, the distance
// covered in n bars over the path walked, moves the weight between those of
// exponential averages of length fast and slow; as in TA-Lib it is 1 when
// nothing moved, and the line starts from the value before its first.
func kama(x []float64, n int, fast, slow float64) []float64 {
	first := firstValid(x)
	out := unknown(len(x), first+n)
	if len(x)-first <= n {
		return out
	}
	least := 2 / (slow + 1)
	most := 2/(fast+1) - least
	var path float64
	steps := make([]float64, len(x))
	for i := first + 1; i < len(x); i++ {
		steps[i] = math.Abs(x[i] - x[i-1])
	}
	value := x[first+n-1]
	for i := first + 1; i < len(x); i++ {
		if k := i - first; k > n && k%max(n, renewal) != 0 {
			path += steps[i] - steps[i-n]
		} else if k <= n {
			path += steps[i]
		} else {
			path = total(steps[i-n+1 : i+1])
		}
		if i < first+n {
			continue
		}
		ratio := 1.0
		if covered := math.Abs(x[i] - x[i-n]); covered < path {
			ratio = covered / path
		}
		weight := float64(ratio*most) + least
		value += float64(weight * weight * (x[i] - value))
		out[i] = value
	}
	return out
}
