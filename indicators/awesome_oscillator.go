package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Bill Williams, "New Trading Dimensions", 1998, as for the accelerator.
var indAwesomeOscillator = Indicator{
	Name: "awesome_oscillator", Title: "AO", Aliases: []string{"ao", "awesome"}, Category: Momentum,
	Doc:     "Awesome oscillator of Williams: a fast less a slow simple average of the median price. turn_up and turn_down mark changes of colour, that is saucers among others.",
	Formula: "AO = SMA(hl2, fast) - SMA(hl2, slow)",
	Params:  awesomeParams(),
	Signals: []string{shape.ZeroUp, shape.ZeroDown, shape.TurnUp, shape.TurnDown},
	Warmup:  func(a Args) int { return max(a.Int("fast"), a.Int("slow")) + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		return colouredBars("AO", awesome(s, a), func(i int) float64 { return s.Close[i] })
	},
}

// awesomeParams returns Williams' lengths, 5 and 34.
func awesomeParams() []Param {
	return []Param{bars("fast", 5, "fast average", "fast_length", "short"), bars("slow", 34, "slow average", "slow_length", "long")}
}

// awesome returns the oscillator: the distance of two simple averages of the median
// price.
func awesome(s *market.Series, a Args) []float64 {
	x := kernel.MedianPrice(s)
	return kernel.Minus(kernel.SMA(x, a.Int("fast")), kernel.SMA(x, a.Int("slow")))
}

// colouredBars draws a histogram around zero and marks where it crosses zero and
// where its colour, the direction, changes. The bars are differences of numbers of
// the given size. Prices tell what is rounding in a difference of prices, 100 in one
// of percentages.
func colouredBars(label string, line []float64, size func(i int) float64) *Result {
	signals := shape.LevelCrossings(nil, line, 0, shape.ZeroUp, shape.ZeroDown)
	return &Result{
		Histogram: []Histogram{{Label: label, Values: line}},
		HLines:    []HLine{{Y: 0}},
		Signals:   shape.InOrder(shape.TurnsOf(signals, line, size)),
	}
}
