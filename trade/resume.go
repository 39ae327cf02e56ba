package trade

import (
	"maps"

	"wick/internal/exact"
	"wick/trade/book"
	"wick/trade/watch"
)

// progress writes down how far the market was judged, for the next process to go on from there.
type progress struct {
	store   *store
	watch   *watch.List
	notedAt book.Time // when all of it was last written down; guarded by the store's mu
}

// unnoted reports whether seen, how far a symbol was judged, has to be written down for an order that
// began to wait after a look at the market, in unix milliseconds: it is past that, and the journal,
// which has noted, has not got so far. Otherwise a crash before the next noteSeen would lose from
// where on the order must be judged.
func unnoted(seen, noted *book.Seen, at int64) bool {
	return seen != nil && (noted == nil || noted.At < at && at <= seen.At)
}

// noteSeen writes down how far those symbols were judged that an alert or an open order
// waits for, or that are held, and has the journal forget the others. Called with mu held.
func (p *progress) noteSeen(at book.Time) error {
	p.notedAt = at
	// Only what has changed is written, and nil for symbols that nothing waits for any
	// more.
	changed := make(map[string]*book.Seen)
	waiting := p.store.watching.Symbols()
	for symbol := range p.store.book.Open {
		waiting[symbol] = true
	}
	for symbol := range p.store.book.Trades { // the prices while a trade is open are told by it
		waiting[symbol] = true
	}
	for symbol := range waiting {
		if s := p.watch.Seen(symbol); s != nil && !s.Equal(p.store.book.Seen[symbol]) {
			changed[symbol] = s
		}
	}
	for symbol := range p.store.book.Seen {
		if !waiting[symbol] {
			changed[symbol] = nil
		}
	}
	return p.proposeSeen(changed, at)
}

// proposeSeen writes down how far symbols were judged; nil forgets a symbol. A record has
// at most maxSeen symbols, and trailing stops of at most one symbol's number, so that it
// fits. Called with mu held.
func (p *progress) proposeSeen(changed map[string]*book.Seen, at book.Time) error {
	empty := func() *book.Event {
		return &book.Event{At: at, Seen: make(map[string]*book.Seen), Stops: make(map[string]exact.Decimal)}
	}
	ev := empty()
	for _, symbol := range sorted(changed) {
		// Where a trailing stop stands follows from the price that was judged last, so both
		// are in the same record.
		drawn := p.store.book.Drawn(symbol)
		if len(ev.Seen) == book.MaxSeen || len(ev.Stops)+len(drawn) > book.MaxOpenPerSymbol {
			if err := p.store.book.Propose(book.KindSeen, ev); err != nil {
				return err
			}
			ev = empty()
		}
		ev.Seen[symbol] = changed[symbol]
		maps.Copy(ev.Stops, drawn)
	}
	if len(ev.Seen) == 0 {
		return nil
	}
	return p.store.book.Propose(book.KindSeen, ev)
}

// writeSeen is noteSeen for callers without mu; it returns when all is on disk.
func (p *progress) writeSeen() error {
	return p.store.Do(func(*book.State) error { return p.noteSeen(now()) })
}
