package indicators

import "wick/market"

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
	Signals: []string{CrossUp, CrossDown, CloudUp, CloudDown, TwistUp, TwistDown},
	Warmup: func(a Args) int {
		return max(a.Int("conversion"), a.Int("base"), a.Int("span_b")) + a.Int("displacement")
	},
	Compute: func(s *market.Series, a Args) *Result {
		conversion, base := midRange(s, a.Int("conversion")), midRange(s, a.Int("base"))
		spanA, spanB := midway(conversion, base), midRange(s, a.Int("span_b"))
		signals := crossings(nil, conversion, base, CrossUp, CrossDown)
		signals = crossings(signals, spanA, spanB, TwistUp, TwistDown)
		d := a.Int("displacement") - 1
		spanA, spanB = shift(spanA, d), shift(spanB, d)
		signals = crossings(signals, s.Close, greater(spanA, spanB), CloudUp, "")
		signals = crossings(signals, s.Close, lesser(spanA, spanB), "", CloudDown)
		return &Result{
			Lines: []Line{
				{Label: "Conversion", Tone: Primary, Values: conversion}, {Label: "Base", Tone: Second, Values: base},
				{Label: "Span A", Tone: Up, Values: spanA}, {Label: "Span B", Tone: Down, Values: spanB},
			},
			Fills:   []Fill{{Y1: spanA, Y2: spanB, Tone: Up, Below: Down}},
			Signals: inOrder(signals),
		}
	},
}

var indChikou = Indicator{
	Name: "chikou", Title: "Chikou", Aliases: []string{"chikou_span", "lagging_span"}, Category: Trend, Overlay: true, Repaints: true,
	Doc:     "Lagging span of Ichimoku: the close moved back, as TradingView draws it. A bar therefore shows a close that came later, and the newest bars show none: a picture to compare two prices, not a value to act on. The signals do not look ahead: they fire where the close crosses the close it is compared with.",
	Formula: "chikou = close[-(displacement - 1)]",
	Params:  []Param{displacement()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  func(a Args) int { return a.Int("displacement") },
	Compute: func(s *market.Series, a Args) *Result {
		d := a.Int("displacement") - 1
		line := nans(s.Len())
		if d < len(line) {
			copy(line, s.Close[d:])
		}
		return &Result{
			Lines:   []Line{{Label: "Chikou", Tone: Accent, Values: line}},
			Signals: crossings(nil, s.Close, shift(s.Close, d), PriceUp, PriceDown),
		}
	},
}

func displacement() Param {
	return bars("displacement", 26, "bars the cloud is moved, this bar counted", "offset", "shift", "lagging")
}

// midRange returns the middle between the highest high and the lowest low.
func midRange(s *market.Series, n int) []float64 { return midway(highest(s.High, n), lowest(s.Low, n)) }
