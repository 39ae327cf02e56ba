package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Source: the public script "Profit Maximizer" by KivancOzbilgic on TradingView.
var indPMax = Indicator{
	Name: "pmax", Title: "PMax", Aliases: []string{"profit_maximizer"}, Category: Trend, Overlay: true,
	Doc:     "Profit maximizer: a supertrend of a moving average of hl2, which turns when the average, not the close, crosses the stop. After KivancOzbilgic's script.",
	Formula: "stop trails MA(hl2, m) by mult * ATR(n), only towards it, and changes sides when the average crosses it",
	Params: []Param{
		bars("length", 10, "bars of the true range's average", "atr_length", "period"), factor("mult", 3, 0.1, 50, "ranges between average and stop", "multiplier"),
		bars("ma_length", 10, "bars of the average", "average"), averageType("ma_type", "ema", "kind of average"),
	},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Warmup:  func(a Args) int { return stopWarmup(a.Float("mult"), pmaxWarm(a)) },
	Compute: func(s *market.Series, a Args) *Result {
		line := kernel.Average(a.Choice("ma_type"), kernel.MedianPrice(s), a.Int("ma_length"))
		stop, up := ratchet(line, kernel.Scaled(kernel.ATRPine(s, a.Int("length")), a.Float("mult")))
		r := stopResult(stop, up, pmaxWarm(a))
		r.Lines = append(r.Lines, Line{Label: "Average", Tone: Primary, Values: line})
		return r
	},
}

// pmaxWarm returns the bars after which range and average are warm.
func pmaxWarm(a Args) int {
	return wilderWarmup(a) + kernel.AverageWarmup(a.Choice("ma_type"), a.Int("ma_length"))
}

// ratchet returns a stop that follows x at a distance of reach, only moves towards
// it, and changes sides when x crosses it. It starts below x. Both pmax and ott turn
// by it.
func ratchet(x, reach []float64) (stop []float64, up []bool) {
	stop, up = kernel.NaNs(len(x)), make([]bool, len(x))
	var long, short float64
	rising, first := true, max(kernel.FirstValid(x), kernel.FirstValid(reach))
	for i := first; i < len(x); i++ {
		lower, upper := x[i]-reach[i], x[i]+reach[i]
		oldLong, oldShort := long, short
		// Both stops are followed all the time: each only moves towards x while x is on
		// its side, and starts anew from x when x has crossed it.
		if long, short = lower, upper; i > first {
			if kernel.Compare(x[i], oldLong) > 0 {
				long = max(lower, oldLong)
			}
			if kernel.Compare(x[i], oldShort) < 0 {
				short = min(upper, oldShort)
			}
			// Sides change against the stops of the bar before.
			if !rising && kernel.Compare(x[i], oldShort) > 0 {
				rising = true
			} else if rising && kernel.Compare(x[i], oldLong) < 0 {
				rising = false
			}
		}
		up[i] = rising
		if stop[i] = short; rising {
			stop[i] = long
		}
	}
	return stop, up
}
