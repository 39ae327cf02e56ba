package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indQQE = Indicator{
	Name: "qqe", Title: "QQE", Aliases: []string{"quantitative_qualitative_estimation"}, Category: Momentum, Beyond: true,
	Doc:     "Quantitative qualitative estimation: a smoothed RSI and a stop that trails it by a multiple of its usual movement. As in pandas-ta: the movement is smoothed twice over 2n-1 bars by exponential averages seeded with means, and the RSI has its first value a bar before TA-Lib's.",
	Formula: "r = EMA(RSI(n), smooth); stop trails r by factor * EMA(EMA(|Δr|, 2n-1), 2n-1)",
	Params: []Param{
		bars("rsi", 14, "RSI", "length", "period", "rsi_length"), bars("smooth", 5, "average of the RSI", "sf", "rsi_smoothing"),
		factor("factor", 4.236, 0.1, 20, "movements between line and stop", "mult", "qqe_factor"), source(),
	},
	Signals:  []string{shape.FlipUp, shape.FlipDown, shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the smoothed RSI", "50"),
	Warmup: func(a Args) int {
		// The RSI, its average, and two averages of 2n-1 bars in a row; 100 bars more
		// are for the stop to change sides.
		return kernel.WilderMemory*a.Int("rsi") + kernel.EMAMemory*(a.Int("smooth")+4*a.Int("rsi")) + 100
	},
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("rsi")
		line := kernel.EMA(earlyRSI(column(s, a), n), a.Int("smooth"))
		// How far the smoothed RSI moves from bar to bar, smoothed twice; times the
		// factor it is the distance of the stop.
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

// earlyRSI is like kernel.RSI, with one value more: on bar n-1, from the n-1 changes
// there are. Wilder's average goes on from it as if it had not been shown.
func earlyRSI(x []float64, n int) []float64 {
	out := kernel.RSI(x, n)
	if n == 1 || len(x) < n {
		return out
	}
	// The n-1 changes up to bar n-1.
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

// trailing returns a stop that follows x at a distance of wide and changes sides
// when x crosses it. It starts below x.
//
// As in the script that everyone copies, crosses count in either direction: x
// that falls back below the short band, after it rose above it, keeps the stop
// rising even if it falls through the long band on the same bar.
func trailing(x, wide []float64) (stop []float64, up []bool) {
	stop, up = kernel.NaNs(len(x)), make([]bool, len(x))
	long, short := kernel.NaNs(len(x)), kernel.NaNs(len(x))
	rising := true
	for i := kernel.FirstValid(wide); i < len(x); i++ {
		long[i], short[i] = x[i]-wide[i], x[i]+wide[i]
		// A band only moves towards x as long as x has stayed on its side.
		if i > 0 && x[i-1] > long[i-1] && x[i] > long[i-1] {
			long[i] = max(long[i-1], long[i])
		}
		if i > 0 && x[i-1] < short[i-1] && x[i] < short[i-1] {
			short[i] = min(short[i-1], short[i])
		}
		switch {
		// The bands are compared one bar late: x of a bar with the band of the bar
		// before it.
		case i > 1 && crossedEitherWay(x[i-1], short[i-2], x[i], short[i-1]):
			rising = true
		case i > 1 && crossedEitherWay(x[i-1], long[i-2], x[i], long[i-1]):
			rising = false
		}
		up[i] = rising
		if stop[i] = short[i]; rising {
			stop[i] = long[i]
		}
	}
	return stop, up
}

// crossedEitherWay reports whether a, which lay at a0 while b lay at b0, has
// come to the other side of b. It is false if a value is missing.
func crossedEitherWay(a0, b0, a, b float64) bool {
	before, now := kernel.Difference(a0, b0), kernel.Difference(a, b)
	return before < 0 && now > 0 || before >= 0 && now <= 0
}
