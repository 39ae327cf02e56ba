package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

// It describes the bars shown as a whole, hence Repaints and VisibleOnly: another
// chart of the same market has another profile.
var indVolumeProfile = Indicator{
	Name: "volume_profile", Title: "VP", Also: []string{"visible_range_volume_profile"}, Aliases: []string{"vp", "vpvr", "visible_range", "volume_profile_visible_range"}, Category: Volume,
	Overlay: true, Repaints: true, VisibleOnly: true,
	Doc: "Volume profile of the bars on display: how much was traded at each level, the level with the most (POC) and the value area around it (VAH, VAL). " +
		"A bar's volume is spread evenly over its range. Colours follow the theme: color_up, color_down and opacity are accepted and change nothing.",
	Formula: "each bar adds volume * overlap / range to the bins it covers; value area: from the POC, the heavier neighbour first, until 70 %",
	Params: []Param{
		bins(24), side(onLeft), rangeBars(), toggle("split_up_down", false, "show rising and falling bars apart", "split"), valueArea(),
	},
	Ignores:  []string{"color_up", "color_down", "opacity"},
	Signals:  []string{shape.LevelTouch},
	Meanings: newestTouch,
	Compute: func(s *market.Series, a Args) *Result {
		var p profile
		if !p.fill(recent(s, a), a.Int("bins"), a.Float("value_area")/100, byVolume) {
			return &Result{}
		}
		return p.result(s, a.Choice("side") == "left", a.Bool("split_up_down"))
	},
}
