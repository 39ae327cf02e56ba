package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indPVT = Indicator{
	Name: "pvt", Title: "PVT", Aliases: []string{"vpt", "price_volume_trend", "volume_price_trend"}, Category: Volume, Total: true,
	Doc:     "Price volume trend: volume added up in proportion to the relative change of the price. Starts from 0 on the first bar loaded, so its level means nothing, its course does; the signals are crosses of its exponential average.",
	Formula: "PVT = PVT[1] + volume * (x - x[1]) / x[1]",
	Params:  append([]Param{bars("signal", 21, "average of the line", "length", "signal_length"), source()}, divParams()...),
	Signals: append([]string{shape.CrossUp, shape.CrossDown}, divSignals...),
	Warmup:  func(a Args) int { return kernel.EMAMemory * a.Int("signal") },
	Compute: func(s *market.Series, a Args) *Result {
		// ROC is in percent, which the factor 0.01 takes back. The first bar has no
		// change and adds nothing.
		steps := kernel.Times(kernel.ROC(column(s, a), 1), s.Volume)
		line := kernel.Cumulative(kernel.Scaled(kernel.ZeroNaN(steps), 0.01))
		r := shape.AveragedLine("PVT", line, kernel.EMA(line, a.Int("signal")))
		addDivergences(r, s, line, a)
		return r
	},
}
