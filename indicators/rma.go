package indicators

import "wick/market"

var indRMA = Indicator{
	Name: "rma", Title: "RMA", Aliases: []string{"smma", "wilder", "wilders", "wilder_ma", "wsma", "modified_ma", "smoothed_ma"},
	Category: Trend, Overlay: true,
	Doc:     "Wilder's smoothed moving average, the one inside RSI and ATR: slower than an exponential average of the same length. Seeded with the mean of the first values, as TradingView's ta.rma.",
	Formula: "RMA = RMA[1] + (x - RMA[1]) / n",
	Params:  []Param{length(14), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  func(a Args) int { return wilderMemory * a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		line := rma(column(s, a), a.Int("length"))
		return &Result{
			Lines:   []Line{{Label: "RMA", Values: line}},
			Signals: priceCrossings(s, line),
		}
	},
}
