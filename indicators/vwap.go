package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
)

// vwaps are averages of price by volume or time since an anchor.
var vwaps = []Indicator{
	{Name: "vwap", Title: "VWAP", Also: "volume_weighted_average_price", Category: Volume, Traits: Overlay,
		Doc: "Volume weighted average price since the anchor: what the average share cost. As at TradingView it starts anew every UTC day; where it starts anew nothing crosses. " +
			"With anchor none it runs from the first bar loaded. No value before the first volume.",
		Formula: "VWAP = Σ x * volume / Σ volume since the anchor",
		Params:  []Param{anchor(), defaultSource("hlc3")},
		Events:  []Event{emits(PriceUp, PriceDown)}, Memory: Memory{seconds: sinceAnchor, endless: endlessAnchor},
		Draw: func(in Input) *Result { return sinceAnchorLine("VWAP", in, in.Volume) }},
	{Name: "vwap_bands", Title: "VWAP bands", Also: "vwap_band vwap_deviation", Category: Volume, Traits: Overlay,
		Doc: "Volume weighted average price since the anchor, and bands a multiple of the deviation by volume around it. As at TradingView it starts anew every UTC day; " +
			"with anchor none it runs from the first bar loaded. No value before the first volume.",
		Formula: "VWAP = Σ hlc3 * volume / Σ volume; bands = VWAP ± mult * √(Σ volume * (hlc3 - VWAP)² / Σ volume)",
		Params:  []Param{factor("std_dev", 2, 0.01, 20, "deviations between the average and a band", "mult", "deviation"), anchor()},
		Events:  []Event{emits(TouchUpper, TouchLower)}, Memory: Memory{seconds: sinceAnchor, endless: endlessAnchor},
		Draw: func(in Input) *Result {
			starts := periodStarts(in.Series, longPeriod(in.Choice("anchor"), in.Interval))
			x := kernel.TypicalPrice(in.Series)
			// Both are updated bar by bar: the mean of squares less the square of the mean would cancel.
			mid, dev := kernel.NaNs(len(x)), kernel.NaNs(len(x))
			var volume, m, squares float64
			for i, v := range in.Volume {
				if starts[i] {
					volume, m, squares = 0, 0, 0
				}
				if v > 0 {
					volume += v
					// West's update: a value of weight v moves the mean by its part of the
					// weight, and adds v times its distances from the old and the new mean to
					// the squares.
					d := x[i] - m
					m += d * (v / volume)
					squares += float64(v * d * (x[i] - m))
				}
				if volume > 0 {
					mid[i], dev[i] = m, math.Sqrt(max(0, squares/volume))
				}
			}
			upper, lower := kernel.Offset(mid, dev, in.Float("std_dev")), kernel.Offset(mid, dev, -in.Float("std_dev"))
			return &Result{
				Lines: []Line{
					{Label: "VWAP Upper", Tone: Band, Values: upper},
					{Label: "VWAP", Tone: Primary, Values: mid},
					{Label: "VWAP Lower", Tone: Band, Values: lower},
				},
				Fills: []Fill{{Y1: upper, Y2: lower, Tone: Band}},
				// Bands without width, as on the first bars of a day, are touched by everything.
				Signals: slices.DeleteFunc(withoutResets(touches(in.Series, upper, lower), starts), func(sig Signal) bool { return dev[sig.Bar] == 0 }),
			}
		}},
	{Name: "vwap_rolling", Title: "RVWAP", Also: "rolling_vwap rvwap", Category: Volume, Traits: Overlay,
		Doc:     "Volume weighted average price of the last bars, without an anchor. No value where they traded nothing.",
		Formula: "Σ x * volume / Σ volume over n bars",
		Params:  []Param{length(14), defaultSource("hlc3")}, Plots: []Plot{mainly("RVWAP")}, Events: []Event{price("RVWAP")},
		Calc: func(in Input) Columns { return Columns{volumeWeighted(in.Series, in.source(), in.Int("length"))} }},
	{Name: "vwap_anchored", Title: "AVWAP", Also: "avwap anchored_vwap", Category: Volume, Traits: Overlay,
		Doc:     "Volume weighted average price since a moment: what those who bought since then paid on average. No value before it.",
		Formula: "Σ x * volume / Σ volume since the anchor",
		Params:  []Param{beginning("anchor", "when it starts", "the first bar loaded", "start", "since"), defaultSource("hlc3")},
		Memory: Memory{since: func(a Args) int64 { return int64(a.Int("anchor")) }, bars: func(a Args) int {
			// Without an anchor the line starts with the first bar loaded.
			if a.Int("anchor") == 0 {
				return 0
			}
			return MaxLength // to reach an anchor before the first bar shown
		}},
		Plots: []Plot{mainly("AVWAP")}, Events: []Event{price("AVWAP")},
		Calc: func(in Input) Columns {
			n := in.Len()
			first, _ := slices.BinarySearch(in.Time, int64(in.Int("anchor")))
			return Columns{append(kernel.NaNs(first), weightedMean(in.source()[first:], in.Volume[first:], make([]bool, n-first))...)}
		}},
	{Name: "twap", Title: "TWAP", Also: "time_weighted_average_price", Category: Price, Traits: Overlay,
		Doc:     "Time weighted average price: the mean of the bars since the anchor, each counting the same. As at TradingView it takes the mean of the four prices and starts anew every UTC day; where it starts anew nothing crosses.",
		Formula: "TWAP = mean of x since the anchor",
		Params:  []Param{anchor(), defaultSource("ohlc4")},
		Events:  []Event{emits(PriceUp, PriceDown)}, Memory: Memory{seconds: sinceAnchor, endless: endlessAnchor},
		Draw: func(in Input) *Result { return sinceAnchorLine("TWAP", in, slices.Repeat([]float64{1}, in.Len())) }},
}

// sinceAnchorLine draws the mean of the source since the anchor, by the given weights of
// the bars, and marks where the closes cross it.
func sinceAnchorLine(label string, in Input, weights []float64) *Result {
	starts := periodStarts(in.Series, longPeriod(in.Choice("anchor"), in.Interval))
	line := weightedMean(in.source(), weights, starts)
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: line}},
		Signals: withoutResets(markAt(line, PriceUp, PriceDown, across(in.Close, line)), starts),
	}
}

// weightedMean returns the mean of x by weight since the last start. Until there is weight
// it has no value. The sums begin with the first bar even if it is no start.
func weightedMean(x, weights []float64, starts []bool) []float64 {
	out := kernel.NaNs(len(x))
	var sum, weight float64
	for i, w := range weights {
		if starts[i] {
			sum, weight = 0, 0
		}
		sum += float64(x[i] * w)
		weight += w
		if weight > 0 {
			out[i] = sum / weight
		}
	}
	return out
}
