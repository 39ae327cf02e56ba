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
		signals := ichimokuSignals(s.Close, conversion, base, spanA, spanB, a.Int("displacement")-1)
		delay(spanA, a.Int("displacement")-1)
		delay(spanB, a.Int("displacement")-1)
		return &Result{
			Lines: []Line{
				{Label: "Conversion", Tone: Primary, Values: conversion}, {Label: "Base", Tone: Second, Values: base},
				{Label: "Span A", Tone: Up, Values: spanA}, {Label: "Span B", Tone: Down, Values: spanB},
			},
			Fills:   []Fill{{Y1: spanA, Y2: spanB, Tone: Up, Below: Down}},
			Signals: signals,
		}
	},
}

// ichimokuSignals marks the crosses of conversion and base line, those of the
// spans where they are computed, and those of the close and the cloud, which
// is d bars old. One pass keeps them in order; sorting them would cost more
// than all the rest.
func ichimokuSignals(closes, conversion, base, spanA, spanB []float64, d int) []Signal {
	var signals []Signal
	mark := func(i, side int, y float64, up, down string) {
		if side > 0 && up != "" {
			signals = append(signals, Signal{i, y, up, Up})
		} else if side < 0 && down != "" {
			signals = append(signals, Signal{i, y, down, Down})
		}
	}
	for i := 1; i < len(closes); i++ {
		mark(i, crossed(conversion[i-1], base[i-1], conversion[i], base[i]), conversion[i], CrossUp, CrossDown)
		mark(i, crossed(spanA[i-1], spanB[i-1], spanA[i], spanB[i]), spanA[i], TwistUp, TwistDown)
		if k := i - d; k > 0 {
			mark(i, crossed(closes[i-1], max(spanA[k-1], spanB[k-1]), closes[i], max(spanA[k], spanB[k])), closes[i], CloudUp, "")
			mark(i, crossed(closes[i-1], min(spanA[k-1], spanB[k-1]), closes[i], min(spanA[k], spanB[k])), closes[i], "", CloudDown)
		}
	}
	return signals
}

// delay is shift in place.
func delay(x []float64, by int) {
	by = min(by, len(x))
	copy(x[by:], x)
	for i := range by {
		x[i] = nan
	}
}

// crossed returns 1 when a was below b and is not now, -1 when it was above
// and is not now, else 0.
func crossed(a0, b0, a, b float64) int {
	switch {
	case a0 < b0 && a >= b:
		return 1
	case a0 > b0 && a <= b:
		return -1
	}
	return 0
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
func midRange(s *market.Series, n int) []float64 {
	mid := highest(s.High, n)
	for i, lo := range lowest(s.Low, n) {
		mid[i] = (mid[i] + lo) / 2
	}
	return mid
}
