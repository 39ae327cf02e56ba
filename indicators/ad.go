package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Marc Chaikin, who put the middle of the range in place of the open,
// which Larry Williams' line starts from.
var indAD = Indicator{
	Name: "ad", Title: "A/D", Also: []string{"accumulation_distribution_line"}, Aliases: []string{"accumulation_distribution", "adl", "ad_line", "chaikin_ad"}, Category: Volume, Total: true,
	Doc:     "Chaikin's accumulation and distribution line: volume weighed by where the close lies in the range of its bar, added up. As in TA-Lib it begins with the first bar, so only its changes mean anything.",
	Formula: "A/D = A/D[1] + volume * ((close - low) - (high - close)) / (high - low), nothing for a bar without range",
	Params:  divParams(),
	Signals: divSignals,
	// No history helps: the sum is counted from the first bar shown.
	Warmup: noWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		line := kernel.Cumulative(kernel.MoneyFlow(s))
		r := &Result{Lines: []Line{{Label: "A/D", Tone: Primary, Values: line}}}
		addDivergences(r, s, line, a)
		return r
	},
}

// chaikin returns the difference of two exponential averages of the running
// sum of flow, both starting from its first value. It follows their distance
// from the sum, not the sum itself, which grows without bound and would take
// digits from the difference.
func chaikin(flow []float64, fast, slow int) []float64 {
	first := max(fast, slow) - 1
	out := kernel.Unknown(len(flow), first)
	keepFast, keepSlow := 1-2/(float64(fast)+1), 1-2/(float64(slow)+1)
	var behindFast, behindSlow float64 // sum less average
	for i, v := range flow {
		if i > 0 {
			// An average of weight w that follows a sum S keeps S-EMA behind it: the
			// sum grows by v, and (1-w) of the distance is left.
			behindFast = (behindFast + v) * keepFast
			behindSlow = (behindSlow + v) * keepSlow
		}
		if i >= first {
			// (S - EMA slow) - (S - EMA fast) = EMA fast - EMA slow.
			out[i] = behindSlow - behindFast
		}
	}
	return out
}
