package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Bill Williams, "Trading Chaos", 1995.
var indMarketFI = Indicator{
	Name: "marketfi", Title: "BW MFI", Aliases: []string{"market_facilitation", "market_facilitation_index", "bw_mfi"}, Category: Volume,
	Doc:     "Market facilitation index of Williams: how far the price travels for each unit of volume. No value on a bar without volume. spike fires when a bar is three times its average of 20.",
	Formula: "(high - low) / volume",
	Signals: []string{shape.Spike},
	Warmup:  func(Args) int { return 21 },
	Compute: func(s *market.Series, _ Args) *Result {
		// A bar without volume counts as 0 in the average, which must not have holes.
		line := kernel.Quotient(kernel.Minus(s.High, s.Low), s.Volume)
		return &Result{
			Histogram: []Histogram{{Label: "BW MFI", Values: line}},
			Signals:   shape.Spikes(line, kernel.Scaled(kernel.RollingSum(kernel.ZeroNaN(line), 20), 1./20), 3),
		}
	},
}
