package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indHistVolatility = Indicator{
	Name: "hist_volatility", Title: "HV", Also: []string{"volatility_historical"}, Aliases: []string{"histvol", "hv", "hvol", "historical_volatility"}, Category: Volatility,
	Doc: "Historical volatility: the deviation of the logarithmic returns, in percent a year. Population deviation, as at TradingView; the bars of a year are a parameter: " +
		"252 trading days, 365 where markets never close, 8760 for hourly bars of such.",
	Formula: "HV = 100 * σ(ln(x / x[1]), n) * √periods",
	Params: []Param{
		lengthFrom(2, 20),
		{Name: "periods", Aliases: []string{"annual", "periods_per_year", "trading_days"}, Doc: "bars in a year", Default: 252, Min: 1, Max: 1e6, Quiet: true},
		source(),
	},
	Signals: []string{shape.Spike},
	Warmup:  usually(func(a Args) int { return a.Int("length") + 1 }),
	Compute: func(s *market.Series, a Args) *Result {
		// A price that is not positive has no return; the deviation starts anew after
		// it.
		deviation := kernel.InRuns(kernel.LogReturns(column(s, a), 1), func(x []float64) []float64 { return kernel.StdDev(x, a.Int("length")) })
		return volatility("HV", kernel.Scaled(deviation, 100*math.Sqrt(a.Float("periods"))))
	},
}
