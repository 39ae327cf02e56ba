package indicators

import (
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

// mfi returns the money flow index over n changes of the typical price. How
// many bars of the window rose and fell is counted, so that a side without
// any is exactly 0 whatever rounding left in its sum.
func mfi(s *market.Series, n int) []float64 {
	out := unknown(s.Len(), n)
	if s.Len() == 0 {
		return out
	}
	flows := make([]float64, s.Len()) // negative where the price fell
	var up, down float64
	var ups, downs int
	before := (s.High[0] + s.Low[0] + s.Close[0]) / 3
	for i := 1; i < len(out); i++ {
		price := (s.High[i] + s.Low[i] + s.Close[i]) / 3
		flow := price * s.Volume[i]
		if price < before {
			flow = -flow
		} else if price == before {
			flow = 0
		}
		before, flows[i] = price, flow
		if flow > 0 {
			up += flow
			ups++
		} else if flow < 0 {
			down -= flow
			downs++
		}
		if i > n {
			if gone := flows[i-n]; gone > 0 {
				up -= gone
				ups--
			} else if gone < 0 {
				down += gone
				downs--
			}
		}
		if ups == 0 {
			up = 0
		}
		if downs == 0 {
			down = 0
		}
		if i >= n && up+down > 0 {
			out[i] = 100 * up / (up + down)
		}
	}
	return out
}
