package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The step from 0 to 1 is a crossing of 0.5, which gives both signals.
var indHTTrendMode = Indicator{
	Name: "ht_trendmode", Title: "HT Trend Mode", Aliases: []string{"trend_mode", "trend_vs_cycle"}, Category: Cycle,
	Doc:     "1 while the market trends, 0 while it cycles, by Ehlers' rules. As in TA-Lib.",
	Formula: "0 for half a cycle after sine and lead sine cross, and while the phase turns as a cycle's would; 1 if the price is 1.5 % off the trend line",
	Params:  []Param{source()},
	Signals: []string{shape.ModeTrend, shape.ModeCycle},
	Warmup:  cycleWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		mode := kernel.TrendMode(column(s, a))
		return &Result{
			YRange:  &[2]float64{0, 1},
			Lines:   []Line{{Label: "Trend mode", Tone: Primary, Style: Step, Values: mode}},
			Signals: shape.LevelCrossings(nil, mode, 0.5, shape.ModeTrend, shape.ModeCycle),
		}
	},
}
