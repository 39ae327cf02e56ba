package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Which is the fast one is up to the lengths given: with fast 200 and slow 50 the
// crosses are reversed.
var indMACross = Indicator{
	Name: "ma_cross", Title: "MA cross", Aliases: []string{"moving_average_cross"}, Category: Trend, Overlay: true,
	Doc:     "Two moving averages, and where they cross. With 50 and 200 simple averages the crosses are the golden and the death cross.",
	Formula: "MA(x, fast), MA(x, slow)",
	Params: []Param{
		bars("fast", 9, "fast average", "fast_length", "short"), bars("slow", 21, "slow average", "slow_length", "long"),
		averageType("ma_type", "sma", "kind of average", "type", "matype"), source(),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown},
	Warmup: func(a Args) int {
		return kernel.AverageWarmup(a.Choice("ma_type"), max(a.Int("fast"), a.Int("slow"))) + 1
	},
	Compute: func(s *market.Series, a Args) *Result {
		kind, x := a.Choice("ma_type"), column(s, a)
		fast, slow := kernel.Average(kind, x, a.Int("fast")), kernel.Average(kind, x, a.Int("slow"))
		return &Result{
			Lines:   []Line{{Label: "Fast", Tone: Primary, Values: fast}, {Label: "Slow", Tone: Second, Values: slow}},
			Signals: shape.Crossings(nil, fast, slow, shape.CrossUp, shape.CrossDown),
		}
	},
}
