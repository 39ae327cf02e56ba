package indicators

import (
	"math"

	"wick/market"
)

var indSAR = Indicator{
	Name: "sar", Title: "SAR", Aliases: []string{"psar", "parabolic_sar", "parabolic"}, Category: Trend, Overlay: true,
	Doc:     "Wilder's parabolic stop and reverse: a trailing stop that closes in faster the further the trend runs, and changes sides when hit. As in TA-Lib, which begins on the second bar.",
	Formula: "SAR = SAR[1] + f*(extreme - SAR[1]); f grows by increment with every new extreme, to maximum",
	Params: []Param{
		factor("start", 0.02, 0, 10, "first factor", "acceleration", "af_start", "af"),
		factor("increment", 0.02, 0, 10, "what a new extreme adds to the factor", "step", "af_step", "af_increment"),
		factor("maximum", 0.2, 0, 10, "largest factor", "max", "af_max", "max_step"),
	},
	Signals: []string{FlipUp, FlipDown},
	Warmup:  sarWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		f := sarFactors{a.Float("start"), a.Float("increment"), a.Float("maximum")}
		return sarResult(parabolic(s, f, f, 0, 0))
	},
}

var indSARExt = Indicator{
	Name: "sarext", Title: "SAR Ext", Aliases: []string{"extended_sar", "sar_extended"}, Category: Trend, Overlay: true,
	Doc:     "Parabolic stop and reverse with factors of their own for rising and falling markets, a chosen first value and a wider stop after a turn. As in TA-Lib, but falling stops are not shown as negative numbers.",
	Formula: "as sar; on a turn the stop moves away by offset * SAR",
	Params: []Param{
		factor("start_value", 0, -1e12, 1e12, "first stop: positive starts rising, negative falling, 0 lets the price decide", "startvalue"),
		factor("offset", 0, 0, 10, "part of itself by which the stop widens on a turn", "offset_on_reverse", "offsetonreverse"),
		factor("start_long", 0.02, 0, 10, "first factor in a rise", "accelerationinitlong"),
		factor("increment_long", 0.02, 0, 10, "what a new high adds", "accelerationlong"),
		factor("maximum_long", 0.2, 0, 10, "largest factor in a rise", "accelerationmaxlong"),
		factor("start_short", 0.02, 0, 10, "first factor in a fall", "accelerationinitshort"),
		factor("increment_short", 0.02, 0, 10, "what a new low adds", "accelerationshort"),
		factor("maximum_short", 0.2, 0, 10, "largest factor in a fall", "accelerationmaxshort"),
	},
	Signals: []string{FlipUp, FlipDown},
	Warmup:  sarWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		long := sarFactors{a.Float("start_long"), a.Float("increment_long"), a.Float("maximum_long")}
		short := sarFactors{a.Float("start_short"), a.Float("increment_short"), a.Float("maximum_short")}
		return sarResult(parabolic(s, long, short, a.Float("start_value"), a.Float("offset")))
	},
}

// sarWarmup allows for a few turns, after which a stop no longer depends on
// where it began.
func sarWarmup(Args) int { return 300 }

// sarFactors are the first factor, what a new extreme adds, and the largest.
type sarFactors struct{ start, step, most float64 }

// parabolic returns the stop at every bar from the second on, and a signal
// where it turns. startValue and offset are those of TA-Lib's SAREXT, 0 for
// none.
func parabolic(s *market.Series, long, short sarFactors, startValue, offset float64) (stop []float64, turns []Signal) {
	n := s.Len()
	stop = unknown(n, 1)
	if n < 2 {
		return stop, nil
	}
	turns = make([]Signal, 0, n/10) // about as often as prices make it turn
	high, low := s.High, s.Low[:n]
	long.start, long.step = min(long.start, long.most), min(long.step, long.most)
	short.start, short.step = min(short.start, short.most), min(short.step, short.most)
	rising, sar, extreme := sarStart(s, startValue)
	factor := long.start
	if !rising {
		factor = short.start
	}
	hiBefore, loBefore := high[1], low[1]
	for i := 1; i < n; i++ {
		hi, lo := high[i], low[i]
		top, bottom := hi, lo // of this bar and the one before
		if hiBefore > top {
			top = hiBefore
		}
		if loBefore < bottom {
			bottom = loBefore
		}
		switch {
		case rising && lo <= sar:
			rising = false
			sar = max(extreme, top)
			sar += float64(sar * offset)
			stop[i], extreme, factor = sar, lo, short.start
			turns = append(turns, Signal{i, sar, FlipDown, Down})
			sar = max(sar+float64(factor*(extreme-sar)), top)
		case rising:
			stop[i] = sar
			if hi > extreme {
				extreme, factor = hi, min(factor+long.step, long.most)
			}
			if sar += float64(factor * (extreme - sar)); sar > bottom {
				sar = bottom
			}
		case hi >= sar:
			rising = true
			sar = min(extreme, bottom)
			sar -= float64(sar * offset)
			stop[i], extreme, factor = sar, hi, long.start
			turns = append(turns, Signal{i, sar, FlipUp, Up})
			sar = min(sar+float64(factor*(extreme-sar)), bottom)
		default:
			stop[i] = sar
			if lo < extreme {
				extreme, factor = lo, min(factor+short.step, short.most)
			}
			if sar += float64(factor * (extreme - sar)); sar < top {
				sar = top
			}
		}
		hiBefore, loBefore = hi, lo
	}
	return stop, turns
}

// sarStart decides how a parabolic begins: by the sign of startValue, or by
// which way the second bar moved further.
func sarStart(s *market.Series, startValue float64) (rising bool, sar, extreme float64) {
	up, down := s.High[1]-s.High[0], s.Low[0]-s.Low[1]
	rising = !(down > 0 && down > up)
	if startValue != 0 {
		rising = startValue > 0
	}
	sar, extreme = s.Low[0], s.High[1]
	if !rising {
		sar, extreme = s.High[0], s.Low[1]
	}
	if startValue != 0 {
		sar = math.Abs(startValue)
	}
	return rising, sar, extreme
}

// sarResult draws a stop as dots.
func sarResult(stop []float64, turns []Signal) *Result {
	return &Result{Lines: []Line{{Label: "SAR", Style: Dots, Values: stop}}, Signals: turns}
}
