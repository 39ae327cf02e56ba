package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// A filter of one state with a gain that is given and not estimated: an exponential
// average that holds its value where the input has none. Divided by the deviation,
// the volume of every market has one scale, and one zone fits all.
var indKalmanVolume = Indicator{
	Name: "kalman_volume", Title: "Kalman volume", Aliases: []string{"kalman", "kvf", "kalman_volume_filter"}, Category: Volume, Beyond: true,
	Doc: "Kalman volume filter: volume with the sign of the price's direction over two bars, as a share of all volume, both in Hull's average; in units of its own deviation, and smoothed with a fixed gain. " +
		"Nothing is shown before the deviation is known, and crosses are marked on the bar where they happen.",
	Formula: "vzo = HMA(±volume, n) / HMA(volume, n) / σ(200); K = K[1] + gain * (vzo - K[1]); signal = SMA(K)",
	Params: []Param{
		bars("vzo_length", 70, "average of the volume", "length", "vzo_len"),
		factor("k", 0.06, 0.001, 1, "gain: the weight of the newest value", "gain"),
		bars("sig_length", 10, "signal average", "signal", "signal_length"),
		{Name: "zone", Doc: "beyond this, a cross counts as overbought or oversold", Default: 0.6, Min: 0, Max: 5, Quiet: true},
	},
	Signals: []string{shape.Buy, shape.Sell, shape.BuyOversold, shape.SellOverbought, shape.EntersOversold, shape.EntersOverbought},
	Meanings: map[string]string{
		shape.Buy:  "the line rises above its signal line, and was in neither zone on the bar before",
		shape.Sell: "the line falls below its signal line, and was in neither zone on the bar before",
	},
	Warmup: func(a Args) int {
		// Hull's two windows, that of the deviation, the filter, of whose start e^-20
		// is left, and the signal.
		return a.Int("vzo_length") + kernel.HullRoot(a.Int("vzo_length")) + kalmanWindow + int(20/a.Float("k")) + a.Int("sig_length")
	},
	Compute: func(s *market.Series, a Args) *Result {
		signed := directedVolume(s)
		line := kalman(volumeZone(s, signed, a.Int("vzo_length")), a.Float("k"))
		signal := kernel.SMA(line, a.Int("sig_length"))
		zone := a.Float("zone")
		return &Result{
			YRange:    &[2]float64{-2.5, 2.5},
			Lines:     []Line{{Label: "Kalman", Tone: Primary, Values: line}, {Label: "Signal", Tone: Second, Values: signal}},
			Histogram: []Histogram{{Label: "Volume", Values: volumeBars(s, signed)}},
			Fills:     []Fill{{Y1: line, Y2: signal, Tone: Up, Below: Down}},
			HLines:    []HLine{{Y: zone}, {Y: 0}, {Y: -zone}},
			Signals:   shape.InOrder(shape.ZoneEntries(kalmanSignals(line, signal, zone), line, -zone, zone)),
		}
	},
}

// kalmanWindow is the number of bars whose deviation is the unit.
const kalmanWindow = 200

// directedVolume returns the volume, negative where the close is not above that
// of two bars before.
func directedVolume(s *market.Series) []float64 {
	out := kernel.NaNs(s.Len())
	for i := 2; i < len(out); i++ {
		// A close that stands where it was counts as a fall.
		out[i] = s.Volume[i]
		if s.Close[i] <= s.Close[i-2] {
			out[i] = -s.Volume[i]
		}
	}
	return out
}

// volumeZone returns the share of signed in all volume, in units of its
// deviation. Where nothing was traded, so that there is no share, the last one
// stands.
func volumeZone(s *market.Series, signed []float64, n int) []float64 {
	share := kernel.NaNs(s.Len())
	part, whole := kernel.HMA(signed, n), kernel.HMA(s.Volume, n)
	last := nan
	for i := range share {
		// Hull's average overshoots: of volume that dries up it can fall to zero
		// and below. A share stays between -1 and 1.
		if whole[i] > 0 && !math.IsNaN(part[i]) {
			last = max(-1, min(1, part[i]/whole[i]))
		}
		share[i] = last
	}
	out := kernel.NaNs(len(share))
	// A share that has not moved for so many bars has no unit to be measured in.
	for i, unit := range kernel.StdDev(share, kalmanWindow) {
		if unit > kernel.Rounding {
			out[i] = share[i] / unit
		}
	}
	return out
}

// kalman returns x smoothed with a constant gain, beginning with its first
// value. Where x has none, the last one stands.
func kalman(x []float64, gain float64) []float64 {
	out := kernel.NaNs(len(x))
	m := nan
	for i, v := range x {
		switch {
		// The first value is taken as it is: there is nothing to mix it with.
		case math.IsNaN(m):
			m = v
		case !math.IsNaN(v):
			m += float64(gain * (v - m))
		}
		out[i] = m
	}
	return out
}

// volumeBars returns the signed volume in tenths of its deviation, at most 0.8
// high, as a backdrop.
func volumeBars(s *market.Series, signed []float64) []float64 {
	out := kernel.NaNs(s.Len())
	for i, unit := range kernel.StdDev(s.Volume, kalmanWindow) {
		// Ten deviations would be a bar of height 1; few volumes reach 0.8.
		if unit > 0 {
			out[i] = max(-0.8, min(0.8, signed[i]/unit/10))
		}
	}
	return out
}

// kalmanSignals marks the crosses of line and signal, by where the line was
// before them: beyond the zone on the far side it is a stronger one, beyond it
// on the near side none at all.
func kalmanSignals(line, signal []float64, zone float64) []Signal {
	var signals []Signal
	for i := 1; i < len(line); i++ {
		before := line[i-1]
		// Plain comparisons: both lines are in units of a deviation, where rounding is
		// small against the steps that matter, and NaN is false.
		up, down := before <= signal[i-1] && line[i] > signal[i], before >= signal[i-1] && line[i] < signal[i]
		switch {
		case up && before < -zone:
			signals = append(signals, shape.Mark(i, line[i], shape.BuyOversold, Up))
		case up && before < zone:
			signals = append(signals, shape.Mark(i, line[i], shape.Buy, Up))
		case down && before > zone:
			signals = append(signals, shape.Mark(i, line[i], shape.SellOverbought, Down))
		case down && before > -zone:
			signals = append(signals, shape.Mark(i, line[i], shape.Sell, Down))
		}
	}
	return signals
}
