package market

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
)

// provider describes one service: all that the rest of the package has to know.
type provider struct {
	site
	example string   // a symbol that it lists, shown where one was misspelled
	usual   []string // symbols that people ask for, in its own spelling
	quote   string   // the currency that most of its pairs are in
	venues  []string // prefixes of symbols that mean it, besides its own name
	// spell returns its own spelling of a symbol, which is the canonical one. It
	// returns a canonical symbol unchanged.
	spell   func(symbol string) string
	native  []Interval // bars that it serves itself, with the borders of Interval
	columns []string   // names of the extra columns that its bars can have
	// period is how far apart the feed's polls are, of whichever symbols, so that they
	// use half of the budget; the other half remains for charts.
	period time.Duration
	// negative reports whether the prices of a symbol may be zero or below. Nil
	// means that none may.
	negative func(symbol string) bool
	// ticker returns the prices of several symbols with one request, and the time of
	// the answer; nil if the service has no such call. A quote has its price, and its
	// time and hours if the service says them. A request is for at most batch symbols,
	// and every is the time from one request to the next.
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

// serves reports whether the prefix of a symbol, such as NASDAQ, means p.
func (p *provider) serves(venue string) bool {
	return venue == strings.ToUpper(p.name) || slices.Contains(p.venues, venue)
}

// page is one answer of a service, in order of time or not.
type page struct {
	rows     []Bar
	session  *session // nil if the market never closes
	until    int64    // unix seconds until which the rows are complete
	at       int64    // unix milliseconds of the answer, by the earlier of the service's clock and ours
	currency string
	hours    Hours // of the exchange now
	first    bool  // the history begins with the first row
	last     bool  // there are no older rows to ask for
}

// rows is get for an answer that is a list of bars.
func (h *host) rows(ctx context.Context, symbol string, weight int, path string, query url.Values, decode func([]byte) ([]Bar, error)) (*page, error) {
	p := &page{}
	now, err := h.get(ctx, symbol, weight, path, query, func(body []byte) (err error) {
		p.rows, err = decode(body)
		return err
	})
	p.until, p.at = now.Add(-settle).Unix(), now.Add(time.Second).UnixMilli()
	return p, err
}

// Quote is a price and where it comes from.
type Quote struct {
	Symbol    string
	Price     float64
	Bid, Ask  float64 // what buyers offer and sellers ask now; zero if the source does not say
	At        int64   // unix milliseconds at which it was the price
	Source    string
	Synthetic bool
	Hours     Hours // of the exchange, as far as the source says
}

// Grid is what an exchange counts prices and quantities of a market in, and the least
// value and quantity of an order there, by its own rules. The numbers are decimal text
// as the exchange sent it, because a binary fraction is no step; empty or zero means
// that there is no such rule.
type Grid struct {
	Tick    string // prices are whole multiples of it
	Lot     string // so are quantities of it
	Minimum string // least value of an order, in the quote currency
	Least   string // least quantity of an order
}
