package indicators

import "wick/market"

// The open of the new period is known with its first bar, so this looks no further
// ahead than the others.
var indPivotWoodie = pivotEntry(Indicator{
	Name: "pivot_woodie", Title: "Pivot Woodie", Aliases: []string{"woodie", "woodie_pivots"},
	Doc:     "Woodie's pivot points: as the floor traders', with the open of the new period in place of the old close, twice. As at TradingView.",
	Formula: "P = (h + l + 2 * open now) / 4; the levels as in pivot",
}, 3, func(p market.Bar, open float64) []float64 {
	return floorLevels(p, (p.High+p.Low+2*open)/4)
})
