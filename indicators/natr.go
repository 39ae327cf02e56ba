package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indNATR = Indicator{
	Name: "natr", Title: "NATR", Aliases: []string{"atr_percent", "normalized_atr", "atrp"}, Category: Volatility,
	Doc:     "Average true range in percent of the close, so that symbols can be compared. As in TA-Lib.",
	Formula: "NATR = 100 * ATR / close",
	Params:  []Param{length(14)},
	Signals: []string{shape.Spike},
	Warmup:  usually(wilderWarmup),
	Compute: volatile("NATR", func(s *market.Series, a Args) []float64 {
		return kernel.Portion(kernel.ATR(s, a.Int("length")), s.Close, 100)
	}),
}
