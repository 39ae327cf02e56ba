package indicators

import (
	"math"

	"wick/market"
)

var indBBands = Indicator{
	Name: "bbands", Title: "BB", Aliases: []string{"bb", "bollinger", "bollinger_bands"}, Category: Volatility, Overlay: true,
	Doc:     "Bollinger bands: an average, and bands a multiple of the population deviation away. As in TA-Lib, with TradingView's default length.",
	Formula: "middle = SMA(n); upper, lower = middle ± mult * σ(n)",
	Params: []Param{
		length(20), factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "std_dev", "stddev", "nbdev", "nbdevup", "deviation", "multiplier"),
		quiet(factor("mult_lower", 0, 0, 20, "deviations to the lower band, 0 for the same as mult", "nbdevdn")),
		averageType("ma_type", "sma", "kind of average in the middle", "type", "matype"), source(),
	},
	Signals: []string{BreakUp, BreakDown, TouchUpper, TouchLower},
	Warmup:  func(a Args) int { return averageWarmup(a.Choice("ma_type"), a.Int("length")) },
	Compute: func(s *market.Series, a Args) *Result {
		up, down := a.Float("mult"), a.Float("mult_lower")
		if down == 0 {
			down = up
		}
		mid, upper, lower := bollinger(column(s, a), a.Int("length"), up, down, a.Choice("ma_type"))
		r := bands(mid, upper, lower)
		r.Signals = bandSignals(s, upper, lower)
		return r
	},
}

// bandSignals marks the bars whose high or low comes to a band and the closes
// that leave it.
func bandSignals(s *market.Series, upper, lower []float64) []Signal {
	var signals []Signal
	var reach suspects
	high, low, closes := s.High, s.Low, s.Close
	for start := 0; start < len(high); start += stretch {
		end := min(start+1+stretch, len(high))
		found := reach.outside(high[start:end], low[start:end], upper[start:end], lower[start:end])
		signals = room(signals, 0, len(found), end, len(high))
		for _, k := range found {
			i := start + int(k)
			if top, before := upper[i], upper[i-1]; high[i] >= top {
				if high[i-1] < before {
					signals = append(signals, Signal{i, top, TouchUpper, Down})
				}
				if closes[i] >= top && closes[i-1] < before {
					signals = append(signals, Signal{i, closes[i], BreakUp, Up})
				}
			} else if bottom, before := lower[i], lower[i-1]; low[i] <= bottom {
				if low[i-1] > before {
					signals = append(signals, Signal{i, bottom, TouchLower, Up})
				}
				if closes[i] <= bottom && closes[i-1] > before {
					signals = append(signals, Signal{i, closes[i], BreakDown, Down})
				}
			}
		}
	}
	return signals
}

// bollinger returns the average of the kind named and the bands up and down
// deviations away. The deviation is always the one around the plain mean.
func bollinger(x []float64, n int, up, down float64, kind string) (mid, upper, lower []float64) {
	mid, lower = meanVariance(x, n)
	if kind != "sma" {
		mid = average(kind, x, n)
	}
	upper = make([]float64, len(x))
	for i, v := range lower {
		dev := math.Sqrt(v)
		upper[i], lower[i] = mid[i]+float64(up*dev), mid[i]-float64(down*dev)
	}
	return mid, upper, lower
}

// offset returns mid + by*dev.
func offset(mid, dev []float64, by float64) []float64 {
	out := make([]float64, len(mid))
	for i := range out {
		out[i] = mid[i] + float64(by*dev[i])
	}
	return out
}
