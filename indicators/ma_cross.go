package indicators

import (
	"strconv"

	"wick/market"
)

var indMACross = Indicator{
	Name: "ma_cross", Title: "MA cross", Aliases: []string{"moving_average_cross"}, Category: Trend, Overlay: true,
	Doc:     "Two moving averages, and where they cross. With 50 and 200 simple averages the crosses are the golden and the death cross.",
	Formula: "MA(x, fast), MA(x, slow)",
	Params: []Param{
		bars("fast", 9, "fast average", "fast_length", "short"), bars("slow", 21, "slow average", "slow_length", "long"),
		averageType("ma_type", "sma", "kind of average", "type", "matype"), source(),
	},
	Signals: []string{CrossUp, CrossDown},
	Warmup:  func(a Args) int { return 10 * max(a.Int("fast"), a.Int("slow")) },
	Compute: func(s *market.Series, a Args) *Result {
		kind, x := a.Choice("ma_type"), column(s, a)
		fast, slow := average(kind, x, a.Int("fast")), average(kind, x, a.Int("slow"))
		return &Result{
			Lines:   []Line{{Label: "Fast", Tone: Primary, Values: fast}, {Label: "Slow", Tone: Second, Values: slow}},
			Signals: crossings(nil, fast, slow, CrossUp, CrossDown),
		}
	},
}

var indMARibbon = Indicator{
	Name: "ma_ribbon", Title: "MA ribbon", Aliases: []string{"ribbon", "moving_average_ribbon"}, Category: Trend, Overlay: true,
	Doc:     "Four moving averages of one kind, fast to slow. Signals mark where all of them come into rising or falling order. TradingView's lengths.",
	Formula: "MA(x, n) for four n",
	Params: []Param{
		bars("length1", 20, "fastest average", "fast"), bars("length2", 50, "second average"),
		bars("length3", 100, "third average"), bars("length4", 200, "slowest average", "slow"),
		averageType("ma_type", "sma", "kind of average", "type", "matype"), source(),
	},
	Signals: []string{StackUp, StackDown},
	Warmup:  func(a Args) int { return 10 * a.Int("length4") },
	Compute: func(s *market.Series, a Args) *Result {
		r := &Result{}
		for _, name := range []string{"length1", "length2", "length3", "length4"} {
			n := a.Int(name)
			r.Lines = append(r.Lines, Line{Label: strconv.Itoa(n), Values: average(a.Choice("ma_type"), column(s, a), n)})
		}
		r.Signals = stackSignals(r.Lines)
		return r
	},
}
