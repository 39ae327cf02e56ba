package trade

import (
	"iter"
	"maps"

	"wick/internal/exact"
	"wick/trade/book"
)

// unnoted returns how far symbol was judged, if that is past the look at the market after which
// one of orders began to wait, in unix milliseconds, and the journal has not got so far; otherwise
// nil. Without it a crash before the next noteSeen would lose from where on the order must be
// judged. Called with mu held.
func (e *Engine) unnoted(symbol string, since iter.Seq[int64]) *book.Seen {
	s, noted := e.watch.Seen(symbol), e.book.Seen[symbol]
	for at := range since {
		if s != nil && (noted == nil || noted.At < at && at <= s.At) {
			return s
		}
	}
	return nil
}

// noteSeen writes down how far those symbols were judged that an alert or an open order
// waits for, and has the journal forget the others. Called with mu held.
func (e *Engine) noteSeen(at book.Time) error {
	e.notedAt = at
	// Only what has changed is written, and nil for symbols that nothing waits for any
	// more.
	changed := make(map[string]*book.Seen)
	waiting := e.watching.Symbols()
	for symbol := range e.book.Open {
		waiting[symbol] = true
	}
	for symbol := range waiting {
		if s := e.watch.Seen(symbol); s != nil && !s.Equal(e.book.Seen[symbol]) {
			changed[symbol] = s
		}
	}
	for symbol := range e.book.Seen {
		if !waiting[symbol] {
			changed[symbol] = nil
		}
	}
	return e.proposeSeen(changed, at)
}

// proposeSeen writes down how far symbols were judged; nil forgets a symbol. A record has
// at most maxSeen symbols, and trailing stops of at most one symbol's number, so that it
// fits. Called with mu held.
func (e *Engine) proposeSeen(changed map[string]*book.Seen, at book.Time) error {
	ev := &book.Event{At: at, Seen: make(map[string]*book.Seen), Stops: make(map[string]exact.Decimal)}
	write := func() error {
		err := e.book.Propose(book.KindSeen, ev)
		ev = &book.Event{At: at, Seen: make(map[string]*book.Seen), Stops: make(map[string]exact.Decimal)}
		return err
	}
	for _, symbol := range sorted(changed) {
		// Where a trailing stop stands follows from the price that was judged last, so both
		// are in the same record.
		drawn := e.book.Drawn(symbol)
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
func (e *Engine) writeSeen() error {
	return e.Do(func(*book.State) error { return e.noteSeen(now()) })
}
