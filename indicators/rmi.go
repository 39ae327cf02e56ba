package indicators

import (
	"slices"

	"wick/market"
)

var indRMI = Indicator{
	Name: "rmi", Title: "RMI", Aliases: []string{"relative_momentum", "relative_momentum_index"}, Category: Momentum,
	Doc:     "Relative momentum index: RSI of changes over several bars instead of one, in Wilder's smoothing. With momentum 1 it is RSI. 0 when nothing moved.",
	Formula: "RMI = 100 * G / (G + L), G and L Wilder averages of rises and falls of x against x[momentum]",
	Params:  slices.Concat([]Param{length(14), bars("momentum", 5, "bars a change is measured over", "mom")}, zone(30, 70, 0, 100), []Param{source()}),
	Signals: []string{Oversold, Overbought},
	Warmup:  func(a Args) int { return 20*a.Int("length") + a.Int("momentum") },
	Compute: func(s *market.Series, a Args) *Result {
		r := zoned("RMI", relativeMomentum(column(s, a), a.Int("length"), a.Int("momentum")), a, Oversold, Overbought)
		r.YRange = &[2]float64{0, 100}
		return r
	},
}

// relativeMomentum returns the share of rises in all changes over k bars.
func relativeMomentum(x []float64, n, k int) []float64 {
	rises, falls := nans(len(x)), nans(len(x))
	for i := firstValid(x) + k; i < len(x); i++ {
		rises[i], falls[i] = max(x[i]-x[i-k], 0), max(x[i-k]-x[i], 0)
	}
	return shareOf(rma(rises, n), rma(falls, n))
}

// shareOf returns a in percent of a+b, 0 where both are 0.
func shareOf(a, b []float64) []float64 {
	out := nans(len(a))
	for i := range out {
		if sum := a[i] + b[i]; sum == 0 {
			out[i] = 0
		} else {
			out[i] = 100 * a[i] / sum
		}
	}
	return out
}

var indRVIVolatility = Indicator{
	Name: "rvi_volatility", Title: "RVI", Aliases: []string{"relative_volatility_index", "rvi"}, Category: Volatility,
	Doc:     "Relative volatility index of Dorsey: which share of the deviation falls on bars that rose. As at TradingView: population deviation, exponential averages. 0 when nothing moved.",
	Formula: "RVI = 100 * U / (U + D), U = EMA(σ where x rose, else 0), D = EMA(σ where it did not, else 0)",
	Params: slices.Concat([]Param{length(10), bars("smooth", 14, "average of the deviations", "smoothing", "ema_length")},
		zone(40, 60, 0, 100), []Param{source()}),
	Signals: []string{CrossUp, CrossDown},
	Warmup:  func(a Args) int { return a.Int("length") + 10*a.Int("smooth") },
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		up, down := nans(len(x)), nans(len(x))
		dev := stdev(x, a.Int("length"))
		for i := max(1, firstValid(dev)); i < len(x); i++ {
			up[i], down[i] = 0, dev[i]
			if x[i] > x[i-1] {
				up[i], down[i] = dev[i], 0
			}
		}
		line := shareOf(ema(up, a.Int("smooth")), ema(down, a.Int("smooth")))
		return &Result{
			YRange:  &[2]float64{0, 100},
			Lines:   []Line{{Label: "RVI", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: a.Float("overbought")}, {Y: 50}, {Y: a.Float("oversold")}},
			Signals: levelCrossings(nil, line, 50, CrossUp, CrossDown),
		}
	},
}
