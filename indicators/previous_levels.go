package indicators

import "wick/market"

// The lines come in the order that pivotSignals reads: the middle, then what is
// broken upwards and downwards.
var indPreviousLevels = Indicator{
	Name: "previous_levels", Title: "Previous", Aliases: []string{"previous_day_high_low", "pdh_pdl", "previous_high_low"}, Category: Price, Overlay: true,
	Doc:     "High, low and close of the whole period before: the day, week, month or year, in UTC, weeks from Monday. level_touch fires when a bar first reaches a level of its period; breakouts are closes beyond the high and the low.",
	Formula: "high, low and close of the period before the one of the bar",
	Params:  []Param{previousPeriod()},
	Signals: pivotLabels(),
	History: pivotHistory,
	Compute: func(s *market.Series, a Args) *Result {
		return periodLevels(s, a, []string{"Close", "High", "Low"}, func(b market.Bar, _ float64) []float64 {
			return []float64{b.Close, b.High, b.Low}
		})
	},
}

// previousPeriod is like pivotPeriod, without auto.
func previousPeriod() Param {
	p := choice("period", "whose high, low and close are shown", "day", "week", "month", "year")
	p.Aliases = []string{"timeframe"}
	return p
}
