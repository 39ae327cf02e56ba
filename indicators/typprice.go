package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
)

var indTypPrice = Indicator{
	Name: "typprice", Title: "HLC3", Aliases: []string{"hlc3", "typical_price"}, Category: Price, Overlay: true,
	Doc:     "Typical price of the bar. As in TA-Lib.",
	Formula: "(high + low + close) / 3",
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  barWarmup,
	Compute: priceOf("Typical price", kernel.TypicalPrice),
}
