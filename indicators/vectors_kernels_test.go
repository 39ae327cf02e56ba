package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// vectorKernels compute functions of the vectors that no entry gives as it is: they
// number bars otherwise, say a direction by a number, or take what no chart has.
var vectorKernels = map[string]func(*market.Series, params) map[string][]float64{
	"FRACTAL":       fractalVector,
	"MARKETFI":      marketVector,
	"MAVP":          vectorMAVP,
	"MAXINDEX":      vectorMaxIndex,
	"MININDEX":      vectorMinIndex,
	"MINMAXINDEX":   vectorMinMaxIndex,
	"PERCENTRANK":   rankVector,
	"SAREXT":        vectorSARExt,
	"SUPERTREND":    supertrend081,
	"pta.mavp":      vectorMAVP,
	"supertrend":    supertrendVector,
	"ta.supertrend": supertrendVector,

	"pta.cdl_pattern, all its patterns added up":                           candleSums,
	"ta.correlation of both closes, as the script Correlation Coefficient": versusVector,
}

// vectorMAVP feeds the lengths of the vectors, 2 to 30 in turn, which no chart
// has.
func vectorMAVP(s *market.Series, p params) map[string][]float64 {
	lengths := make([]float64, s.Len())
	for i := range lengths {
		lengths[i] = float64(2 + i%29)
	}
	kind := kernel.Averages[p.int("matype")]
	return map[string][]float64{"real": mavp(s.Close, lengths, p.int("minperiod"), p.int("maxperiod"), kind)}
}

// position gives the position of an extreme as TA-Lib does, where the entries
// show how many bars ago it was.
func position(s *market.Series, p params, sign float64) []float64 {
	out := barsSince(kernel.ExtremeAt(s.Close, p.int("timeperiod"), sign, false))
	for i, ago := range out {
		out[i] = float64(i) - ago
	}
	return out
}

func vectorMaxIndex(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"integer": position(s, p, 1)}
}

func vectorMinIndex(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"integer": position(s, p, -1)}
}

func vectorMinMaxIndex(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"minidx": position(s, p, -1), "maxidx": position(s, p, 1)}
}

// vectorSARExt marks falling stops by negative values, as TA-Lib does.
func vectorSARExt(s *market.Series, p params) map[string][]float64 {
	long := kernel.Acceleration{Start: p.num("accelerationinitlong"), Step: p.num("accelerationlong"), Most: p.num("accelerationmaxlong")}
	short := kernel.Acceleration{Start: p.num("accelerationinitshort"), Step: p.num("accelerationshort"), Most: p.num("accelerationmaxshort")}
	stop, up := kernel.Parabolic(s, long, short, p.num("startvalue"), p.num("offsetonreverse"))
	for i, v := range stop {
		if !up[i] {
			stop[i] = -v
		}
	}
	return map[string][]float64{"real": stop}
}

// candleSums adds up what all candle patterns say of each bar.
func candleSums(s *market.Series, _ params) map[string][]float64 {
	sum, candles := make([]float64, s.Len()), measureCandles(nil, s)
	for p := range candlePatterns {
		pattern := &candlePatterns[p]
		for i := pattern.begin; i < s.Len(); i++ {
			sum[i] += float64(pattern.at(candles[:i+1], i, 0))
		}
	}
	return map[string][]float64{"sum": sum}
}

// versusVector takes the volume for the closes of the other market.
func versusVector(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"real": correlation(s.Close, s.Volume, p.int("length"))}
}

// fractalVector marks fractals by 100, as TA-Lib does, where the entry shows
// their price.
func fractalVector(s *market.Series, p params) map[string][]float64 {
	high, low := make([]float64, s.Len()), make([]float64, s.Len())
	for _, i := range shape.Peaks(s.High, p.int("leftbars"), p.int("rightbars")) {
		high[i+p.int("rightbars")] = 100
	}
	for _, i := range shape.Troughs(s.Low, p.int("leftbars"), p.int("rightbars")) {
		low[i+p.int("rightbars")] = 100
	}
	return map[string][]float64{"swinghigh": high, "swinglow": low}
}

// rankVector counts values below the newest, as TA-Lib does; the entry counts
// equal ones too, as TradingView.
func rankVector(s *market.Series, p params) map[string][]float64 {
	return map[string][]float64{"real": kernel.PercentRank(s.Close, p.int("timeperiod"))}
}

// marketVector is 0 on bars without volume, as TA-Lib's; the entry has no value.
func marketVector(s *market.Series, _ params) map[string][]float64 {
	return map[string][]float64{"real": kernel.ZeroNaN(kernel.Quotient(kernel.Minus(s.High, s.Low), s.Volume))}
}

// supertrend081 gives the direction as TA-Lib does: 1 is up, 0 before the first
// value.
func supertrend081(s *market.Series, p params) map[string][]float64 {
	stop, up := supertrend(s, p.int("timeperiod"), p.num("multiplier"))
	return map[string][]float64{"supertrend": stop, "trend": sides(stop, up, 1, 0)}
}

// supertrendVector gives the direction as Pine does: -1 is up.
func supertrendVector(s *market.Series, p params) map[string][]float64 {
	stop, up := supertrend(s, p.int("length"), p.num("mult"))
	return map[string][]float64{"supertrend": stop, "direction": sides(stop, up, -1, math.NaN())}
}

// sides returns rising where up, its negative elsewhere, and before until stop has
// a value.
func sides(stop []float64, up []bool, rising, before float64) []float64 {
	out := make([]float64, len(stop))
	for i, v := range stop {
		switch {
		case math.IsNaN(v):
			out[i] = before
		case up[i]:
			out[i] = rising
		default:
			out[i] = -rising
		}
	}
	return out
}
