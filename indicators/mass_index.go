package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Donald G. Dorsey, "The Mass Index", Technical Analysis of Stocks &
// Commodities, June 1992.
var indMassIndex = Indicator{
	Name: "mass_index", Title: "Mass", Aliases: []string{"massi", "mass"}, Category: Volatility,
	Doc:     "Mass index of Dorsey: ranges that widen and narrow again announce a turn, whichever way. The bulge is a rise above 27 and a fall back below 26.5.",
	Formula: "Σ over n bars of EMA(high - low, 9) / EMA(EMA(high - low, 9), 9)",
	Params: []Param{
		bars("ema", 9, "averages of the range", "ema_length", "fast"), bars("length", 25, "bars in the sum", "period", "len", "slow", "window"),
		quiet(factor("upper", 27, 1, 1000, "level a bulge rises above")), quiet(factor("lower", 26.5, 1, 1000, "level it falls back below")),
	},
	Signals: []string{shape.Bulge},
	// Two averages in a row, then the sum.
	Warmup: func(a Args) int { return 2*kernel.EMAMemory*a.Int("ema") + a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		once := kernel.EMA(kernel.Minus(s.High, s.Low), a.Int("ema"))
		line := kernel.RollingSum(kernel.Ratio(once, kernel.EMA(once, a.Int("ema")), 1), a.Int("length"))
		hi, lo := a.Float("upper"), a.Float("lower")
		return &Result{
			Lines:   []Line{{Label: "Mass", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: hi}, {Y: lo}},
			Signals: bulges(line, lo, hi),
		}
	},
}

// bulges marks the bars on which x falls below lo after it was above hi. The widening
// alone is no signal: only the narrowing after it announces a turn.
func bulges(x []float64, lo, hi float64) []Signal {
	var signals []Signal
	raised := false
	for i, v := range x {
		// Between the two levels nothing changes; one bulge gives one signal.
		if v > hi {
			raised = true
		} else if raised && v < lo {
			signals = append(signals, shape.Mark(i, v, shape.Bulge, Accent))
			raised = false
		}
	}
	return signals
}
