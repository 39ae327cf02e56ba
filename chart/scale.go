package chart

import (
	"math"
	"slices"
)

// Values and rows. A span is a range of values, a scale maps one to rows, and
// roundTicks and logTicks choose the values worth a label. None of it knows what
// the values mean or how they are painted.

// scale maps values to rows: hi to top, lo to bottom. It is never empty.
type scale struct {
	lo, hi      float64
	top, bottom float64 // rows, top above bottom
	zero        bool    // everything is 0: only that is worth a label
	empty       bool    // there are no values

	log          bool    // equal ratios have equal heights; lo is above 0
	logLo, logHi float64 // logarithms of lo and hi
}

// logarithmic returns s with equal heights for equal ratios.
func (s scale) logarithmic() scale {
	s.log, s.logLo, s.logHi = true, math.Log(s.lo), math.Log(s.hi)
	return s
}

// y returns the row of v, which may be outside the panel: a line that leaves the range
// leaves the picture, and does not run along the frame. On a logarithmic scale zero and
// values below it are infinitely far down.
func (s scale) y(v float64) float64 {
	part := (s.hi - v) / (s.hi - s.lo)
	if s.log {
		part = far
		if v > 0 {
			part = (s.logHi - math.Log(v)) / (s.logHi - s.logLo)
		}
	}
	y := s.top + float64(part*(s.bottom-s.top))
	return min(max(y, -far), far)
}

// row returns the pixel boundary nearest to v.
func (s scale) row(v float64) int { return int(math.Floor(s.y(v) + 0.5)) }

// value returns the value at row y.
func (s scale) value(y float64) float64 {
	part := (y - s.top) / (s.bottom - s.top)
	if s.log {
		return math.Exp(s.logHi - float64(part*(s.logHi-s.logLo)))
	}
	return s.hi - float64(part*(s.hi-s.lo))
}

// span collects the range of values; NaN and the infinities do not count. One that
// holds no value has lo above hi.
type span struct{ lo, hi float64 }

var noSpan = span{math.Inf(1), math.Inf(-1)}

// add widens s so that it holds v. What cannot be drawn, such as NaN, changes nothing.
func (s *span) add(v float64) {
	if usable(v) {
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
}

// addAll widens s so that it holds all values that can be drawn.
func (s *span) addAll(values []float64) {
	for _, v := range values {
		s.add(v)
	}
}

// empty reports whether s holds no value.
func (s span) empty() bool { return s.lo > s.hi }

// log returns the logarithms of s, whose hi must be above 0 unless it is empty;
// exp takes them back.
func (s span) log() span {
	if s.empty() || !(s.hi > 0) {
		return noSpan
	}
	return span{math.Log(max(s.lo, s.hi*1e-12)), math.Log(s.hi)}
}

// exp undoes log.
func (s span) exp() span { return span{math.Exp(s.lo), math.Exp(s.hi)} }

// join returns s widened to include t, but on each side by at most part times its own
// size, so that an overlay far away does not flatten the candles.
func (s span) join(t span, part float64) span {
	if t.empty() {
		return s
	}
	room := (s.hi - s.lo) * part
	return span{min(s.lo, max(t.lo, s.lo-room)), max(s.hi, min(t.hi, s.hi+room))}
}

// fit returns the scale that shows s between two rows. If s is a single value, it is
// widened by half a percent, or by five units of the price's last digit.
func (s span) fit(top, bottom, unit float64) scale {
	sc := scale{lo: s.lo, hi: s.hi, top: top, bottom: max(bottom, top+1)}
	if s.empty() {
		sc.lo, sc.hi, sc.empty = 0, 1, true
	}
	size := max(math.Abs(sc.lo), math.Abs(sc.hi))
	// Below a part in 1e12 the difference is rounding, not price.
	if sc.hi-sc.lo <= size*1e-12 {
		by := max(size*0.005, 5*unit)
		if size == 0 {
			by, sc.zero = 1, true
		}
		sc.lo, sc.hi = sc.lo-by, sc.hi+by
	}
	return sc
}

// ticks are the round values of an axis: first, first+1, … last times step.
type ticks struct {
	mantissa    int // 1, 2, 5, or 25 for a step of 2.5
	exponent    int
	first, last int64
}

// at returns the value of tick k. It divides by a whole power of ten, which gives exactly
// 0.3 where multiplying by 0.1 would not.
func (t ticks) at(k int64) float64 {
	// In two steps, since below 1e-300 the power of ten itself would overflow.
	m := float64(k) * float64(t.mantissa)
	switch {
	case t.exponent < -300:
		return m * 1e-300 / math.Pow10(-t.exponent-300)
	case t.exponent < 0:
		return m / math.Pow10(-t.exponent)
	}
	return m * math.Pow10(t.exponent)
}

// count returns how many ticks there are; less than 1 means none.
func (t ticks) count() int64 { return t.last - t.first + 1 }

// fewTicks and manyTicks are how many ticks an axis should have, where there is
// room for them.
const fewTicks, manyTicks = 6, 20

// tickRoom says how ticks may be spaced.
type tickRoom struct {
	height   float64 // pixels for the values
	apart    float64 // pixels between ticks, at least, as long as there are enough
	font     float64 // height of a label's text
	decimals int     // a step of 2.5 is used only if it needs no more decimals than this
}

// roundTicks chooses ticks for the values lo to hi: the smallest step of 1, 2, 2.5 or 5
// times a power of ten whose ticks are room.apart pixels apart. If there are too few ticks,
// they may be closer, as long as their labels do not touch; with fewer than 3, even closer,
// and then not every tick has a label. If there are too many, they are further apart.
func roundTicks(lo, hi float64, room tickRoom) ticks {
	// A distance is tried, its ticks are counted, and the distance is corrected. Steps of 1,
	// 2, 2.5 and 5 are at most a factor of two apart, so a few rounds are enough. The loop is
	// bounded because of ranges that no float can divide.
	d := room.apart
	for range 64 {
		t := stepTicks(lo, hi, (hi-lo)*d/max(room.height, 1), room.decimals)
		switch n := t.count(); {
		case n < fewTicks && d > 1.6*room.font, n < 3 && d > 0.6*room.font:
			d *= 0.8
		case n > manyTicks:
			d *= 1.3
		default:
			return t
		}
	}
	return stepTicks(lo, hi, hi-lo, 0)
}

// logDigits are patterns of leading digits for a logarithmic axis, the densest
// first.
var logDigits = [][]float64{
	{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.4, 2.6, 2.8, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5},
	{1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9}, {1, 1.5, 2, 3, 4, 5, 7}, {1, 2, 5}, {1, 3}, {1},
}

// logTicks returns round values between lo and hi, both above 0, for a
// logarithmic scale of height pixels: the densest of a few patterns of leading
// digits whose neighbours are nowhere closer than apart.
func logTicks(lo, hi float64, room tickRoom) []float64 {
	// On a logarithmic axis the distance between two neighbours depends only on their ratio,
	// so the smallest distance within one decade is the smallest of all.
	decades := math.Log10(hi / lo)
	for _, digits := range logDigits {
		least := math.Log10(10 / digits[len(digits)-1])
		for i := 1; i < len(digits); i++ {
			least = min(least, math.Log10(digits[i]/digits[i-1]))
		}
		if least/decades*room.height < room.apart && len(digits) > 1 {
			continue
		}
		var values []float64
		for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi) && len(values) < 64; e++ {
			for _, d := range digits {
				if v := d * math.Pow10(int(e)); v >= lo && v <= hi {
					values = append(values, v)
				}
			}
		}
		return values
	}
	return nil
}

// stepTicks returns the ticks whose step is at least raw. Among steps of 2.5 only
// those with few enough decimals count.
func stepTicks(lo, hi, raw float64, decimals int) ticks {
	// The four candidates of one decade, the smallest first; above the largest
	// comes the 1 of the next decade.
	e := int(math.Floor(math.Log10(raw)))
	unit := math.Pow10(e)
	t := ticks{mantissa: 1, exponent: e + 1}
	for _, s := range []ticks{{mantissa: 1, exponent: e}, {mantissa: 2, exponent: e}, {mantissa: 25, exponent: e - 1}, {mantissa: 5, exponent: e}} {
		size := float64(s.mantissa) * math.Pow10(s.exponent-e)
		if size*unit >= raw*(1-1e-9) && (s.mantissa != 25 || -s.exponent <= decimals) {
			t = s
			break
		}
	}
	step := t.at(1)
	t.first = int64(math.Ceil(lo/step - 1e-9))
	t.last = int64(math.Floor(hi/step + 1e-9))
	return t
}

// axisLabels returns a function that writes the labels of one axis, all with the same decimals,
// for values up to size with a step of 10^exponent. Panels shorten millions; prices do not.
// Labels of tiny prices, and those too long to write out, have exponents: 1.2e-11.
func axisLabels(size float64, exponent int, short, tiny bool) func(v float64) string {
	write := func(v float64) string { return fixedText(v, max(0, -exponent)) }
	if size >= 1e15 || -exponent > 10 || tiny {
		digits := max(0, int(math.Floor(math.Log10(size)))-exponent)
		write = func(v float64) string { return exponentText(v, digits) }
	} else if i := slices.IndexFunc(units, func(u unit) bool { return size >= u.Size }); short && size >= 1e6 && i >= 0 {
		u := units[i]
		digits := max(0, int(math.Round(math.Log10(u.Size)))-exponent)
		write = func(v float64) string { return fixedText(v/u.Size, digits) + u.Letter }
	}
	return func(v float64) string {
		if v == 0 {
			return "0"
		}
		return write(v)
	}
}
