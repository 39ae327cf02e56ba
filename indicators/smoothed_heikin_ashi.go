package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indSmoothedHeikinAshi = Indicator{
	Name: "smoothed_heikin_ashi", Title: "Smoothed HA", Aliases: []string{"smoothed_ha", "sha"}, Category: Price, Overlay: true,
	Doc:     "Smoothed Heikin Ashi: Heikin Ashi candles of exponentially averaged prices, averaged once more. A change of colour is a flip.",
	Formula: "EMA(m) of the Heikin Ashi candles of EMA(open, n), EMA(high, n), EMA(low, n), EMA(close, n)",
	Params:  []Param{length(10), bars("smooth", 10, "second average", "length2", "after")},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Warmup:  func(a Args) int { return 40 + kernel.EMAMemory*(a.Int("length")+a.Int("smooth")) },
	Compute: func(s *market.Series, a Args) *Result {
		// Heikin Ashi takes no NaN, so the averaged bars begin with the first whole
		// average.
		n, first := a.Int("length"), min(a.Int("length")-1, s.Len())
		t := &market.Series{Time: s.Time[first:], Volume: s.Volume[first:]}
		for _, c := range []struct {
			to   *[]float64
			from []float64
		}{{&t.Open, s.Open}, {&t.High, s.High}, {&t.Low, s.Low}, {&t.Close, s.Close}} {
			*c.to = kernel.EMA(c.from, n)[first:]
		}
		// Only open and close are averaged again and drawn: the colour is what the
		// entry is for.
		o, _, _, c := heikinAshi(t)
		// late averages a column once more and puts the bars in front that were cut
		// off.
		late := func(x []float64) []float64 {
			return append(kernel.NaNs(first), kernel.EMA(x, a.Int("smooth"))...)
		}
		open, shut := late(o), late(c)
		rising := make([]bool, len(shut))
		for i := range shut {
			rising[i] = kernel.Difference(shut[i], open[i]) >= 0
		}
		return &Result{
			Lines:   []Line{{Label: "Open", Tone: Second, Values: open}, {Label: "Close", Tone: Primary, Values: shut}},
			Fills:   []Fill{{Y1: shut, Y2: open, Tone: Up, Below: Down}},
			Signals: shape.Flips(shut, rising),
		}
	},
}
