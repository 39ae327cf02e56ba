package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Chuck Le Beau; it became known through Alexander Elder's "Come into My
// Trading Room", 2002.
var indChandelierExit = Indicator{
	Name: "chandelier_exit", Title: "CE", Aliases: []string{"ce", "chexit", "chandelier"}, Category: Trend, Overlay: true,
	Doc: "Chandelier exit of Le Beau: a stop for longs that hangs from the highest high by a multiple of the average true range, and one for shorts that stands on the lowest low. " +
		"Both lines are the plain levels, without a ratchet. The trend turns up when a close passes the stop of the shorts, down when one passes that of the longs.",
	Formula: "long = max(high, n) - mult * ATR(n); short = min(low, n) + mult * ATR(n)",
	Params:  []Param{length(22), factor("mult", 3, 0.01, 50, "ranges between extreme and stop", "multiplier", "factor", "atr_mult")},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Warmup:  wilderWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		n, mult := a.Int("length"), a.Float("mult")
		atr := kernel.ATRPine(s, n)
		long, short := kernel.Offset(kernel.Highest(s.High, n), atr, -mult), kernel.Offset(kernel.Lowest(s.Low, n), atr, mult)
		return &Result{
			Lines:   []Line{{Label: "Long", Tone: Up, Values: long}, {Label: "Short", Tone: Down, Values: short}},
			Signals: stopBreaks(s, long, short),
		}
	},
}

// stopBreaks follows a trend that turns up when a close passes the stop of the
// shorts and down when one passes that of the longs, and marks the turns. Only
// passing counts: over a long window the two stops may have changed places,
// and a close between them would turn the trend on every bar.
func stopBreaks(s *market.Series, long, short []float64) []Signal {
	var signals []Signal
	// 0 until a close has passed one of the stops: nobody knows the trend before.
	trend := 0
	for i := 1; i < s.Len(); i++ {
		before, now := s.Close[i-1], s.Close[i]
		switch {
		// The first passing only says where the trend stands; no turn is marked for it.
		case now > short[i] && before <= short[i-1] && trend <= 0:
			if trend < 0 {
				signals = append(signals, shape.Mark(i, long[i], shape.FlipUp, Up))
			}
			trend = 1
		case now < long[i] && before >= long[i-1] && trend >= 0:
			if trend > 0 {
				signals = append(signals, shape.Mark(i, short[i], shape.FlipDown, Down))
			}
			trend = -1
		}
	}
	return signals
}
