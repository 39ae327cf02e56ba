package indicators

import "wick/indicators/kernel"

// Attributed to John F. Ehlers and Ric Way, "Zero Lag (Well, Almost)", Technical
// Analysis of Stocks & Commodities, November 2010.
var indZLEMA = overPrice(Indicator{
	Name: "zlema", Title: "ZLEMA", Aliases: []string{"zlma", "zero_lag_ema", "zero_lag"}, Category: Trend,
	Doc:     "Zero lag exponential average: an exponential average of the price plus its change over half the length, which cancels most of the lag. Seeded as in Tulip, with the last price before the lag is full.",
	Formula: "ZLEMA = EMA(2x - x[lag]), lag = (n-1)/2 rounded down",
	Params:  []Param{length(20), source()},
	Warmup:  emaWarmup,
}, "ZLEMA", func(x []float64, a Args) []float64 { return zlema(x, a.Int("length")) })

// zlema returns the zero lag average of x. It is shown from bar n-1 on, like
// every average of n bars.
func zlema(x []float64, n int) []float64 {
	out := kernel.NaNs(len(x))
	lag := (n - 1) / 2
	first := kernel.FirstValid(x)
	if len(x)-first < n {
		return out
	}
	// Tulip's seed: the price before the first one that has a price lag bars ago.
	value := x[first+max(0, lag-1)]
	for i := first + lag; i < len(x); i++ {
		// The price is moved ahead by its own change over the lag, then averaged.
		value += float64(2 / float64(n+1) * (float64(2*x[i]) - x[i-lag] - value))
		if i >= first+n-1 {
			out[i] = value
		}
	}
	return out
}
