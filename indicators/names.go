package indicators

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"wick/internal/limit"
)

// People write the name of an indicator in many ways: "Williams %R", "EMA(20)",
// "ema200", "RSI 14", "stochRSI". This file brings them to the names of the
// catalogue.

// phrases are words that people write out and the catalogue abbreviates.
var phrases = strings.NewReplacer(
	"moving_average", "ma", "exponential_ma", "ema", "simple_ma", "sma", "weighted_ma", "wma", "smoothed_ma", "rma",
	"bollinger_band", "bollinger", "_indicator", "", "_index", "", "_oscillator", "", "ta_", "", "the_", "",
)

// withLength matches a name that ends in its length: "ema200", "ema_200",
// "ema(20)", "rsi 14", and several lengths, "macd(12, 26, 9)".
var withLength = regexp.MustCompile(`^(.*?[a-zA-Z%])[\s_-]*\(?\s*(\d+(?:\.\d+)?(?:\s*[,/]\s*\d+(?:\.\d+)?)*)\s*\)?$`)

// byName has every indicator under each of its names, as the catalogue writes them and
// without filler words, and the candle patterns. Of names that become the same without filler
// words the first in the catalogue counts. A name that two entries claim panics, and so in every test.
var byName = sync.OnceValue(func() map[string]*Indicator {
	m := make(map[string]*Indicator)
	for _, ind := range catalog {
		for _, name := range ind.names() {
			if other, taken := m[name]; taken {
				panic("indicators: " + ind.Name + " and " + other.Name + " both claim " + name)
			}
			m[name] = ind
		}
	}
	add := func(ind *Indicator, names ...string) {
		for _, name := range names {
			if key := loose(name); m[key] == nil {
				m[key] = ind
			}
		}
	}
	for _, ind := range catalog {
		add(ind, append(ind.names(), snake(ind.Title))...)
	}
	for _, pattern := range patternNames() { // TA-Lib's CDLENGULFING is engulfing
		add(m["candles"], pattern, "cdl"+pattern)
	}
	return m
})

// names returns the name of ind and its aliases.
func (ind *Indicator) names() []string { return append([]string{ind.Name}, ind.Aliases...) }

// allNames returns the names and aliases of the catalogue in order.
func allNames() (names []string) {
	for _, ind := range catalog {
		names = append(names, ind.names()...)
	}
	slices.Sort(names)
	return names
}

// find returns the indicator that name means, or nil, and the lengths that are part of the
// name. A name of the catalogue comes first: "t3" is T3 and not "t" with the length 3.
func find(name string) (ind *Indicator, lengths []string) {
	if name = strings.TrimSpace(name); len(name) > maxName {
		return nil, nil
	}
	if ind := spelled(name); ind != nil {
		return ind, nil
	}
	if m := withLength.FindStringSubmatch(name); m != nil {
		if ind := spelled(m[1]); ind != nil {
			return ind, strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(",/ \t", r) })
		}
	}
	return nil, nil
}

// spelled returns the indicator that name means, without lengths. The given spelling is tried
// first, then looser ones, so that none hides a name of the catalogue.
func spelled(name string) *Indicator {
	if ind := byName()[name]; ind != nil {
		return ind
	}
	key := snake(name)
	for _, k := range []string{strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(name)), key, loose(key)} {
		if ind := byName()[k]; ind != nil {
			return ind
		}
	}
	return nil
}

// loose returns a name in snake case without filler words and underscores.
func loose(key string) string {
	for range 2 { // "simple_moving_average" takes two steps
		key = strings.Trim(phrases.Replace(key), "_")
	}
	return strings.ReplaceAll(key, "_", "")
}

// errUnknown reports a name that no entry of the catalogue has.
var errUnknown = errors.New("unknown indicator")

// Lookup returns the indicator with this name or alias. The name may be spelled as people
// do: in upper or lower case, with blanks or hyphens, written out, or with a length at the
// end, which New reads and Lookup ignores.
func Lookup(name string) (*Indicator, error) {
	ind, _, err := lookup(name)
	return ind, err
}

// lookup is like [Lookup], and returns the lengths at the end of the name too.
func lookup(name string) (ind *Indicator, lengths []string, err error) {
	if ind, lengths = find(name); ind != nil {
		return ind, lengths, nil
	}
	near := ""
	if strings.ContainsFunc(name, unicode.IsLetter) {
		near = orList(nearestNames(snake(limit.Clip(name)), 3))
	}
	return nil, nil, fmt.Errorf("%w %q%s: call list_indicators for the names", errUnknown, limit.Clip(name), near)
}

// Known reports whether Lookup finds an indicator of that name. It looks for no similar ones,
// which takes a Lookup that finds none a millisecond.
func Known(name string) bool {
	ind, _ := find(name)
	return ind != nil
}

// nearestNames returns the nearest names to key, of at most most indicators, however far
// away they are. The cost is the length of key times that of all names. A name that contains key, or is contained in it, counts as near. The error
// for an unknown name proposes them, so there are always some.
func nearestNames(key string, most int) []string {
	distance := make(map[string]int)
	for _, name := range allNames() {
		distance[name] = editDistance(key, name)
		// Very short names are part of too many others to count as near.
		if min(len(key), len(name)) > 2 && (strings.Contains(key, name) || strings.Contains(name, key)) {
			distance[name] = min(2, distance[name])
		}
	}
	names := slices.SortedFunc(maps.Keys(distance), func(a, b string) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), strings.Compare(a, b))
	})
	var out []string
	seen := make(map[*Indicator]bool)
	for _, name := range names {
		if ind := byName()[name]; !seen[ind] && len(out) < most {
			seen[ind] = true
			out = append(out, name)
		}
	}
	return out
}

// Nearest returns those of names that are spelled most like name, the nearest
// first, at most the given number. Names that differ in more than about a third
// of their letters are left out, so the result may be empty.
func Nearest(name string, names []string, most int) []string {
	// A stranger's text is cut first: the time is its length times that of all names.
	name = strings.ToLower(limit.Clip(name))
	distance := func(n string) int { return editDistance(name, strings.ToLower(n)) }
	near := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return distance(n) > max(1, (len(name)+1)/3) })
	slices.SortStableFunc(near, func(a, b string) int { return distance(a) - distance(b) })
	return near[:min(most, len(near))]
}

// didYouMean returns `, did you mean "x", "y" or "z"?` for the names nearest to
// name, or nothing when none is near.
func didYouMean(name string, names []string) string { return orList(Nearest(name, names, 3)) }

// orList writes names as a question, and nothing for none.
func orList(names []string) string {
	text := ""
	for i, n := range names {
		switch {
		case i == 0:
			text = ", did you mean "
		case i == len(names)-1:
			text += " or "
		default:
			text += ", "
		}
		text += strconv.Quote(n)
	}
	return text + strings.Repeat("?", min(1, len(names)))
}

// editDistance is the number of letters to insert, delete, replace or swap with their
// neighbour (the optimal string alignment distance).
func editDistance(a, b string) int {
	// row[j] is the distance between the part of a read so far and the first j bytes of
	// b; before and older are the rows of one and two bytes less of a.
	older, before, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older, before, row = before, row, older
		row[0] = i + 1
		for j := range len(b) {
			cost := before[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, row[j]+1, before[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// maxName bounds the names of indicators and parameters that are searched for, in bytes: each
// is spelled in several ways and matched, which of a megabyte takes half a second.
const maxName = 200

// snake returns a name in lower case with underscores between its words: blanks,
// hyphens, dots and slashes divide words, and so does a capital after a small
// letter.
func snake(name string) string {
	var b strings.Builder
	var before rune
	for _, r := range strings.TrimSpace(name) {
		switch {
		// stochRSI is two words, MACD is one: only a capital after a small letter
		// divides.
		case r >= 'A' && r <= 'Z':
			if before >= 'a' && before <= 'z' {
				b.WriteByte('_')
			}
			b.WriteRune(r - 'A' + 'a')
		// Left out: %K, Elder's.
		case r == '%' || r == '\'' || r == '’':
		case strings.ContainsRune(" -./&+_", r):
			b.WriteByte('_')
		default:
			b.WriteRune(r)
		}
		before = r
	}
	words := strings.FieldsFunc(b.String(), func(r rune) bool { return r == '_' })
	return strings.Join(words, "_")
}
