package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indRVIVolatility = Indicator{
	Name: "rvi_volatility", Title: "RVI", Aliases: []string{"relative_volatility_index", "rvi"}, Category: Volatility,
	Doc:     "Relative volatility index of Dorsey: which share of the deviation falls on bars that rose. As at TradingView: population deviation, exponential averages. 0 when nothing moved.",
	Formula: "RVI = 100 * U / (U + D), U = EMA(σ where x rose, else 0), D = EMA(σ where it did not, else 0)",
	Params: slices.Concat([]Param{length(10), bars("smooth", 14, "average of the deviations", "smoothing", "ema_length")},
		zone(40, 60, 0, 100), []Param{source()}),
	Signals: []string{shape.CrossUp, shape.CrossDown},
	Warmup:  func(a Args) int { return a.Int("length") + 10*a.Int("smooth") },
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		up, down := kernel.NaNs(len(x)), kernel.NaNs(len(x))
		dev := kernel.StdDev(x, a.Int("length"))
		for i := max(1, kernel.FirstValid(dev)); i < len(x); i++ {
			up[i], down[i] = 0, dev[i]
			if kernel.Compare(x[i], x[i-1]) > 0 {
				up[i], down[i] = dev[i], 0
			}
		}
		line := kernel.Share(kernel.EMA(up, a.Int("smooth")), kernel.EMA(down, a.Int("smooth")))
		return &Result{
			YRange:  &[2]float64{0, 100},
			Lines:   []Line{{Label: "RVI", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: a.Float("overbought")}, {Y: 50}, {Y: a.Float("oversold")}},
			Signals: shape.LevelCrossings(nil, line, 50, shape.CrossUp, shape.CrossDown),
		}
	},
}
