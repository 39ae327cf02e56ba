package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
)

var indMARibbon = Indicator{
	Name: "ma_ribbon", Title: "MA ribbon", Aliases: []string{"ribbon", "moving_average_ribbon"}, Category: Trend, Overlay: true,
	Doc:     "Four moving averages of one kind, fast to slow. Signals mark where all of them come into rising or falling order. TradingView's lengths.",
	Formula: "MA(x, n) for four n",
	Params: []Param{
		bars("length1", 20, "fastest average", "fast"), bars("length2", 50, "second average"),
		bars("length3", 100, "third average"), bars("length4", 200, "slowest average", "slow"),
		averageType("ma_type", "sma", "kind of average", "type", "matype"), source(),
	},
	Signals: []string{shape.StackUp, shape.StackDown},
	Warmup: func(a Args) int {
		return kernel.AverageWarmup(a.Choice("ma_type"), longest(a, "length1", "length2", "length3", "length4")) + 1
	},
	Compute: stacked(func(a Args) string { return a.Choice("ma_type") }),
}
