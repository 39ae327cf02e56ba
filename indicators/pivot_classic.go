package indicators

import "wick/market"

// TradingView's Classic differs from its Traditional (the entry pivot) in the
// third levels, which lie two ranges from the pivot, and has a fourth.
var indPivotClassic = pivotEntry(Indicator{
	Name: "pivot_classic", Title: "Pivot Classic", Aliases: []string{"classic_pivots"},
	Doc:     "Classic pivot points: levels at whole ranges of the period before around its mean price. As at TradingView (Classic).",
	Formula: "P = (h + l + c) / 3; R1 = 2P - l; S1 = 2P - h; R2 to R4, S2 to S4 = P ± 1, 2, 3 * (h - l)",
}, 4, func(p market.Bar, _ float64) []float64 {
	pp := (p.High + p.Low + p.Close) / 3
	levels := around(pp, pp, p.High-p.Low, 1, 2, 3)
	return append([]float64{pp, 2*pp - p.Low, 2*pp - p.High}, levels[1:]...)
})
