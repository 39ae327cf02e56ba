package indicators

import (
	"slices"

	"wick/market"
)

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
	Signals: append([]string{CrossUp, CrossDown, CrossUpOS, CrossDownOB}, divSignals...),
	Warmup:  func(a Args) int { return emaMemory * (2*a.Int("channel") + a.Int("average") + a.Int("signal")) },
	Compute: func(s *market.Series, a Args) *Result {
		wt1, wt2 := waveTrend(typicalPrice(s), a.Int("channel"), a.Int("average"), a.Int("signal"))
		lo, hi := a.Float("oversold"), a.Float("overbought")
		r := &Result{
			Lines:     []Line{{Label: "WT1", Tone: Primary, Values: wt1}, {Label: "WT2", Tone: Second, Values: wt2}},
			Histogram: []Histogram{{Label: "WT1-WT2", Values: minus(wt1, wt2)}},
			HLines:    []HLine{{Y: 60}, {Y: hi}, {Y: 0}, {Y: lo}, {Y: -60}},
			Fills:     []Fill{{Y1: wt1, Y2: wt2, Tone: Up, Below: Down}},
			Signals:   zonedCrossings(wt1, wt2, lo, hi),
		}
		addDivergences(r, s, wt2, a)
		return r
	},
}

// waveTrend returns both lines.
func waveTrend(x []float64, channel, average, signal int) (wt1, wt2 []float64) {
	away := minus(x, ema(x, channel))
	wt1 = ema(ratioLine(away, ema(absolute(away), channel), 1/0.015), average)
	return wt1, sma(wt1, signal)
}

// zonedCrossings marks where a crosses b; where b lies in a zone the label
// says so. Y is b's value.
func zonedCrossings(a, b []float64, lo, hi float64) []Signal {
	signals := crossings(nil, a, b, CrossUp, CrossDown)
	for i := range signals {
		sig := &signals[i]
		sig.Y = b[sig.Bar]
		switch {
		case sig.Label == CrossUp && sig.Y <= lo:
			sig.Label = CrossUpOS
		case sig.Label == CrossDown && sig.Y >= hi:
			sig.Label = CrossDownOB
		}
	}
	return signals
}
