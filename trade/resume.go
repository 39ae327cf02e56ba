package trade

import (
	"iter"
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

// unnoted returns how far symbol was judged, if that is past the look at the market after which
// one of orders began to wait, in unix milliseconds, and the journal has not got so far; otherwise
// nil. Without it a crash before the next noteSeen would lose from where on the order must be
// judged. Called with mu held.
func (p *progress) unnoted(symbol string, since iter.Seq[int64]) *book.Seen {
	s, noted := p.watch.Seen(symbol), p.store.book.Seen[symbol]
	for at := range since {
		if s != nil && (noted == nil || noted.At < at && at <= s.At) {
			return s
		}
	}
	return nil
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
	ev := &book.Event{At: at, Seen: make(map[string]*book.Seen), Stops: make(map[string]exact.Decimal)}
	write := func() error {
		err := p.store.book.Propose(book.KindSeen, ev)
		ev = &book.Event{At: at, Seen: make(map[string]*book.Seen), Stops: make(map[string]exact.Decimal)}
		return err
	}
	for _, symbol := range sorted(changed) {
		// Where a trailing stop stands follows from the price that was judged last, so both
		// are in the same record.
		drawn := p.store.book.Drawn(symbol)
		if len(ev.Seen) == book.MaxSeen || len(ev.Stops)+len(drawn) > book.MaxOpenPerSymbol {
			if err := write(); err != nil {
				return err
			}
		}
		ev.Seen[symbol] = changed[symbol]
		maps.Copy(ev.Stops, drawn)
	}
	if len(ev.Seen) == 0 {
		return nil
	}
	return write()
}

// writeSeen is noteSeen for callers without mu; it returns when all is on disk.
func (p *progress) writeSeen() error {
	return p.store.Do(func(*book.State) error { return p.noteSeen(now()) })
}
