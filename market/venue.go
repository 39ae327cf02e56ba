package market

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/internal/limit"
)

// Source answers queries. Bars returns an error, or one to q.Limit bars that pass
// [Series.Check], the newest last. If the newest is not closed, Forming is set. Bars may
// be called from many goroutines. The caller must not write to the Series.
type Source interface {
	Bars(ctx context.Context, q Query) (*Series, error)
}

// Venue is a source of this package: a service, a directory of files, the sample, the choice
// between services, or any of them behind a cache. It is what it offers: a function that is nil
// is not offered. Symbols are canonical, except where resolve makes them so.
type Venue struct {
	name    string
	columns []string // names of the extra columns that its bars can have; of auto those of its parts
	resolve func(text string) (string, error)
	bars    func(ctx context.Context, q Query) (*Series, error) // of a query that was checked
	known   func() []string                                     // symbols for a list to choose from, without a request
	search  func(ctx context.Context, text string) ([]Found, error)
	quote   func(ctx context.Context, symbol string) (Quote, error) // the present price; nil: that of the finest bars
	grid    func(ctx context.Context, symbol string) (Grid, error)
	// prices returns the prices of several symbols with one request. A symbol that is missing
	// in the answer is missing in the result.
	prices func(ctx context.Context, symbols []string) (map[string]Quote, error)
	rates
	crowded func() bool                  // requests wait until the budget allows them
	parts   []*Venue                     // the venues that at returns; empty for one that answers itself
	at      func(symbol string) *Venue   // which of the parts answers for a symbol
	under   *Venue                       // of a cache the venue that it asks; nil for others
	stats   func() (hits, misses uint64) // of a cache
}

// rates says how often a venue may be asked by a feed.
type rates struct {
	// pace is how long the feed has to wait after it polled a symbol, whichever, so that it uses
	// half of the budget of requests; the other half remains for charts. It is zero without a budget.
	pace  time.Duration
	batch int           // symbols whose prices one request is for at most; zero if there is no such request
	every time.Duration // of these requests there is one in each period of this length
}

// Bars answers q.
func (v *Venue) Bars(ctx context.Context, q Query) (*Series, error) {
	q, err := q.checked(v)
	if err != nil {
		return nil, err
	}
	return v.bars(ctx, q)
}

// Resolve returns the canonical symbol of a market: see the function [Resolve].
func (v *Venue) Resolve(text string) (string, error) { return v.resolve(text) }

func (v *Venue) venue() *Venue { return v }

func (v *Venue) of(symbol string) *Venue {
	if v.at == nil {
		return v
	}
	return v.at(symbol)
}

// venueOf returns a source as a venue. One of another package offers its bars, and its names if
// it has a method Resolve, which takes its own result for the same market; all else it has of the venue that it embeds, if any.
func venueOf(source Source) *Venue {
	if v, ok := source.(*Venue); ok {
		return v
	}
	v := Venue{name: "source", resolve: resolvePlain, known: knownSample}
	if s, ok := source.(interface{ venue() *Venue }); ok {
		v = *s.venue()
	}
	if r, ok := source.(interface{ Resolve(string) (string, error) }); ok {
		v.resolve = r.Resolve
	}
	if source != nil { // without one there are names all the same
		v.bars, v.under = source.Bars, nil
	}
	return &v
}

// Known returns symbols of the source for a list to choose from. For a directory of
// files these are all of them; for a service a few usual ones, because its whole list is
// long and takes a request. Known makes no request.
func Known(source Source) []string {
	return venueOf(source).known()
}

// Open returns the source that a --source value names, one of [Sources]. Getenv
// returns base URLs that replace the public ones, by names such as WICK_BINANCE_URL;
// nil means that there are none. Open requests nothing and reads no bars.
func Open(spec string, getenv func(string) string) (Source, error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	v, err := open(spec, reach{env: getenv})
	if err != nil {
		return nil, err
	}
	return Cached(v), nil
}

// open returns the venue that a spec names, without the cache that Open puts before
// it.
func open(spec string, r reach) (*Venue, error) {
	if dir, ok := strings.CutPrefix(spec, "csv:"); ok {
		return NewCSV(dir, nil)
	}
	switch spec {
	case "sample":
		return Sample{}.venue(), nil
	case "auto":
		return openAuto(r)
	}
	for _, p := range providers {
		if p.name == spec {
			extra, err := openColumns(r)
			if err != nil {
				return nil, err
			}
			s, err := p.open(r, extra)
			if err != nil {
				return nil, err
			}
			return s.venue(), nil
		}
	}
	return nil, fmt.Errorf("unknown source %q: one of %s", limit.Clip(spec), strings.Join(Sources(), ", "))
}

// providers is the table of the services that bars come from, in the order in
// which --help names them. CONTRIBUTING.md says how one is added; the tests walk
// this table and fail if a part is missing.
var providers = []*provider{&binance, &yahoo, &coinbase, &kraken}

// Services returns the names of the services in the table, each a value of --source.
func Services() (names []string) {
	for _, p := range providers {
		names = append(names, p.name)
	}
	return names
}

// Sources returns the values that [Open] takes: the built-in sample, auto, the
// services of the table, and csv:DIR.
func Sources() []string {
	return slices.Concat([]string{"sample", "auto"}, Services(), []string{"csv:DIR"})
}

// Variables returns the names of all environment variables that Open may ask for: each
// holds another base URL of a service, or of a service of extra columns.
func Variables() (names []string) {
	for _, p := range providers {
		names = append(names, p.env)
	}
	for _, c := range columnSites {
		names = append(names, c.env)
	}
	return names
}

// Query asks a source for the newest bars of a symbol.
type Query struct {
	Symbol   string   // in any spelling that Resolve takes; the answer has the canonical one
	Interval Interval // one of Intervals
	Limit    int      // at most this many bars, the newest; 1 to MaxLimit
	Extra    []string // further columns wanted, by the names of Series.Extra
}

// MaxLimit bounds Query.Limit: the longest chart and its warm-up.
const MaxLimit = 20000

// checked returns q with the canonical symbol and its columns sorted, or an error
// if a part of it is out of bounds.
func (q Query) checked(at *Venue) (Query, error) {
	symbol, err := at.resolve(q.Symbol)
	switch {
	case err != nil:
		return q, err
	case !q.Interval.Valid():
		return q, fmt.Errorf("%w %q: one of %s", errInterval, limit.Clip(string(q.Interval)), spelled(Intervals()))
	case q.Limit < 1 || q.Limit > MaxLimit:
		return q, fmt.Errorf("limit %d is out of bounds: 1 to %d bars", q.Limit, MaxLimit)
	}
	q.Symbol = symbol
	q.Extra = slices.Compact(slices.Sorted(slices.Values(q.Extra))) // two indicators may need the same
	for _, name := range q.Extra {
		if at.at == nil && !slices.Contains(at.columns, name) {
			has := cmp.Or(strings.Join(at.columns, ", "), "no extra column; leave out what reads it, or choose another --source")
			return q, fmt.Errorf("%w: %s has no %q: it has %s", errNoColumn, at.name, limit.Clip(name), has)
		}
	}
	return q, nil
}

var errNoColumn = errors.New("no such column")

// Names of the columns a source may put into Series.Extra.
const (
	ExtraFunding   = "funding"    // funding rate as a fraction
	ExtraOI        = "oi"         // open interest in quote units
	ExtraLong      = "long"       // fraction of accounts that are long
	ExtraShort     = "short"      // fraction of accounts that are short
	ExtraFearGreed = "fear_greed" // alternative.me's index, 0 to 100
)
