package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
)

var indMedPrice = Indicator{
	Name: "medprice", Title: "HL2", Aliases: []string{"hl2", "median_price"}, Category: Price, Overlay: true,
	Doc:     "Median price of the bar: the middle of its range. As in TA-Lib.",
	Formula: "(high + low) / 2",
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  barWarmup,
	Compute: priceOf("Median price", kernel.MedianPrice),
}
