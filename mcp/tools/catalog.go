package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"wick/indicators"
	"wick/mcp"
)

// maxCatalog bounds the whole catalogue, in characters, and searchSize the answer to a search, but
// for a first match that is larger by itself.
const (
	maxCatalog = 72_000
	searchSize = 6_000
)

// listIndicators defines list_indicators: what is named or found in full, a category in
// full if that is short, and everything in short.
func (h *handlers) listIndicators() tool {
	type request struct {
		names    []string // with them the others are not read
		query    string
		category string
	}
	return define(mcp.Tool{
		Name:  "list_indicators",
		Title: "Indicator catalogue",
		Description: "Indicators with their parameters and the signals that alerts can wait for, by names or query. " +
			"Without arguments all of them in short, which takes 18,000 tokens.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		MaxResult:   maxCatalog,
	}, reports, func(r *request) []arg {
		return []arg{
			words(&r.names, "names", `Names or aliases, such as ["rsi","macd"].`, 50).also("name", "indicators"),
			text(&r.query, "query", "Words to look for, such as 200 ema, volume profile or oversold; the best match comes first.", 200),
			word(&r.category, "category", "Only this category.", "", indicators.Categories()...),
		}
	}, nil, func(_ context.Context, _ mcp.Call, r *request) (*mcp.Result, error) {
		var text []byte
		switch {
		case len(r.names) > 0:
			var found []*listing
			for _, name := range r.names {
				ind, err := indicators.Lookup(name)
				if err != nil {
					return nil, fixable(err)
				}
				found = append(found, listings()[ind.Name])
			}
			text = catalogJSON(found, true, replySize)
		case r.query != "":
			text = catalogJSON(search(r.query, r.category), true, searchSize)
		case r.category != "":
			// A client that asks for a category looks around, and does not want to read more
			// than half of a reply.
			found, size := inCategory(r.category), 0
			for _, l := range found {
				size += len(l.told)
			}
			text = catalogJSON(found, size < replySize/2, replySize)
		default:
			return wholeCatalog(), nil
		}
		return &mcp.Result{Content: []mcp.Content{{Text: text}}}, nil
	})
}

// wholeCatalog is the answer without arguments.
var wholeCatalog = sync.OnceValue(func() *mcp.Result {
	return &mcp.Result{Content: []mcp.Content{{Text: catalogJSON(inCategory(""), false, 0)}}, Fixed: true}
})

// The catalogue as clients see it. The shorter forms leave out members with omitempty.
type (
	catalogDoc struct {
		Total      int               `json:"total"`
		Sources    []string          `json:"sources,omitempty"` // the choices of every parameter "source"
		Note       string            `json:"note,omitempty"`
		Indicators []json.RawMessage `json:"indicators"`     // of entry
		More       []string          `json:"more,omitempty"` // further matches, by name
	}
	entry struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Type        string            `json:"type"`
		Category    string            `json:"category,omitempty"`
		Overlay     bool              `json:"overlay"`
		Repaints    bool              `json:"repaints,omitempty"` // later bars may change earlier values
		Aliases     []string          `json:"aliases"`
		Params      []param           `json:"configurable_params"`
		Usual       map[string]any    `json:"usual_params,omitempty"` // defaults of those that many entries have
		Signals     []string          `json:"signals"`
		NoAlerts    bool              `json:"no_alerts,omitempty"`       // the signals change with where a chart begins
		Meanings    map[string]string `json:"signal_meanings,omitempty"` // when a signal fires, by its label; of opposites the first may stand for both
		Language    []string          `json:"language,omitempty"`        // of expressions; only the entry "rule" has it
		Figures     map[string]string `json:"figures,omitempty"`         // what those of a backtest mean; only that entry has it
		Compared    map[string]string `json:"compared,omitempty"`        // with TA-Lib, TradingView and pandas-ta
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

		quiet bool // the short form leaves it out, as labels do
	}
)

// listing is an entry of the catalogue as it is searched, in lower case, and its told and its
// short text as JSON, so that calls encode no entries.
type listing struct {
	names       []string // its name first, then its title and aliases
	category    string
	text        string // all that the entry says
	rules       bool   // it is for rules, which other indicators are put into
	sourced     bool   // a parameter takes one of sources
	told, short json.RawMessage
}

// listings holds every entry, encoded once, by its name.
var listings = sync.OnceValue(func() map[string]*listing {
	all := make(map[string]*listing)
	for ind := range indicators.All() {
		e := entryOf(ind)
		e.Compared = nil
		all[ind.Name] = &listing{
			names: append([]string{ind.Name, strings.ToLower(ind.Title)}, ind.Aliases...), category: ind.Category, text: strings.ToLower(encode(e)), rules: ind.Category == indicators.Rules,
			sourced: slices.ContainsFunc(ind.Params, func(p indicators.Param) bool { return slices.Equal(p.Choices, indicators.Sources) }),
			told:    mcp.Encode(e.told()), short: mcp.Encode(e.short()),
		}
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

// catalogJSON returns the entries as JSON, in their short or told form. Told entries that
// no longer fit into a reply of so many characters are only named; they match worse, since the best
// are first.
func catalogJSON(found []*listing, told bool, room int) []byte {
	doc := catalogDoc{Total: len(found), Indicators: []json.RawMessage{}}
	if !told {
		doc.Note = "short: names or query give whole descriptions, all parameters with types, defaults and bounds, and meanings"
	}
	if len(found) == 0 {
		doc.Note = "nothing matches: other words, or neither query nor category for every indicator in short"
	}
	size := 0
	for _, l := range found {
		text := l.short
		if told {
			text = l.told
		}
		// The names of those left out take room as well, hence the 2,000.
		if size += len(text) + len(`,"",`); told && size > room-2000 && len(doc.Indicators) > 0 {
			doc.Note, doc.More = "more matches than one reply holds: names describes those in more", append(doc.More, l.names[0])
			continue
		}
		doc.Indicators = append(doc.Indicators, text)
		if l.sourced {
			doc.Sources = indicators.Sources
		}
	}
	return mcp.Encode(doc)
}

// entryOf returns the full entry of an indicator. Its lists are empty rather than null,
// since clients in typed languages iterate over them without a check.
func entryOf(ind *indicators.Indicator) entry {
	e := entry{
		Name: ind.Name, Description: ind.Doc, Type: "panel", Category: ind.Category, Overlay: ind.Traits.Has(indicators.Overlay), Repaints: ind.Traits.Has(indicators.Repaints),
		Aliases: append([]string{}, ind.Aliases...), Params: []param{}, Signals: append([]string{}, ind.Signals...), NoAlerts: ind.VisibleOnly(),
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
	case ind.Traits.Has(indicators.Overlay):
		e.Type = "overlay"
	}
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

// usual are parameters that many entries have and few calls set: levels, and how divergences are
// found. The guide says what they mean.
var usual = []string{"oversold", "overbought", "divergence", "pivot_left", "pivot_right", "div_range"}

// told returns the entry as names and query tell it, with what is needed to ask for it. The
// resource of the entry has all of it: how it compares with that of others, the rest of a long
// description, what usual parameters mean, and the meaning of every signal, also of the second of two opposites.
func (e entry) told() entry {
	const most = 150 // characters of a description, to the end of a sentence
	e.Compared = nil
	if e.Category == indicators.Rules {
		return e // a language: every word of it counts
	}
	for at := strings.LastIndex(e.Description, ". "); len(e.Description) > most && at >= 0; at = strings.LastIndex(e.Description, ". ") {
		e.Description = e.Description[:at+1]
	}
	all := e.Params
	e.Params, e.Usual = []param{}, make(map[string]any)
	for i, p := range all {
		if slices.Contains(usual, p.Name) {
			e.Usual[p.Name] = p.Default
			continue
		}
		if same := slices.IndexFunc(all[:i], func(q param) bool { return len(q.Choices) > 4 && slices.Equal(q.Choices, p.Choices) }); same >= 0 {
			p.Description, p.Choices = p.Description+", as "+all[same].Name, nil
		}
		e.Params = append(e.Params, p)
	}
	meanings := e.Meanings
	e.Meanings = make(map[string]string)
	for label, meaning := range meanings {
		if meanings[indicators.Mirrored(label)] == "" && len(meanings) < 30 { // else they are names of candle patterns
			e.Meanings[label] = meaning
		}
	}
	return e
}

// short returns the entry in its short form: with the beginning of the description, and
// with the name of each parameter. Quiet parameters are left out.
func (e entry) short() entry {
	const most = 42 // bytes of a description: with more of them the whole catalogue would pass maxCatalog
	e.Category, e.Meanings, e.Language, e.Figures, e.Compared = "", nil, nil, nil, nil
	e.Description, _, _ = strings.Cut(e.Description, ". ")
	if len(e.Description) > most {
		cut := max(0, strings.LastIndexByte(e.Description[:most], ' '))
		e.Description = strings.TrimRight(e.Description[:cut], " ,;:") + "…"
	}
	e.Description = strings.TrimSuffix(e.Description, ".")
	params := []param{}
	for _, p := range e.Params {
		if !p.quiet {
			params = append(params, param{Name: p.Name, Required: p.Required})
		}
	}
	e.Params = params
	return e
}

// search returns the entries in whose texts most words of a query occur, those first in whose names
// they do. Numbers in the query ("200 ema") are taken for values of parameters and are not searched
// for, and neither are fillers, unless all words together are a name. An empty category means all.
func search(query, category string) []*listing {
	const maxWords = 12 // each is compared with the whole catalogue
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return strings.ContainsRune(" ,;:.()'/?!", r) })
	words = slices.DeleteFunc(words, func(w string) bool {
		_, err := strconv.ParseFloat(w, 64)
		return err == nil
	})
	words = words[:min(len(words), maxWords)]
	whole := strings.Join(words, "_") // "relative strength index" is an alias
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(fillers, w) })
	// A query with a word of ofRules gets the entries for rules first, whatever else matches.
	rules := category == "" && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(ofRules, w) })
	type match struct {
		*listing
		words, rank int
	}
	var matches []match
	most := 1
	for _, l := range inCategory(category) {
		m := match{listing: l}
		if slices.Contains(l.names, whole) {
			m.words, m.rank = max(0, 1-len(words)), 1000
		}
		for _, w := range words {
			if r := l.rank(w); r > 0 {
				m.words, m.rank = m.words+1, m.rank+r
			}
		}
		if most = max(most, m.words); rules && l.rules {
			m.words, m.rank = maxWords, 2000
		}
		matches = append(matches, m)
	}
	// Only entries that match as many words as the best one stay: with "moving average
	// ribbon" a model wants the ribbon, and if nothing matches all three words, the entries
	// that match two.
	matches = slices.DeleteFunc(matches, func(m match) bool { return m.words < most })
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.rank, a.rank) })
	var found []*listing
	for _, m := range matches {
		found = append(found, m.listing)
	}
	return found
}

// rank returns how well a word fits the indicator: best if it is the name, less for another name,
// its category, a part of a name, and any other text of the entry, and 0 if it is nowhere.
func (l *listing) rank(word string) int {
	switch {
	case l.names[0] == word:
		return 100
	case slices.Contains(l.names, word):
		return 80
	case l.category == word:
		return 50
	case strings.Contains(strings.Join(l.names, " "), word):
		return 30
	case strings.Contains(l.text, word):
		return 10
	}
	return 0
}

// fillers are words of questions ("what is best for volume?") that say nothing of what is
// looked for, and are in many descriptions.
var fillers = strings.Fields("a about an and are at be best by can do does for from how i in indicator indicators is it me my of on one or show shows tell tells that the this to use what which with you")

// ofRules are words in the queries of models that want to combine indicators. No single
// indicator can do that, so search puts the entries for rules first.
var ofRules = strings.Fields("rule rules condition conditions conditional combine combined combination expression formula custom filter " +
	"backtest backtests backtesting back-test strategy strategies scan screener screen " +
	"crosses crossover crossunder crosses_above crosses_below barssince bars_since since when if")
