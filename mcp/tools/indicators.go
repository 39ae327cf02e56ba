package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"wick/chart"
	"wick/indicators"
	"wick/market"
	"wick/mcp"
)

func (h *house) listIndicators() mcp.Tool {
	return mcp.Tool{
		Name:  "list_indicators",
		Title: "Indicator catalogue",
		Description: "List the indicators there are, with description, aliases, parameters with bounds, and the signals that alerts can wait for. " +
			"The whole list is long: narrow it with query (words to look for) or category.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		MaxResult:   longResult,
		Schema: object(nil,
			text("query", "Words to look for in names, aliases and descriptions, such as rsi or volume profile.", ""),
			oneOf("category", "Only this category.", "", indicators.Categories()...),
		),
		Cost: mcp.Cheap,
		Handle: func(_ context.Context, c mcp.Call) (*mcp.Result, error) {
			a, err := parseArgs(c.Arguments)
			if err != nil {
				return nil, err
			}
			query, err := a.text("query")
			if err != nil {
				return nil, err
			}
			category, err := a.choice("category", "", indicators.Categories()...)
			if err != nil {
				return nil, err
			}
			if query == "" && category == "" {
				return &mcp.Result{Content: []mcp.Content{h.catalog}}, nil
			}
			return &mcp.Result{Content: []mcp.Content{{Text: catalogJSON(query, category)}}}, nil
		},
	}
}

// The catalogue as clients see it.
type (
	catalogJSONDoc struct {
		Total      int               `json:"total"`
		Sources    []string          `json:"sources"`    // the choices of every parameter "source"
		Indicators []json.RawMessage `json:"indicators"` // of catalogEntry
	}
	catalogEntry struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Type        string         `json:"type"`
		Category    string         `json:"category"`
		Overlay     bool           `json:"overlay"`
		Aliases     []string       `json:"aliases"`
		Params      []catalogParam `json:"configurable_params"`
		Signals     []string       `json:"signals"`
	}
	catalogParam struct {
		Name        string   `json:"name"`
		Type        string   `json:"type"`
		Default     any      `json:"default"`
		Description string   `json:"description"`
		Min         *float64 `json:"min,omitempty"`
		Max         *float64 `json:"max,omitempty"`
		Choices     []string `json:"choices,omitempty"`
	}
)

// listing is an entry as it is looked for and as it is answered.
type listing struct {
	category string
	haystack string // all that a query may find it by, in lower case
	entry    json.RawMessage
}

// listings encodes every entry once.
var listings = sync.OnceValue(func() (all []listing) {
	for ind := range indicators.All() {
		all = append(all, listing{
			category: ind.Category,
			haystack: strings.ToLower(strings.Join(append([]string{ind.Name, ind.Title, ind.Doc}, ind.Aliases...), " ")),
			entry:    mcp.Encode(entryOf(ind)),
		})
	}
	return all
})

// catalogJSON returns the entries that match. Every word of the query must
// occur in a name, an alias, the title or the description.
func catalogJSON(query, category string) []byte {
	words := strings.Fields(strings.ToLower(query))
	doc := catalogJSONDoc{Sources: indicators.Sources, Indicators: []json.RawMessage{}}
	for _, l := range listings() {
		if category != "" && l.category != category {
			continue
		}
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(l.haystack, w) }) {
			continue
		}
		doc.Indicators = append(doc.Indicators, l.entry)
	}
	doc.Total = len(doc.Indicators)
	return mcp.Encode(doc)
}

func entryOf(ind *indicators.Indicator) catalogEntry {
	e := catalogEntry{
		Name: ind.Name, Description: ind.Doc, Type: "panel", Category: ind.Category, Overlay: ind.Overlay,
		Aliases: append([]string{}, ind.Aliases...), Params: []catalogParam{}, Signals: append([]string{}, ind.Signals...),
	}
	switch {
	case ind.Category == indicators.External:
		e.Type = "external"
	case ind.Overlay:
		e.Type = "overlay"
	}
	for _, p := range ind.Params {
		e.Params = append(e.Params, paramOf(p))
	}
	return e
}

func paramOf(p indicators.Param) catalogParam {
	c := catalogParam{Name: p.Name, Description: p.Doc, Default: p.Default}
	switch p.Kind {
	case indicators.Bool:
		c.Type, c.Default = "boolean", p.Default != 0
	case indicators.Choice:
		c.Type, c.Default, c.Choices = "string", p.Choices[int(p.Default)], p.Choices
		if slices.Equal(p.Choices, indicators.Sources) {
			c.Description, c.Choices = p.Doc+", one of sources", nil // a hundred entries have it, and clients cut what is long
		}
	case indicators.Int:
		c.Type, c.Min, c.Max = "integer", &p.Min, &p.Max
	default:
		c.Type, c.Min, c.Max = "number", &p.Min, &p.Max
	}
	return c
}

// computedBars is how many bars a computation covers: those whose signals come
// back. Earlier ones only warm it up.
const computedBars = 200

func (h *house) getIndicators() mcp.Tool {
	return mcp.Tool{
		Name:  "get_indicators",
		Title: "Indicator values",
		Description: "Compute indicators for a symbol and return their newest values, recent signals and levels as JSON, without a picture. " +
			"The answer says whether the bars came from the running engine (engine_cache) or were fetched.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		Schema: object([]string{"symbol", "indicators"},
			text("symbol", "Symbol such as BTCUSDT, AAPL or EURUSD=X.", ""),
			indicatorsSchema,
			oneOf("interval", "Length of a bar.", "4h", intervalWords...),
		),
		Cost: mcp.Heavy,
		Handle: func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
			r, err := parseComputation(c)
			if err != nil {
				return nil, err
			}
			return h.computation(ctx, r)
		},
	}
}

func parseComputation(c mcp.Call) (r ChartRequest, err error) {
	a, err := parseArgs(c.Arguments)
	if err != nil {
		return r, err
	}
	if r.Symbol, err = a.symbol(); err != nil {
		return r, err
	}
	if r.Symbol == "" {
		return r, fmt.Errorf("symbol is required, such as BTCUSDT")
	}
	if r.Interval, err = a.interval(market.Hour4); err != nil {
		return r, err
	}
	if r.Indicators, err = a.indicators(`[]`); err != nil {
		return r, err
	}
	if len(r.Indicators) == 0 {
		return r, fmt.Errorf(`indicators is required: an array of names such as ["rsi","macd"]; call list_indicators for the names`)
	}
	r.Bars = computedBars
	return r, nil
}

// computation answers from the engine's window where that is long enough for
// the newest values to be what a longer history gives, else from a fetch.
func (h *house) computation(ctx context.Context, r ChartRequest) (*mcp.Result, error) {
	source := "fetched"
	var v *chart.View
	var err error
	if window := h.window(r); window != nil {
		source = "engine_cache"
		v, err = compute(ctx, window, r.Indicators, r.Bars)
	} else {
		v, err = h.view(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	text := chart.AppendComputed(nil, v, source, v.Series.Len())
	return &mcp.Result{Content: []mcp.Content{{Text: text}}}, nil
}

// window returns the engine's bars if they serve the request, else nil.
func (h *house) window(r ChartRequest) *market.Series {
	if h.Engine == nil {
		return nil
	}
	s, ok := h.Engine.Window(r.Symbol, r.Interval)
	if !ok {
		return nil
	}
	for _, req := range r.Indicators {
		if len(req.Ind.Needs) > 0 || req.Warmup(r.Interval) > s.Len() {
			return nil
		}
	}
	return s
}
