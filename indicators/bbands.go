package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// withVWMA returns a kind of average that may also be the one weighted by volume.
func withVWMA(p Param) Param {
	p.Choices = slices.Concat(p.Choices, []string{"vwma"})
	return p
}

// average returns the average of x that the parameter "ma_type" names, which withVWMA made;
// nil for the mean, which kernel.Bollinger has at hand.
func average(s *market.Series, x []float64, a Args) []float64 {
	switch kind := a.Choice("ma_type"); kind {
	case "sma":
		return nil
	case "vwma":
		return volumeWeighted(s, x, a.Int("length"))
	default:
		return kernel.Average(kind, x, a.Int("length"))
	}
}

// Attributed to John Bollinger, "Bollinger on Bollinger Bands", 2001, as for what is
// derived from the bands.
var indBBands = Indicator{
	Name: "bbands", Title: "BB", Aliases: []string{"bb", "bollinger", "bollinger_bands"}, Category: Volatility, Overlay: true,
	Doc:     "Bollinger bands: an average, and bands a multiple of the population deviation away. As in TA-Lib, with TradingView's default length.",
	Formula: "middle = SMA(n); upper, lower = middle ± mult * σ(n)",
	Params: []Param{
		lengthFrom(2, 20), factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "std_dev", "stddev", "nbdev", "nbdevup", "deviation", "multiplier"),
		quiet(factor("mult_lower", 0, 0, 20, "deviations to the lower band, 0 for the same as mult", "nbdevdn")),
		withVWMA(averageType("ma_type", "sma", "kind of average in the middle", "type", "matype")), source(),
	},
	Signals: []string{shape.BreakUp, shape.BreakDown, shape.TouchUpper, shape.TouchLower},
	Warmup:  func(a Args) int { return kernel.AverageWarmup(a.Choice("ma_type"), a.Int("length")) },
	Compute: func(s *market.Series, a Args) *Result {
		// TA-Lib takes two multiples; 0 for the second means the same as the first.
		up, down := a.Float("mult"), a.Float("mult_lower")
		if down == 0 {
			down = up
		}
		x, n := column(s, a), a.Int("length")
		mid, upper, lower := kernel.Bollinger(x, n, up, down, average(s, x, a))
		r := shape.Bands(mid, upper, lower)
		if !a.linesOnly { // finding them takes twice as long as the bands
			r.Signals = shape.InOrder(append(shape.Touches(s.High, s.Low, upper, lower), shape.Breakouts(s.Close, upper, lower)...))
		}
		return r
	},
}
