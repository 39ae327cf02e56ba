package indicators

import "wick/market"

var indMACD = Indicator{
	Name: "macd", Title: "MACD", Aliases: []string{"moving_average_convergence_divergence"}, Category: Momentum,
	Doc:     "Moving average convergence and divergence: a fast less a slow exponential average, its own average as signal, and their difference. As in TA-Lib: both averages are seeded on the same bar and all three series begin together.",
	Formula: "MACD = EMA(fast) - EMA(slow); signal = EMA(MACD); histogram = MACD - signal",
	Params: []Param{
		bars("fast", 12, "fast average", "fast_length", "fastperiod"), bars("slow", 26, "slow average", "slow_length", "slowperiod"),
		bars("signal", 9, "signal average", "signal_length", "signalperiod", "smooth"), source(),
	},
	Signals: []string{CrossUp, CrossDown, ZeroUp, ZeroDown},
	Warmup:  func(a Args) int { return 10 * (a.Int("fast") + a.Int("slow") + a.Int("signal")) },
	Compute: func(s *market.Series, a Args) *Result {
		line, signal, hist := macd(column(s, a), a.Int("fast"), a.Int("slow"), a.Int("signal"))
		signals := crossings(nil, line, signal, CrossUp, CrossDown)
		signals = levelCrossings(signals, line, 0, ZeroUp, ZeroDown)
		return &Result{
			Lines: []Line{
				{Label: "MACD", Tone: Primary, Values: line}, {Label: "Signal", Tone: Second, Values: signal},
			},
			Histogram: []Histogram{{Label: "Histogram", Values: hist}},
			HLines:    []HLine{{Y: 0}},
			Signals:   inOrder(signals),
		}
	},
}

// macd returns the three series. The seed of the fast average ends on the bar
// on which the slow one begins, so both start from the same bar.
func macd(x []float64, fast, slow, signal int) (line, signalLine, hist []float64) {
	if fast > slow {
		fast, slow = slow, fast // as TA-Lib does
	}
	late := nans(len(x))
	if first := firstValid(x); len(x)-first >= slow {
		copy(late[first+slow-fast:], x[first+slow-fast:])
	}
	line = minus(ema(late, fast), ema(x, slow))
	signalLine = ema(line, signal)
	for i := range min(firstValid(signalLine), len(line)) {
		line[i] = nan
	}
	return line, signalLine, minus(line, signalLine)
}
