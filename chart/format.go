package chart

import (
	"math"
	"strconv"
	"strings"
)

// Numbers as text. There is one function for each kind: prices with the decimals of their
// series, values of panels with three significant digits, volumes with a letter, changes in percent.

// noValue stands where a number is missing.
const noValue = "–"

// usable reports whether v can be drawn. Numbers beyond 1e300 count as
// missing: the difference of two would overflow.
func usable(v float64) bool { return math.Abs(v) < 1e300 } // false for NaN

// positive reports whether v is a price from which a change can be counted, or a volume.
func positive(v float64) bool { return usable(v) && v > 0 }

// fixedText writes v with d decimals, commas between thousands, and a real minus sign (−),
// which is never written before a zero.
func fixedText(v float64, d int) string {
	var buf [40]byte
	digits := strconv.AppendFloat(buf[:0], math.Abs(v), 'f', d, 64)
	// whole is how many digits stand before the point.
	whole := len(digits)
	if d > 0 {
		whole -= d + 1
	}
	var b strings.Builder
	b.Grow(len(digits) + whole/3 + 3)
	if v < 0 && strings.Trim(string(digits), "0.") != "" {
		b.WriteString("−")
	}
	for i, c := range digits {
		if i > 0 && i < whole && (whole-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// exponentText writes v as 1.234e-11, with d digits after the point.
func exponentText(v float64, d int) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'e', min(max(d, 0), 12), 64), "e")
	n, err := strconv.Atoi(exponent)
	if err != nil {
		return noValue // not a number
	}
	sign := ""
	if v < 0 {
		sign = "−"
	}
	return sign + mantissa + "e" + strconv.Itoa(n)
}

// extreme reports whether plain decimals would be too long for v.
func extreme(v float64) bool {
	a := math.Abs(v)
	return a >= 1e15 || a > 0 && a < 1e-10
}

// tiny is the precision from which all prices of a series, and its axis, have an exponent:
// with so many decimals they would hardly have digits, and in two notations nobody could
// compare them.
const tiny = 10

// prices writes the prices of a picture.
type prices struct {
	precision int     // decimals
	visible   int     // decimals that can be seen of a price that is named, if it has so many
	base      float64 // first close: 0 percent, where all compared lines begin
	changes   int     // decimals of changes on a percent axis
}

func (p *prices) priceText(v float64) string { return priceText(v, p.precision) }

// namedText writes a price that is named by itself, of an order, an alert, a position, a mark
// or the end of a wick. It may have more decimals than the prices of most bars.
func (p *prices) namedText(v float64) string {
	return priceText(v, max(p.precision, decimals(v, p.visible)))
}

// percentText writes the change from the first close to v with the decimals of the axis.
func (p *prices) percentText(v float64) string { return percentText(p.base, v, max(2, p.changes)) }

// axisText writes a value as the price axis does, as a price or in percent; with named the price
// of a level of the account or the caller.
func (p *picture) axisText(v float64, named bool) string {
	switch {
	case p.Scale == Percent:
		return p.percentText(v)
	case named:
		return p.namedText(v)
	}
	return p.priceText(v)
}

func priceText(v float64, precision int) string {
	a := math.Abs(v)
	switch {
	case !usable(v):
		return noValue
	case a >= 1e15:
		return exponentText(v, 2)
	case extreme(v), precision >= tiny && a > 0:
		return exponentText(v, 3)
	}
	return fixedText(v, precision)
}

// unit is a unit of large numbers. Pages get it as JSON.
type unit struct {
	Size   float64 `json:"size"`
	Letter string  `json:"letter"` // that stands for it
}

// units are the units of large numbers, the largest first.
var units = []unit{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}}

// shortText writes v if its plain digits would not do: with a unit letter and three
// significant digits if its size is at least from, with an exponent if it is extreme, and
// what is no value. ok is false for all others.
func shortText(v, from float64) (text string, ok bool) {
	a := math.Abs(v)
	switch {
	case !usable(v):
		return noValue, true
	case extreme(v):
		return exponentText(v, 2), true
	case a < from:
		return "", false
	}
	for _, u := range units {
		// Rounding may carry into the next unit: 999,999 is 1.00M, not 1000K.
		if x := a / u.Size; x >= 0.9995 {
			d := 2
			if x >= 99.95 {
				d = 0
			} else if x >= 9.995 {
				d = 1
			}
			return fixedText(math.Copysign(x, v), d) + u.Letter, true
		}
	}
	return "", false
}

// volumeText writes a volume: 86.4M, 12.3K, 811, 0.123.
func volumeText(v float64) string {
	switch short, ok := shortText(v, 1e4); {
	case ok:
		return short
	case v >= 100 || v == 0:
		return fixedText(v, 0)
	}
	return significant(v)
}

// valueText writes a value of a panel: three significant digits at least, a
// unit letter from a million.
func valueText(v float64) string {
	a := math.Abs(v)
	switch short, ok := shortText(v, 1e6); {
	case ok:
		return short
	case a == 0:
		return "0"
	case a >= 1e4:
		return fixedText(v, 0)
	case a >= 10:
		return fixedText(v, 1)
	}
	return significant(v)
}

// significant writes v, between 1e-10 and 1000, with three significant digits.
func significant(v float64) string {
	// The decimal exponent of the first digit: 2 for 215, -2 for 0.05.
	e := int(math.Floor(math.Log10(math.Abs(v))))
	return fixedText(v, min(max(2-e, 0), 14))
}

// percentText writes the change from one price to another with d decimals and its sign.
func percentText(from, to float64, d int) string {
	if !usable(from) || !usable(to) || from == 0 {
		return noValue
	}
	p := changePercent(from, to)
	if math.Abs(p) >= 1e9 {
		return withSign(p, exponentText(math.Abs(p), 2)) + "%"
	}
	return signed(p, d) + "%"
}

// signed writes a change with d decimals and its sign.
func signed(v float64, d int) string { return withSign(v, fixedText(math.Abs(v), d)) }

// withSign puts the sign of a change before text, its size; what is written as zero has none.
func withSign(v float64, text string) string {
	switch {
	case strings.Trim(text, "0.") == "":
		return text
	case v < 0:
		return "−" + text
	}
	return "+" + text
}

// profitText writes a profit with its sign: with two decimals, and with more where two
// would leave less than four significant digits, as in 0.0048 BTC.
func profitText(v float64) string {
	if extreme(v) {
		return withSign(v, exponentText(math.Abs(v), 3))
	}
	d := 2
	if v != 0 {
		d = max(d, decimals(v, max(d, 3-int(math.Floor(math.Log10(math.Abs(v)))))))
	}
	return signed(v, d)
}

// counted writes how many there are of something: 1 bar, 2 bars.
func counted(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return strconv.Itoa(n) + " " + name + "s"
}

// precision returns how many decimals the prices of the columns need: the fewest that
// write 98 of 100 of them exactly, so that one odd bar does not add digits to all; and at
// least two if prices are below 1,000. If no number of decimals is enough, as for computed
// prices, it is two decimals, or four significant digits below one. The newest price of
// each column, which is named in the picture, may add digits, as far as they can be seen in
// the range of all: when a price of 1.00 goes to 0.9987, it must not be called 1.00. Most is
// how many decimals can be seen.
func precision(columns ...[]float64) (d, most int) {
	all, count := noSpan, 0
	for _, col := range columns {
		all.addAll(col)
		count += len(col)
	}
	if all.empty() {
		return 2, 2
	}
	largest := max(math.Abs(all.lo), math.Abs(all.hi))
	d, computed := usualDecimals(columns, largest, count/50)
	if all.lo == all.hi {
		return d, max(d, 8)
	}
	// A thousandth of the range is less than a row of pixels. Computed prices would always
	// have all the digits that it allows, so for them a hundredth will do. What binary
	// numbers lose is no digit of a price.
	step := (all.hi - all.lo) / 1000
	if computed {
		step *= 10
	}
	most = min(max(0, int(math.Ceil(-math.Log10(max(step, 1e-15*largest))))), 8)
	for _, col := range columns {
		for i := len(col) - 1; i >= 0; i-- {
			if usable(col[i]) {
				d = max(d, decimals(col[i], most))
				break
			}
		}
	}
	return d, most
}

// decimals returns the fewest decimals that write v as exactly as most decimals do. Digits
// that a binary number has and nobody wrote do not count.
func decimals(v float64, most int) int {
	if _, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), "."); len(fraction) <= most {
		return len(fraction)
	}
	_, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', most, 64), ".")
	return len(strings.TrimRight(fraction, "0"))
}

// usualDecimals returns the decimals that write all prices but odd of them exactly, and
// whether the prices are computed, so that no number of decimals does. No price is larger
// than largest.
func usualDecimals(columns [][]float64, largest float64, odd int) (d int, computed bool) {
	// Below 1,000 two decimals are usual even where prices happen to be whole
	// numbers.
	if largest < 1000 {
		d = 2
	}
	for ; d <= 8; d++ {
		if inexact(columns, math.Pow10(d), odd) <= odd {
			return d, false
		}
	}
	if largest >= 1 {
		return 2, true
	}
	return min(max(3-int(math.Floor(math.Log10(largest))), 2), tiny), true
}

// inexact counts the prices that are not whole multiples of 1/unit, up to one
// more than limit.
func inexact(columns [][]float64, unit float64, limit int) int {
	n := 0
	for _, col := range columns {
		for _, v := range col {
			// The tolerance covers what binary numbers lose; a price that rounds to
			// nothing is not exact.
			x := v * unit
			whole := math.Round(x)
			if usable(v) && (math.Abs(x-whole) > 1e-4+1e-15*math.Abs(x) || whole == 0 && v != 0) {
				if n++; n > limit {
					return n
				}
			}
		}
	}
	return n
}

// levelText writes a level in its shortest form: 70, 0.5, −100.
func levelText(v float64) string {
	if text, ok := shortText(v, 1e6); ok {
		return text
	}
	for d := range 5 {
		if x := v * math.Pow10(d); math.Abs(x-math.Round(x)) < 1e-6 {
			return fixedText(v, d)
		}
	}
	return valueText(v)
}

// changePercent returns the change from one price to another in percent. It is NaN if from
// is zero; if from is negative, its absolute value is what the change is divided by.
func changePercent(from, to float64) float64 {
	if from == 0 {
		return math.NaN()
	}
	return 100 * (to - from) / math.Abs(from)
}
