package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
)

var indAvgPrice = Indicator{
	Name: "avgprice", Title: "OHLC4", Aliases: []string{"ohlc4", "average_price"}, Category: Price, Overlay: true,
	Doc:     "Average price of the bar. As in TA-Lib.",
	Formula: "(open + high + low + close) / 4",
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  barWarmup,
	Compute: priceOf("Average price", kernel.AveragePrice),
}
