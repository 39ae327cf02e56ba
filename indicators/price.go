package indicators

import "wick/market"

// Prices of a bar that are made of its open, high, low and close.

var indAvgPrice = Indicator{
	Name: "avgprice", Title: "OHLC4", Aliases: []string{"ohlc4", "average_price"}, Category: Price, Overlay: true,
	Doc:     "Average price of the bar. As in TA-Lib.",
	Formula: "(open + high + low + close) / 4",
	Warmup:  noWarmup,
	Compute: priceOf("Average price", averagePrice),
}

var indMedPrice = Indicator{
	Name: "medprice", Title: "HL2", Aliases: []string{"hl2", "median_price"}, Category: Price, Overlay: true,
	Doc:     "Median price of the bar: the middle of its range. As in TA-Lib.",
	Formula: "(high + low) / 2",
	Warmup:  noWarmup,
	Compute: priceOf("Median price", medianPrice),
}

var indTypPrice = Indicator{
	Name: "typprice", Title: "HLC3", Aliases: []string{"hlc3", "typical_price"}, Category: Price, Overlay: true,
	Doc:     "Typical price of the bar. As in TA-Lib.",
	Formula: "(high + low + close) / 3",
	Warmup:  noWarmup,
	Compute: priceOf("Typical price", typicalPrice),
}

var indWclPrice = Indicator{
	Name: "wclprice", Title: "HLCC4", Aliases: []string{"hlcc4", "wcp", "weighted_close"}, Category: Price, Overlay: true,
	Doc:     "Weighted close: a typical price in which the close counts twice. As in TA-Lib.",
	Formula: "(high + low + 2*close) / 4",
	Warmup:  noWarmup,
	Compute: priceOf("Weighted close", weightedClose),
}

func priceOf(label string, price func(*market.Series) []float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, _ Args) *Result {
		return &Result{Lines: []Line{{Label: label, Values: price(s)}}}
	}
}
