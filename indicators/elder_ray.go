package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Alexander Elder, "Trading for a Living", 1993.
var indElderRay = Indicator{
	Name: "elder_ray", Title: "Elder Ray", Aliases: []string{"eri", "bull_bear_power", "elder_ray_index"}, Category: Momentum,
	Doc:     "Elder's bull and bear power: how far the high rises above, and the low falls below, an exponential average of the close. Elder bought where bear power rose below zero in a rising average, and sold where bull power fell above zero in a falling one.",
	Formula: "bull = high - EMA(close, n); bear = low - EMA(close, n)",
	Params:  []Param{length(13), source()},
	Signals: []string{shape.Buy, shape.Sell},
	Meanings: map[string]string{
		shape.Buy:  "bear power, below zero, stops falling and rises while the average rises",
		shape.Sell: "bull power, above zero, stops rising and falls while the average falls",
	},
	Warmup: emaWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		mid := kernel.EMA(column(s, a), a.Int("length"))
		bull, bear := kernel.Minus(s.High, mid), kernel.Minus(s.Low, mid)
		return &Result{
			Histogram: []Histogram{{Label: "Bull", Tone: Up, Values: bull}, {Label: "Bear", Tone: Down, Values: bear}},
			HLines:    []HLine{{Y: 0}},
			Signals:   elderSignals(mid, bull, bear),
		}
	},
}

// elderSignals marks the bars on which bear power turns up below zero while
// the average rises, and on which bull power turns down above zero while it
// falls.
func elderSignals(mid, bull, bear []float64) []Signal {
	var signals []Signal
	for i := 2; i < len(mid); i++ {
		// The powers are differences of prices: what is rounding, prices tell.
		compare := func(a, b float64) int { return kernel.Compare(a+mid[i], b+mid[i]) }
		trend := kernel.Compare(mid[i], mid[i-1])
		// Each case asks for the side of zero, the turn, and that the bar before had
		// not turned.
		switch {
		case trend > 0 && compare(bear[i], 0) < 0 && compare(bear[i], bear[i-1]) > 0 && compare(bear[i-1], bear[i-2]) <= 0:
			signals = append(signals, shape.Mark(i, bear[i], shape.Buy, Up))
		case trend < 0 && compare(bull[i], 0) > 0 && compare(bull[i], bull[i-1]) < 0 && compare(bull[i-1], bull[i-2]) >= 0:
			signals = append(signals, shape.Mark(i, bull[i], shape.Sell, Down))
		}
	}
	return signals
}
