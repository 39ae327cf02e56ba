package tools

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"wick/indicators"
	"wick/mcp"
)

// The catalogue as clients see it. The short form leaves out most members with omitempty.
type (
	catalogDoc struct {
		Total      int               `json:"total"`
		Sources    []string          `json:"sources"`            // the choices of every parameter "source"
		Defaults   map[string]any    `json:"defaults,omitempty"` // of parameters that are listed without one
		Note       string            `json:"note,omitempty"`
		Indicators []json.RawMessage `json:"indicators"`     // of entry
		More       []string          `json:"more,omitempty"` // further matches, by name
	}
	entry struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Type        string   `json:"type"`
		Category    string   `json:"category,omitempty"`
		Overlay     bool     `json:"overlay"`
		Repaints    bool     `json:"repaints,omitempty"` // later bars may change earlier values
		Aliases     []string `json:"aliases"`
		Params      []param  `json:"configurable_params"`
		Signals     []string `json:"signals"`

		// NoAlerts says that no alert can wait for the signals: they change with where a
		// chart begins.
		NoAlerts bool `json:"no_alerts,omitempty"`

		// Meanings says in one line when a signal fires, by its label.
		Meanings map[string]string `json:"signal_meanings,omitempty"`

		// Language teaches the language of expressions; only the entry "rule" has it.
		Language []string `json:"language,omitempty"`

		// Figures says what the figures of a backtest mean; only that entry has it.
		Figures map[string]string `json:"figures,omitempty"`

		// Compared says how the indicator compares with those of TA-Lib, TradingView and
		// pandas-ta.
		Compared map[string]string `json:"compared,omitempty"`
	}
	param struct {
		Name        string   `json:"name"`
		Type        string   `json:"type,omitempty"`
		Default     any      `json:"default,omitempty"`
		Required    bool     `json:"required,omitempty"` // it has no default
		Example     string   `json:"example,omitempty"`  // of one that is required
		Description string   `json:"description,omitempty"`
		Min         *float64 `json:"min,omitempty"`
		Max         *float64 `json:"max,omitempty"`
		Choices     []string `json:"choices,omitempty"`

		quiet bool // it sets a level or how something is drawn; the short form leaves it out
	}
)

// listing is an entry of the catalogue: the words by which it is found, and its full and
// its short text as JSON. Replies are put together from these texts, so that calls encode
// no entries.
type listing struct {
	vocabulary
	name        string
	full, short json.RawMessage
}

// listings holds every entry, encoded once, by its name.
var listings = sync.OnceValue(func() map[string]*listing {
	all := make(map[string]*listing)
	for ind := range indicators.All() {
		e := entryOf(ind)
		all[ind.Name] = &listing{vocabularyOf(ind), ind.Name, mcp.Encode(e), mcp.Encode(e.short())}
	}
	return all
})

// inCategory returns the entries of a category in the catalogue's order. An empty
// category means all entries; one that does not exist has none.
func inCategory(category string) (found []*listing) {
	for ind := range indicators.All() {
		if category == "" || ind.Category == category {
			found = append(found, listings()[ind.Name])
		}
	}
	return found
}

// The notes in an answer that leaves something out.
const (
	shortNote = "short: a parameter without default has the one in defaults unless it is required, those for levels and drawing are left out; names or query give whole descriptions, bounds and meanings"
	moreNote  = "more matches than one reply holds: names describes those in more"
	noneNote  = "nothing matches: other words, or neither query nor category for every indicator in short"
)

// catalogJSON returns the entries as JSON, in their short or full form. Full entries that
// no longer fit into the reply are only named; they match worse, since the best are first.
func catalogJSON(found []*listing, full bool) []byte {
	doc := catalogDoc{Total: len(found), Sources: indicators.Sources, Indicators: []json.RawMessage{}}
	if !full {
		doc.Note, doc.Defaults = shortNote, usualDefaults()
	}
	if len(found) == 0 {
		doc.Note = noneNote
	}
	size := 0
	for _, l := range found {
		text := l.short
		if full {
			text = l.full
		}
		// The names of those left out take room as well, hence the 2,000.
		if size += len(text) + len(`,"",`); full && size > replySize-2000 {
			doc.Note, doc.More = moreNote, append(doc.More, l.name)
			continue
		}
		doc.Indicators = append(doc.Indicators, text)
	}
	return mcp.Encode(doc)
}

// fits reports whether all of the entries in full take less than half of a reply. A
// client that asks for a category looks around, and does not want to read that much.
func fits(found []*listing) bool {
	size := 0
	for _, l := range found {
		size += len(l.full)
	}
	return size < replySize/2
}

// entryOf returns the full entry of an indicator. Its lists are empty rather than null,
// since clients in typed languages iterate over them without a check.
func entryOf(ind *indicators.Indicator) entry {
	e := entry{
		Name: ind.Name, Description: ind.Doc, Type: "panel", Category: ind.Category, Overlay: ind.Overlay, Repaints: ind.Repaints,
		Aliases: append([]string{}, ind.Aliases...), Params: []param{}, Signals: append([]string{}, ind.Signals...), NoAlerts: ind.VisibleOnly,
		Meanings: make(map[string]string), Compared: ind.Compared(),
	}
	switch ind.Name {
	case "rule":
		e.Language = strings.Split(indicators.Language, "\n")
	case "backtest":
		e.Figures = indicators.BacktestFigures
	}
	switch {
	case ind.Category == indicators.External:
		e.Type = "external"
	case ind.Overlay:
		e.Type = "overlay"
	}
	// Parameters in the order in which the indicator declares them.
	for _, p := range ind.Params {
		e.Params = append(e.Params, paramOf(p))
	}
	for _, label := range ind.Signals {
		if meaning := ind.Meaning(label); meaning != "" {
			e.Meanings[label] = meaning
		}
	}
	return e
}

// paramOf returns a parameter as clients see it. The catalogue keeps switches and choices
// as numbers; clients see true, false or the name of the choice. Only numbers have bounds;
// for the others the type or the choices say what may be sent.
func paramOf(p indicators.Param) param {
	c := param{Name: p.Name, Description: p.Doc, Default: p.Default, quiet: p.Quiet}
	switch p.Kind {
	case indicators.Expression:
		c.Type, c.Default = "expression", p.Text
		if p.Required {
			c.Default, c.Required, c.Example = nil, true, p.Text
		}
	case indicators.Symbol:
		c.Type, c.Default = "symbol", p.Text
	case indicators.Date:
		c.Type = "date"
	case indicators.Bool:
		c.Type, c.Default = "boolean", p.Default != 0
	case indicators.Choice:
		c.Type, c.Default, c.Choices = "string", p.Choices[int(p.Default)], p.Choices
		if slices.Equal(p.Choices, indicators.Sources) {
			c.Description, c.Choices = p.Doc+", one of sources or another indicator", nil // a hundred entries have this list, and clients cut long replies
		}
	case indicators.Int:
		c.Type, c.Min, c.Max = "integer", &p.Min, &p.Max
	default:
		c.Type, c.Min, c.Max = "number", &p.Min, &p.Max
	}
	return c
}

// shortDoc is how many bytes of a description the whole catalogue shows: with more of
// them the reply would pass maxCatalog.
const shortDoc = 28

// usualDefaults returns, by the name of a parameter, the default that most parameters of
// this name have, if at least two have it. The short form of the catalogue says it once
// instead of a hundred times.
var usualDefaults = sync.OnceValue(func() map[string]any {
	counts := make(map[string]map[any]int)
	for ind := range indicators.All() {
		for _, p := range ind.Params {
			if p.Quiet || p.Required {
				continue
			}
			if counts[p.Name] == nil {
				counts[p.Name] = make(map[any]int)
			}
			counts[p.Name][paramOf(p).Default]++
		}
	}
	// Values are sorted by their JSON, since the first of two equally frequent ones wins.
	byText := func(a, b any) int { return strings.Compare(encode(a), encode(b)) }
	usual := make(map[string]any)
	for name, values := range counts {
		// A default counts as usual if at least two parameters have it.
		most := 1
		for _, v := range slices.SortedFunc(maps.Keys(values), byText) {
			if values[v] > most {
				usual[name], most = v, values[v]
			}
		}
	}
	return usual
})

// short returns the entry in its short form: with the beginning of the description, and
// with the name of each parameter, whether it is required, and its default unless that is
// the usual one. Quiet parameters are left out. The full entry is not changed: the
// receiver is a copy, and what it shares with the full entry is replaced.
func (e entry) short() entry {
	e.Description, e.Category, e.Meanings, e.Language, e.Figures, e.Compared = firstWords(e.Description, shortDoc), "", nil, nil, nil, nil
	params := []param{}
	for _, p := range e.Params {
		if p.quiet {
			continue
		}
		if p.Default == usualDefaults()[p.Name] {
			p.Default = nil
		}
		params = append(params, param{Name: p.Name, Default: p.Default, Required: p.Required})
	}
	e.Params = params
	return e
}

// firstWords returns the first sentence of s, without its full stop, cut between words
// if it has more than most bytes.
func firstWords(s string, most int) string {
	s, _, _ = strings.Cut(s, ". ")
	if len(s) <= most {
		return strings.TrimSuffix(s, ".")
	}
	cut := max(0, strings.LastIndexByte(s[:most], ' ')) // in UTF-8 the byte of a blank is never part of another character
	return strings.TrimRight(s[:cut], " ,;:") + "…"
}
