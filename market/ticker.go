package market

import (
	"context"
	"errors"
	"slices"
	"time"
)

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
	// One of the symbols is wrong, and only polling them one by one shows which.
	if e := (*Error)(nil); errors.As(err, &e) && !e.Retry {
		f.mu.Lock()
		f.single[v.name] = time.Now().Add(10 * time.Minute)
		for _, w := range batch {
			w.due = time.Now()
		}
		f.mu.Unlock()
	}
	for _, w := range batch {
		if q, ok := quotes[w.symbol]; ok {
			g := w.tick(q)
			// A service that does not say when it traded tells the last price of a market that
			// has stopped for ever: the same price again is no news.
			if !q.timed && q.Price == w.quote.Price && w.stopped {
				_ = g.refuse(w.quote, nil) // it returns no error of none
			} else if err := f.judge(w, g); err != nil {
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
