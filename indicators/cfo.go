package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Tushar S. Chande and Stanley Kroll, "The New Technical Trader", 1994.
var indCFO = aroundZero(Indicator{
	Name: "cfo", Title: "CFO", Aliases: []string{"forecast_oscillator", "fosc", "chande_forecast_oscillator"}, Category: Momentum,
	Doc: "Chande's forecast oscillator: by how many percent the price misses what a regression line foresaw. The forecast is the line of the bar before, one bar on, as in Tulip; " +
		"the variant endpoint, TradingView's, compares with the line's end at this bar.",
	Formula: "CFO = 100 * (x - forecast) / x",
	Params:  []Param{lengthFrom(2, 14), choice("variant", "what the price is compared with", "forecast", "endpoint"), source()},
	Warmup:  crossingWarmup,
}, "CFO", func(s *market.Series, a Args) []float64 {
	x := column(s, a)
	line, slope := kernel.Regression(x, a.Int("length"))
	if a.Choice("variant") == "forecast" {
		// The line of each bar, extended by its slope to the next one, where it is
		// compared.
		line = kernel.Shift(kernel.Offset(line, slope, 1), 1)
	}
	return kernel.Ratio(kernel.Minus(x, line), x, 100)
})
