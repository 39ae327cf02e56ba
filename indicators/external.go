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
			// Rates are small fractions, so they are shown in percent; a bar without one
			// stays NaN.
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
