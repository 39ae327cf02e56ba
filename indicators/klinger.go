package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Stephen J. Klinger, "Identifying Trends with Volume Analysis",
// Technical Analysis of Stocks & Commodities, December 1997.
var indKlinger = Indicator{
	Name: "klinger", Title: "KVO", Aliases: []string{"kvo", "klinger_oscillator", "klinger_volume_oscillator"}, Category: Volume,
	Doc: "Klinger volume oscillator: a fast less a slow average of volume force, volume signed by the trend and weighed by how the bar's range compares with the range since the trend began. As in Tulip, averages from the second bar on; " +
		"the variant signed, TradingView's, takes plain volume signed by the change of the typical price.",
	Formula: "force = ±100 * volume * |2 * dm/cm - 1|, dm = high - low, cm = Σdm of the trend; KVO = EMA(force, fast) - EMA(force, slow)",
	Params: []Param{
		bars("fast", 34, "fast average", "fast_length"), bars("slow", 55, "slow average", "slow_length"),
		bars("signal", 13, "signal average", "signal_length"), choice("variant", "what is averaged", "force", "signed"),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	// The signal starts from the first values of the line, so the two memories add up.
	Warmup: func(a Args) int { return kernel.EMAMemory * (max(a.Int("fast"), a.Int("slow")) + a.Int("signal")) },
	Compute: func(s *market.Series, a Args) *Result {
		fast, slow := a.Int("fast"), a.Int("slow")
		var line []float64
		if a.Choice("variant") == "signed" {
			// TradingView's averages are seeded with a simple average, Tulip's below
			// with the first value.
			volume := signedVolume(s)
			line = kernel.Minus(kernel.EMA(volume, fast), kernel.EMA(volume, slow))
		} else {
			force := volumeForce(s)
			line = kernel.Minus(kernel.Follow(force, 2/float64(fast+1)), kernel.Follow(force, 2/float64(slow+1)))
		}
		return shape.SignalPanel("KVO", line, kernel.EMA(line, a.Int("signal")))
	},
}

// volumeForce returns Klinger's force from the second bar on. An unchanged
// typical price keeps the trend, which is falling at first.
func volumeForce(s *market.Series) []float64 {
	out := kernel.NaNs(s.Len())
	trend, span := 0.0, 0.0 // span: Σ of ranges since the bar before the trend
	for i := 1; i < len(out); i++ {
		// Three times the typical price; the factor changes no comparison.
		move := kernel.Compare(s.High[i]+s.Low[i]+s.Close[i], s.High[i-1]+s.Low[i-1]+s.Close[i-1])
		// A turn of the trend begins a new sum, with the range of the bar before.
		if move > 0 && trend <= 0 || move < 0 && trend >= 0 {
			trend, span = 1, s.High[i-1]-s.Low[i-1]
			if move < 0 {
				trend = -1
			}
		}
		// The bar's range in parts of the ranges since the turn: 1 on a bar that is all
		// of them, near 0 in a long trend.
		dm := s.High[i] - s.Low[i]
		span += dm
		out[i] = 0
		if span > 0 {
			// Until the price first moves there is no trend; Tulip counts it as
			// falling.
			sign := trend
			if sign == 0 {
				sign = -1
			}
			out[i] = s.Volume[i] * math.Abs(2*dm/span-1) * 100 * sign
		}
	}
	return out
}

// signedVolume returns the volume, negative where the typical price fell.
func signedVolume(s *market.Series) []float64 {
	out := kernel.NaNs(s.Len())
	x := kernel.TypicalPrice(s)
	for i := 1; i < len(out); i++ {
		out[i] = s.Volume[i]
		if kernel.Compare(x[i], x[i-1]) < 0 {
			out[i] = -out[i]
		}
	}
	return out
}
