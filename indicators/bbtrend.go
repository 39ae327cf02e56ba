package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indBBTrend = Indicator{
	Name: "bbtrend", Title: "BBTrend", Aliases: []string{"bollinger_trend", "bb_trend"}, Category: Trend,
	Doc:     "Bollinger trend of Bollinger: compares short with long bands. Above zero the lower bands are the further apart, in a rising market; below zero the upper ones. As at TradingView.",
	Formula: "100 * (|lower short - lower long| - |upper short - upper long|) / middle short",
	Params: []Param{
		atLeast(2, bars("short", 20, "short bands", "short_length", "length", "fast")), atLeast(2, bars("long", 50, "long bands", "long_length", "slow")),
		factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "std_dev", "stddev", "multiplier"), source(),
	},
	Signals: []string{shape.ZeroUp, shape.ZeroDown, shape.TurnUp, shape.TurnDown},
	Warmup:  func(a Args) int { return max(a.Int("short"), a.Int("long")) + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		x, mult := column(s, a), a.Float("mult")
		// Both pairs of bands in two numbers: how far their middles are apart, and how
		// far their half widths differ.
		middle := kernel.SMA(x, a.Int("short"))
		centres := kernel.Minus(middle, kernel.SMA(x, a.Int("long")))
		reaches := kernel.Minus(kernel.StdDev(x, a.Int("short")), kernel.StdDev(x, a.Int("long")))
		line := kernel.Ratio(bandShift(centres, kernel.Scaled(reaches, mult)), middle, 100)
		return colouredBars("BBTrend", line, func(int) float64 { return 100 }) // percentages
	},
}

// bandShift returns |centre - reach| - |centre + reach|: by how much the lower
// bands of two pairs lie further apart than the upper ones, centre being the
// distance of their middles and reach that of their half widths. The two terms
// may agree to the last digit; twice the smaller of centre and reach, with the
// sign of their product turned, is the same without a subtraction.
func bandShift(centre, reach []float64) []float64 {
	out := make([]float64, len(centre))
	for i, c := range centre {
		out[i] = 2 * min(math.Abs(c), math.Abs(reach[i]))
		if c*reach[i] > 0 {
			out[i] = -out[i]
		}
	}
	return out
}
