package indicators

import (
	"math"

	"wick/market"
)

var indMarketFI = Indicator{
	Name: "marketfi", Title: "BW MFI", Aliases: []string{"market_facilitation", "market_facilitation_index", "bw_mfi"}, Category: Volume,
	Doc:     "Market facilitation index of Williams: how far the price travels for each unit of volume. No value on a bar without volume. spike fires when a bar is three times its average of 20.",
	Formula: "(high - low) / volume",
	Signals: []string{Spike},
	Warmup:  func(Args) int { return 21 },
	Compute: func(s *market.Series, _ Args) *Result {
		line := quotient(minus(s.High, s.Low), s.Volume)
		return &Result{
			Histogram: []Histogram{{Label: "BW MFI", Values: line}},
			Signals:   spikes(line, scaled(rollingSum(nz(line), 20), 1./20), 3),
		}
	},
}

// spikes marks the bars on which x rises above by times its usual size.
func spikes(x, usual []float64, by float64) []Signal {
	var signals []Signal
	for i := 1; i < len(x); i++ {
		if x[i] > by*usual[i] && !(x[i-1] > by*usual[i-1]) && !math.IsNaN(usual[i-1]) {
			signals = append(signals, Signal{i, x[i], Spike, Accent})
		}
	}
	return signals
}
