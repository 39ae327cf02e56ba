package market

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// service is a source that asks one service over the network. What the services
// share is here: paging, sorting, checking, resampling, extra columns. What
// differs is in their records in the table.
type service struct {
	*provider
	host   *host
	extra  *columns
	listed memo[[]Found] // all markets
}

func (p *provider) open(r reach, extra *columns) (*service, error) {
	h, err := p.site.open(r)
	if err != nil {
		return nil, err
	}
	if p.ticker != nil {
		h.gate.reserve = int(p.window / p.every)
	}
	return &service{provider: p, host: h, extra: extra}, nil
}

func (s *service) venue() *Venue {
	v := &Venue{
		name: s.name, columns: s.columns, resolve: s.resolve, bars: s.bars, known: func() []string { return s.usual }, search: s.search,
		rates: s.rates, crowded: s.host.crowded, quote: s.quote,
	}
	if s.ticker != nil {
		v.prices = s.prices
	}
	if s.grid != nil {
		v.grid = func(ctx context.Context, symbol string) (Grid, error) {
			g, _, err := ask(ctx, s.host, symbol, s.grid(symbol))
			return g, err
		}
	}
	return v
}

// maxAhead is how many seconds a bar or a price may be ahead of our clock.
const maxAhead = 120

// maxPages bounds the requests for one query. Coinbase gives 300 rows a request, and 70
// such requests give a little more than MaxLimit.
const maxPages = 70

// bars answers q. An interval that the service lacks is made from the nearest
// finer one.
func (s *service) bars(ctx context.Context, q Query) (*Series, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	asked := time.Now()                     // taken before the request, so that no bar looks newer than it is
	base, _ := q.Interval.nearest(s.native) // never fails: every service has minutes
	p, err := s.history(ctx, q, base)
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok && errors.Is(err, ErrUnlisted) {
			e.Advice = cmp.Or(e.Advice, "check the spelling, such as "+s.example)
		}
		return nil, err
	}
	out, err := s.build(q, p, base, asked)
	if err != nil {
		return nil, err
	}
	if err := s.extra.add(ctx, out, q.Extra); err != nil {
		return nil, err
	}
	if err := out.Check(); err != nil {
		return nil, s.unsound(q, err)
	}
	return out, nil
}

// build makes the series that q asks for from the rows of a page, which are of
// the interval base.
func (s *service) build(q Query, p *page, base Interval, asked time.Time) (*Series, error) {
	rows, err := sound(p.rows, asked.Unix()+maxAhead, s.negative == nil || !s.negative(q.Symbol))
	if err != nil {
		return nil, s.unsound(q, err)
	}
	about := Series{Symbol: q.Symbol, Source: s.name, Currency: p.currency, Hours: p.hours, AsOf: asked.UnixMilli()}
	if p.session != nil {
		about.Zone = p.session.zone
	}
	// Also to the interval of the rows. That joins those that belong to one bar, such
	// as the last trade that Yahoo adds, and moves bars to the borders of their session.
	fine := resample(about, rows, base, p.session, p.until)
	out := fine
	if base != q.Interval {
		out = resample(about, rows, q.Interval, p.session, p.until)
	}
	out.PriceAt = fine.priceAt(min(fine.AsOf, p.at))
	if out.Len() > 1 && !p.first && fine.Time[0] > out.Time[0] {
		out = out.Tail(out.Len() - 1) // the first bar began before the first row that we have
	}
	// Before bars are left out: to tell a gap from a pause takes the day before it.
	out.Gaps = findGaps(out, p.session)
	return out.Tail(q.Limit), nil
}

func (s *service) unsound(q Query, err error) error {
	return &Error{Source: s.name, Symbol: q.Symbol, Status: http.StatusOK, Reason: "its bars are inconsistent", Retry: true, Err: err}
}

// history pages backwards until it has rows for q.Limit bars or the history ends. The
// page that it returns has all rows, and all else from the newest page.
func (s *service) history(ctx context.Context, q Query, base Interval) (*page, error) {
	need := q.Limit // rows that are still missing
	if base != q.Interval {
		need = int(q.Interval.Seconds()/base.Seconds()) * (q.Limit + 1) // one more: the first may be incomplete
	}
	// Interval.Seconds counts 30 days for a month.
	if q.Interval == Month1 {
		need += need / 30 // 31 days
	}
	need = min(need, MaxLimit)
	var all *page
	end := int64(0)
	quiet := 0 // how many pages had no rows, because nothing was traded for long
	for range maxPages {
		p, at, err := ask(ctx, s.host, q.Symbol, s.page(q.Symbol, base, end, min(need, MaxLimit), quiet))
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = p
			all.at = at.Add(time.Second).UnixMilli()
			if all.until == 0 {
				all.until = at.Add(-settle).Unix()
			}
		} else {
			all.rows = append(p.rows, all.rows...)
			all.first = p.first || len(p.rows) == 0 && p.from == 0
		}
		need -= len(p.rows)
		if len(p.rows) == 0 && p.from == 0 || need <= 0 || p.first || p.last {
			break
		}
		oldest := int64(-1)
		for _, b := range p.rows { // of those whose time cannot be read it is below zero
			if b.Time >= 0 && (oldest < 0 || b.Time < oldest) {
				oldest = b.Time
			}
		}
		if len(p.rows) == 0 {
			oldest, quiet = p.from, quiet+1
		}
		if end != 0 && oldest >= end || oldest < 0 {
			break // the service ignores our end, so the next page would be the same, or sends no times
		}
		end = oldest
	}
	if len(all.rows) == 0 {
		return nil, &Error{Source: s.name, Symbol: q.Symbol, Status: http.StatusOK, Reason: "the answer holds no bars of " + string(base), Advice: "check the symbol"}
	}
	return all, nil
}

// sound returns the rows in order of time. It leaves out rows that start after latest, in unix
// seconds, and rows that no market can have made. Long histories have a few such bad rows,
// which then show as gaps; if there are many, or if the newest row is bad, it is an error.
func sound(rows []Bar, latest int64, positive bool) (good []Bar, err error) {
	rows = inOrder(slices.DeleteFunc(rows, func(b Bar) bool { return b.Time > latest }))
	if len(rows) == 0 {
		return nil, fmt.Errorf("%w: all of them are in the future; check the clock of this machine", errBadBars)
	}
	for _, b := range rows {
		if err = b.Check(); err == nil && positive {
			err = b.positive()
		}
		if b.Time < 0 {
			err = errors.New("its time is not one that a market can have")
		}
		if err == nil {
			good = append(good, b)
		}
	}
	// Here err is the error of the newest row, which must be good. Of the others one in
	// twenty may be bad.
	if err != nil || len(rows)-len(good) > len(rows)/20+1 {
		return nil, errors.Join(errBadBars, err)
	}
	return good, nil
}

// provider describes one service: all that the rest of the package has to know.
type provider struct {
	site
	example string   // a symbol that it lists, shown where one was misspelled
	usual   []string // symbols that people ask for, in its own spelling
	venues  []string // exchanges, written before a symbol, that this service answers for; its own name is one too
	// spell returns the service's own spelling of a symbol, which is the canonical one. It
	// returns a canonical symbol unchanged.
	spell   func(symbol string) string
	native  []Interval // bars that it serves itself, with the borders of Interval
	columns []string   // names of the extra columns that its bars can have
	rates
	// negative reports whether the prices of a symbol may be zero or below. Nil
	// means that none may.
	negative func(symbol string) bool
	// ticker asks for the prices of several symbols; nil if the service has no such call. A
	// quote has a price, and a time and hours if the service sends them.
	ticker func(symbols []string) request[map[string]Quote]
	// single asks for the price of one symbol with its bid and ask. If it is nil, the price for
	// an order comes from the ticker, or else from bars.
	single func(symbol string) request[Quote]
	// grid asks for the rules of one market; nil if the service tells none.
	grid func(symbol string) request[Grid]
	// list asks for the symbols of all markets; of a service that has a search of its own find
	// asks that in its place.
	list request[[]string]
	find func(text string) request[[]Found]
	// page asks for bars of a native interval: about n of the newest that start before end
	// (unix seconds; 0 means the newest there are), or fewer if one request does not give
	// so many. After quiet pages without a row it reaches further back. Rows come as the
	// service sent them.
	page func(symbol string, iv Interval, end int64, n, quiet int) request[*page]
}

// serves reports whether the prefix of a symbol, such as NASDAQ, means p.
func (p *provider) serves(venue string) bool {
	return venue == strings.ToUpper(p.name) || slices.Contains(p.venues, venue)
}

// page is one answer of a service. Its rows may be in any order.
type page struct {
	rows     []Bar
	session  *session // nil if the market never closes
	until    int64    // unix seconds until which the rows are complete; zero: until the answer
	at       int64    // unix milliseconds of the answer, by the earlier of the service's clock and ours
	currency string
	hours    Hours // of the exchange now
	first    bool  // the history begins with the first row
	from     int64 // unix seconds at which the page begins, also without a row; zero if that is not known
	last     bool  // there are no older rows to ask for
}

// Quote is a price and where it comes from.
type Quote struct {
	Symbol    string
	Price     float64
	Bid, Ask  float64 // what buyers offer and sellers ask now; zero if the source does not say
	At        int64   // unix milliseconds of its trade if the source says that, or else at which it was the price
	Known     int64   // unix milliseconds at which it was still the last price; zero if nothing is known beyond At
	Rewritten bool    // it is of a file, whose owner may change what is long past: what it says now counts
	Late      bool    // it is of a row that is over, of a file that may be told only then what was traded since
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
