package indicators

import "wick/market"

var indAwesomeOscillator = Indicator{
	Name: "awesome_oscillator", Title: "AO", Aliases: []string{"ao", "awesome"}, Category: Momentum,
	Doc:     "Awesome oscillator of Williams: a fast less a slow simple average of the median price. turn_up and turn_down mark changes of colour, that is saucers among others.",
	Formula: "AO = SMA(hl2, fast) - SMA(hl2, slow)",
	Params:  awesomeParams(),
	Signals: []string{ZeroUp, ZeroDown, TurnUp, TurnDown},
	Warmup:  func(a Args) int { return max(a.Int("fast"), a.Int("slow")) + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		return colouredBars("AO", awesome(s, a))
	},
}

var indAcceleratorOscillator = Indicator{
	Name: "accelerator_oscillator", Title: "AC", Aliases: []string{"ac", "accelerator"}, Category: Momentum,
	Doc:     "Accelerator oscillator of Williams: the awesome oscillator less its own average, the change of driving force that comes before a change of momentum.",
	Formula: "AC = AO - SMA(AO, signal)",
	Params:  append(awesomeParams(), bars("signal", 5, "average of the oscillator", "signal_length", "smooth")),
	Signals: []string{ZeroUp, ZeroDown, TurnUp, TurnDown},
	Warmup:  func(a Args) int { return max(a.Int("fast"), a.Int("slow")) + a.Int("signal") + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		ao := awesome(s, a)
		return colouredBars("AC", minus(ao, sma(ao, a.Int("signal"))))
	},
}

func awesomeParams() []Param {
	return []Param{bars("fast", 5, "fast average", "fast_length", "short"), bars("slow", 34, "slow average", "slow_length", "long")}
}

func awesome(s *market.Series, a Args) []float64 {
	x := medianPrice(s)
	return minus(sma(x, a.Int("fast")), sma(x, a.Int("slow")))
}

// colouredBars draws a histogram around zero and marks where it crosses zero
// and where its colour, the direction, changes.
func colouredBars(label string, line []float64) *Result {
	signals := levelCrossings(nil, line, 0, ZeroUp, ZeroDown)
	return &Result{
		Histogram: []Histogram{{Label: label, Values: line}},
		HLines:    []HLine{{Y: 0}},
		Signals:   inOrder(turns(signals, line)),
	}
}
