package indicators

import "wick/market"

// Attributed to Nick Scott, whose Camarilla equation of 1989 these levels are.
var indPivotCamarilla = pivotEntry(Indicator{
	Name: "pivot_camarilla", Title: "Pivot Cam", Aliases: []string{"camarilla", "camarilla_pivots"},
	Doc:     "Camarilla pivot points: narrow levels around the last close of the period before; a price that passes the third is expected back, one that passes the fourth to run. As at TradingView.",
	Formula: "P = (h + l + c) / 3; R1 to R4, S1 to S4 = c ± 1.1 * (h - l) / 12, 6, 4, 2",
}, 4, func(p market.Bar, _ float64) []float64 {
	return around((p.High+p.Low+p.Close)/3, p.Close, 1.1*(p.High-p.Low), 1./12, 1./6, 1./4, 1./2)
})
