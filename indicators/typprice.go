package indicators

import "wick/indicators/kernel"

var indTypPrice = priceOf(Indicator{
	Name: "typprice", Title: "HLC3", Aliases: []string{"hlc3", "typical_price"},
	Doc:     "Typical price of the bar. As in TA-Lib.",
	Formula: "(high + low + close) / 3",
}, "Typical price", kernel.TypicalPrice)
