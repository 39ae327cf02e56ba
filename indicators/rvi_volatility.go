package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Donald G. Dorsey, "The Relative Volatility Index", Technical Analysis
// of Stocks & Commodities, June 1993.
var indRVIVolatility = Indicator{
	Name: "rvi_volatility", Title: "RVI", Aliases: []string{"relative_volatility_index", "rvi"}, Category: Volatility,
	Doc:     "Relative volatility index of Dorsey: which share of the deviation falls on bars that rose. As at TradingView: population deviation, exponential averages; the variant talib takes Wilder's averages and counts unchanged bars on neither side, as TA-Lib 0.8. 0 when nothing moved.",
	Formula: "RVI = 100 * U / (U + D), U = EMA(σ where x rose, else 0), D = EMA(σ where it did not, else 0)",
	Params: slices.Concat([]Param{lengthFrom(2, 10), bars("smooth", 14, "average of the deviations", "smoothing", "ema_length"), choice("variant", "whose averages", "tradingview", "talib")},
		zone(40, 60, 0, 100), []Param{source()}),
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the line", "50"),
	// Enough for Wilder's averages; the exponential ones need half of it.
	Warmup: func(a Args) int { return a.Int("length") + kernel.WilderMemory*a.Int("smooth") },
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		up, down := kernel.NaNs(len(x)), kernel.NaNs(len(x))
		dev := kernel.StdDev(x, a.Int("length"))
		for i := max(1, kernel.FirstValid(dev)); i < len(x); i++ {
			// The deviation of a bar counts on one side: up if the price rose, else
			// down; TA-Lib counts an unchanged price on neither.
			switch up[i], down[i] = 0, dev[i]; kernel.Compare(x[i], x[i-1]) {
			case 1:
				up[i], down[i] = dev[i], 0
			case 0:
				if a.Choice("variant") == "talib" {
					down[i] = 0
				}
			}
		}
		smooth := kernel.EMA
		if a.Choice("variant") == "talib" {
			smooth = kernel.RMA
		}
		line := kernel.Share(smooth(up, a.Int("smooth")), smooth(down, a.Int("smooth")))
		r := shape.LevelPanel("RVI", line, 50, shape.CrossUp, shape.CrossDown)
		r.YRange = &[2]float64{0, 100}
		r.HLines = []HLine{{Y: a.Float("overbought")}, {Y: 50}, {Y: a.Float("oversold")}}
		return r
	},
}
