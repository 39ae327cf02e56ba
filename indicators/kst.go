package indicators

import (
	"strconv"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Martin J. Pring, "Summed Rate of Change (KST)", Technical Analysis of
// Stocks & Commodities, September 1992.
var indKST = Indicator{
	Name: "kst", Title: "KST", Aliases: []string{"know_sure_thing"}, Category: Momentum,
	Doc:     "Know sure thing of Pring: four smoothed rates of change, the longer ones counting for more, and a simple average as signal.",
	Formula: "KST = Σ k * SMA(ROC(x, roc k), sma k) for k = 1 to 4; signal = SMA(KST)",
	Params:  kstParams(),
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	Warmup: func(a Args) int {
		// The part with the longest way to its first value decides.
		n := 0
		for k := 1; k <= 4; k++ {
			n = max(n, a.Int("roc"+strconv.Itoa(k))+a.Int("sma"+strconv.Itoa(k)))
		}
		return n + a.Int("signal") + 1
	},
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		// The sum is NaN until the slowest of its four parts has a value.
		line := make([]float64, len(x))
		for k := 1; k <= 4; k++ {
			// The slower a rate of change is, the more it weighs: 1 to 4 times.
			digit := strconv.Itoa(k)
			for i, v := range kernel.SMA(kernel.ROC(x, a.Int("roc"+digit)), a.Int("sma"+digit)) {
				line[i] += float64(float64(k) * v)
			}
		}
		return shape.SignalPanel("KST", line, kernel.SMA(line, a.Int("signal")))
	},
}

// kstParams returns Pring's lengths: for each of the four rates of change its bars and
// those of its average.
func kstParams() []Param {
	var params []Param
	for k, v := range [][2]float64{{10, 10}, {15, 10}, {20, 10}, {30, 15}} {
		digit := strconv.Itoa(k + 1)
		params = append(params,
			bars("roc"+digit, v[0], "bars of rate of change "+digit, "roc_length"+digit),
			bars("sma"+digit, v[1], "average of rate of change "+digit, "sma_length"+digit))
	}
	return append(params, bars("signal", 9, "signal average", "signal_length"), source())
}
