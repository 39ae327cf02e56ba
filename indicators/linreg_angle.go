package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/market"
)

// The angle depends on the unit of the price: the same course at a tenth of the price
// is nearly flat.
var indLinregAngle = aroundZero(Indicator{
	Name: "linreg_angle", Title: "Linreg Angle", Aliases: []string{"linearreg_angle"}, Category: Statistics,
	Doc:     "Slope of the least-squares line through the last prices as an angle in degrees, a bar as wide as a price unit is high. As in TA-Lib.",
	Formula: "angle = atan(slope) in degrees",
	Params:  []Param{lengthFrom(2, 14), source()},
	Warmup:  windowWarmup,
}, "Angle", func(s *market.Series, a Args) []float64 {
	_, slope := kernel.Regression(column(s, a), a.Int("length"))
	for i, v := range slope {
		slope[i] = kernel.Degrees(math.Atan(v))
	}
	return slope
})
