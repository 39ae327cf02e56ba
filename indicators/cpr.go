package indicators

import "wick/market"

// The two outer levels lie at the same distance from the pivot; on a period that
// closed at its middle all three meet.
var indCPR = Indicator{
	Name: "cpr", Title: "CPR", Aliases: []string{"central_pivot_range"}, Category: Price, Overlay: true,
	Doc:     "Central pivot range: the pivot of the period before between two levels. A narrow range promises a trend, a wide one a quiet period; above it buyers rule, below it sellers. Periods and signals are those of pivot.",
	Formula: "P = (h + l + c) / 3; the other levels are (h + l) / 2 and 2P - (h + l) / 2, the higher one on top",
	Params:  []Param{pivotPeriod()},
	Signals: pivotLabels(),
	History: pivotHistory,
	Compute: func(s *market.Series, a Args) *Result {
		// One of the two outer levels lies as far above the pivot as the other below
		// it; which is the upper one depends on where the close was.
		r := periodLevels(s, a, []string{"P", "TC", "BC"}, func(b market.Bar, _ float64) []float64 {
			p, half := (b.High+b.Low+b.Close)/3, (b.High+b.Low)/2
			return []float64{p, max(half, 2*p-half), min(half, 2*p-half)}
		})
		r.Fills = []Fill{{Y1: r.Lines[1].Values, Y2: r.Lines[2].Values, Tone: Band}}
		return r
	},
}
