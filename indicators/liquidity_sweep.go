package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule: orders are thought to rest beyond swings. The first bar that trades
// beyond a swing takes it; if that bar closes back inside, it swept it.
var indLiquiditySweep = Indicator{
	Name: "liquidity_sweep", Title: "Sweeps", Aliases: []string{"liquidity_sweeps", "stop_hunt", "liquidity"}, Category: Pattern, Overlay: true,
	Doc:     "Liquidity sweeps: a bar that trades beyond a swing high or low for the first time and closes back inside. The lines are the nearest swings that no bar has traded beyond. Nothing repaints.",
	Formula: "sweep of highs: high > swing high >= close, on the first bar with high > swing high; lows mirrored",
	Params:  swingParams(5, 200),
	Signals: []string{shape.SweepHigh, shape.SweepLow},
	Warmup:  structureWarmup(1),
	Compute: func(s *market.Series, a Args) *Result {
		return bothSides(s, func(s *market.Series, side int) *Result {
			return sweeps(s, a, [2]string{"Highs", "Lows"}[side], [2]string{shape.SweepHigh, shape.SweepLow}[side], [2]Tone{Down, Up}[side])
		})
	},
}

// sweeps follows the swing highs that no bar has traded beyond.
func sweeps(s *market.Series, a Args, name, label string, tone Tone) *Result {
	line := kernel.NaNs(s.Len())
	r := &Result{Lines: []Line{{Label: name, Tone: tone, Style: Step, Values: line}}}
	highs, next := swingHighs(s, a.Int("left"), a.Int("right")), 0
	var open []swing // not traded beyond
	for i := range s.Len() {
		swept := nan // the highest swing that this bar took
		// A bar may take several swings at once; one signal, at the highest, stands for
		// all.
		open = slices.DeleteFunc(open, func(w swing) bool {
			taken := kernel.Compare(s.High[i], w.price) > 0
			if taken && !(swept > w.price) {
				swept = w.price
			}
			return taken || i-w.bar > a.Int("lookback")
		})
		// Compare is 0 for NaN, which means that no swing was taken.
		if kernel.Compare(s.Close[i], swept) <= 0 && !isNaN(swept) {
			r.Signals = append(r.Signals, shape.Mark(i, swept, label, tone))
		}
		// Swings are added after the bar was judged: this bar, one of those that made them
		// known, lies below them.
		for ; next < len(highs) && highs[next].known <= i; next++ {
			if i-highs[next].bar <= a.Int("lookback") {
				open = append(open, highs[next])
			}
		}
		// The nearest swing above the market is the lowest; the first replaces NaN.
		for _, w := range open {
			if !(line[i] <= w.price) {
				line[i] = w.price
			}
		}
	}
	return r
}
