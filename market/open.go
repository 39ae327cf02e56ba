package market

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wick/internal/limit"
)

// Open returns the source that a --source value names, one of [Sources]. Getenv
// returns base URLs that replace the public ones, by names such as WICK_BINANCE_URL;
// nil means that there are none. Open requests nothing and reads no bars.
func Open(spec string, getenv func(string) string) (Source, error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	source, err := open(spec, reach{env: getenv})
	if err != nil {
		return nil, err
	}
	if _, ok := source.(Sample); ok {
		return source, nil // to compute its bars is faster than a cache
	}
	return Cached(source), nil
}

// open returns the source that a spec names, without the cache that Open puts before
// it.
func open(spec string, r reach) (Source, error) {
	if dir, ok := strings.CutPrefix(spec, "csv:"); ok {
		return NewCSV(dir)
	}
	switch spec {
	case "sample":
		return Sample{}, nil
	case "auto":
		return openAuto(r)
	}
	for _, p := range providers {
		if p.name == spec {
			return p.open(r)
		}
	}
	return nil, fmt.Errorf("unknown source %q: one of %s", limit.Clip(spec), strings.Join(Sources(), ", "))
}

// serviceOf returns the service that source asks for a symbol, or nil if the source is
// no service.
func serviceOf(source Source, symbol string) *service {
	switch s := source.(type) {
	case *cached:
		return serviceOf(s.source, symbol)
	case *auto:
		name, _ := route(symbol)
		return s.services[name]
	case *service:
		return s
	}
	return nil
}

// servicesOf returns all services that source may ask.
func servicesOf(source Source) []*service {
	switch s := source.(type) {
	case *cached:
		return servicesOf(s.source)
	case *auto:
		return slices.Collect(maps.Values(s.services))
	case *service:
		return []*service{s}
	}
	return nil
}

// paceOf returns how long the feed has to wait after it polled a symbol so that it
// uses half of the budget of requests; the other half remains for charts. It is zero
// for a source without a budget.
func paceOf(source Source, symbol string) time.Duration {
	if s := serviceOf(source, symbol); s != nil {
		return s.period
	}
	return 0
}

// sourceName returns the name of the source that answers for a symbol, as it
// stands in Series.Source. A source of another package is called "source".
func sourceName(source Source, symbol string) string {
	switch s := source.(type) {
	case *cached:
		return sourceName(s.source, symbol)
	case Sample:
		return "sample"
	case *CSV:
		return "csv"
	}
	if s := serviceOf(source, symbol); s != nil {
		return s.name
	}
	return "source"
}
