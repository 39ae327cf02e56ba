package tools

import (
	"context"
	"sync"

	"wick/indicators"
	"wick/mcp"
)

// catalogRequest is the request of list_indicators. If there are names, query and
// category are ignored. The category narrows the query or, without one, the whole list.
type catalogRequest struct {
	names    []string
	query    string
	category string
}

// args declares the arguments of list_indicators. names has aliases, because models use
// them.
func (r *catalogRequest) args() []arg {
	return []arg{
		words(&r.names, "names", `Names or aliases of indicators to describe in full, such as ["rsi","macd"].`, 50).also("name", "indicators"),
		text(&r.query, "query", "Words to look for in names, aliases, categories, descriptions, parameters and signals, such as 200 ema, volume profile or oversold. The best match comes first.", 200),
		word(&r.category, "category", "Only this category.", "", indicators.Categories()...),
	}
}

// listIndicators defines list_indicators. Its texts are encoded once, not for each
// call.
func (h *handlers) listIndicators() tool {
	return define(mcp.Tool{
		Name:  "list_indicators",
		Title: "Indicator catalogue",
		Description: "List the indicators there are. With names or query: description, aliases, parameters with bounds, and the signals that alerts can wait for. " +
			"Without arguments the whole catalogue, which is long, with short descriptions and each parameter's default.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		MaxResult:   maxCatalog,
	}, reports, func(_ context.Context, _ mcp.Call, r *catalogRequest) (*mcp.Result, error) {
		content, err := r.answer()
		if err != nil {
			return nil, fixable(err)
		}
		return &mcp.Result{Content: []mcp.Content{content}}, nil
	})
}

// maxCatalog bounds the whole catalogue, in characters.
const maxCatalog = 72_000

// answer returns the part of the catalogue that r asks for: in full when it
// names or describes indicators, else in short.
func (r *catalogRequest) answer() (mcp.Content, error) {
	switch {
	case len(r.names) > 0:
		var found []*listing
		for _, name := range r.names {
			ind, err := indicators.Lookup(name)
			if err != nil {
				return mcp.Content{}, err
			}
			found = append(found, listings()[ind.Name])
		}
		return mcp.Content{Text: catalogJSON(found, true)}, nil
	case r.query != "":
		return mcp.Content{Text: catalogJSON(search(r.query, r.category), true)}, nil
	case r.category != "":
		// A category is given in full if that fits into a reply.
		found := inCategory(r.category)
		return mcp.Content{Text: catalogJSON(found, fits(found))}, nil
	}
	return wholeCatalog(), nil
}

// wholeCatalog is the answer without arguments, encoded once.
var wholeCatalog = sync.OnceValue(func() mcp.Content { return mcp.Fixed(catalogJSON(inCategory(""), false)) })
