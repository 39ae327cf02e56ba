package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to William Blau, "Stochastic Momentum", Technical Analysis of Stocks &
// Commodities, January 1993.
var indSMI = Indicator{
	Name: "smi", Title: "SMI", Aliases: []string{"stochastic_momentum", "stochastic_momentum_index"}, Category: Momentum,
	Doc:     "Stochastic momentum index of Blau: where the close lies in its range, measured from the middle and smoothed twice, -100 to 100. Averages are seeded with means.",
	Formula: "SMI = 100 * EMA(EMA(close - middle)) / (EMA(EMA(range)) / 2), middle and range of n bars; signal = EMA(SMI)",
	Params: slices.Concat([]Param{
		length(13), bars("smooth1", 25, "first smoothing", "slow", "long", "k"), bars("smooth2", 2, "second smoothing", "fast", "short"),
		bars("signal", 9, "signal average", "signal_length", "d"),
	}, zone(-40, 40, -100, 100)),
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.Oversold, shape.Overbought},
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		hi, lo := kernel.Highest(s.High, n), kernel.Lowest(s.Low, n)
		// The factor 200 is 100 times the 2 of half the range.
		twice := func(x []float64) []float64 { return kernel.EMA(kernel.EMA(x, a.Int("smooth1")), a.Int("smooth2")) }
		line := kernel.Ratio(twice(kernel.Minus(s.Close, kernel.Midway(hi, lo))), twice(kernel.Minus(hi, lo)), 200)
		r := shape.SignalPanel("SMI", line, kernel.EMA(line, a.Int("signal")))
		r.YRange = &[2]float64{-100, 100}
		r.HLines = []HLine{{Y: a.Float("overbought")}, {Y: 0}, {Y: a.Float("oversold")}}
		// The signals of the panel are replaced: zero is no event here, the zones are.
		signals := shape.LineCrossings(nil, line, r.Lines[1].Values, shape.CrossUp, shape.CrossDown)
		r.Signals = shape.InOrder(shape.ZoneExits(signals, line, a.Float("oversold"), a.Float("overbought"), shape.Oversold, shape.Overbought))
		return r
	},
}
