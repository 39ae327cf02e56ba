package market

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/internal/limit"
)

// quoteAge is how long a quote is used again for further callers of
// [Feed.Quote], so that many orders at once make one request. A file is read for each.
const quoteAge = time.Second

// Quote asks the source, not the cache, for the present price of a canonical symbol,
// and judges it as Run judges prices. If the price is outside of the band it asks a
// second time, and believes the price if the second answer confirms it. If the feed
// has taken a newer price meanwhile it returns that, but of a file what the file tells
// now: its owner may have taken out or corrected the row that the feed has seen. At says
// how old the price is: in a closed or quiet market it is the last one traded.
//
// While Run runs, a new price of a watched symbol is told to its listener before Quote returns,
// like that of a poll: an order that is judged by it comes behind all that the market has
// reached by then.
func (f *Feed) Quote(ctx context.Context, symbol string) (Quote, error) {
	return f.quotes.get(ctx, symbol, symbol, nil, func(ctx context.Context) (kept[Quote], error) {
		q, err := f.freshQuote(ctx, symbol)
		k := kept[Quote]{value: q, expiry: time.Now().Add(quoteAge)}
		if q.Rewritten {
			k.expiry = time.Time{}
		}
		return k, err
	})
}

// freshQuote is Quote without the memory of answers.
func (f *Feed) freshQuote(ctx context.Context, symbol string) (Quote, error) {
	var doubt float64 // the price of the first attempt, if it was outside of the band
	for {
		q, err := quoteOf(ctx, f.fresh, symbol)
		if err != nil {
			return Quote{}, err
		}
		// A copy of what is known of the price: a poll of the symbol may be under way.
		w := &watch{symbol: symbol}
		f.mu.Lock()
		if watched := f.watched[symbol]; watched != nil {
			w.quote = watched.quote
		}
		f.mu.Unlock()
		w.doubt = doubt
		if q.Rewritten {
			w.quote.At = 0 // what the file tells counts, however old
		}
		g := &result{Update: Update{Price: q.Price, At: max(q.At, q.Known), High: q.Price, Low: q.Price}}
		err = f.judge(w, g)
		switch {
		case err == nil && g.news:
			f.tellQuote(ctx, q, doubt)
			return q, nil
		case err == nil:
			w.quote.Hours, w.quote.Bid, w.quote.Ask, w.quote.Late = q.Hours, q.Bid, q.Ask, q.Late // the feed keeps prices alone
			// A price given by ResumePrice has no source.
			if w.quote.Source == "" {
				w.quote.Source, w.quote.Synthetic, w.quote.Rewritten = q.Source, q.Synthetic, q.Rewritten
			}
			return w.quote, nil
		case doubt != 0 || g.next.doubt == 0:
			return Quote{}, fmt.Errorf("%s returned no usable price of %q: %w", q.Source, symbol, err)
		}
		// The price is outside of the band: ask again a moment later.
		doubt = g.next.doubt
		select {
		case <-ctx.Done():
			return Quote{}, ctx.Err()
		case <-time.After(quoteAge):
		}
	}
}

// tellQuote tells the listener of Run that q is the price of a watched symbol, unless it has
// been told that or something newer. Doubt is the price that q confirms, if it is outside of the
// band. Where prices are read from bars these are told, with what was traded since the last poll.
func (f *Feed) tellQuote(ctx context.Context, q Quote, doubt float64) {
	w, tell := f.take(ctx, q.Symbol)
	if w == nil {
		return
	}
	if doubt != 0 {
		w.doubt = doubt
	}
	var g *result
	var err error
	if f.source.of(q.Symbol).quote == nil {
		g, _, err = f.look(ctx, w, f.fresh)
	} else {
		g = w.tick(q)
		err = f.judge(w, g)
	}
	if err != nil {
		f.log.Warn("price is not taken", "symbol", w.symbol, "error", err)
	}
	tell(w, g)
	f.mu.Lock()
	defer f.mu.Unlock()
	w.busy = false
}

// take marks a watched symbol as busy, once the poll that is under way has ended, and returns
// it with what tells its news; nil if it is not watched or Run does not run. It waits for a
// moment only, since a poll that hangs must not hold up an order; then the next poll tells. So
// it does of a symbol that goes on from a price of ResumePrice.
func (f *Feed) take(ctx context.Context, symbol string) (*watch, func(*watch, *result)) {
	ctx, cancel := context.WithTimeout(ctx, quoteAge)
	defer cancel()
	for {
		f.mu.Lock()
		w, tell := f.watched[symbol], f.tell
		wait := w != nil && tell != nil
		if wait && !w.busy && !w.resumed() {
			w.busy = true
			f.mu.Unlock()
			return w, tell
		}
		f.mu.Unlock()
		if !wait {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(feedTick / 10):
		}
	}
}

// quoteOf asks a venue for one price, or reads it from its finest bars. It is not for a cache,
// which may be half a minute behind.
func quoteOf(ctx context.Context, v *Venue, symbol string) (Quote, error) {
	if v = v.of(symbol); v.quote != nil {
		return v.quote(ctx, symbol)
	}
	return lastClose(ctx, v.bars, symbol)
}

// lastClose returns the price of the finest bars. Only files have no minutes. Their finest
// interval is found by trying.
func lastClose(ctx context.Context, bars func(context.Context, Query) (*Series, error), symbol string) (Quote, error) {
	for _, iv := range Intervals() {
		s, err := bars(ctx, Query{Symbol: symbol, Interval: iv, Limit: 2})
		if errors.Is(err, ErrTooFine) {
			continue
		}
		if err != nil {
			return Quote{}, err
		}
		g := (&watch{symbol: symbol}).price(s)
		over := iv.Next(s.Time[s.Len()-1])*1000 <= s.AsOf
		return Quote{
			Symbol: symbol, Price: g.Price, At: g.At, Source: s.Source, Synthetic: s.Synthetic,
			Rewritten: s.Rewritten, Late: s.Rewritten && over, Hours: s.Hours,
		}, nil
	}
	return Quote{}, ErrTooFine
}

func (s *service) prices(ctx context.Context, symbols []string) (map[string]Quote, error) {
	asked := time.Now()
	quotes, at, err := ask(forPrice(ctx), s.host, limit.Clip(strings.Join(symbols, " ")), s.ticker(symbols))
	for symbol, q := range quotes {
		quotes[symbol] = s.complete(q, symbol, asked, at)
	}
	return quotes, err
}

// quote asks for one price: with bid and ask if the service has them, or else by its ticker.
func (s *service) quote(ctx context.Context, symbol string) (Quote, error) {
	if s.single == nil {
		quotes, err := s.prices(ctx, []string{symbol})
		if q, ok := quotes[symbol]; ok || err != nil {
			return q, err
		}
		return lastClose(ctx, s.bars, symbol)
	}
	asked := time.Now()
	q, at, err := ask(forPrice(ctx), s.host, symbol, s.single(symbol))
	if err != nil {
		return Quote{}, err
	}
	q = s.complete(q, symbol, asked, at)
	q.Known = latest(asked, at)
	return q, nil
}

// latest returns the latest time, in unix milliseconds, at which an answer can have been
// true: when it was asked for, or the time of the answer by the service's clock if that
// is earlier.
func latest(asked, at time.Time) int64 {
	return min(asked.UnixMilli(), at.Add(time.Second).UnixMilli())
}

// complete adds symbol, source and time to a quote of the service. If the service does
// not say when the price was traded, its time is that of the answer. A trade that is a
// little ahead of our clock counts as of now; judge refuses one that is far ahead.
func (s *service) complete(q Quote, symbol string, asked, at time.Time) Quote {
	q.Symbol, q.Source, q.timed = symbol, s.name, q.At > 0
	known := latest(asked, at)
	if !q.timed || q.At > known && q.At <= known+maxAhead*1000 {
		q.At = known
	}
	return q
}

// gridAge is how long the rules of a market are used again. Exchanges announce a change of
// the steps days before, but halt a market from one moment to the next.
const gridAge = time.Minute

// Grid returns the rules of a canonical symbol: an empty Grid if its source has
// none. It asks the exchange once a minute at most.
func (f *Feed) Grid(ctx context.Context, symbol string) (Grid, error) {
	v := f.source.of(symbol)
	if v.grid == nil {
		return Grid{}, nil
	}
	return f.grids.get(ctx, symbol, symbol, nil, func(ctx context.Context) (kept[Grid], error) {
		g, err := v.grid(ctx, symbol)
		return kept[Grid]{value: g, expiry: time.Now().Add(gridAge)}, err
	})
}

// pollPrices polls the ticker of a service once in each of its periods until ctx ends.
// Each request is for as many of the watched symbols as the service allows; if there are
// more, they take turns.
func (f *Feed) pollPrices(ctx context.Context, v *Venue, tell func(*watch, *result)) {
	tick := time.NewTicker(v.every)
	defer tick.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if batch := f.takeIdle(v, turn); len(batch) > 0 {
			f.pollBatch(ctx, v, batch, tell)
		}
	}
}

// takeIdle marks as busy and returns the symbols of v whose turn it is and that are not
// being polled. It leaves out a symbol that goes on from a price of ResumePrice until its
// bars were seen: what the market did since comes before the price that it has now.
func (f *Feed) takeIdle(v *Venue, turn int) []*watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	var idle []*watch
	batches := slices.Collect(slices.Chunk(f.symbolsOf(v), v.batch))
	if !f.batched(v) || len(batches) == 0 {
		return nil
	}
	for _, symbol := range batches[turn%len(batches)] {
		if w := f.watched[symbol]; !w.busy && !w.resumed() {
			w.busy = true
			idle = append(idle, w)
		}
	}
	return idle
}

// pollBatch polls a list of symbols with one request. If trying that request again
// would not help, for instance because a symbol is unknown, all symbols of the service
// are polled one by one for ten minutes. A symbol that is missing in the answer is
// polled by itself at once.
func (f *Feed) pollBatch(ctx context.Context, v *Venue, batch []*watch, tell func(*watch, *result)) {
	var symbols []string
	for _, w := range batch {
		symbols = append(symbols, w.symbol)
	}
	quotes, err := v.prices(ctx, symbols)
	var e *Error
	refused := errors.As(err, &e) && !e.Retry // one of the symbols is wrong, and only polling them one by one shows which
	if refused {
		f.mu.Lock()
		f.single[v.name] = time.Now().Add(10 * time.Minute)
		f.mu.Unlock()
	}
	for _, w := range batch {
		if q, ok := quotes[w.symbol]; ok {
			g := w.tick(q)
			// A service that does not say when it traded tells the last price of a market that
			// has stopped for ever: the same price again is no news.
			if !q.timed && q.Price == w.quote.Price && w.stopped {
				_ = g.refuse(w, w.quote, nil) // it returns no error of none
			} else if err := f.judge(w, g); err != nil {
				f.log.Warn("price is not taken", "symbol", w.symbol, "error", err)
			}
			tell(w, g)
		}
		f.mu.Lock()
		w.busy = false
		if _, ok := quotes[w.symbol]; !ok && (err == nil || refused) {
			w.due = time.Now()
		}
		f.mu.Unlock()
	}
}
