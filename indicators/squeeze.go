package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to John F. Carter, "Mastering the Trade", 2005, for the dots; LazyBear's
// public script on TradingView for the bars.
var indSqueeze = Indicator{
	Name: "squeeze", Title: "Squeeze", Aliases: []string{"squeeze_momentum", "ttm_squeeze", "sqzmom", "sqz"}, Category: Momentum,
	Doc: "Squeeze momentum: dots on zero say that the Bollinger bands lie within the Keltner channel, volatility is wound up; the bars say which way it points. " +
		"After LazyBear on TradingView, with the Bollinger factor where he used the Keltner one by mistake.",
	Formula: "bars = end of the regression line over kc bars of close - ((highest + lowest)/2 + SMA)/2; on: both Bollinger bands within SMA ± kc_mult * SMA(TR)",
	Params: []Param{
		atLeast(2, bars("bb", 20, "Bollinger bands", "length", "bb_length", "period")), factor("bb_mult", 2, 0.01, 20, "deviations of the Bollinger bands", "mult", "bb_std"),
		bars("kc", 20, "Keltner channel and momentum", "kc_length"), factor("kc_mult", 1.5, 0.01, 20, "ranges of the Keltner channel", "kc_scalar"),
	},
	Signals: []string{shape.SqueezeOn, shape.SqueezeOff, shape.ZeroUp, shape.ZeroDown},
	// The regression runs over kc values that each look back kc bars.
	Warmup: func(a Args) int { return max(a.Int("bb"), 2*a.Int("kc")) + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("kc")
		// The momentum is the close's distance from the mean of the range's middle and
		// the average, smoothed by the end of a regression line.
		bars, _ := kernel.Regression(kernel.Minus(s.Close, kernel.Midway(kernel.MidRange(s, n), kernel.SMA(s.Close, n))), n)
		on, off, signals := squeezed(s, a)
		signals = shape.LevelCrossings(signals, bars, 0, shape.ZeroUp, shape.ZeroDown)
		return &Result{
			Histogram: []Histogram{{Label: "Momentum", Values: bars}},
			Lines: []Line{
				{Label: "On", Tone: Accent, Style: Dots, Values: on}, {Label: "Off", Tone: Muted, Style: Dots, Values: off},
			},
			HLines:  []HLine{{Y: 0}},
			Signals: shape.InOrder(signals),
		}
	},
}

// squeezed returns a dot on zero for each bar in one of two lines, by whether
// the Bollinger bands lie within the Keltner channel, and marks the changes.
func squeezed(s *market.Series, a Args) (on, off []float64, signals []Signal) {
	middle, dev := kernel.SMA(s.Close, a.Int("bb")), kernel.StdDev(s.Close, a.Int("bb"))
	centre, reach := kernel.SMA(s.Close, a.Int("kc")), kernel.SMA(kernel.TrueRangePine(s), a.Int("kc"))
	on, off = kernel.NaNs(s.Len()), kernel.NaNs(s.Len())
	upper, lower := kernel.Offset(middle, dev, a.Float("bb_mult")), kernel.Offset(middle, dev, -a.Float("bb_mult"))
	ceiling, floor := kernel.Offset(centre, reach, a.Float("kc_mult")), kernel.Offset(centre, reach, -a.Float("kc_mult"))
	for i := max(a.Int("bb"), a.Int("kc")) - 1; i < s.Len(); i++ {
		// The bar before decides whether this one is a change: its dot is in one line
		// or the other, or in neither before the first value.
		if kernel.Compare(upper[i], ceiling[i]) < 0 && kernel.Compare(lower[i], floor[i]) > 0 {
			on[i] = 0
			if off[i-min(i, 1)] == 0 {
				signals = append(signals, shape.Mark(i, 0, shape.SqueezeOn, Down))
			}
			continue
		}
		off[i] = 0
		if on[i-min(i, 1)] == 0 {
			signals = append(signals, shape.Mark(i, 0, shape.SqueezeOff, Up))
		}
	}
	return on, off, signals
}
