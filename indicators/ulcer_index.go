package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Peter G. Martin and Byron B. McCann, "The Investor's Guide to Fidelity
// Funds", 1989.
var indUlcerIndex = volatile(Indicator{
	Name: "ulcer_index", Title: "Ulcer", Aliases: []string{"ui", "ulcer"}, Category: Volatility,
	Doc: "Ulcer index of Martin: the usual depth of drawdowns in percent, which unlike a deviation minds only falls. As at TradingView each drawdown is measured from the highest price of the n bars before it; " +
		"the variant window looks at nothing before the window itself.",
	Formula: "UI = √(Σ d² / n), d = 100 * (x / highest - 1)",
	Params: []Param{
		length(14), choice("variant", "where a drawdown is measured from", "nested", "window"), source(),
	},
	Warmup: usually(func(a Args) int { return 2 * a.Int("length") }),
}, "Ulcer", func(s *market.Series, a Args) []float64 {
	x, n := column(s, a), a.Int("length")
	var line []float64
	if a.Choice("variant") == "window" {
		line = windowUlcer(x, n)
	} else {
		// Nested windows: each fall is measured from the top of its own n bars, so
		// 2n-1 bars take part.
		top := kernel.Highest(x, n)
		falls := kernel.Ratio(kernel.Minus(x, top), top, 100)
		line = kernel.SMA(kernel.Times(falls, falls), n)
	}
	for i, v := range line {
		line[i] = math.Sqrt(max(0, v))
	}
	return line
})

// windowUlcer returns the mean square of the drawdowns within the last n values,
// each in percent of the highest value so far in that window. A drawdown from a
// top that is no positive price counts as 0.
func windowUlcer(x []float64, n int) []float64 {
	first := kernel.FirstValid(x)
	out := kernel.Unknown(len(x), first+n-1)
	for i := first + n - 1; i < len(x); i++ {
		// scale turns a fall from the top so far into percent.
		top, scale, sum := math.Inf(-1), 0.0, 0.0
		for _, v := range x[i-n+1 : i+1] {
			if v > top {
				top, scale = v, 0
				if top > 0 {
					scale = 100 / top
				}
			}
			// A division for each top and not for each value.
			fall := (top - v) * scale
			sum += float64(fall * fall)
		}
		out[i] = sum / float64(n)
	}
	return out
}
