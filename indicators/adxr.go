package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indADXR = trendPanel(Indicator{
	Name: "adxr", Title: "ADXR", Aliases: []string{"average_directional_index_rating"},
	Doc:     "Directional movement rating: the mean of the ADX now and n-1 bars ago. As in TA-Lib.",
	Formula: "ADXR = (ADX + ADX[n-1]) / 2",
	// One length more than the ADX: the older of the two values lies so far back.
	Warmup: func(a Args) int { return 33 * a.Int("length") },
}, "ADXR", func(s *market.Series, n int) []float64 {
	_, _, adx := kernel.Directional(s, n, n, "talib")
	return kernel.Midway(adx, kernel.Shift(adx, n-1))
})
