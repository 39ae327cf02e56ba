package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The name is that of a figure made from single trades, which bars do not have; the
// text of the record says so.
var indCVD = Indicator{
	Name: "cvd", Title: "CVD", Aliases: []string{"cumulative_volume_delta", "cumulative_delta"}, Category: Volume, VisibleOnly: true,
	Doc: "Cumulative volume delta, estimated from the bars: what was bought less what was sold, summed from the first bar shown, taking the buyers' share of a bar's volume to be where it closed in its range. " +
		"So it is the accumulation/distribution line by another name; a true delta needs the trades themselves.",
	Formula: "CVD = CVD[1] + volume * ((close - low) - (high - close)) / (high - low); a bar without range adds nothing",
	Params:  divParams(),
	Signals: slices.Concat([]string{shape.ZeroUp, shape.ZeroDown}, divSignals),
	Compute: func(s *market.Series, a Args) *Result {
		line := kernel.Cumulative(kernel.MoneyFlow(s))
		r := shape.ZeroPanel("CVD", line)
		addDivergences(r, s, line, a)
		return r
	},
}
