package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Manning Stoller.
var indSTARC = Indicator{
	Name: "starc", Title: "STARC", Aliases: []string{"stoller", "starc_bands", "stoller_bands"}, Category: Volatility, Overlay: true,
	Doc:     "Stoller average range channel: a short simple average, and bands a multiple of TA-Lib's average true range away.",
	Formula: "upper, lower = SMA(close, n) ± mult * ATR(m)",
	Params: []Param{
		length(5), bars("atr_length", 15, "bars of the average true range", "atr", "atr_period"),
		factor("mult", 2, 0.01, 20, "ranges between the middle and a band", "multiplier", "factor", "atr_mult"), source(),
	},
	Signals: []string{shape.TouchUpper, shape.TouchLower},
	// The true range is Wilder's average, which remembers its start far longer than the
	// mean.
	Warmup: func(a Args) int { return max(a.Int("length"), kernel.WilderMemory*a.Int("atr_length")) },
	Compute: func(s *market.Series, a Args) *Result {
		mid, atr := kernel.SMA(column(s, a), a.Int("length")), kernel.ATR(s, a.Int("atr_length"))
		r := shape.Bands(mid, kernel.Offset(mid, atr, a.Float("mult")), kernel.Offset(mid, atr, -a.Float("mult")))
		r.Signals = shape.Touches(s.High, s.Low, r.Lines[1].Values, r.Lines[2].Values)
		return r
	},
}
