package indicators

import "wick/market"

var indSMA = Indicator{
	Name: "sma", Title: "SMA", Aliases: []string{"moving_average", "simple_ma"}, Category: Trend, Overlay: true,
	Doc:     "Simple moving average: the mean of the last closes. As in TA-Lib.",
	Formula: "SMA = (x[0] + … + x[n-1]) / n",
	Params:  []Param{length(20), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  func(a Args) int { return a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		line := sma(column(s, a), a.Int("length"))
		return &Result{
			Lines:   []Line{{Label: "SMA", Values: line}},
			Signals: priceCrossings(s, line),
		}
	},
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
