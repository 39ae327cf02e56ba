package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// With the percentage fixed, bands and price touch more often the more volatile a
// market is, which is what the signals tell.
var indEnvelope = Indicator{
	Name: "envelope", Title: "Env", Aliases: []string{"ma_env", "ma_envelope", "envelopes", "moving_average_envelope"}, Category: Volatility, Overlay: true,
	Doc:     "Moving average envelope: bands a fixed percentage around an average. Fixed bands say how far a price is stretched, not how nervous the market is. As at TradingView, around a simple average; exponential is the other choice.",
	Formula: "upper, lower = MA(x, n) * (1 ± percent/100)",
	Params: []Param{
		length(20), factor("percent", 10, 0.01, 99, "distance of the bands in percent", "pct", "deviation"),
		choice("ma", "which average", "sma", "ema"), source(),
	},
	Signals: []string{shape.TouchUpper, shape.TouchLower},
	Warmup:  emaWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		mid := kernel.SMA(x, n)
		if a.Choice("ma") == "ema" {
			mid = kernel.EMA(x, n)
		}
		by := a.Float("percent") / 100
		r := shape.Bands(mid, kernel.Scaled(mid, 1+by), kernel.Scaled(mid, 1-by))
		r.Signals = shape.Touches(s.High, s.Low, r.Lines[1].Values, r.Lines[2].Values)
		return r
	},
}
