package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// It is the step of on-balance volume, bar by bar.
var indNetVolume = Indicator{
	Name: "net_volume", Title: "Net volume", Category: Volume,
	Doc:     "Net volume: the volume of each bar, positive where the close rose, negative where it fell, zero where it stayed. An estimate from closes alone: which trades were bought is not in the bars.",
	Formula: "volume * sign(close - close[1])",
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  func(Args) int { return 2 },
	Compute: func(s *market.Series, _ Args) *Result {
		// The first bar has no close before it and no sign.
		net := kernel.NaNs(s.Len())
		for i := 1; i < len(net); i++ {
			switch {
			case s.Close[i] > s.Close[i-1]:
				net[i] = s.Volume[i]
			case s.Close[i] < s.Close[i-1]:
				net[i] = -s.Volume[i]
			default:
				net[i] = 0
			}
		}
		return returnBars("Net volume", net)
	},
}
