package indicators

import "wick/market"

var indAD = Indicator{
	Name: "ad", Title: "A/D", Aliases: []string{"accumulation_distribution", "adl", "ad_line", "chaikin_ad"}, Category: Volume,
	Doc:     "Chaikin's accumulation and distribution line: volume weighed by where the close lies in the range of its bar, added up. As in TA-Lib it begins with the first bar, so only its changes mean anything.",
	Formula: "A/D = A/D[1] + volume * ((close - low) - (high - close)) / (high - low), nothing for a bar without range",
	Params:  divParams(),
	Signals: divSignals,
	Warmup:  func(Args) int { return 0 },
	Compute: func(s *market.Series, a Args) *Result {
		line := cumulative(moneyFlow(s))
		r := &Result{Lines: []Line{{Label: "A/D", Tone: Primary, Values: line}}}
		addDivergences(r, s, line, a)
		return r
	},
}

var indADOsc = Indicator{
	Name: "adosc", Title: "Chaikin Osc", Aliases: []string{"chaikin_oscillator", "chaikin_osc"}, Category: Volume,
	Doc:     "Chaikin's oscillator: a fast less a slow exponential average of the accumulation and distribution line. As in TA-Lib: both averages start from the first value of the line.",
	Formula: "EMA(A/D, fast) - EMA(A/D, slow)",
	Params: []Param{
		bars("fast", 3, "fast average", "fast_length", "fastperiod", "fast_period"), bars("slow", 10, "slow average", "slow_length", "slowperiod", "slow_period"),
	},
	Signals: []string{ZeroUp, ZeroDown},
	Warmup:  func(a Args) int { return emaMemory * max(a.Int("fast"), a.Int("slow")) },
	Compute: aroundZero("Chaikin Osc", func(s *market.Series, a Args) []float64 {
		return chaikin(moneyFlow(s), a.Int("fast"), a.Int("slow"))
	}),
}

// moneyFlow returns the volume of each bar times where its close lies in its
// range, -1 to 1; 0 for a bar without range.
func moneyFlow(s *market.Series) []float64 {
	out := make([]float64, s.Len())
	for i, c := range s.Close {
		if height := s.High[i] - s.Low[i]; height > 0 {
			out[i] = ((c - s.Low[i]) - (s.High[i] - c)) / height * s.Volume[i]
		}
	}
	return out
}

// chaikin returns the difference of two exponential averages of the running
// sum of flow, both starting from its first value. It follows their distance
// from the sum, not the sum itself, which grows without bound and would take
// digits from the difference.
func chaikin(flow []float64, fast, slow int) []float64 {
	first := max(fast, slow) - 1
	out := unknown(len(flow), first)
	keepFast, keepSlow := 1-2/(float64(fast)+1), 1-2/(float64(slow)+1)
	var behindFast, behindSlow float64 // sum less average
	for i, v := range flow {
		if i > 0 {
			behindFast = (behindFast + v) * keepFast
			behindSlow = (behindSlow + v) * keepSlow
		}
		if i >= first {
			out[i] = behindSlow - behindFast
		}
	}
	return out
}
