package indicators

import (
	"math"

	"wick/indicators/shape"
	"wick/market"
)

var indFearGreed = Indicator{
	Name: "fear_greed", Title: "Fear & greed", Aliases: []string{"fng", "fear_and_greed"}, Category: External,
	Doc: "Fear and greed index of alternative.me, 0 to 100: below 25 extreme fear, below 45 fear, to 55 neutral, to 75 greed, above extreme greed. " +
		"Signals mark the bars on which it enters another zone.",
	Formula: "the index as published",
	Needs:   []string{market.ExtraFearGreed},
	Signals: []string{shape.ExtremeFear, shape.ExtremeGreed, shape.ZoneUp, shape.ZoneDown},
	Warmup:  func(Args) int { return 10 }, // the last zone known may lie a few bars back,
	Compute: func(s *market.Series, _ Args) *Result {
		index := extra(s, market.ExtraFearGreed)
		return &Result{
			YRange:  &[2]float64{0, 100},
			Lines:   []Line{{Label: "F&G", Tone: Primary, Values: index}},
			HLines:  []HLine{{Y: 75}, {Y: 50}, {Y: 25}},
			Signals: zoneChanges(index),
		}
	},
}

// zoneChanges marks the bars on which the index is in another zone than at the
// last bar that had a value.
func zoneChanges(index []float64) []Signal {
	// zone returns the number of the zone, 0 for extreme fear to 4 for extreme greed.
	zone := func(v float64) int {
		for k, edge := range []float64{25, 45, 55, 75} {
			if v < edge {
				return k
			}
		}
		return 4
	}
	var signals []Signal
	// Bars without a value are passed over: the last value before a gap is compared.
	before := nan
	for i, v := range index {
		if math.IsNaN(v) {
			continue
		}
		from, to := zone(before), zone(v)
		switch {
		case math.IsNaN(before) || from == to:
		// The outermost zones have labels of their own, whichever zone they were
		// entered from.
		case to == 0:
			signals = append(signals, shape.Mark(i, v, shape.ExtremeFear, Down))
		case to == 4:
			signals = append(signals, shape.Mark(i, v, shape.ExtremeGreed, Up))
		case to > from:
			signals = append(signals, shape.Mark(i, v, shape.ZoneUp, Up))
		default:
			signals = append(signals, shape.Mark(i, v, shape.ZoneDown, Down))
		}
		before = v
	}
	return signals
}
