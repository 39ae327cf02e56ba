package indicators

import (
	"math"
	"slices"

	"wick/market"
)

var indMFI = Indicator{
	Name: "mfi", Title: "MFI", Aliases: []string{"money_flow_index"}, Category: Volume,
	Doc:     "Money flow index: an RSI that weighs movement by volume. The share of money that changed hands on rising typical prices, 0 to 100. As in TA-Lib; 0 when no money moved (TA-Lib: less than 1).",
	Formula: "MFI = 100 * P / (P + N), P and N the sums over n bars of p*volume where p rose and fell, p = (high + low + close) / 3",
	Params:  slices.Concat([]Param{length(14)}, zone(20, 80, 0, 100), divParams()),
	Signals: append([]string{Oversold, Overbought}, divSignals...),
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := mfi(s, a.Int("length"))
		r := zoned("MFI", y, a, Oversold, Overbought)
		r.YRange = &[2]float64{0, 100}
		addDivergences(r, s, y, a)
		return r
	},
}

// mfi returns the money flow index over n changes of the typical price. It
// slides the sum of all flows and the sum of signed ones.
func mfi(s *market.Series, n int) []float64 {
	out := unknown(s.Len(), n)
	if s.Len() == 0 {
		return out
	}
	flows := make([]float64, len(out)) // negative where the price fell
	high, low, closes, volume := s.High[:len(out)], s.Low[:len(out)], s.Close[:len(out)], s.Volume[:len(out)]
	before := high[0] + low[0] + closes[0] // three prices: the third cancels
	var all, signed float64
	for i := 1; i < len(out); i++ {
		price := high[i] + low[i] + closes[i]
		flow, move := math.Abs(price*volume[i]), price-before
		before = price
		if move == 0 {
			flow = 0
		}
		var gone float64
		if i > n {
			gone = flows[i-n]
		}
		all += flow - math.Abs(gone)
		flow = math.Copysign(flow, move)
		signed += flow - gone
		flows[i] = flow
		if gone != 0 && math.Abs(gone) > 1e6*all { // what is left is mostly rounding
			all, signed = flowSums(flows[i-n+1 : i+1])
		}
		if i >= n && all > 0 {
			out[i] = percent(all, signed)
		}
	}
	return out
}

// flowSums returns the sums of |v| and of v.
func flowSums(x []float64) (all, signed float64) {
	for _, v := range x {
		all += math.Abs(v)
		signed += v
	}
	return all, signed
}

// percent returns how much of all is positive, 0 to 100.
func percent(all, signed float64) float64 {
	v := 50 + 50*signed/all
	if v < 0 {
		return 0
	}
	if v > 100 {
		return 100
	}
	return v
}
