package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indVWAPBands = Indicator{
	Name: "vwap_bands", Title: "VWAP bands", Aliases: []string{"vwap_band", "vwap_deviation"}, Category: Volume, Overlay: true,
	Doc: "Volume weighted average price since the anchor, and bands a multiple of the deviation by volume around it. As at TradingView it starts anew every UTC day; " +
		"with anchor none it runs from the first bar loaded. No value before the first volume.",
	Formula: "VWAP = Σ hlc3 * volume / Σ volume; bands = VWAP ± mult * √(Σ volume * (hlc3 - VWAP)² / Σ volume)",
	Params: []Param{
		factor("std_dev", 2, 0.01, 20, "deviations between the average and a band", "mult", "stddev", "deviation", "multiplier"),
		anchor(),
	},
	Signals: []string{shape.TouchUpper, shape.TouchLower},
	Endless: endlessAnchor,
	History: sinceAnchor,
	Compute: func(s *market.Series, a Args) *Result {
		starts := periodStarts(s, anchorOf(a, s.Interval))
		mid, dev := vwapDeviation(s, kernel.TypicalPrice(s), starts)
		upper, lower := kernel.Offset(mid, dev, a.Float("std_dev")), kernel.Offset(mid, dev, -a.Float("std_dev"))
		return &Result{
			Lines: []Line{
				{Label: "VWAP Upper", Tone: Band, Values: upper},
				{Label: "VWAP", Tone: Primary, Values: mid},
				{Label: "VWAP Lower", Tone: Band, Values: lower},
			},
			Fills: []Fill{{Y1: upper, Y2: lower, Tone: Band}},
			// Bands without width, as on the first bars of a day, are touched by
			// everything.
			Signals: slices.DeleteFunc(withoutResets(shape.Touches(s.High, s.Low, upper, lower), starts), func(sig Signal) bool { return dev[sig.Bar] == 0 }),
		}
	},
}

// vwapDeviation returns the mean of x by volume since the last start, and the
// population deviation by volume around it. Both are updated bar by bar: the
// mean of squares less the square of the mean would cancel.
func vwapDeviation(s *market.Series, x []float64, starts []bool) (mean, dev []float64) {
	mean, dev = kernel.NaNs(len(x)), kernel.NaNs(len(x))
	var volume, m, squares float64
	for i, v := range s.Volume {
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
			mean[i], dev[i] = m, math.Sqrt(max(0, squares/volume))
		}
	}
	return mean, dev
}
