package market

import (
	"errors"
	"math"
	"slices"
	"strconv"
)

// number is a JSON number, or a number in a string, as the exchanges send
// prices. Any other text becomes NaN; [Bar.Check] then refuses the bar.
type number float64

// UnmarshalJSON never fails, so that one bad number does not spoil a whole answer.
func (n *number) UnmarshalJSON(text []byte) error {
	s := string(text)
	if len(s) > 1 && s[0] == '"' {
		s = s[1 : len(s)-1]
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		v = math.NaN()
	}
	*n = number(v)
	return nil
}

// Units in which services count the time since 1970, in a second.
const (
	inSeconds = 1
	inMillis  = 1000
)

// instant returns n, a time in units of which a second has so many, in unix seconds. If n
// is no time that a market can have, it returns -1, which no bar may have: text, a time in
// a finer unit, which would be after the year 5138, or in a coarser one, before 1973.
func instant(n number, units int64) int64 {
	if v := float64(n) / float64(units); v >= 1e8 && v < 1e11 {
		return int64(v)
	}
	return -1
}

// barsOf makes bars of rows of numbers: at has the places of time, which is in units of which a
// second has so many, open, high, low, close and volume.
func barsOf(rows [][]number, units int64, at [6]int) ([]Bar, error) {
	bars := make([]Bar, 0, len(rows))
	for _, r := range rows {
		if len(r) <= slices.Max(at[:]) {
			return nil, errors.New("a row is too short")
		}
		bars = append(bars, Bar{instant(r[at[0]], units), float64(r[at[1]]), float64(r[at[2]]), float64(r[at[3]]), float64(r[at[4]]), float64(r[at[5]])})
	}
	return bars, nil
}
