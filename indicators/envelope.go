package indicators

import "wick/market"

var indEnvelope = Indicator{
	Name: "envelope", Title: "Env", Aliases: []string{"ma_env", "ma_envelope", "envelopes", "moving_average_envelope"}, Category: Volatility, Overlay: true,
	Doc:     "Moving average envelope: bands a fixed percentage around an average. Fixed bands say how far a price is stretched, not how nervous the market is. As at TradingView, around a simple average; exponential is the other choice.",
	Formula: "upper, lower = MA(x, n) * (1 ± percent/100)",
	Params: []Param{
		length(20), factor("percent", 10, 0.01, 99, "distance of the bands in percent", "pct", "deviation"),
		choice("ma", "which average", "sma", "ema"), source(),
	},
	Signals: []string{TouchUpper, TouchLower},
	Warmup:  func(a Args) int { return emaMemory * a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		mid := sma(x, n)
		if a.Choice("ma") == "ema" {
			mid = ema(x, n)
		}
		by := a.Float("percent") / 100
		r := bandResult(s, mid, scaled(mid, 1+by), scaled(mid, 1-by))
		r.Signals = touches(s, r.Lines[1].Values, r.Lines[2].Values)
		return r
	},
}

// touches marks the bars whose high comes to the upper band or whose low comes
// to the lower one, when the bar before did not.
func touches(s *market.Series, upper, lower []float64) []Signal {
	var signals []Signal
	for i := 1; i < s.Len(); i++ {
		if s.High[i] >= upper[i] && s.High[i-1] < upper[i-1] {
			signals = append(signals, Signal{i, upper[i], TouchUpper, Down})
		}
		if s.Low[i] <= lower[i] && s.Low[i-1] > lower[i-1] {
			signals = append(signals, Signal{i, lower[i], TouchLower, Up})
		}
	}
	return signals
}
