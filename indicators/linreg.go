package indicators

import (
	"math"

	"wick/market"
)

// Indicators of the least-squares line through the last prices.

var indLSMA = Indicator{
	Name: "lsma", Title: "LSMA", Aliases: []string{"linreg", "linearreg", "linear_regression", "epma", "least_squares_ma"}, Category: Trend, Overlay: true,
	Doc:     "Least-squares average: the end of the straight line that fits the last prices best. TA-Lib's LINEARREG, with TradingView's length 25.",
	Formula: "LSMA = a + b*(n-1), a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
	Params:  []Param{lengthFrom(2, 25), source()},
	Signals: []string{TurnUp, TurnDown},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		end, _ := regression(column(s, a), a.Int("length"))
		return &Result{Lines: []Line{{Label: "LSMA", Values: end}}, Signals: turnings(nil, end)}
	},
}

var indTSF = Indicator{
	Name: "tsf", Title: "TSF", Aliases: []string{"time_series_forecast"}, Category: Trend, Overlay: true,
	Doc:     "Time series forecast: the least-squares line through the last prices, one bar further. As in TA-Lib.",
	Formula: "TSF = a + b*n, a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
	Params:  []Param{lengthFrom(2, 14), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  windowWarmup,
	Compute: overPrice("TSF", func(x []float64, a Args) []float64 {
		end, slope := regression(x, a.Int("length"))
		return offset(end, slope, 1)
	}),
}

var indLinregIntercept = Indicator{
	Name: "linreg_intercept", Title: "Linreg Intercept", Aliases: []string{"linearreg_intercept"}, Category: Statistics, Overlay: true,
	Doc:     "Where the least-squares line through the last prices begins, at the oldest of them. As in TA-Lib.",
	Formula: "intercept = a, a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
	Params:  []Param{lengthFrom(2, 14), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  windowWarmup,
	Compute: overPrice("Intercept", func(x []float64, a Args) []float64 {
		n := a.Int("length")
		end, slope := regression(x, n)
		return offset(end, slope, -float64(n-1))
	}),
}

var indLinregSlope = Indicator{
	Name: "linreg_slope", Title: "Linreg Slope", Aliases: []string{"linearreg_slope", "slope"}, Category: Statistics,
	Doc:     "Slope of the least-squares line through the last prices, in price per bar. As in TA-Lib.",
	Formula: "slope = b, a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
	Params:  []Param{lengthFrom(2, 14), source()},
	Signals: []string{ZeroUp, ZeroDown},
	Warmup:  windowWarmup,
	Compute: aroundZero("Slope", func(s *market.Series, a Args) []float64 {
		_, slope := regression(column(s, a), a.Int("length"))
		return slope
	}),
}

var indLinregAngle = Indicator{
	Name: "linreg_angle", Title: "Linreg Angle", Aliases: []string{"linearreg_angle"}, Category: Statistics,
	Doc:     "Slope of the least-squares line through the last prices as an angle in degrees, a bar as wide as a price unit is high. As in TA-Lib.",
	Formula: "angle = atan(slope) in degrees",
	Params:  []Param{lengthFrom(2, 14), source()},
	Signals: []string{ZeroUp, ZeroDown},
	Warmup:  windowWarmup,
	Compute: aroundZero("Angle", func(s *market.Series, a Args) []float64 {
		_, slope := regression(column(s, a), a.Int("length"))
		for i, v := range slope {
			slope[i] = degrees(math.Atan(v))
		}
		return slope
	}),
}
