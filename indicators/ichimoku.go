package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Goichi Hosoda, who published it in 1969 under the name Ichimoku
// Sanjin.
var indIchimoku = Indicator{
	Name: "ichimoku", Title: "Ichimoku", Aliases: []string{"ichi", "ikh", "ichimoku_cloud", "ichimoku_kinko_hyo"}, Category: Trend, Overlay: true,
	Doc: "Ichimoku Kinko Hyo: conversion and base line, the middles of the range of 9 and 26 bars, and the cloud between two leading spans. As at TradingView the cloud is moved forward: a bar shows the spans computed " +
		"displacement-1 bars before it, so nothing here looks ahead. twist_up and twist_down fire where the spans cross, that is when the cloud to come changes colour. The lagging span is the close moved back, " +
		"which later bars fill in; it has an entry of its own, chikou.",
	Formula: "conversion = (max(high, 9) + min(low, 9)) / 2; base the same of 26; span A = (conversion + base) / 2; span B = the same of 52",
	Params: []Param{
		bars("conversion", 9, "conversion line", "tenkan", "conversion_length", "tenkan_period", "tenkan_length"),
		bars("base", 26, "base line", "kijun", "base_length", "kijun_period", "kijun_length"),
		bars("span_b", 52, "second leading span", "senkou", "senkou_b", "senkou_period", "senkou_b_period", "span_b_length", "lagging_span_2"),
		displacement(),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.CloudUp, shape.CloudDown, shape.TwistUp, shape.TwistDown},
	Warmup: func(a Args) int {
		return max(a.Int("conversion"), a.Int("base"), a.Int("span_b")) + a.Int("displacement")
	},
	Compute: func(s *market.Series, a Args) *Result {
		conversion, base := kernel.MidRange(s, a.Int("conversion")), kernel.MidRange(s, a.Int("base"))
		spanA, spanB := kernel.Midway(conversion, base), kernel.MidRange(s, a.Int("span_b"))
		signals := shape.Crossings(nil, conversion, base, shape.CrossUp, shape.CrossDown)
		// The spans as they are computed now are the cloud to come: twists are found
		// here, and the part beyond the last bar is kept. After the shift they are the
		// cloud of this bar, which closes break out of.
		signals = shape.Crossings(signals, spanA, spanB, shape.TwistUp, shape.TwistDown)
		aheadA, aheadB := lastOf(spanA, a.Int("displacement")-1), lastOf(spanB, a.Int("displacement")-1)
		spanA, spanB = kernel.Shift(spanA, a.Int("displacement")-1), kernel.Shift(spanB, a.Int("displacement")-1)
		signals = shape.Crossings(signals, s.Close, kernel.Greater(spanA, spanB), shape.CloudUp, "")
		signals = shape.Crossings(signals, s.Close, kernel.Lesser(spanA, spanB), "", shape.CloudDown)
		return &Result{
			Lines: []Line{
				{Label: "Conversion", Tone: Primary, Values: conversion}, {Label: "Base", Tone: Second, Values: base},
				{Label: "Span A", Tone: Up, Values: spanA, Ahead: aheadA}, {Label: "Span B", Tone: Down, Values: spanB, Ahead: aheadB},
			},
			Fills:   []Fill{{Y1: spanA, Y2: spanB, Tone: Up, Below: Down, Ahead1: aheadA, Ahead2: aheadB}},
			Signals: shape.InOrder(signals),
		}
	},
}

// displacement returns how far the cloud is moved forward. As at TradingView this bar
// counts, so 26 is a shift by 25.
func displacement() Param {
	return bars("displacement", 26, "bars the cloud is moved, this bar counted", "offset", "shift", "lagging")
}

// lastOf returns the last n values of x, or all when there are fewer: what a
// shift by n moves beyond the last bar.
func lastOf(x []float64, n int) []float64 { return x[max(0, len(x)-n):] }
