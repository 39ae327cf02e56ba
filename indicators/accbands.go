package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Price Headley, "Big Trends in Trading", 2002.
var indAccbands = Indicator{
	Name: "accbands", Title: "Acc Bands", Aliases: []string{"abands", "acceleration_bands"}, Category: Volatility, Overlay: true,
	Doc:     "Headley's acceleration bands: averages of highs and lows pushed apart by the relative range of each bar. As in TA-Lib.",
	Formula: "upper = SMA(high*(1+r)), middle = SMA(close), lower = SMA(low*(1-r)), r = 4*(high-low)/(high+low)",
	Params:  []Param{length(20)},
	Signals: []string{shape.BreakUp, shape.BreakDown},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		wideHigh, wideLow := make([]float64, s.Len()), make([]float64, s.Len())
		// TA-Lib pushes each bar's high and low apart before it averages them. A bar at
		// a price of 0 has no relative range and is taken as it is.
		for i, hi := range s.High {
			lo := s.Low[i]
			var r float64
			if hi+lo != 0 {
				r = 4 * (hi - lo) / (hi + lo)
			}
			wideHigh[i], wideLow[i] = hi*(1+r), lo*(1-r)
		}
		return shape.Channel(s.Close, kernel.SMA(s.Close, n), kernel.SMA(wideHigh, n), kernel.SMA(wideLow, n))
	},
}
