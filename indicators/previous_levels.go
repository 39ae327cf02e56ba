package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The lines come in the order that pivotSignals reads: the middle, then what is
// broken upwards and downwards.
var indPreviousLevels = Indicator{
	Name: "previous_levels", Title: "Previous", Aliases: []string{"previous_day_high_low", "pdh_pdl", "previous_high_low"}, Category: Price, Overlay: true,
	Doc:     "High, low and close of the whole period before: the day, week, month or year, in UTC, weeks from Monday. level_touch fires when a bar first reaches a level of its period; breakouts are closes beyond the high and the low.",
	Formula: "high, low and close of the period before the one of the bar",
	Params:  []Param{previousPeriod()},
	Signals: []string{shape.PriceUp, shape.PriceDown, shape.BreakUp, shape.BreakDown, shape.LevelTouch},
	History: pivotHistory,
	Compute: func(s *market.Series, a Args) *Result {
		lines := []Line{
			{Label: "Close", Tone: Accent, Style: Step, Values: kernel.NaNs(s.Len())},
			{Label: "High", Tone: Down, Style: Step, Values: kernel.NaNs(s.Len())},
			{Label: "Low", Tone: Up, Style: Step, Values: kernel.NaNs(s.Len())},
		}
		starts := pivotLevels(s, periodOf(a.Choice("period"), s.Interval), lines, func(b market.Bar, _ float64) []float64 {
			return []float64{b.Close, b.High, b.Low}
		})
		return &Result{Lines: lines, Signals: pivotSignals(s, lines, starts)}
	},
}

// previousPeriod is like pivotPeriod, without auto.
func previousPeriod() Param {
	p := choice("period", "whose high, low and close are shown", "day", "week", "month", "year")
	p.Aliases = []string{"timeframe"}
	return p
}
