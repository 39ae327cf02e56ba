package indicators

import "wick/market"

var indChaikinVolatility = Indicator{
	Name: "chaikin_volatility", Title: "CVI", Aliases: []string{"cvi", "chaikins_volatility"}, Category: Volatility,
	Doc:     "Chaikin volatility: by how many percent the average range of bars grew. Rising quickly near a bottom, falling slowly near a top.",
	Formula: "CVI = ROC(EMA(high - low, n), n)",
	Params:  []Param{length(10)},
	Signals: []string{ZeroUp, ZeroDown},
	Warmup:  func(a Args) int { return (emaMemory + 1) * a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		return zeroPanel("CVI", rateOfChange(ema(minus(s.High, s.Low), n), n))
	},
}
