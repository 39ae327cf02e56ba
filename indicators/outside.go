package indicators

import (
	"sort"

	"wick/indicators/kernel"
	"wick/market"
)

// externals are of data from outside the bars.
var externals = []Indicator{
	{Name: "funding", Title: "Funding", Also: "funding_rate", Category: External,
		Doc:     "Funding rate of the perpetual future in percent: positive when longs pay shorts. Signals mark where it changes sign. Bars without a rate are null.",
		Formula: "100 * funding rate",
		Needs:   []string{market.ExtraFunding},
		Plots:   []Plot{histogram("Funding %")}, Events: []Event{zero("Funding %")}, Levels: constant(0),
		Calc: func(in Input) Columns {
			return Columns{kernel.Scaled(extra(in.Series, market.ExtraFunding), 100)}
		}},
	{Name: "oi", Title: "Open interest", Also: "open_interest", Category: External,
		Doc:     "Open interest: the value of all open futures contracts, in the quote currency. Rising with price, new money follows the trend; falling, positions are being closed.",
		Formula: "open interest as the source reports it",
		Needs:   []string{market.ExtraOI}, Plots: []Plot{mainly("OI")}, Events: []Event{silently(turnsOf("OI"))},
		Calc: func(in Input) Columns { return Columns{extra(in.Series, market.ExtraOI)} }},
	{Name: "long_short", Title: "Long/short", Also: "ls_ratio long_short_ratio", Category: External,
		Doc:     "Fractions of accounts that are long and short. Signals mark where the majority changes.",
		Formula: "long and short accounts, each over all",
		Needs:   []string{market.ExtraLong, market.ExtraShort},
		Plots:   []Plot{{Label: "Long", Tone: Up}, {Label: "Short", Tone: Down}}, Shades: []Shade{{A: "Long", B: "Short", Tone: Up, Below: Down}}, Events: []Event{lines("Long", "Short").crossedBy("the fraction that is long", "the one that is short")}, Levels: constant(0.5), Between: [2]float64{0, 1},
		Calc: func(in Input) Columns {
			return Columns{extra(in.Series, market.ExtraLong), extra(in.Series, market.ExtraShort)}
		}},
	{Name: "fear_greed", Title: "Fear & greed", Also: "fng fear_and_greed", Category: External,
		Doc: "Fear and greed index of alternative.me, 0 to 100: below 25 extreme fear, below 45 fear, to 55 neutral, to 75 greed, above extreme greed. " +
			"Signals mark the bars on which it enters another zone.",
		Formula: "the index as published",
		Needs:   []string{market.ExtraFearGreed},
		Memory:  fixed(10), // the last zone known may lie a few bars back,
		Plots:   []Plot{mainly("F&G")}, Events: []Event{own(zoneChanges, ExtremeFear, ExtremeGreed, ZoneUp, ZoneDown)}, Levels: constant(75, 50, 25), Between: [2]float64{0, 100},
		Calc: func(in Input) Columns { return Columns{extra(in.Series, market.ExtraFearGreed)} }},
}

// Indicators of data from outside the bars. A source that has it puts it into
// columns of Series.Extra; each record says in Needs which it cannot do
// without, and a tool refuses by that name when the source has none. A value
// that is missing is null here, never zero.

// extra returns the further column called name, or no values if s lacks it. The
// column is that of s and must not be changed.
func extra(s *market.Series, name string) []float64 {
	if c, ok := s.Extra[name]; ok {
		return c
	}
	return kernel.NaNs(s.Len())
}

// zoneChanges marks the bars on which the index is in another zone than at the
// last bar that had a value.
func zoneChanges(d *drawing) []Signal {
	before := -1 // the number of the zone, 0 for extreme fear to 4 for extreme greed; -1 for none yet
	signals := marked(d.of("F&G"), ZoneUp, ZoneDown, func(i int) int {
		v := d.of("F&G")[i]
		if isNaN(v) {
			return 0
		}
		was, edges := before, []float64{25, 45, 55, 75}
		before = sort.Search(len(edges), func(k int) bool { return v < edges[k] })
		return either(was >= 0 && before > was, was >= 0 && before < was)
	})
	// The outermost zones have labels of their own, whichever zone they were entered from.
	for i := range signals {
		switch y := signals[i].Y; {
		case y < 25:
			signals[i].Label = ExtremeFear
		case y >= 75:
			signals[i].Label = ExtremeGreed
		}
	}
	return signals
}

// versusEntries compare with another market.
var versusEntries = []Indicator{
	{Name: "correlation_versus", Title: "Correlation", Also: "correlation_with correl_versus", Category: Statistics, Form: aroundZero,
		Doc:     "Pearson's correlation of the closes with those of another market, -1 to 1. As TradingView's Correlation Coefficient; with of returns the changes from bar to bar are compared instead of the prices.",
		Formula: "r = cov(x, y) / (σx * σy) over n bars, x and y closes or returns",
		Params:  []Param{versus(), lengthFrom(2, 20), choice("of", "what is compared", "prices", "returns")}, Between: [2]float64{-1, 1},
		Line: func(in Input) []float64 {
			// Prices that trend together correlate whatever they do from bar to bar; returns do not.
			x, y := in.Close, otherCloses(in)
			if in.Choice("of") == "returns" {
				x, y = kernel.Rate(x, 1, 1, -1), kernel.Rate(y, 1, 1, -1)
			}
			return correlation(x, y, in.Int("length"))
		}},
	// The same as beta, whose two columns are of one market; the other market explains,
	// so it comes first.
	{Name: "beta_versus", Title: "Beta", Also: "beta_with", Category: Statistics,
		Doc:     "Beta against another market: how many percent this one moves for one percent of the other, by least squares over the returns of the last bars. As TA-Lib's BETA of the two closes. Signals mark where it crosses 1.",
		Formula: "beta = cov(ry, rx) / var(rx), r = close / close[1] - 1, x the other market",
		Params:  []Param{versus(), lengthFrom(2, 60)},
		Plots:   []Plot{mainly("Beta")}, Events: []Event{crossesAt("Beta", 1, CrossUp, CrossDown).crossedBy("beta", "1")}, Levels: constant(1),
		Calc: func(in Input) Columns { return Columns{beta(otherCloses(in), in.Close, in.Int("length"))} }},
	{Name: "ratio", Title: "Ratio", Also: "price_ratio pair_ratio", Category: Statistics, Form: followed(kernel.SMA, "length", "Average"),
		Doc:     "Ratio of the close to that of another market, with its average. It rises while this market is the stronger one.",
		Formula: "close / other close; average = SMA(ratio, n)",
		Params:  []Param{versus(), length(20)},
		Line:    func(in Input) []float64 { return kernel.Quotient(in.Close, otherCloses(in)) }},
	// The hedge is given and not estimated, so that a bar has the same spread on every chart.
	{Name: "spread", Title: "Spread", Also: "pair_spread", Category: Statistics, Form: followed(kernel.SMA, "length", "Average"),
		Doc:     "Spread to another market: the close less a multiple of the other close, with its average.",
		Formula: "close - hedge * other close; average = SMA(spread, n)",
		Params:  []Param{versus(), length(20), factor("hedge", 1, -1e9, 1e9, "units of the other market for one of this", "multiple")},
		Line: func(in Input) []float64 {
			return kernel.Minus(in.Close, kernel.Scaled(otherCloses(in), in.Float("hedge")))
		}},
	{Name: "mansfield_rs", Title: "Mansfield RS", Also: "mansfield relative_strength_versus", Category: Momentum, Form: aroundZero, Label: "RS",
		Doc:     "Mansfield's relative strength: how far the ratio to another market lies above or below its own average, in percent. Above zero this market is the stronger one. Not the RSI.",
		Formula: "100 * (ratio / SMA(ratio, n) - 1), ratio = close / other close",
		Params:  []Param{versus(), length(52)},
		Line: func(in Input) []float64 {
			return bias(kernel.Quotient(in.Close, otherCloses(in)), in.Int("length"))
		}},
}

// Studies of two markets. The code that loads the bars puts those of the other market into
// Series.Others ([Request.Others] says which). For each bar only the bars of the other
// market are read that were closed when it closed, so nothing looks ahead. A forming bar is
// compared with the other market's forming bar.

// versus returns the parameter "versus": the market to compare with.
func versus() Param {
	return Param{Name: "versus", Aliases: []string{"symbol", "against", "other", "vs"}, Kind: Symbol, Text: "BTCUSDT",
		Doc: "symbol of the market to compare with, from the same source"}
}

// otherCloses returns at each bar the newest close of the other market that was known
// when the bar closed, NaN before its first and where it has none. A bar of ours that
// ends while the other market is closed sees that market's last close.
func otherCloses(in Input) []float64 {
	o := in.Other(market.Other{Symbol: in.Text("versus")})
	out := kernel.NaNs(in.Len())
	for i, k := range newestClosed(in.Series, o) {
		if k >= 0 {
			out[i] = o.Close[k]
		}
	}
	return out
}
