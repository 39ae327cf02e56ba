package indicators

import "wick/market"

var indRSI = Indicator{
	Name: "rsi", Title: "RSI", Aliases: []string{"relative_strength", "relative_strength_index"}, Category: Momentum,
	Doc:     "Relative strength index: the share of gains in all movement, 0 to 100, in Wilder's smoothing. As in TA-Lib: first value at bar n, 0 when nothing moved.",
	Formula: "RSI = 100 * G / (G + L), G and L Wilder averages of gains and losses",
	Params: []Param{
		length(14),
		factor("oversold", 30, 0, 100, "lower level", "lower"), factor("overbought", 70, 0, 100, "upper level", "upper"),
		source(),
	},
	Signals: []string{RSIOversold, RSIOverbought},
	Warmup:  func(a Args) int { return 20 * a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		line := wilderRSI(column(s, a), a.Int("length"))
		lo, hi := a.Float("oversold"), a.Float("overbought")
		return &Result{
			YRange:  &[2]float64{0, 100},
			Lines:   []Line{{Label: "RSI", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: hi}, {Y: 50}, {Y: lo}},
			Signals: inOrder(zoneExits(nil, line, lo, hi, RSIOversold, RSIOverbought)),
		}
	},
}

// wilderRSI returns the relative strength index of x over n changes.
func wilderRSI(x []float64, n int) []float64 {
	out := nans(len(x))
	first := firstValid(x)
	var gain, loss float64
	for i := first + 1; i < len(x); i++ {
		up, down := max(x[i]-x[i-1], 0), max(x[i-1]-x[i], 0)
		switch k := i - first; {
		case k <= n:
			gain += up / float64(n)
			loss += down / float64(n)
		default:
			gain += (up - gain) / float64(n)
			loss += (down - loss) / float64(n)
		}
		if i-first >= n {
			if move := gain + loss; move != 0 {
				out[i] = 100 * gain / move
			} else {
				out[i] = 0
			}
		}
	}
	return out
}
