package tools

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"wick/indicators"
)

// maxWords bounds the words of a query, because each is compared with every word
// of the catalogue.
const maxWords = 12

// search returns the entries that match a query best, the best first: those in
// which most of its words occur. Numbers in it ("200 ema") are taken for values
// of parameters and find nothing by themselves. An empty category means all.
func search(query, category string) []*listing {
	words := fields(strings.ToLower(query))
	words = slices.DeleteFunc(words, func(w string) bool {
		_, err := strconv.ParseFloat(w, 64)
		return err == nil
	})
	words = words[:min(len(words), maxWords)]
	type match struct {
		*listing
		words, rank int
	}
	var matches []match
	best := 1
	for _, l := range inCategory(category) {
		// All words together may be a name: "relative strength index" is an alias.
		m := match{listing: l, rank: l.rank(strings.Join(words, "_"))}
		for _, w := range words {
			if r := l.rank(w); r > 0 {
				m.words++
				m.rank += r
			}
		}
		best = max(best, m.words)
		matches = append(matches, m)
	}
	// Only those with most words stay: with "moving average ribbon" a model wants
	// the ribbon, and if nothing has all three, whatever has two.
	matches = slices.DeleteFunc(matches, func(m match) bool { return m.words < best })
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.rank, a.rank) })
	// Who asks for a rule gets the entries for rules first, whatever else matched.
	var found []*listing
	if category == "" && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(ofRules, w) }) {
		found = inCategory(indicators.Rules)
	}
	for _, m := range matches {
		if !slices.Contains(found, m.listing) {
			found = append(found, m.listing)
		}
	}
	return found
}

// ofRules are words of who wants to combine indicators, which no single one can
// do: the entries for rules then come first.
var ofRules = []string{
	"rule", "rules", "condition", "conditions", "conditional", "combine", "combined", "combination", "expression", "formula", "custom", "filter",
	"backtest", "backtests", "backtesting", "back-test", "strategy", "strategies", "scan", "screener", "screen",
	"crosses", "crossover", "crossunder", "crosses_above", "crosses_below", "barssince", "bars_since", "since", "when", "if",
}

// fields returns the words of a text. A hyphen or an underscore is part of a word, as in
// the names of indicators.
func fields(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;:.()'/", r) })
}

// vocabulary is what a query may find an indicator by, in lower case.
type vocabulary struct {
	names   []string // its name first, then its title and aliases
	doc     []string // the words of its description
	signals []string
	params  []string // names and choices
}

// vocabularyOf gathers the words by which an indicator can be found, once for the life
// of the process.
func vocabularyOf(ind *indicators.Indicator) vocabulary {
	v := vocabulary{names: append([]string{ind.Name, strings.ToLower(ind.Title)}, ind.Aliases...), doc: fields(strings.ToLower(ind.Doc)), signals: ind.Signals}
	for _, p := range ind.Params {
		v.params = append(append(v.params, p.Name), p.Choices...)
	}
	return v
}

// rank says how well a word fits: 0 for not at all, most for the name, then an
// alias, the beginning of a name, a word of the description, signals and
// parameters. search adds up what the words of a query get.
func (v *vocabulary) rank(word string) int {
	equal := func(a, b string) bool { return a == b }
	among := func(texts []string, fits func(text, word string) bool) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return fits(text, word) })
	}
	switch {
	case word == "":
		return 0
	case v.names[0] == word:
		return 100
	case among(v.names, equal):
		return 80
	case among(v.names, strings.HasPrefix):
		return 40
	case among(v.names, strings.Contains):
		return 30
	case among(v.doc, equal):
		return 20
	case among(v.signals, strings.Contains):
		return 10
	case among(v.params, strings.HasPrefix):
		return 8
	case among(v.doc, strings.HasPrefix):
		return 5
	}
	return 0
}
