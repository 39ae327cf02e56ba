package indicators

import (
	"regexp"
	"slices"
	"strings"
)

// People write the name of an indicator in many ways: "Williams %R", "EMA(20)",
// "ema200", "RSI 14", "stochRSI". This file brings them to the names of the
// catalogue.

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
	// Several dividers in a row are one, and those at the ends are none.
	words := strings.FieldsFunc(b.String(), func(r rune) bool { return r == '_' })
	return strings.Join(words, "_")
}

// phrases are words that people write out and the catalogue abbreviates.
var phrases = strings.NewReplacer(
	"moving_average", "ma", "exponential_ma", "ema", "simple_ma", "sma", "weighted_ma", "wma", "smoothed_ma", "rma",
	"bollinger_band", "bollinger", "_indicator", "", "_index", "", "_oscillator", "", "ta_", "", "the_", "",
)

// withLength matches a name that ends in its length: "ema200", "ema_200",
// "ema(20)", "rsi 14", and several lengths, "macd(12, 26, 9)".
var withLength = regexp.MustCompile(`^(.*?[a-zA-Z%])[\s_-]*\(?\s*(\d+(?:\.\d+)?(?:\s*[,/]\s*\d+(?:\.\d+)?)*)\s*\)?$`)

// find returns the indicator that name means, or nil, and the lengths written
// into the name. Names of the catalogue win over readings of them: "t3" is T3
// and not "t" of length 3.
func find(name string) (ind *Indicator, lengths []string) {
	if ind := spelled(name); ind != nil {
		return ind, nil
	}
	if m := withLength.FindStringSubmatch(strings.TrimSpace(name)); m != nil {
		if ind := spelled(m[1]); ind != nil {
			return ind, strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune(",/ \t", r) })
		}
	}
	return nil, nil
}

// spelled returns the indicator that name means, without lengths.
func spelled(name string) *Indicator {
	if ind := byName[name]; ind != nil { // as the catalogue writes it, which most callers do
		return ind
	}
	lower := strings.ToLower(strings.TrimSpace(name))
	key := snake(name)
	// From the spelling given to ever freer ones. Names of other programs and what is
	// left without filler words come last, so that they never hide a name of our own.
	for _, k := range []string{strings.NewReplacer(" ", "_", "-", "_").Replace(lower), key, strings.ReplaceAll(key, "_", "")} {
		if ind := byName[k]; ind != nil {
			return ind
		}
	}
	for _, ind := range catalog {
		if slices.Contains(ind.Also, key) {
			return ind
		}
	}
	return byLoose[loose(key)]
}

// loose returns what is left of a name in snake case when words that say little
// are taken out.
func loose(key string) string {
	for range 2 { // "simple_moving_average" takes two steps
		// Words may come off at either end and leave an underscore there.
		key = strings.Trim(phrases.Replace(key), "_")
	}
	return strings.ReplaceAll(key, "_", "")
}

// byLoose finds an indicator by what is left of any of its names and its title;
// of several that leave the same, the first in the catalogue.
var byLoose = looseIndex()

// looseIndex returns the map of byLoose.
func looseIndex() map[string]*Indicator {
	m := make(map[string]*Indicator)
	for _, ind := range catalog {
		for _, name := range append(append([]string{ind.Name, snake(ind.Title)}, ind.Aliases...), ind.Also...) {
			if key := loose(name); m[key] == nil {
				m[key] = ind
			}
		}
	}
	return m
}
