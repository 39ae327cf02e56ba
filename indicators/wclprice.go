package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
)

var indWclPrice = Indicator{
	Name: "wclprice", Title: "HLCC4", Aliases: []string{"hlcc4", "wcp", "weighted_close"}, Category: Price, Overlay: true,
	Doc:     "Weighted close: a typical price in which the close counts twice. As in TA-Lib.",
	Formula: "(high + low + 2*close) / 4",
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  barWarmup,
	Compute: priceOf("Weighted close", kernel.WeightedClose),
}
