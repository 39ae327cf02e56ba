package market

import (
	"context"
	"errors"
	"slices"
	"time"
)

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

// takeIdle marks as busy, and returns, those symbols of s whose turn it is and that are
// not being polled. A symbol whose bars were never seen is left out: it may not exist,
// and then the service refuses the whole list.
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
