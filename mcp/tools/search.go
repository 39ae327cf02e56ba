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

// search returns the entries that match the most words of a query, the best match first.
// Numbers in the query ("200 ema") are taken for values of parameters and are not searched
// for, and neither are fillers, unless all words together are a name. An empty category means
// all.
func search(query, category string) []*listing {
	words := fields(strings.ToLower(query))
	words = slices.DeleteFunc(words, func(w string) bool {
		_, err := strconv.ParseFloat(w, 64)
		return err == nil
	})
	words = words[:min(len(words), maxWords)]
	whole := strings.Join(words, "_")
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(fillers, w) })
	type match struct {
		*listing
		words, rank int
	}
	var matches []match
	best := 1
	for _, l := range inCategory(category) {
		// All words together may be one name: "relative strength index" is an alias.
		m := match{listing: l, rank: l.rank(whole)}
		if len(words) == 0 && l.rank(whole) >= isName {
			m.words = 1
		}
		for _, w := range words {
			if r := l.rank(w); r > 0 {
				m.words++
				m.rank += r
			}
		}
		best = max(best, m.words)
		matches = append(matches, m)
	}
	// Only entries that match as many words as the best one stay: with "moving average
	// ribbon" a model wants the ribbon, and if nothing matches all three words, the entries
	// that match two.
	matches = slices.DeleteFunc(matches, func(m match) bool { return m.words < best })
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.rank, a.rank) })
	// A query with a word of ofRules gets the entries for rules first, whatever else matched.
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

// fillers are words of questions ("what is best for volume?") that say nothing of what is
// looked for, and are in many descriptions.
var fillers = strings.Fields("a about an and are at be best by can do does for from how i in indicator indicators is it me my of on one or show shows tell tells that the this to use what which with you")

// ofRules are words in the queries of models that want to combine indicators. No single
// indicator can do that, so search puts the entries for rules first.
var ofRules = []string{
	"rule", "rules", "condition", "conditions", "conditional", "combine", "combined", "combination", "expression", "formula", "custom", "filter",
	"backtest", "backtests", "backtesting", "back-test", "strategy", "strategies", "scan", "screener", "screen",
	"crosses", "crossover", "crossunder", "crosses_above", "crosses_below", "barssince", "bars_since", "since", "when", "if",
}
