package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Chester W. Keltner, "How to Make Money in Commodities", 1960; the form
// with an exponential average and true ranges is Linda Bradford Raschke's.
var indKeltner = Indicator{
	Name: "keltner", Title: "Keltner", Aliases: []string{"kc", "keltner_channel", "keltner_channels"}, Category: Volatility, Overlay: true,
	Doc: "Keltner channel: an exponential average, and bands a multiple of the average true range away, TA-Lib's ATR. As at TradingView; the variant tr_ema, Pine's ta.kc, " +
		"takes an exponential average of the true range over the channel's own length instead of Wilder's over atr_length.",
	Formula: "middle = EMA(x, n); upper, lower = middle ± mult * ATR(m)",
	Params: []Param{
		length(20), bars("atr_length", 10, "bars of the true range's average; unused by tr_ema", "atr", "atr_period"),
		factor("mult", 2, 0.01, 20, "ranges between the middle and a band", "multiplier", "factor", "atr_mult"),
		choice("variant", "how the true range is averaged", "atr", "tr_ema"), source(),
	},
	Signals: []string{shape.BreakUp, shape.BreakDown},
	Warmup: func(a Args) int {
		// The variant needs less: its range is an average of the channel's own length.
		return max(kernel.EMAMemory*a.Int("length"), kernel.WilderMemory*a.Int("atr_length"))
	},
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		mid := kernel.EMA(column(s, a), n)
		reach := kernel.ATR(s, a.Int("atr_length"))
		if a.Choice("variant") == "tr_ema" {
			reach = kernel.EMA(kernel.TrueRange(s), n)
		}
		return shape.Channel(s.Close, mid, kernel.Offset(mid, reach, a.Float("mult")), kernel.Offset(mid, reach, -a.Float("mult")))
	},
}
