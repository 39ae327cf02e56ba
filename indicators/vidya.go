package indicators

import (
	"math"

	"wick/indicators/kernel"
)

// Attributed to Tushar S. Chande, "Adapting Moving Averages to Market Volatility",
// Technical Analysis of Stocks & Commodities, March 1992, in the later form with his
// momentum oscillator.
var indVIDYA = turningOver(Indicator{
	Name: "vidya", Title: "VIDYA", Aliases: []string{"variable_index_dynamic", "variable_index_dynamic_average"}, Category: Trend,
	Doc:     "Variable index dynamic average of Chande: an exponential average whose weight is scaled by the absolute momentum oscillator, so it stands still in a sideways market. Starts from the first price.",
	Formula: "VIDYA = VIDYA[1] + 2/(n+1) * |CMO(n)|/100 * (x - VIDYA[1]), CMO from sums of gains and losses",
	Params:  []Param{length(14), source()},
	// The weight follows the market, and in one without a trend the oscillator is
	// about 1/√n: the line forgets its start by a factor e every n^1.5 / 2 bars.
	Warmup: func(a Args) int { return int(9*math.Pow(a.Float("length"), 1.5)) + 100 },
}, "VIDYA", func(x []float64, a Args) []float64 { return vidya(x, a.Int("length"), a.Int("length"), 0) })

// vidya returns the exponential average of x whose weight is 2/(n+1) times the size of
// Chande's oscillator over the given number of changes. It starts from the price of the
// bar seed, and is shown from the bar on where the oscillator begins.
func vidya(x []float64, n, changes, seed int) []float64 {
	moves := kernel.Change(x, 1)
	net, gross := kernel.RollingSum(moves, changes), kernel.RollingSum(kernel.Absolute(moves), changes)
	out := kernel.Unknown(len(x), changes)
	weight := 2 / float64(n+1)
	for i := changes; i < len(x); i++ {
		before := out[i-1]
		if i == changes {
			before = x[seed]
		}
		// The share of the changes that led somewhere scales the weight: a price that
		// goes nowhere, or does not move at all, leaves the line where it is.
		out[i] = before
		if gross[i] > 0 {
			out[i] += float64(weight * math.Abs(net[i]) / gross[i] * (x[i] - before))
		}
	}
	return out
}
