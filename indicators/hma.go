package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indHMA = Indicator{
	Name: "hma", Title: "HMA", Also: []string{"moving_average_hull"}, Aliases: []string{"hull", "hull_ma", "hull_moving_average"}, Category: Trend, Overlay: true,
	Doc:     "Hull moving average: a weighted average that takes back its own lag, smooth and quick. Half length and square root are rounded down, as at TradingView.",
	Formula: "HMA = WMA(2 * WMA(x, n/2) - WMA(x, n), √n)",
	Params:  []Param{length(9), source()},
	Signals: []string{shape.TurnUp, shape.TurnDown},
	Warmup:  func(a Args) int { n := a.Int("length"); return n + kernel.HullRoot(n) + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		line := kernel.HMA(column(s, a), a.Int("length"))
		return &Result{
			Lines:   []Line{{Label: "HMA", Values: line}},
			Signals: shape.Turns(nil, line),
		}
	},
}
