package indicators

import "wick/indicators/kernel"

var indTypPrice = Indicator{
	Name: "typprice", Title: "HLC3", Aliases: []string{"hlc3", "typical_price"}, Category: Price, Overlay: true,
	Doc:     "Typical price of the bar. As in TA-Lib.",
	Formula: "(high + low + close) / 3",
	Warmup:  noWarmup,
	Compute: priceOf("Typical price", kernel.TypicalPrice),
}
