package indicators

import "wick/market"

var indTSI = Indicator{
	Name: "tsi", Title: "TSI", Aliases: []string{"true_strength", "true_strength_index"}, Category: Momentum,
	Doc:     "True strength index of Blau: change smoothed twice over absolute change smoothed twice, -100 to 100, with an exponential average as signal. As at TradingView; averages are seeded with means.",
	Formula: "TSI = 100 * EMA(EMA(Δx, long), short) / EMA(EMA(|Δx|, long), short)",
	Params: []Param{
		bars("long", 25, "first smoothing", "slow", "long_length", "length"), bars("short", 13, "second smoothing", "fast", "short_length"),
		bars("signal", 13, "signal average", "signal_length"), source(),
	},
	Signals: []string{CrossUp, CrossDown, ZeroUp, ZeroDown},
	Compute: func(s *market.Series, a Args) *Result {
		moves := change(column(s, a), 1)
		twice := func(x []float64) []float64 { return ema(ema(x, a.Int("long")), a.Int("short")) }
		line := ratioLine(twice(moves), twice(absolute(moves)), 100)
		r := signalPanel("TSI", line, ema(line, a.Int("signal")))
		r.HLines = []HLine{{Y: 25}, {Y: 0}, {Y: -25}}
		return r
	},
}

// ratioLine returns by*a/b, and 0 where b is 0: nothing moved. Unlike
// quotient it leaves no holes in a line that is smoothed further.
func ratioLine(a, b []float64, by float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		if b[i] != 0 {
			out[i] = by * a[i] / b[i] // NaN before either is warm
		}
	}
	return out
}

// signalPanel draws a line and its signal line around zero and marks where
// they cross each other and the line crosses zero.
func signalPanel(label string, line, signal []float64) *Result {
	signals := crossings(nil, line, signal, CrossUp, CrossDown)
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: line}, {Label: "Signal", Tone: Second, Values: signal}},
		HLines:  []HLine{{Y: 0}},
		Signals: inOrder(levelCrossings(signals, line, 0, ZeroUp, ZeroDown)),
	}
}

// zeroPanel draws one line around zero and marks where it crosses.
func zeroPanel(label string, line []float64) *Result {
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: line}},
		HLines:  []HLine{{Y: 0}},
		Signals: levelCrossings(nil, line, 0, ZeroUp, ZeroDown),
	}
}
