package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

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
		lines := []Line{
			{Label: "P", Tone: Accent, Style: Step, Values: kernel.NaNs(s.Len())},
			{Label: "TC", Tone: Down, Style: Step, Values: kernel.NaNs(s.Len())},
			{Label: "BC", Tone: Up, Style: Step, Values: kernel.NaNs(s.Len())},
		}
		// One of the two outer levels lies as far above the pivot as the other below
		// it; which is the upper one depends on where the close was.
		starts := pivotLevels(s, periodOf(a.Choice("period"), s.Interval), lines, func(b market.Bar, _ float64) []float64 {
			p, half := (b.High+b.Low+b.Close)/3, (b.High+b.Low)/2
			return []float64{p, max(half, 2*p-half), min(half, 2*p-half)}
		})
		return &Result{
			Lines: lines, Signals: pivotSignals(s, lines, starts),
			Fills: []Fill{{Y1: lines[1].Values, Y2: lines[2].Values, Tone: Band}},
		}
	},
}
