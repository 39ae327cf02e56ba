package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indBBPercentB = Indicator{
	Name: "bb_percent_b", Title: "%B", Also: []string{"bollinger_bands_b", "bbp_b"}, Aliases: []string{"pctb", "%b", "percent_b", "bb_pctb", "bbp_b"}, Category: Volatility,
	Doc:      "Bollinger %B: where the price lies between the bands, 0 at the lower and 1 at the upper. No value where the bands meet.",
	Formula:  "%B = (x - lower) / (upper - lower)",
	Params:   bollingerParams(),
	Signals:  []string{shape.BreakUp, shape.BreakDown},
	Meanings: shape.BreakMeanings("%B", "1", "0"),
	Warmup:   changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n, mult := column(s, a), a.Int("length"), a.Float("mult")
		// Minus makes the distance exactly 0 for a price on the band, and Quotient
		// leaves no value where the bands have no width.
		dev := kernel.StdDev(x, n)
		lower := kernel.Offset(kernel.SMA(x, n), dev, -mult)
		line := kernel.Quotient(kernel.Minus(x, lower), kernel.Scaled(dev, 2*mult))
		signals := shape.LevelCrossings(nil, line, 1, shape.BreakUp, "")
		return &Result{
			Lines:   []Line{{Label: "%B", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: 1}, {Y: 0.5}, {Y: 0}},
			Signals: shape.InOrder(shape.LevelCrossings(signals, line, 0, "", shape.BreakDown)),
		}
	},
}

// bollingerParams returns the parameters of what is derived from Bollinger bands.
func bollingerParams() []Param {
	return []Param{
		lengthFrom(2, 20), factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "std_dev", "stddev", "nbdev", "deviation", "multiplier"), source(),
	}
}

// narrowest marks where x becomes the lowest of its last n values, having not been so
// the bar before. The bar before must have been wider, so that a bandwidth that stays
// at its lowest is one signal.
func narrowest(x []float64, n int) []Signal {
	var signals []Signal
	low := kernel.Lowest(x, n)
	for i := 1; i < len(x); i++ {
		// low holds copies of values of x, so plain comparisons are exact, and false
		// for NaN.
		if x[i] == low[i] && x[i-1] > low[i-1] {
			signals = append(signals, shape.Mark(i, x[i], shape.SqueezeOn, Accent))
		}
	}
	return signals
}
