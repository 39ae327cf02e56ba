package trade

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"wick/exact"
	"wick/market"
)

// seen is how far the engine has followed a symbol. The journal keeps it for
// symbols that alerts or open orders wait for, so that the next process goes on
// from there. It may be older than what was judged: judging the same again
// changes nothing, because what fired or was filled is no longer waiting.
type seen struct {
	Price     exact.Decimal             `json:"price"`               // the newest that was judged
	At        int64                     `json:"at"`                  // when it was the price, in unix milliseconds
	Synthetic bool                      `json:"synthetic,omitempty"` // it is invented
	Bars      map[market.Interval]int64 `json:"bars,omitempty"`      // start of the newest closed bar that was judged, in unix seconds
}

const (
	seenPeriod = time.Minute // what was seen is written this often
	maxSeen    = 100         // symbols in one record of it, so that it fits
)

// equal reports whether s and o say the same.
func (s *seen) equal(o *seen) bool {
	return o != nil && s.Price == o.Price && s.At == o.At && s.Synthetic == o.Synthetic && maps.Equal(s.Bars, o.Bars)
}

// missed returns about how many bars of an interval have closed since the last
// one judged, never too few. Zero if none was. A nil s has seen nothing.
func (s *seen) missed(iv market.Interval) int {
	if s == nil || s.Bars[iv] <= 0 {
		return 0
	}
	n := (time.Now().Unix() - s.Bars[iv]) / iv.Seconds()
	return int(min(max(n, 0), market.MaxLimit))
}

// of reports whether s is of the same market as a series. Invented prices say
// nothing of a real one.
func (s *seen) of(series *market.Series) bool { return s != nil && s.Synthetic == series.Synthetic }

// setSeen takes over how far symbols were followed. Nil forgets a symbol.
func (s *state) setSeen(symbols map[string]*seen) {
	for symbol, v := range symbols {
		if v == nil {
			delete(s.seen, symbol)
		} else {
			s.seen[symbol] = v
		}
	}
}

// seen returns how far a symbol was followed, nil if it has no price yet. What
// was judged counts once settle has handed what follows from it to the journal.
func (w *watchlist) seen(symbol string) *seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.instruments[symbol]
	if in == nil || in.last.price <= 0 {
		return nil
	}
	s := &seen{in.last.price, in.last.at, in.last.synthetic, make(map[market.Interval]int64)}
	for iv, win := range in.windows {
		if win.settled > 0 {
			s.Bars[iv] = win.settled
		}
	}
	return s
}

// firstSeen returns how far symbol was followed, for the record of an order or an
// alert that begins to wait, or nil if the journal knows already where to go on.
// Called with mu held.
func (e *Engine) firstSeen(symbol string, iv market.Interval) map[string]*seen {
	if known := e.ahead.seen[symbol]; known != nil && (iv == "" || known.Bars[iv] != 0) {
		return nil
	}
	if s := e.watch.seen(symbol); s != nil {
		return map[string]*seen{symbol: s}
	}
	return nil
}

// noteSeen writes down how far the symbols were followed that something waits
// for, and forgets the others. Called with mu held; it returns the last
// sequence, or 0 if there is nothing new.
func (e *Engine) noteSeen(at Time) (seq uint64, err error) {
	e.notedAt = at
	// Only what has changed is written, and nil for what nothing waits for any more.
	changed := make(map[string]*seen)
	waiting := e.waitingSymbols()
	for symbol := range waiting {
		if s := e.watch.seen(symbol); s != nil && !s.equal(e.ahead.seen[symbol]) {
			changed[symbol] = s
		}
	}
	for symbol := range e.ahead.seen {
		if !waiting[symbol] {
			changed[symbol] = nil
		}
	}
	// The stops that trail belong to the price they were drawn by, and stand in the
	// same record.
	for symbols := range slices.Chunk(sorted(changed), maxSeen) {
		ev := &event{At: at, Seen: make(map[string]*seen), Stops: make(map[string]exact.Decimal)}
		for _, symbol := range symbols {
			ev.Seen[symbol] = changed[symbol]
			maps.Copy(ev.Stops, e.drawn(symbol))
		}
		if seq, err = e.propose(kindSeen, ev); err != nil {
			return 0, err
		}
	}
	return seq, nil
}

// writeSeen is noteSeen for callers without mu; it returns when all is on disk.
func (e *Engine) writeSeen() error {
	e.mu.Lock()
	seq, err := e.noteSeen(now())
	e.mu.Unlock()
	if err != nil {
		return err
	}
	return e.commit(seq)
}

// waitingSymbols returns the symbols that alerts or open orders wait for. Called
// with mu held.
func (e *Engine) waitingSymbols() map[string]bool {
	waiting := make(map[string]bool)
	for symbol := range e.ahead.open {
		waiting[symbol] = true
	}
	for symbol := range e.ahead.index.prices {
		waiting[symbol] = true
	}
	for key := range e.ahead.index.signals {
		waiting[key.symbol] = true
	}
	return waiting
}

// rememberArrivals finds the open orders that came after the price that their
// symbol goes on from: what the market did before them does not fill them.
func (e *Engine) rememberArrivals() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for symbol, s := range e.ahead.seen {
		for _, id := range e.ahead.open[symbol] {
			if born := e.ahead.order(id).since(); born > s.At {
				e.arrived[id] = born
			}
		}
	}
}

// resume tells the feed to go on from what s saw.
func (s *seen) resume(feed Feed, symbol string) {
	if price, err := strconv.ParseFloat(s.Price.String(), 64); err == nil {
		feed.ResumePrice(symbol, price, s.At)
	}
}
