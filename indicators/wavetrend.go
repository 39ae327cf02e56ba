package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Source: the public script "WaveTrend Oscillator" by LazyBear on TradingView. Its
// levels of 53 and 60 are drawn; the zones are those of 53.
var indWaveTrend = Indicator{
	Name: "wavetrend", Title: "WaveTrend", Aliases: []string{"wt", "lazybear", "wave_trend", "wavetrend_oscillator"}, Category: Momentum,
	Doc:     "WaveTrend: how far the typical price is from its average, in parts of its usual distance, smoothed. As LazyBear's on TradingView; averages are seeded with means. Crosses beyond the levels are named after the zone; divergences are those of WT2.",
	Formula: "esa = EMA(hlc3, n); ci = (hlc3 - esa) / (0.015 * EMA(|hlc3 - esa|, n)); WT1 = EMA(ci, m); WT2 = SMA(WT1, 4)",
	Params: slices.Concat([]Param{
		bars("channel", 10, "average of the price", "ch_len", "channel_length", "n1", "wt_channel_length", "length"),
		bars("average", 21, "average of the index", "avg_len", "average_length", "n2", "wt_average_length"),
		bars("signal", 4, "signal average", "ma_len", "ma_length", "signal_length"),
		quiet(factor("oversold", -53, -200, 200, "lower level", "lower", "wt_oversold")), quiet(factor("overbought", 53, -200, 200, "upper level", "upper", "wt_overbought")),
	}, divParams()),
	ZoneLine: "WT2",
	Signals:  append([]string{shape.CrossUp, shape.CrossDown, shape.CrossUpOS, shape.CrossDownOB}, divSignals...),
	Warmup:   func(a Args) int { return kernel.EMAMemory * (2*a.Int("channel") + a.Int("average") + a.Int("signal")) },
	Compute: func(s *market.Series, a Args) *Result {
		wt1, wt2 := waveTrend(kernel.TypicalPrice(s), a.Int("channel"), a.Int("average"), a.Int("signal"))
		lo, hi := a.Float("oversold"), a.Float("overbought")
		r := &Result{
			Lines:     []Line{{Label: "WT1", Tone: Primary, Values: wt1}, {Label: "WT2", Tone: Second, Values: wt2}},
			Histogram: []Histogram{{Label: "WT1-WT2", Values: kernel.Minus(wt1, wt2)}},
			// The outer pair is fixed, the inner one is the parameters'.
			HLines:  []HLine{{Y: 60}, {Y: hi}, {Y: 0}, {Y: lo}, {Y: -60}},
			Fills:   []Fill{{Y1: wt1, Y2: wt2, Tone: Up, Below: Down}},
			Signals: shape.ZonedCrossings(wt1, wt2, lo, hi),
		}
		addDivergences(r, s, wt2, a)
		return r
	},
}

// waveTrend returns both lines: the smoothed distance of x from its average, in mean
// distances as in the CCI, and the average of that line. The constant 0.015 is
// Lambert's, by which most values stay within 100.
func waveTrend(x []float64, channel, average, signal int) (wt1, wt2 []float64) {
	away := kernel.Minus(x, kernel.EMA(x, channel))
	wt1 = kernel.EMA(kernel.Ratio(away, kernel.EMA(kernel.Absolute(away), channel), 1/0.015), average)
	return wt1, kernel.SMA(wt1, signal)
}
