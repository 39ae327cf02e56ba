package indicators

import "wick/market"

var indLogReturn = Indicator{
	Name: "log_return", Title: "Log return", Aliases: []string{"logret"}, Category: Statistics,
	Doc:     "Logarithmic return over some bars: returns that add up. No value where a price is not positive.",
	Formula: "ln(x / x[n])",
	Params:  []Param{length(1), source()},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		return &Result{
			Histogram: []Histogram{{Label: "Log return", Values: logReturns(column(s, a), a.Int("length"))}},
			HLines:    []HLine{{Y: 0}},
		}
	},
}

var indPercentReturn = Indicator{
	Name: "percent_return", Title: "Return %", Aliases: []string{"pctret", "pct_change"}, Category: Statistics,
	Doc:     "Return over some bars in percent. No value where the earlier price is not positive.",
	Formula: "100 * (x / x[n] - 1)",
	Params:  []Param{length(1), source()},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		percent := nans(len(x))
		for i := n; i < len(x); i++ {
			if x[i-n] > 0 {
				percent[i] = 100 * (x[i] - x[i-n]) / x[i-n]
			}
		}
		return &Result{Histogram: []Histogram{{Label: "Return %", Values: percent}}, HLines: []HLine{{Y: 0}}}
	},
}

var indDrawdown = Indicator{
	Name: "drawdown", Title: "Drawdown", Aliases: []string{"dd", "max_drawdown"}, Category: Statistics, VisibleOnly: true,
	Doc:     "Drawdown: how far the close is below its highest so far, in percent, counted from the first bar shown. A signal marks the bar that makes a new high after a drawdown.",
	Formula: "100 * (x / max(x) - 1)",
	Params:  []Param{source()},
	Signals: []string{NewHigh},
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		down := nans(len(x))
		var top float64
		for i, v := range x {
			top = max(top, v)
			if top > 0 {
				down[i] = 100 * (v - top) / top
			}
		}
		return &Result{
			Lines:   []Line{{Label: "Drawdown %", Tone: Down, Values: down}},
			HLines:  []HLine{{Y: 0}},
			Signals: levelCrossings(nil, down, 0, NewHigh, ""),
		}
	},
}
