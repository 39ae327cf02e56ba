package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indQQE = Indicator{
	Name: "qqe", Title: "QQE", Aliases: []string{"quantitative_qualitative_estimation"}, Category: Momentum,
	Doc:     "Quantitative qualitative estimation: a smoothed RSI and a stop that trails it by a multiple of its usual movement. As in pandas-ta: the movement is smoothed twice over 2n-1 bars by exponential averages seeded with means, and the RSI has its first value a bar before TA-Lib's.",
	Formula: "r = EMA(RSI(n), smooth); stop trails r by factor * EMA(EMA(|Δr|, 2n-1), 2n-1)",
	Params: []Param{
		bars("rsi", 14, "RSI", "length", "period", "rsi_length"), bars("smooth", 5, "average of the RSI", "sf", "rsi_smoothing"),
		factor("factor", 4.236, 0.1, 20, "movements between line and stop", "mult", "qqe_factor"), source(),
	},
	Signals: []string{shape.FlipUp, shape.FlipDown, shape.CrossUp, shape.CrossDown},
	Warmup: func(a Args) int {
		return kernel.WilderMemory*a.Int("rsi") + kernel.EMAMemory*(a.Int("smooth")+4*a.Int("rsi")) + 100
	},
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("rsi")
		line := kernel.EMA(earlyRSI(column(s, a), n), a.Int("smooth"))
		wide := kernel.Scaled(kernel.EMA(kernel.EMA(kernel.Absolute(kernel.Change(line, 1)), 2*n-1), 2*n-1), a.Float("factor"))
		stop, up := trailing(line, wide)
		signals := append(shape.Flips(stop, up), shape.LevelCrossings(nil, line, 50, shape.CrossUp, shape.CrossDown)...)
		return &Result{
			YRange:  &[2]float64{0, 100},
			Lines:   []Line{{Label: "RSI MA", Tone: Primary, Values: line}, {Label: "Stop", Tone: Second, Values: stop}},
			HLines:  []HLine{{Y: 50}},
			Signals: shape.InOrder(signals),
		}
	},
}

// earlyRSI is wilderRSI with one value more: on bar n-1, from the n-1 changes
// there are. Wilder's average goes on from it as if it had not been shown.
func earlyRSI(x []float64, n int) []float64 {
	out := kernel.RSI(x, n)
	if n == 1 || len(x) < n {
		return out
	}
	var up, move float64
	for _, d := range kernel.Change(x[:n], 1)[1:] {
		up += max(0, d)
		move += math.Abs(d)
	}
	if out[n-1] = 0; move > 0 {
		out[n-1] = 100 * up / move
	}
	return out
}

// trailing returns a stop that follows x at a distance of wide and changes
// sides when x crosses it. It starts below x.
func trailing(x, wide []float64) (stop []float64, up []bool) {
	stop, up = kernel.NaNs(len(x)), make([]bool, len(x))
	long, short, rising := math.Inf(-1), math.Inf(1), true
	for i := kernel.FirstValid(wide); i < len(x); i++ {
		lower, upper := x[i]-wide[i], x[i]+wide[i]
		oldLong, oldShort, before := long, short, x[i-min(i, 1)]
		long, short = lower, upper
		if before > oldLong && x[i] > oldLong {
			long = max(oldLong, lower)
		}
		if before < oldShort && x[i] < oldShort {
			short = min(oldShort, upper)
		}
		switch {
		case before <= oldShort && x[i] > oldShort:
			rising = true
		case before >= oldLong && x[i] < oldLong:
			rising = false
		}
		up[i] = rising
		if stop[i] = short; rising {
			stop[i] = long
		}
	}
	return stop, up
}
