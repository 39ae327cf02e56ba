package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indDrawdown = Indicator{
	Name: "drawdown", Title: "Drawdown", Aliases: []string{"dd", "drawdown_percent"}, Category: Statistics, VisibleOnly: true,
	Doc:     "Drawdown: how far the close is below its highest so far, in percent, counted from the first bar shown. A signal marks the bar that makes a new high after a drawdown.",
	Formula: "100 * (x / max(x) - 1)",
	Params:  []Param{source()},
	Signals: []string{shape.NewHigh},
	Meanings: map[string]string{
		shape.NewHigh: "the price is back at its highest, or above it",
	},
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		down := kernel.NaNs(len(x))
		// top begins at 0, so that prices below zero never make a peak.
		var top float64
		for i, v := range x {
			top = max(top, v)
			// Without a positive price there is nothing to lose a percentage of.
			if top > 0 {
				down[i] = 100 * (v - top) / top
			}
		}
		return &Result{
			Lines:   []Line{{Label: "Drawdown %", Tone: Down, Values: down}},
			HLines:  []HLine{{Y: 0}},
			Signals: shape.LevelCrossings(nil, down, 0, shape.NewHigh, ""),
		}
	},
}
