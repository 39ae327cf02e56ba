package indicators

import "wick/market"

var indPivotDeMark = pivotEntry(Indicator{
	Name: "pivot_demark", Title: "Pivot DM", Aliases: []string{"demark_pivots", "dm_pivots", "pivot_dm"},
	Doc:     "DeMark's pivot points: one level above and one below, from a sum that counts high, low or close of the period before twice by whether it rose. As at TradingView.",
	Formula: "X = h + l + c + (h if c > o, l if c < o, else c); P = X/4; R1 = X/2 - l; S1 = X/2 - h",
}, 1, func(p market.Bar, _ float64) []float64 {
	// DeMark counts one price of the period twice, chosen by how it closed.
	x := p.High + p.Low + p.Close
	switch {
	case p.Close > p.Open:
		x += p.High
	case p.Close < p.Open:
		x += p.Low
	default:
		x += p.Close
	}
	return []float64{x / 4, x/2 - p.Low, x/2 - p.High}
})
