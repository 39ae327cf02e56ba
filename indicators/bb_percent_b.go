package indicators

import "wick/market"

var indBBPercentB = Indicator{
	Name: "bb_percent_b", Title: "%B", Aliases: []string{"pctb", "%b", "percent_b", "bb_pctb", "bbp_b"}, Category: Volatility,
	Doc:     "Bollinger %B: where the price lies between the bands, 0 at the lower and 1 at the upper. No value where the bands meet.",
	Formula: "%B = (x - lower) / (upper - lower)",
	Params:  bollingerParams(),
	Signals: []string{BreakUp, BreakDown},
	Warmup:  func(a Args) int { return a.Int("length") + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		x, n, mult := column(s, a), a.Int("length"), a.Float("mult")
		lower := offset(sma(x, n), stdev(x, n), -mult)
		line := quotient(minus(x, lower), scaled(stdev(x, n), 2*mult))
		signals := levelCrossings(nil, line, 1, BreakUp, "")
		return &Result{
			Lines:   []Line{{Label: "%B", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: 1}, {Y: 0.5}, {Y: 0}},
			Signals: inOrder(levelCrossings(signals, line, 0, "", BreakDown)),
		}
	},
}

var indBBBandwidth = Indicator{
	Name: "bb_bandwidth", Title: "BBW", Aliases: []string{"bbw", "bandwidth", "bollinger_bandwidth"}, Category: Volatility,
	Doc:     "Bollinger bandwidth: the width of the bands as a fraction of the middle (TradingView shows it in percent). squeeze_on fires where it becomes the narrowest of the lookback, which Bollinger puts at half a year.",
	Formula: "BBW = (upper - lower) / middle",
	Params:  append(bollingerParams(), bars("lookback", 125, "bars in which a squeeze is the narrowest", "squeeze")),
	Signals: []string{SqueezeOn},
	Warmup:  func(a Args) int { return a.Int("length") + a.Int("lookback") + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		line := quotient(scaled(stdev(x, n), 2*a.Float("mult")), sma(x, n))
		return &Result{
			Lines:   []Line{{Label: "BBW", Tone: Primary, Values: line}},
			Signals: narrowest(line, a.Int("lookback")),
		}
	},
}

func bollingerParams() []Param {
	return []Param{
		length(20), factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "std_dev", "stddev", "nbdev", "deviation", "multiplier"), source(),
	}
}

// narrowest marks where x becomes the lowest of its last n values, having not
// been so the bar before.
func narrowest(x []float64, n int) []Signal {
	var signals []Signal
	low := lowest(x, n)
	for i := 1; i < len(x); i++ {
		if x[i] == low[i] && x[i-1] > low[i-1] {
			signals = append(signals, Signal{i, x[i], SqueezeOn, Accent})
		}
	}
	return signals
}
