package tools

import (
	"slices"
	"strings"

	"wick/indicators"
)

// vocabulary holds the words by which a query finds an indicator, in lower case.
type vocabulary struct {
	names   []string // its name first, then its title and aliases
	group   string   // its category
	doc     []string // the words of its description
	signals []string
	params  []string // names and choices
}

// vocabularyOf returns the words by which an indicator can be found.
func vocabularyOf(ind *indicators.Indicator) vocabulary {
	v := vocabulary{names: append([]string{ind.Name, strings.ToLower(ind.Title)}, ind.Aliases...), group: ind.Category, doc: fields(strings.ToLower(ind.Doc)), signals: ind.Signals}
	for _, p := range ind.Params {
		v.params = append(append(v.params, p.Name), p.Choices...)
	}
	return v
}

// isName is the least rank of a name, a title or an alias.
const isName = 80

// rank returns how well a word fits the indicator: 0 if it does not, the most if it is the
// name, and less for an alias, its category, a part of a name, a word of the description, signals and
// parameters. search adds up the ranks of all words.
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
		return isName
	case v.group == word:
		return 50
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

// fields returns the words of a text. A hyphen or an underscore is part of a word, as in
// the names of indicators.
func fields(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;:.()'/?!", r) })
}
