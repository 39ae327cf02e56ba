package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Larry Williams, "The VIX Fix", Active Trader, December 2007.
var indWilliamsVixFix = Indicator{
	Name: "williams_vix_fix", Title: "WVF", Aliases: []string{"wvf", "vix_fix"}, Category: Volatility,
	Doc: "Williams' VIX fix: how far the low is below the highest close of late, in percent: fear, for any market. A spike, above its band or near its highest, often marks a bottom. " +
		"Band and limit as in Chris Moody's script on TradingView.",
	Formula: "WVF = 100 * (max(close, n) - low) / max(close, n); band = SMA(WVF, m) + mult * σ(WVF, m); limit = percentile * max(WVF, 50)",
	Params: []Param{
		length(22), atLeast(2, bars("band_length", 20, "average and deviation of the band", "bbl")),
		factor("mult", 2, 0.01, 20, "deviations between the average and the band", "std_dev"),
		quiet(bars("lookback", 50, "bars whose highest value is the limit", "lb")),
		quiet(factor("percentile", 0.85, 0.01, 1, "part of the highest value that counts as a spike", "ph")),
	},
	Signals: []string{shape.Spike},
	Warmup:  func(a Args) int { return a.Int("length") + max(a.Int("band_length"), a.Int("lookback")) },
	Compute: func(s *market.Series, a Args) *Result {
		// How far the low lies below the highest close, in percent of it: without
		// options a stand-in for implied volatility.
		top := kernel.Highest(s.Close, a.Int("length"))
		fear := kernel.NaNs(s.Len())
		for i := range fear {
			if top[i] > 0 {
				fear[i] = 100 * kernel.Difference(top[i], s.Low[i]) / top[i]
			}
		}
		// Prices that are not positive leave holes; band and limit start anew after
		// each.
		band := kernel.InRuns(fear, func(x []float64) []float64 {
			return kernel.Offset(kernel.SMA(x, a.Int("band_length")), kernel.StdDev(x, a.Int("band_length")), a.Float("mult"))
		})
		limit := kernel.InRuns(fear, func(x []float64) []float64 { return kernel.Highest(x, a.Int("lookback")) })
		// A spike is marked on its first bar only.
		var signals []Signal
		spiking := false
		for i, v := range fear {
			// Before band and limit are known the differences are NaN and the
			// comparisons false.
			now := v > 0 && (kernel.Difference(v, band[i]) >= 0 || kernel.Difference(v, a.Float("percentile")*limit[i]) >= 0)
			if now && !spiking {
				signals = append(signals, shape.Mark(i, v, shape.Spike, Up))
			}
			spiking = now
		}
		return &Result{
			Histogram: []Histogram{{Label: "WVF", Values: fear}},
			Lines:     []Line{{Label: "Band", Tone: Band, Values: band}},
			Signals:   signals,
		}
	},
}
