package indicators

import "wick/indicators/kernel"

var indMedPrice = priceOf(Indicator{
	Name: "medprice", Title: "HL2", Aliases: []string{"hl2", "median_price"},
	Doc:     "Median price of the bar: the middle of its range. As in TA-Lib.",
	Formula: "(high + low) / 2",
}, "Median price", kernel.MedianPrice)
