package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Markos Katsanos, "Using Money Flow to Stay with the Trend", Technical
// Analysis of Stocks & Commodities, June 2004; parameters as in LazyBear's public
// script on TradingView.
var indVFI = Indicator{
	Name: "vfi", Title: "VFI", Aliases: []string{"volume_flow", "volume_flow_indicator"}, Category: Volume,
	Doc:     "Volume flow of Katsanos: volume added or taken away by the typical price's direction, where that moves by more than a part of its usual volatility, with spikes of volume cut off; over its usual volume, smoothed.",
	Formula: "cutoff = coef * σ(ln p/p[1], 30) * close; v = min(volume, vcoef * mean volume of n bars before); VFI = EMA(Σ ±v where |Δp| > cutoff / mean volume, smooth)",
	Params: []Param{
		length(130), factor("coef", 0.2, 0, 5, "part of the volatility that a move must exceed"), factor("vcoef", 2.5, 0.1, 100, "largest volume, in means"),
		bars("smooth", 3, "average of the result", "smoothing"), bars("signal", 5, "signal average", "signal_length"),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	// The sum, the mean volume before it, the deviation of 30 returns, and both
	// averages.
	Warmup: func(a Args) int { return 2*a.Int("length") + 32 + kernel.EMAMemory*(a.Int("smooth")+a.Int("signal")) },
	Compute: func(s *market.Series, a Args) *Result {
		line := kernel.EMA(volumeFlow(s, a.Int("length"), a.Float("coef"), a.Float("vcoef")), a.Int("smooth"))
		return shape.SignalPanel("VFI", line, kernel.EMA(line, a.Int("signal")))
	},
}

// volumeFlow returns the sum of volume by direction over n bars, over the mean volume
// of the n bars before; 0 where nothing was traded. Volumes are cut at a multiple of
// the usual one, so that one bar cannot decide a whole window.
func volumeFlow(s *market.Series, n int, coef, vcoef float64) []float64 {
	p := kernel.TypicalPrice(s)
	deviation := kernel.InRuns(kernel.LogReturns(p, 1), func(x []float64) []float64 { return kernel.StdDev(x, 30) })
	// The usual volume is that of the bars before, so that a spike is not measured by
	// itself.
	usual := kernel.Shift(kernel.SMA(s.Volume, n), 1)
	flow := kernel.NaNs(len(p))
	for i := 1; i < len(p); i++ {
		// A move counts if it exceeds the cutoff, with the volume cut at a multiple of
		// the usual one. Bars before both are known stay NaN.
		cutoff, volume := coef*deviation[i]*s.Close[i], min(s.Volume[i], vcoef*usual[i])
		switch move := kernel.Difference(p[i], p[i-1]); {
		case math.IsNaN(cutoff) || math.IsNaN(volume):
		case move > cutoff:
			flow[i] = volume
		case move < -cutoff:
			flow[i] = -volume
		default:
			flow[i] = 0
		}
	}
	return kernel.Ratio(kernel.RollingSum(flow, n), usual, 1)
}
