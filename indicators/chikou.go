package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indChikou = Indicator{
	Name: "chikou", Title: "Chikou", Aliases: []string{"chikou_span", "lagging_span"}, Category: Trend, Overlay: true, Repaints: true,
	Doc:     "Lagging span of Ichimoku: the close moved back, as TradingView draws it. A bar therefore shows a close that came later, and the newest bars show none: a picture to compare two prices, not a value to act on. The signals do not look ahead: they fire where the close crosses the close it is compared with.",
	Formula: "chikou = close[-(displacement - 1)]",
	Params:  []Param{displacement()},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Meanings: map[string]string{
		shape.PriceUp:   "the close meets or crosses the one that lies displacement - 1 bars back from below",
		shape.PriceDown: "the close meets or crosses the one that lies displacement - 1 bars back from above",
	},
	Warmup: func(a Args) int { return a.Int("displacement") },
	Compute: func(s *market.Series, a Args) *Result {
		// As for the cloud this bar counts, so 26 moves the close back by 25.
		d := a.Int("displacement") - 1
		line := kernel.NaNs(s.Len())
		// The signals compare the newest close with that of d bars ago, which is the
		// same crossing seen from the bar on which it happens.
		if d < len(line) {
			copy(line, s.Close[d:])
		}
		return &Result{
			Lines:   []Line{{Label: "Chikou", Tone: Accent, Values: line}},
			Signals: shape.Crossings(nil, s.Close, kernel.Shift(s.Close, d), shape.PriceUp, shape.PriceDown),
		}
	},
}
