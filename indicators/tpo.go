package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

// A market profile proper writes letters for half hours; with bars of any length each
// bar is one such unit.
var indTPO = Indicator{
	Name: "tpo", Title: "TPO", Aliases: []string{"market_profile", "time_price_opportunity"}, Category: Price,
	Overlay: true, Repaints: true, VisibleOnly: true,
	Doc: "Time profile of the bars on display: how long price stayed at each level, whatever was traded there; with POC, VAH and VAL. " +
		"Each bar has one unit of time, spread evenly over its range. Colours follow the theme: opacity is accepted and changes nothing.",
	Formula:  "each bar adds overlap / range to the bins it covers; value area as in volume_profile",
	Params:   []Param{bins(32), side(onRight), rangeBars(), valueArea()},
	Ignores:  []string{"opacity"},
	Signals:  []string{shape.LevelTouch},
	Meanings: newestTouch,
	Compute: func(s *market.Series, a Args) *Result {
		var p profile
		if !p.fill(recent(s, a), a.Int("bins"), a.Float("value_area")/100, byTime) {
			return &Result{}
		}
		return p.result(s, a.Choice("side") == "left", false)
	},
}
