package market

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"wick/limit"
)

// providers is the table of the services that bars come from, in the order in
// which --help names them. A service is added by its own file with a record
// like the others, a line here, a stand-in in package markettest, and a row in
// docs/deploy.md; the tests walk this table and fail if one of them is missing.
var providers = []*provider{&binance, &yahoo, &coinbase, &kraken}

// provider describes one service: all that the rest of the package has to know.
type provider struct {
	site
	example string   // a symbol that it lists, shown where one was misspelled
	usual   []string // symbols that people ask for, in its own spelling
	quote   string   // the currency that most of its pairs are in
	venues  []string // prefixes of symbols that mean it, besides its own name
	// spell returns its own spelling of a symbol, which is the canonical one. It
	// must return that unchanged.
	spell   func(symbol string) string
	native  []Interval // bars that it serves itself, with the borders of Interval
	columns []string   // names of the extra columns that its bars can have
	// period is how much time one poll of a symbol uses up of half the budget,
	// so that the other half remains for charts.
	period time.Duration
	// negative reports whether the prices of a symbol may be zero or below. Nil
	// means that none may.
	negative func(symbol string) bool
	// ticker returns the prices of several symbols with one request, and the time of
	// the answer; nil if the service has no such call. A quote has its price, and its
	// time and hours if the service says them. It is asked for at most batch symbols
	// at a time, each every.
	ticker func(ctx context.Context, h *host, symbols []string) (map[string]Quote, time.Time, error)
	batch  int
	every  time.Duration
	// single returns the price of one symbol with its bid and ask, and the time of the
	// answer. Nil means that an order is judged by the ticker, or else by bars.
	single func(ctx context.Context, h *host, symbol string) (Quote, time.Time, error)
	// grid returns the rules of one market; nil if the service tells none.
	grid func(ctx context.Context, h *host, symbol string) (Grid, error)
	// page fetches bars of a native interval: the newest of those that start
	// before end (unix seconds; 0 means the newest there are), about n of them if
	// one request gives so many. Rows come as the service sent them.
	page func(ctx context.Context, h *host, symbol string, iv Interval, end int64, n int) (*page, error)
}

// site describes one address: where it is, how often it may be asked, and how
// it explains a refusal. A provider has one, and so has each service of extra
// columns.
type site struct {
	name string // in messages and as the value of --source
	env  string // environment variable that holds another base URL
	url  string // its public address

	limit  int           // units that may be spent in each window
	window time.Duration // windows start at whole multiples of it, as services count
	used   string        // header in which it says what we spent; "" if it does not
	// peace is the wait after status 429 if the service names none; 0 means to
	// back off as after any failure.
	peace time.Duration
	// explain finds reason and advice in the body of a refusal. It may be nil and
	// may return nil: then the status alone is explained.
	explain func(status int, body []byte) *Error
}

// reach says how sites are reached. Tests set a transport of their own.
type reach struct {
	env func(name string) string // other base URLs, by the name of their variable
	// transport carries the requests. Nil means one that connects to public
	// addresses only, or to loopback only if the base URL is loopback, and that
	// uses no proxy.
	transport http.RoundTripper
}

// Sources returns the values that [Open] takes: the built-in sample, auto, the
// services of the table, and csv:DIR.
func Sources() []string {
	specs := []string{"sample", "auto"}
	for _, p := range providers {
		specs = append(specs, p.name)
	}
	return append(specs, "csv:DIR")
}

// Open returns the source that a --source value names, one of [Sources]. Getenv
// is asked for base URLs that replace the public ones, such as WICK_BINANCE_URL;
// nil means none. Nothing is requested or read yet.
func Open(spec string, getenv func(string) string) (Source, error) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	source, err := open(spec, reach{env: getenv})
	if err != nil {
		return nil, err
	}
	if _, ok := source.(Sample); ok {
		return source, nil // computed faster than looked up
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

// open returns a service that asks p.
func (p *provider) open(r reach) (*service, error) {
	h, err := p.site.open(r)
	if err != nil {
		return nil, err
	}
	columns, err := openColumns(r, p.columns)
	if err != nil {
		return nil, err
	}
	return &service{provider: p, host: h, columns: columns}, nil
}
