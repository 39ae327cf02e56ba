package indicators

import "wick/market"

var indDonchian = Indicator{
	Name: "donchian", Title: "Donchian", Aliases: []string{"dc", "price_channel", "donchian_channel", "donchian_channels"}, Category: Volatility, Overlay: true,
	Doc:     "Donchian channel: the highest high and the lowest low of the last bars, this bar included, and their middle. The turtles bought new highs of 20 days. As at TradingView.",
	Formula: "upper = max(high, n); lower = min(low, n); middle = (upper + lower) / 2",
	Params:  []Param{length(20)},
	Signals: []string{NewHigh, NewLow},
	Warmup:  func(a Args) int { return a.Int("length") + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		upper, lower := highest(s.High, n), lowest(s.Low, n)
		r := bandResult(s, midway(upper, lower), upper, lower)
		r.Signals = newExtremes(upper, lower)
		return r
	},
}

// newExtremes marks the bars that push a channel outwards. Either edge may be
// nil.
func newExtremes(upper, lower []float64) []Signal {
	var signals []Signal
	for i := 1; i < max(len(upper), len(lower)); i++ {
		if upper != nil && upper[i] > upper[i-1] {
			signals = append(signals, Signal{i, upper[i], NewHigh, Up})
		}
		if lower != nil && lower[i] < lower[i-1] {
			signals = append(signals, Signal{i, lower[i], NewLow, Down})
		}
	}
	return signals
}

// midway returns the mean of a and b.
func midway(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = (a[i] + b[i]) / 2
	}
	return out
}
