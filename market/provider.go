package market

import (
	"context"
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
	venues  []string // exchanges, written before a symbol, that this service answers for; its own name is one too
	// spell returns the service's own spelling of a symbol, which is the canonical one. It
	// returns a canonical symbol unchanged.
	spell   func(symbol string) string
	native  []Interval // bars that it serves itself, with the borders of Interval
	columns []string   // names of the extra columns that its bars can have
	// period is the time between two polls of the feed, whatever their symbols. It uses
	// half of the budget; the other half remains for charts.
	period time.Duration
	// negative reports whether the prices of a symbol may be zero or below. Nil
	// means that none may.
	negative func(symbol string) bool
	// ticker returns the prices of several symbols with one request, and the time of the
	// answer; nil if the service has no such call. A quote has a price, and a time and
	// hours if the service sends them. A request is for at most batch symbols, and there is
	// one in each period of length every.
	ticker func(ctx context.Context, h *host, symbols []string) (map[string]Quote, time.Time, error)
	batch  int
	every  time.Duration
	// single returns the price of one symbol with its bid and ask, and the time of the
	// answer. If it is nil, the price for an order comes from the ticker, or else from bars.
	single func(ctx context.Context, h *host, symbol string) (Quote, time.Time, error)
	// grid returns the rules of one market; nil if the service tells none.
	grid func(ctx context.Context, h *host, symbol string) (Grid, error)
	// list returns the symbols of all markets; of a service that has a search of its own find
	// asks that in its place.
	list func(ctx context.Context, h *host) ([]string, error)
	find func(ctx context.Context, h *host, text string) ([]Found, error)
	// page fetches bars of a native interval: about n of the newest that start before end
	// (unix seconds; 0 means the newest there are), or fewer if one request does not give
	// so many. Rows come as the service sent them.
	page func(ctx context.Context, h *host, symbol string, iv Interval, end int64, n int) (*page, error)
}

// serves reports whether the prefix of a symbol, such as NASDAQ, means p.
func (p *provider) serves(venue string) bool {
	return venue == strings.ToUpper(p.name) || slices.Contains(p.venues, venue)
}

// page is one answer of a service. Its rows may be in any order.
type page struct {
	rows     []Bar
	session  *session // nil if the market never closes
	until    int64    // unix seconds until which the rows are complete
	at       int64    // unix milliseconds of the answer, by the earlier of the service's clock and ours
	currency string
	hours    Hours // of the exchange now
	first    bool  // the history begins with the first row
	from     int64 // unix seconds at which the page begins, also without a row; zero if that is not known
	last     bool  // there are no older rows to ask for
}

// answered sets what the time of the answer says of p.
func (p *page) answered(at time.Time) {
	p.until, p.at = at.Add(-settle).Unix(), at.Add(time.Second).UnixMilli()
}

// Quote is a price and where it comes from.
type Quote struct {
	Symbol    string
	Price     float64
	Bid, Ask  float64 // what buyers offer and sellers ask now; zero if the source does not say
	At        int64   // unix milliseconds of its trade if the source says that, or else at which it was the price
	Known     int64   // unix milliseconds at which it was still the last price; zero if nothing is known beyond At
	Source    string
	Synthetic bool
	Hours     Hours // of the exchange, as far as the source says

	timed bool // the service told At
}

// Grid has the rules of an exchange for the orders of a market: the steps of prices and
// quantities, the least value and quantity of an order, and whether it is halted. The numbers are decimal text
// as the exchange sent it, because a binary fraction cannot hold such a step exactly;
// empty or zero means that there is no such rule.
type Grid struct {
	Tick    string // prices are whole multiples of it
	Lot     string // quantities are whole multiples of it
	Minimum string // least value of an order, in the quote currency
	Least   string // least quantity of an order
	// Halted is the exchange's word for a market in which nothing is traded at the moment,
	// such as "delisted"; empty if the market is open or the exchange does not say.
	Halted string
}
