package indicators

import "wick/indicators/kernel"

var indWclPrice = priceOf(Indicator{
	Name: "wclprice", Title: "HLCC4", Aliases: []string{"hlcc4", "wcp", "weighted_close"},
	Doc:     "Weighted close: a typical price in which the close counts twice. As in TA-Lib.",
	Formula: "(high + low + 2*close) / 4",
}, "Weighted close", kernel.WeightedClose)
