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

// quoteAge is how long a quote is used again for further callers of
// [Feed.Quote], so that many orders at once make one request. A file is read for each.
const quoteAge = time.Second

// Quote asks the source, not the cache, for the present price of a canonical symbol,
// and judges it as Run judges prices: one outside of the band is an error, until a poll has
// confirmed it. If the feed has taken a newer price meanwhile it returns that, but of a file what the
// file tells now: its owner may have taken out or corrected the row that the feed has seen. At says
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
func (f *Feed) freshQuote(ctx context.Context, symbol string) (q Quote, err error) {
	f.mu.Lock()
	w, watched := f.watched[symbol]
	if !watched {
		w = &watch{symbol: symbol}
	}
	was := w.state()
	f.mu.Unlock()
	var bars *Series // where prices are read from them
	if v := f.fresh.of(symbol); v.quote != nil {
		q, err = v.quote(ctx, symbol)
	} else if bars, err = look(ctx, v, symbol, was); err == nil {
		q = bars.quote()
	}
	if err != nil {
		return Quote{}, err
	}
	q.Symbol = symbol
	_, err = f.fold(w, func(was seen) (*result, error) {
		last := was
		if q.Rewritten {
			last.quote.At = 0 // what the file tells counts, however old
		}
		g := &result{Update: Update{Price: q.Price, At: max(q.At, q.Known), High: q.Price, Low: q.Price}}
		switch err := f.judge(last, g); {
		case err != nil:
			return nil, fmt.Errorf("%s returned no usable price of %q: %w", q.Source, symbol, err)
		case !g.news:
			last := was.quote // the feed keeps prices alone
			last.Hours, last.Bid, last.Ask, last.Late = q.Hours, q.Bid, q.Ask, q.Late
			if last.Source == "" { // it was given by Resume
				last.Source, last.Synthetic, last.Rewritten = q.Source, q.Synthetic, q.Rewritten
			}
			q = last
			return nil, nil
		case !watched || was.resumed(): // what the market did since comes before this price
			return nil, nil
		}
		var err error
		if bars != nil {
			g, err = f.bars(was, bars)
		} else {
			g, err = f.tick(was, q)
		}
		if err != nil {
			f.log.Warn("price is not taken", "symbol", symbol, "error", err)
		}
		return g, nil
	})
	return q, err
}

// tick returns what a price without bars says. Its path is one step from the last price to this
// one; the next bars show what was traded between them. A service that does not say when it traded
// tells the last price of a market that has stopped for ever: the same price again is no news.
func (f *Feed) tick(was seen, q Quote) (*result, error) {
	from, since := cmp.Or(was.quote.Price, q.Price), cmp.Or(was.quote.At, q.At)
	high, low := max(from, q.Price), min(from, q.Price)
	g := &result{next: was, Update: Update{
		Symbol: q.Symbol, Source: q.Source, Price: q.Price, At: q.At, From: from, Since: since, High: high, Low: low,
		Path: []Bar{{was.fine.Start(q.At / 1000), from, high, low, q.Price, 0}}, Step: was.fine,
	}}
	g.next.doubt = 0
	if !q.timed && q.Price == was.quote.Price && was.stopped {
		return g, g.refuse(was, nil)
	}
	return g, f.judge(was, g)
}

// quote returns the last close.
func (s *Series) quote() Quote {
	n := s.Len() - 1
	return Quote{
		Symbol: s.Symbol, Price: s.Close[n], At: s.pricedAt(), Source: s.Source, Synthetic: s.Synthetic, Rewritten: s.Rewritten,
		Late: s.Rewritten && s.Interval.Next(s.Time[n])*1000 <= s.AsOf, Hours: s.Hours,
	}
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
		bars, err := s.bars(ctx, Query{Symbol: symbol, Interval: Minute1, Limit: 2})
		if err != nil {
			return Quote{}, err
		}
		return bars.quote(), nil
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
func (f *Feed) pollPrices(ctx context.Context, d *desk) {
	tick := time.Tick(d.every)
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		if batch := f.takeTurn(d, turn); len(batch) > 0 {
			f.pollBatch(ctx, d, batch)
		}
	}
}

// takeTurn returns the symbols of d whose turn it is. It leaves out a symbol whose bars are being
// polled, which would be older than the price, and one that goes on from a price of Resume until
// its bars were seen: what the market did since comes before the price that it has now.
func (f *Feed) takeTurn(d *desk, turn int) (batch []*watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	batches := slices.Collect(slices.Chunk(f.at(d), d.batch))
	if !d.batched() || len(batches) == 0 {
		return nil
	}
	return slices.DeleteFunc(batches[turn%len(batches)], func(w *watch) bool { return w.busy || w.resumed() })
}

// pollBatch polls a list of symbols with one request. If trying that request again
// would not help, for instance because a symbol is unknown, all symbols of the service
// are polled one by one for ten minutes. A symbol that is missing in the answer is
// polled by itself at once.
func (f *Feed) pollBatch(ctx context.Context, d *desk, batch []*watch) {
	var symbols []string
	for _, w := range batch {
		symbols = append(symbols, w.symbol)
	}
	quotes, err := d.prices(ctx, symbols)
	e, ok := errors.AsType[*Error](err)
	refused := ok && !e.Retry // one of the symbols is wrong, and only polling them one by one shows which
	if refused {
		f.mu.Lock()
		d.single = time.Now().Add(10 * time.Minute)
		f.mu.Unlock()
	}
	for _, w := range batch {
		if q, ok := quotes[w.symbol]; ok {
			if _, err := f.fold(w, func(was seen) (*result, error) { return f.tick(was, q) }); err != nil {
				f.log.Warn("price is not taken", "symbol", w.symbol, "error", err)
			}
		} else if err == nil || refused {
			f.mu.Lock()
			w.due = time.Now()
			f.mu.Unlock()
		}
	}
}
