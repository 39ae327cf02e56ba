package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Tushar S. Chande and Stanley Kroll, "The New Technical Trader", 1994.
var indChandeKrollStop = Indicator{
	Name: "chande_kroll_stop", Title: "CKS", Aliases: []string{"cksp", "chande_kroll"}, Category: Trend, Overlay: true,
	Doc: "Chande Kroll stop: stops a multiple of the average true range from the extremes, smoothed by taking their own extremes. As at TradingView. " +
		"A close above both lines is bullish, below both bearish.",
	Formula: "short = max(max(high, n) - mult*ATR(n), q); long = min(min(low, n) + mult*ATR(n), q)",
	Params: []Param{
		length(10), factor("mult", 1, 0.01, 50, "ranges between extreme and stop", "multiplier", "factor", "x"),
		bars("stop", 9, "bars over which the stops are smoothed", "q", "stop_length"),
	},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Warmup:  func(a Args) int { return kernel.WilderMemory*a.Int("length") + a.Int("stop") },
	Compute: func(s *market.Series, a Args) *Result {
		n, q, mult := a.Int("length"), a.Int("stop"), a.Float("mult")
		atr := kernel.ATRPine(s, n)
		// The stop of each bar first, then its extreme over q bars, which keeps it from
		// coming back at once.
		short := kernel.Highest(kernel.Offset(kernel.Highest(s.High, n), atr, -mult), q)
		long := kernel.Lowest(kernel.Offset(kernel.Lowest(s.Low, n), atr, mult), q)
		return &Result{
			Lines: []Line{{Label: "Long", Tone: Up, Values: long}, {Label: "Short", Tone: Down, Values: short}},
			// The two stops may change places, so the lower one of each bar counts as
			// that of the longs.
			Signals: stopBreaks(s, kernel.Lesser(long, short), kernel.Greater(long, short)),
		}
	},
}
