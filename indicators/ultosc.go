package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Larry Williams, "The Ultimate Oscillator", Technical Analysis of
// Stocks & Commodities, 1985.
var indUltOsc = oscillator(Indicator{
	Name: "ultosc", Title: "UO", Aliases: []string{"uo", "ultimate", "ultimate_oscillator"}, Category: Momentum,
	Doc:     "Williams' ultimate oscillator: buying pressure as a share of the true range over three windows, the shortest weighing most, in whichever order they are given. As in TA-Lib.",
	Formula: "UO = 100 * (4*a1 + 2*a2 + a3) / 7, a = Σ(close - min(low, close[1])) / Σ true range",
	Params: slices.Concat([]Param{
		bars("length1", 7, "shortest window", "timeperiod1", "fast", "short"), bars("length2", 14, "middle window", "timeperiod2", "medium", "middle"),
		bars("length3", 28, "longest window", "timeperiod3", "slow", "long"),
	}, zone(30, 70, 0, 100), divParams()),
	Warmup: func(a Args) int { return max(a.Int("length1"), a.Int("length2"), a.Int("length3")) + 1 },
}, "UO", func(s *market.Series, a Args) []float64 {
	return ultimate(s, a.Int("length1"), a.Int("length2"), a.Int("length3"))
})

// ultimate returns the ultimate oscillator; the lengths may come in any order.
func ultimate(s *market.Series, n1, n2, n3 int) []float64 {
	// As in TA-Lib the shortest window weighs most, however the lengths are given.
	lengths := []int{n1, n2, n3}
	slices.Sort(lengths)
	// Buying pressure is how far the close lies above the true low, which takes in the
	// close before.
	pressure, ranges := kernel.Unknown(s.Len(), 1), kernel.TrueRange(s)
	for i := 1; i < s.Len(); i++ {
		pressure[i] = s.Close[i] - min(s.Low[i], s.Close[i-1])
	}
	out := kernel.Unknown(s.Len(), lengths[2])
	for k, n := range lengths {
		weight := []float64{400.0 / 7, 200.0 / 7, 100.0 / 7}[k]
		bought, all := kernel.RollingSum(pressure, n), kernel.RollingSum(ranges, n)
		for i := lengths[2]; i < len(out); i++ {
			// A window without range adds nothing.
			if all[i] != 0 {
				out[i] += float64(weight * bought[i] / all[i])
			}
		}
	}
	return out
}
