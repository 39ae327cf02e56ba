package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to William Blau, "True Strength Index", Technical Analysis of Stocks &
// Commodities, November 1991.
var indTSI = Indicator{
	Name: "tsi", Title: "TSI", Aliases: []string{"true_strength", "true_strength_index"}, Category: Momentum,
	Doc:     "True strength index of Blau: change smoothed twice over absolute change smoothed twice, -100 to 100, with an exponential average as signal. As at TradingView; averages are seeded with means.",
	Formula: "TSI = 100 * EMA(EMA(Δx, long), short) / EMA(EMA(|Δx|, long), short)",
	Params: []Param{
		bars("long", 25, "first smoothing", "slow", "long_length", "length"), bars("short", 13, "second smoothing", "fast", "short_length"),
		bars("signal", 13, "signal average", "signal_length"), source(),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	Compute: func(s *market.Series, a Args) *Result {
		line := trueStrength(column(s, a), a.Int("long"), a.Int("short"), 100)
		r := shape.SignalPanel("TSI", line, kernel.EMA(line, a.Int("signal")))
		r.HLines = []HLine{{Y: 25}, {Y: 0}, {Y: -25}}
		return r
	},
}

// trueStrength returns scale times the change smoothed twice over the absolute
// change smoothed twice.
func trueStrength(x []float64, long, short int, scale float64) []float64 {
	moves := kernel.Change(x, 1)
	twice := func(x []float64) []float64 { return kernel.EMA(kernel.EMA(x, long), short) }
	return kernel.Ratio(twice(moves), twice(kernel.Absolute(moves)), scale)
}
