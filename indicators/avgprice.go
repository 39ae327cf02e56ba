package indicators

import "wick/indicators/kernel"

var indAvgPrice = priceOf(Indicator{
	Name: "avgprice", Title: "OHLC4", Aliases: []string{"ohlc4", "average_price"},
	Doc:     "Average price of the bar. As in TA-Lib.",
	Formula: "(open + high + low + close) / 4",
}, "Average price", kernel.AveragePrice)
