package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Larry Williams, "How I Made One Million Dollars Last Year Trading
// Commodities", 1973.
var indWAD = Indicator{
	Name: "wad", Title: "WAD", Aliases: []string{"williams_ad", "williams_accumulation_distribution"}, Category: Volume, Total: true,
	Doc:     "Williams' accumulation and distribution: on a rise the way up from the true low, on a fall the way down from the true high, added up. Despite its name it uses no volume. Starts with the second bar loaded; the signals are crosses of its average.",
	Formula: "WAD = WAD[1] + close - min(low, close[1]) on a rise, + close - max(high, close[1]) on a fall",
	Params:  append([]Param{bars("signal", 20, "average of the line", "length", "signal_length")}, divParams()...),
	Signals: append([]string{shape.CrossUp, shape.CrossDown}, divSignals...),
	Warmup:  func(a Args) int { return a.Int("signal") + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		steps := kernel.NaNs(s.Len())
		for i := 1; i < len(steps); i++ {
			// The true low and the true high take in the close before.
			now, before := s.Close[i], s.Close[i-1]
			switch {
			case now > before:
				steps[i] = now - min(s.Low[i], before)
			case now < before:
				steps[i] = now - max(s.High[i], before)
			default:
				steps[i] = 0
			}
		}
		line := kernel.Cumulative(steps)
		r := shape.AveragedLine("WAD", line, kernel.SMA(line, a.Int("signal")))
		addDivergences(r, s, line, a)
		return r
	},
}
