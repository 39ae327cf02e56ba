package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/market"
)

// A year of independent returns has the variance of one bar times the bars in it,
// hence the root.
var indHistVolatility = volatile(Indicator{
	Name: "hist_volatility", Title: "HV", Also: []string{"volatility_historical"}, Aliases: []string{"histvol", "hv", "hvol", "historical_volatility"}, Category: Volatility,
	Doc: "Historical volatility: the deviation of the logarithmic returns, in percent a year. Population deviation, as at TradingView; the bars of a year follow from the interval and the hours of the market: " +
		"252 days of an exchange; 365 days or 8760 hours where it never closes or the source tells no hours; or what periods says.",
	Formula: "HV = 100 * σ(ln(x / x[1]), n) * √periods",
	Params:  []Param{lengthFrom(2, 20), barsInYear(), source()},
	Warmup:  usually(changeWarmup),
}, "HV", func(s *market.Series, a Args) []float64 {
	// A price that is not positive has no return; the deviation starts anew after
	// it.
	deviation := kernel.InRuns(kernel.LogReturns(column(s, a), 1), func(x []float64) []float64 { return kernel.StdDev(x, a.Int("length")) })
	return kernel.Scaled(deviation, 100*math.Sqrt(perYear(s, a)))
})
