package indicators

import "wick/market"

var indBBands = Indicator{
	Name: "bbands", Title: "BB", Aliases: []string{"bb", "bollinger", "bollinger_bands"}, Category: Volatility, Overlay: true,
	Doc:     "Bollinger bands: a simple average, and bands a multiple of the population deviation away. As in TA-Lib, with TradingView's default length.",
	Formula: "middle = SMA(n); upper, lower = middle ± mult * σ(n)",
	Params: []Param{
		length(20), factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "std_dev", "stddev", "nbdev", "deviation", "multiplier"), source(),
	},
	Signals: []string{BreakUp, BreakDown},
	Warmup:  func(a Args) int { return a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		mid, dev := sma(x, n), stdev(x, n)
		upper, lower := offset(mid, dev, a.Float("mult")), offset(mid, dev, -a.Float("mult"))
		signals := crossings(nil, s.Close, upper, BreakUp, "")
		signals = crossings(signals, s.Close, lower, "", BreakDown)
		return &Result{
			Lines: []Line{
				{Label: "Middle", Tone: Muted, Values: mid},
				{Label: "Upper", Tone: Band, Values: upper},
				{Label: "Lower", Tone: Band, Values: lower},
			},
			Fills:   []Fill{{Y1: upper, Y2: lower, Tone: Band}},
			Signals: inOrder(signals),
		}
	},
}

// offset returns mid + by*dev.
func offset(mid, dev []float64, by float64) []float64 {
	out := make([]float64, len(mid))
	for i := range out {
		out[i] = mid[i] + float64(by*dev[i])
	}
	return out
}
