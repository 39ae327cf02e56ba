package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

// The same mean as vwma, of the typical price and with the signals of the close.
var indVWAPRolling = Indicator{
	Name: "vwap_rolling", Title: "RVWAP", Aliases: []string{"rolling_vwap", "rvwap"}, Category: Volume, Overlay: true,
	Doc:     "Volume weighted average price of the last bars, without an anchor. No value where they traded nothing.",
	Formula: "Σ x * volume / Σ volume over n bars",
	Params:  []Param{length(14), defaultSource("hlc3")},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		line := volumeWeighted(s, column(s, a), a.Int("length"))
		return &Result{Lines: []Line{{Label: "RVWAP", Tone: Primary, Values: line}}, Signals: shape.PriceCrossings(s.Close, line)}
	},
}
