package chart

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"wick/indicators"
	"wick/market"
)

// writer appends JSON to b. It places the commas itself, so that code which
// writes an object reads like the object. A payload may hold a hundred thousand
// numbers, which is why it is appended here and not marshalled from structs.
type writer struct {
	b []byte
}

// comma writes the comma before a value or name, unless it is the first of its
// object or array or follows a name.
func (w *writer) comma() {
	if n := len(w.b); n > 0 {
		switch w.b[n-1] {
		case '{', '[', ':':
		default:
			w.b = append(w.b, ',')
		}
	}
}

// open begins an object or an array with '{' or '['; close ends it.
func (w *writer) open(c byte) {
	w.comma()
	w.b = append(w.b, c)
}

func (w *writer) close(c byte) { w.b = append(w.b, c) }

// key writes the name of a member that came from a client and is escaped; name
// writes one that stands in this package and needs no escaping.
func (w *writer) key(s string) {
	w.comma()
	text, _ := json.Marshal(s)
	w.b = append(append(w.b, text...), ':')
}

// name begins a member, after a comma where one is needed.
func (w *writer) name(s string) {
	w.comma()
	w.b = append(w.b, '"')
	w.b = append(w.b, s...)
	w.b = append(w.b, '"', ':')
}

// put writes a member whose value is a text, a truth or a list.
func (w *writer) put(name string, v any) {
	w.name(name)
	text, _ := json.Marshal(v) // these can always be encoded
	w.b = append(w.b, text...)
}

// int writes a member whose value is a whole number.
func (w *writer) int(name string, v int64) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, v, 10)
}

// value writes a computed number: ten significant digits.
func (w *writer) value(name string, v float64) {
	w.name(name)
	w.b = indicators.AppendValue(w.b, v)
}

// price writes a number with all its digits, as the source gave it. Very small and
// very large ones get an exponent; what is no number is null.
func (w *writer) price(name string, v float64) {
	w.name(name)
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		w.b = append(w.b, "null"...)
	case a != 0 && (a < 1e-9 || a >= 1e21):
		w.b = strconv.AppendFloat(w.b, v, 'e', -1, 64)
	default:
		w.b = strconv.AppendFloat(w.b, v, 'f', -1, 64)
	}
}

// values writes an array of computed numbers, null where there is none.
func (w *writer) values(name string, v indicators.Values) {
	w.name(name)
	w.b = v.AppendJSON(w.b)
}

// list writes the member name as an array of objects, the members of each by
// calling item. Without items it writes nothing at all: channels that an
// indicator does not emit are left out of the payload.
func list[T any](w *writer, name string, items []T, item func(i int, x *T)) {
	if len(items) == 0 {
		return
	}
	w.name(name)
	w.open('[')
	for i := range items {
		w.open('{')
		item(i, &items[i])
		w.close('}')
	}
	w.close(']')
}

// time writes when bar i began, or null when the bars are invented.
func (w *writer) time(name string, s *market.Series, i int) {
	if s.Synthetic {
		w.name(name)
		w.b = append(w.b, "null"...)
		return
	}
	w.int(name, s.Time[i])
}

// stamp writes a member with a time in RFC 3339.
func (w *writer) stamp(name string, t int64) {
	w.name(name)
	w.b = append(w.b, '"')
	w.b = time.Unix(t, 0).UTC().AppendFormat(w.b, time.RFC3339)
	w.b = append(w.b, '"')
}

// last returns the newest value, NaN when there is none.
func last(values indicators.Values) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return values[len(values)-1]
}
