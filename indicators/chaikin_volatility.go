package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indChaikinVolatility = aroundZero(Indicator{
	Name: "chaikin_volatility", Title: "CVI", Aliases: []string{"cvi", "chaikins_volatility"}, Category: Volatility,
	Doc:     "Chaikin volatility: by how many percent the average range of bars grew. Rising quickly near a bottom, falling slowly near a top.",
	Formula: "CVI = ROC(EMA(high - low, n), n)",
	Params:  []Param{length(10)},
	// The average's memory, and the bars over which its change is taken.
	Warmup: func(a Args) int { return (kernel.EMAMemory + 1) * a.Int("length") },
}, "CVI", func(s *market.Series, a Args) []float64 {
	n := a.Int("length")
	return kernel.ROC(kernel.EMA(kernel.Minus(s.High, s.Low), n), n)
})
