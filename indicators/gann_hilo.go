package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Robert Krausz, "The New Gann Swing Chartist", Technical Analysis of
// Stocks & Commodities, February 1998.
var indGannHiLo = Indicator{
	Name: "gann_hilo", Title: "HiLo", Aliases: []string{"hilo", "gann_high_low", "gann_hilo_activator"}, Category: Trend, Overlay: true,
	Doc:     "Gann high-low activator of Krausz: an average of the lows as stop while closes break the average of the highs, and the reverse. Between the two averages the last stop stays where it was, as in pandas-ta.",
	Formula: "close > SMA(high, n)[1]: SMA(low, m); close < SMA(low, m)[1]: SMA(high, n); else unchanged",
	Params: []Param{
		bars("high", 13, "average of the highs", "high_length", "length", "period"), bars("low", 21, "average of the lows", "low_length"),
	},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	// A close beyond one of the averages sets side and stop anew; 100 bars allow for
	// one.
	Warmup: func(a Args) int { return 100 + 2*max(a.Int("high"), a.Int("low")) },
	Compute: func(s *market.Series, a Args) *Result {
		stop, up := gannHiLo(s, a.Int("high"), a.Int("low"))
		return &Result{Lines: shape.StopLines(stop, up), Signals: shape.Flips(stop, up)}
	},
}

// gannHiLo returns the stop at each bar and whether the market rises there. Closes are
// compared with the averages of the bar before.
func gannHiLo(s *market.Series, n, m int) (stop []float64, up []bool) {
	highs, lows := kernel.SMA(s.High, n), kernel.SMA(s.Low, m)
	stop, up = kernel.NaNs(s.Len()), make([]bool, s.Len())
	for i := 1; i < len(stop); i++ {
		switch {
		case kernel.Compare(s.Close[i], highs[i-1]) > 0:
			stop[i], up[i] = lows[i], true
		case kernel.Compare(s.Close[i], lows[i-1]) < 0:
			stop[i], up[i] = highs[i], false
		// Between the averages the side stays, and the stop stands where it was.
		default:
			stop[i], up[i] = stop[i-1], up[i-1]
		}
	}
	return stop, up
}
