package indicators

import "wick/market"

var indPVT = Indicator{
	Name: "pvt", Title: "PVT", Aliases: []string{"vpt", "price_volume_trend", "volume_price_trend"}, Category: Volume,
	Doc:     "Price volume trend: volume added up in proportion to the relative change of the price. Starts from 0 on the first bar loaded, so its level means nothing, its course does; the signals are crosses of its exponential average.",
	Formula: "PVT = PVT[1] + volume * (x - x[1]) / x[1]",
	Params:  append([]Param{bars("signal", 21, "average of the line", "length", "signal_length"), source()}, divParams()...),
	Signals: append([]string{CrossUp, CrossDown}, divSignals...),
	Warmup:  func(a Args) int { return emaMemory * a.Int("signal") },
	Compute: func(s *market.Series, a Args) *Result {
		steps := times(rateOfChange(column(s, a), 1), s.Volume)
		line := cumulative(scaled(nz(steps), 0.01))
		r := averagedLine("PVT", line, ema(line, a.Int("signal")))
		addDivergences(r, s, line, a)
		return r
	},
}
