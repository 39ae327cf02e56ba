package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Centred, as books draw it, it would show at a bar what was known half a window
// later.
var indDPO = aroundZero(Indicator{
	Name: "dpo", Title: "DPO", Aliases: []string{"detrended_price", "detrended_price_oscillator"}, Category: Momentum,
	Doc: "Detrended price oscillator: the price less an average from the middle of the window, which leaves the cycles shorter than it. As at TradingView, not centred: the average is an old one, so nothing looks ahead. " +
		"The variant shifted, Tulip's, takes the old price and the average of now.",
	Formula: "DPO = x - SMA(x, n)[n/2+1]; shifted: x[n/2+1] - SMA(x, n)",
	Params:  []Param{length(21), choice("variant", "whether the average or the price is the older one", "average", "shifted"), source()},
	// The window and half of one more for the shift; the rest is to spare.
	Warmup: func(a Args) int { return 2*a.Int("length") + 2 },
}, "DPO", func(s *market.Series, a Args) []float64 {
	x, n := column(s, a), a.Int("length")
	if a.Choice("variant") == "shifted" {
		return kernel.Minus(kernel.Shift(x, n/2+1), kernel.SMA(x, n))
	}
	return kernel.Minus(x, kernel.Shift(kernel.SMA(x, n), n/2+1))
})
