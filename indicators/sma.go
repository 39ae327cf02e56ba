package indicators

import "wick/market"

var indSMA = Indicator{
	Name: "sma", Title: "SMA", Aliases: []string{"moving_average", "simple_ma"}, Category: Trend, Overlay: true,
	Doc:     "Simple moving average: the mean of the last prices. As in TA-Lib, with TradingView's usual length.",
	Formula: "SMA = (x[0] + … + x[n-1]) / n",
	Params:  []Param{length(20), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  windowWarmup,
	Compute: overPrice("SMA", func(x []float64, a Args) []float64 { return sma(x, a.Int("length")) }),
}

// priceCrossings returns the signals of the close crossing a line, placed on
// the line.
func priceCrossings(s *market.Series, line []float64) []Signal {
	signals := crossings(nil, s.Close, line, PriceUp, PriceDown)
	for i := range signals {
		signals[i].Y = line[signals[i].Bar]
	}
	return signals
}
