package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Richard W. Arms, Jr., "Volume Cycles in the Stock Market", 1983.
var indEMV = aroundZero(Indicator{
	Name: "emv", Title: "EMV", Aliases: []string{"eom", "ease_of_movement"}, Category: Volume,
	Doc:     "Ease of movement of Arms: how far the middle of the bar moved for each part of volume per range, averaged. As at TradingView. A bar without volume leaves the windows around it without value.",
	Formula: "EMV = SMA(Δhl2 * (high - low) * divisor / volume, n)",
	Params:  []Param{length(14), factor("divisor", 10000, 1, 1e12, "scale of the volume", "div")},
	Warmup:  crossingWarmup,
}, "EMV", func(s *market.Series, a Args) []float64 {
	n := a.Int("length")
	// RollingSum and not SMA: a bar without volume is NaN and spoils only the
	// windows that hold it.
	ease := kernel.Quotient(kernel.Times(kernel.Change(kernel.MedianPrice(s), 1), kernel.Minus(s.High, s.Low)), s.Volume)
	return kernel.Scaled(kernel.RollingSum(ease, n), a.Float("divisor")/float64(n))
})
