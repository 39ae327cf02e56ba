package indicators

import "wick/market"

var indAPO = Indicator{
	Name: "apo", Title: "APO", Aliases: []string{"absolute_price_oscillator", "po"}, Category: Momentum,
	Doc:     "Absolute price oscillator: a fast less a slow average, in price. As in TA-Lib, with exponential averages by default, each seeded with its own first prices.",
	Formula: "APO = average(fast) - average(slow)",
	Params:  oscillatorParams(),
	Signals: []string{ZeroUp, ZeroDown},
	Warmup:  oscillatorWarmup,
	Compute: aroundZero("APO", func(s *market.Series, a Args) []float64 {
		fast, slow := twoAverages(column(s, a), a)
		return minus(fast, slow)
	}),
}

var indPPO = Indicator{
	Name: "ppo", Title: "PPO", Aliases: []string{"percentage_price_oscillator"}, Category: Momentum,
	Doc:     "Percentage price oscillator: a fast less a slow average in percent of the slow one, and its own exponential average as signal. The line as in TA-Lib, with exponential averages by default.",
	Formula: "PPO = 100 * (average(fast) - average(slow)) / average(slow); signal = EMA(PPO)",
	Params:  append(oscillatorParams(), bars("signal", 9, "signal average", "signal_length", "signalperiod", "signal_period")),
	Signals: []string{CrossUp, CrossDown, ZeroUp, ZeroDown},
	Warmup:  func(a Args) int { return oscillatorWarmup(a) + emaMemory*a.Int("signal") },
	Compute: func(s *market.Series, a Args) *Result {
		fast, slow := twoAverages(column(s, a), a)
		line := make([]float64, len(fast))
		for i, f := range fast {
			switch {
			case slow[i] != 0:
				line[i] = 100 * (f - slow[i]) / slow[i]
			default:
				line[i] = 0
			}
		}
		signal := ema(line, a.Int("signal"))
		return lineWithSignal("PPO", line, signal, minus(line, signal))
	},
}

func oscillatorParams() []Param {
	return []Param{
		bars("fast", 12, "fast average", "fast_length", "fastperiod", "fast_period"),
		bars("slow", 26, "slow average", "slow_length", "slowperiod", "slow_period"),
		averageType("ma_type", "ema", "kind of averages", "type", "matype"), source(),
	}
}

func oscillatorWarmup(a Args) int {
	return averageWarmup(a.Choice("ma_type"), max(a.Int("fast"), a.Int("slow")))
}

// twoAverages returns the fast and the slow average; the shorter length is the
// fast one, whichever it was given as.
func twoAverages(x []float64, a Args) (fast, slow []float64) {
	m, n, kind := a.Int("fast"), a.Int("slow"), a.Choice("ma_type")
	return average(kind, x, min(m, n)), average(kind, x, max(m, n))
}
