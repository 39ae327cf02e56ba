package market

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

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

// Hours is the session of an exchange that is running, or else the one before or
// after it, in unix seconds. The zero value is a market that never closes, or of
// which nothing is known.
type Hours struct{ Open, Close int64 }

// IsOpen reports whether the exchange is open at an instant in unix seconds.
func (h Hours) IsOpen(at int64) bool { return h == Hours{} || at >= h.Open && at < h.Close }

// quoteAge is how long a quote is used again for further callers of
// [Feed.Quote], so that many orders at once make one request.
const quoteAge = time.Second

// Quote asks the source for the price of a canonical symbol now, not from the
// cache, and judges it as Run judges prices: one outside of the band is asked
// for a second time and believed if that confirms it. If the feed has taken a
// newer price meanwhile it returns that. At says how old the price is: in a
// market that is closed it is the last one.
func (f *Feed) Quote(ctx context.Context, symbol string) (Quote, error) {
	always := func(Quote) bool { return true }
	return f.quotes.get(ctx, symbol, symbol, always, func(ctx context.Context) (kept[Quote], error) {
		q, err := f.freshQuote(ctx, symbol)
		return kept[Quote]{value: q, expiry: time.Now().Add(quoteAge)}, err
	})
}

// freshQuote asks the source for a quote and judges its price as the feed does. An
// older price than the feed's gives way to the feed's; one outside of the band is asked
// for a second time.
func (f *Feed) freshQuote(ctx context.Context, symbol string) (Quote, error) {
	var doubt float64 // the price of the first attempt, if it was outside of the band
	for {
		q, err := quoteOf(ctx, f.source, symbol)
		if err != nil {
			return Quote{}, err
		}
		w := f.taken(symbol)
		w.doubt = doubt
		g := &result{Update: Update{Price: q.Price, At: q.At, High: q.Price, Low: q.Price}}
		err = f.judge(w, g)
		switch {
		case err == nil && g.news:
			return q, nil
		case err == nil:
			w.quote.Hours, w.quote.Bid, w.quote.Ask = q.Hours, q.Bid, q.Ask // the feed keeps prices alone
			return w.quote, nil
		case doubt != 0 || g.doubt == 0:
			return Quote{}, fmt.Errorf("%s returned no usable price of %q: %w", q.Source, symbol, err)
		}
		// Outside of the band: a second answer, a moment later, confirms it or not.
		doubt = g.doubt
		select {
		case <-ctx.Done():
			return Quote{}, ctx.Err()
		case <-time.After(quoteAge):
		}
	}
}

// taken returns a copy of what the feed knows of the price of a symbol. Judging a
// quote by the copy leaves the state of the polls alone.
func (f *Feed) taken(symbol string) *watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.watched[symbol]; w != nil {
		return &watch{symbol: symbol, quote: w.quote}
	}
	return &watch{symbol: symbol}
}

// quoteOf asks a source for one price: with bid and ask if it tells them, by its ticker
// if it has one, else from its finest bars. It asks the source itself, not the cache,
// which may be half a minute behind.
func quoteOf(ctx context.Context, source Source, symbol string) (Quote, error) {
	s := serviceOf(source, symbol)
	if s != nil && s.single != nil {
		return s.quote(ctx, symbol)
	}
	if s != nil && s.ticker != nil {
		quotes, err := s.quotes(ctx, []string{symbol})
		if q, ok := quotes[symbol]; ok && err == nil {
			return q, nil
		} else if err != nil {
			return Quote{}, err
		}
	}
	if c, ok := source.(*cached); ok {
		source = c.source
	}
	// Only files have no minutes. Their finest interval is found by trying.
	var err error
	for _, iv := range Intervals() {
		var s *Series
		if s, err = source.Bars(ctx, Query{Symbol: symbol, Interval: iv, Limit: 2}); err == nil {
			w := &watch{symbol: symbol}
			g := w.price(s)
			return Quote{Symbol: symbol, Price: g.Price, At: g.At, Source: s.Source, Synthetic: s.Synthetic, Hours: s.Hours}, nil
		}
		if !errors.Is(err, ErrTooFine) {
			break
		}
	}
	return Quote{}, err
}

// quotes asks the ticker of a service for the prices of several symbols at once.
// A symbol that is missing in the answer is missing in the result. A price whose
// trade has no time has the time at which it was asked for, or that of the answer
// by the service's clock if it is earlier.
func (s *service) quotes(ctx context.Context, symbols []string) (map[string]Quote, error) {
	asked := time.Now()
	quotes, at, err := s.ticker(ctx, s.host, symbols)
	if err != nil {
		return nil, err
	}
	for symbol, q := range quotes {
		quotes[symbol] = s.complete(q, symbol, asked, at)
	}
	return quotes, nil
}

// quote asks a service for the price of one symbol with its bid and ask.
func (s *service) quote(ctx context.Context, symbol string) (Quote, error) {
	asked := time.Now()
	q, at, err := s.single(ctx, s.host, symbol)
	if err != nil {
		return Quote{}, err
	}
	return s.complete(q, symbol, asked, at), nil
}

// complete adds to an answer of the service what it was about.
func (s *service) complete(q Quote, symbol string, asked, at time.Time) Quote {
	q.Symbol, q.Source = symbol, s.name
	if q.At == 0 {
		q.At = min(asked.UnixMilli(), at.Add(time.Second).UnixMilli())
	}
	return q
}

// pollPrices polls the ticker of a service in each period of it, for as many of
// its watched symbols as one request takes, in turn, until ctx ends.
func (f *Feed) pollPrices(ctx context.Context, s *service, tell func(*watch, *result)) {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if batch := f.takeIdle(s, turn); len(batch) > 0 {
			f.pollBatch(ctx, s, batch, tell)
		}
	}
}

// takeIdle marks those symbols of s whose turn it is, and that are not being polled, as
// busy and returns them. A symbol whose bars were never seen is left out: it may not
// exist, and then the service refuses the whole list.
func (f *Feed) takeIdle(s *service, turn int) []*watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	var idle []*watch
	batches := slices.Collect(slices.Chunk(f.symbolsOf(s), s.batch))
	if !f.batched(s) || len(batches) == 0 {
		return nil
	}
	for _, symbol := range batches[turn%len(batches)] {
		// A price given by ResumePrice has no source: the bars come first.
		if w := f.watched[symbol]; !w.busy && w.started && w.quote.Source != "" {
			w.busy = true
			idle = append(idle, w)
		}
	}
	return idle
}

// pollBatch polls a list of symbols with one request. If the service refuses it
// for good, as one with an unknown symbol, all are polled one by one for a while;
// so is a symbol that is missing in the answer.
func (f *Feed) pollBatch(ctx context.Context, s *service, batch []*watch, tell func(*watch, *result)) {
	var symbols []string
	for _, w := range batch {
		symbols = append(symbols, w.symbol)
	}
	quotes, err := s.quotes(ctx, symbols)
	// A refusal that will not pass: one of the symbols is wrong, and only asking one by
	// one tells which.
	if e := (*Error)(nil); errors.As(err, &e) && !e.Retry {
		f.mu.Lock()
		f.single[s.name] = time.Now().Add(10 * time.Minute)
		for _, w := range batch {
			w.due = time.Now()
		}
		f.mu.Unlock()
	}
	for _, w := range batch {
		if q, ok := quotes[w.symbol]; ok {
			g := w.tick(q)
			if err := f.judge(w, g); err != nil {
				f.log.Warn("price is not taken", "symbol", w.symbol, "error", err)
			}
			tell(w, g)
		}
		f.mu.Lock()
		w.busy = false
		if _, ok := quotes[w.symbol]; !ok && err == nil {
			w.due = time.Now()
		}
		f.mu.Unlock()
	}
}

// tick returns a price without bars as the result of a poll. Its path is one
// step from the last price: how it went in between is seen with the next bars.
func (w *watch) tick(q Quote) *result {
	from := w.quote.Price
	high, low := max(from, q.Price), min(from, q.Price)
	return &result{Update: Update{
		Symbol: w.symbol, Source: q.Source, Price: q.Price, At: q.At, From: from, Since: w.quote.At, High: high, Low: low,
		Path: []Bar{{w.fine.Start(q.At / 1000), from, high, low, q.Price, 0}},
	}}
}

// batched reports whether the prices of s come from its ticker. The caller holds
// f.mu.
func (f *Feed) batched(s *service) bool {
	return s != nil && s.ticker != nil && !time.Now().Before(f.single[s.name])
}

// symbolsOf returns the watched symbols of a service, sorted. The caller holds
// f.mu.
func (f *Feed) symbolsOf(s *service) []string {
	var list []string
	for _, symbol := range slices.Sorted(maps.Keys(f.watched)) {
		if serviceOf(f.source, symbol) == s {
			list = append(list, symbol)
		}
	}
	return list
}

// serviceOf returns the service that source asks for a symbol, nil if it asks
// none.
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

// sourceName returns the name of the source that answers for a symbol, as it
// stands in Series.Source. A source of another package is called "source".
func sourceName(source Source, symbol string) string {
	if c, ok := source.(*cached); ok {
		source = c.source
	}
	switch source.(type) {
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
