package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Thomas R. DeMark, "The New Science of Technical Analysis", 1994; this
// is the plain form that charting programs have.
var indDeMarker = oscillator(Indicator{
	Name: "demarker", Title: "DeMarker", Aliases: []string{"dem", "demark"}, Category: Momentum,
	Doc:     "DeMarker: how much highs rise of all that highs rise and lows fall, 0 to 1, over a window. 0.5 where nothing of either happened.",
	Formula: "DeM = ΣmaxH / (ΣmaxH + ΣmaxL) over n bars, maxH = max(high - high[1], 0), maxL = max(low[1] - low, 0)",
	Params:  slices.Concat([]Param{length(14)}, zone(0.3, 0.7, 0, 1)),
	Warmup:  crossingWarmup,
}, "DeMarker", func(s *market.Series, a Args) []float64 {
	return demarker(s, a.Int("length"))
})

// demarker returns the rises of the highs as a part of the rises of highs and falls of
// lows together. The first bar has neither.
func demarker(s *market.Series, n int) []float64 {
	rises, falls := kernel.NaNs(s.Len()), kernel.NaNs(s.Len())
	for i := 1; i < s.Len(); i++ {
		rises[i], falls[i] = max(0, s.High[i]-s.High[i-1]), max(0, s.Low[i-1]-s.Low[i])
	}
	up, down := kernel.RollingSum(rises, n), kernel.RollingSum(falls, n)
	out := kernel.Unknown(s.Len(), n)
	for i := n; i < len(out); i++ {
		// A window in which no high rose and no low fell is balanced.
		if out[i] = 0.5; up[i]+down[i] > 0 {
			out[i] = up[i] / (up[i] + down[i])
		}
	}
	return out
}
