package trade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"wick/broker"
	"wick/exact"
	"wick/limit"
)

// reconcile reads the account and brings the book to it: every open order to the
// broker's state, with all its fills; then positions are compared. It reports whether
// nothing is open to doubt. A report that cannot be had changes nothing. It runs in
// one goroutine, without mu while the broker is asked.
func (e *Engine) reconcile(ctx context.Context) (sure bool) {
	v := e.venue
	report, err := v.Report(ctx)
	if err != nil {
		e.blind(err)
		return false
	}
	if e.elsewhere(report.Account.ID) { // it knows none of our orders, which says nothing of them
		e.refreshTrading() // fails only when the journal is broken or HALT cannot be read, which orders say
		return false
	}
	// First the state of every open order. Then the fills since the oldest that is
	// missing, in one request, and only then the book is changed.
	open, found, since, sure := e.askOpen(ctx, report)
	var fills []broker.Fill
	if !since.IsZero() {
		if fills, err = v.Fills(ctx, since); err != nil {
			e.blind(err)
			return false
		}
	}
	for _, o := range open {
		if s, ok := found[o.ID]; ok {
			sure = e.told(o.ID, s, fills) && sure
		}
	}
	sure = e.compare(report, sure) && sure
	if err := e.refreshTrading(); err != nil {
		return false
	}
	return sure
}

// askOpen returns the open orders and what the broker says of each that it has, from
// its report or asked for one by one; since when fills are missing, zero if none is;
// and whether all is known.
func (e *Engine) askOpen(ctx context.Context, report broker.Report) (open []*Order, found map[string]broker.State, since time.Time, sure bool) {
	e.mu.Lock()
	open = slices.Clone(e.ahead.openOrders())
	e.mu.Unlock()
	states := statesOf(report)
	found, sure = make(map[string]broker.State), true
	for _, o := range open {
		s, ok := states.of(o)
		if !ok {
			var err error
			if s, err = e.venue.Lookup(ctx, o.wire()); err != nil {
				sure = e.missed(o, err) && sure
				continue
			}
		}
		found[o.ID] = s
		if from := o.lastFill().Add(-fillOverlap); s.Filled > o.FilledQuantity && (since.IsZero() || from.Before(since)) {
			since = from
		}
	}
	return open, found, since, sure
}

// elsewhere reports whether a report is of another account than this book, and
// takes no more orders if so.
func (e *Engine) elsewhere(account string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.venue
	if account == v.account {
		return false
	}
	v.closed, v.judged = fmt.Sprintf("the keys are of account %s, and this book is of account %s", account, v.account), true
	return true
}

// lastFill returns when o was last filled, or else when it came in.
func (o *Order) lastFill() time.Time {
	if o.FilledQuantity > 0 && o.PriceAt != nil {
		return o.PriceAt.Time
	}
	return o.CreatedAt.Time
}

// states are the orders of a report by the broker's id and by ours, legs included.
type states map[string]broker.State

// statesOf indexes the open orders of a report.
func statesOf(r broker.Report) states {
	out := make(states)
	for _, s := range r.Open {
		for _, one := range append([]broker.State{s}, s.Legs...) {
			out["id "+one.ID], out["client "+one.ClientID] = one, one
		}
	}
	return out
}

// of returns the broker's state of o. An order whose arrival was not confirmed has no
// id of the broker's and is found by ours.
func (s states) of(o *Order) (broker.State, bool) {
	if o.BrokerID != "" {
		found, ok := s["id "+o.BrokerID]
		return found, ok
	}
	found, ok := s["client "+o.ID]
	return found, ok
}

// missed judges that the broker could not be asked for o, or does not know it. It
// reports whether that settles it.
func (e *Engine) missed(o *Order, err error) bool {
	if !errors.Is(err, broker.ErrUnknown) || !o.unknown() {
		return false // it must know it, or could not be asked
	}
	e.mu.Lock()
	v := e.venue
	d := v.doubts[o.ID]
	if d == nil { // a process before this one sent it, and is gone
		d = &doubt{ended: o.CreatedAt.Add(sendWithin)}
		v.doubts[o.ID] = d
	}
	// While the request may still be under way, "not known" means nothing.
	if d.sending || time.Since(d.ended) < unknownPatience {
		e.mu.Unlock()
		return false
	}
	// One "not known" may come from a server of the broker that has not heard of it
	// yet.
	if d.misses++; d.misses < 2 {
		e.mu.Unlock()
		return false
	}
	o = e.ahead.order(o.ID) // it may have been heard of meanwhile
	if o == nil || !o.unknown() {
		e.mu.Unlock()
		return true
	}
	seq, err := e.restate(o, StatusRejected, "it never reached "+v.name+"; place it anew if it is still wanted")
	e.mu.Unlock()
	return err == nil && e.commit(seq) == nil
}

// compare takes over a report and notes where the account is not what the book
// says. A difference counts when it was seen twice in a row, because a fill may come
// between two parts of a report, and while orders are in doubt when it has stayed
// for longer than that can explain. It reports whether that is settled.
func (e *Engine) compare(r broker.Report, sure bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.venue
	v.report, v.readAt, v.external, v.dark = r, time.Now(), nil, false
	for _, s := range r.Open {
		if o := e.ours(s); o == nil {
			v.external = append(v.external, s)
		} else if o.Status.Terminal() {
			e.learn(o.ID, s, nil) // notes that it should not be there
		}
	}
	// The differences are compared as text: the same ones twice in a row count.
	found := e.differences(r.Positions)
	text := fmt.Sprint(found)
	if text != v.suspected {
		v.suspectAt = time.Now()
	}
	settled := len(found) == 0 || text == v.suspected && (sure || time.Since(v.suspectAt) >= differPatience)
	switch {
	case r.Account.Blocked != "":
		v.closed, v.judged = r.Account.Blocked, true
	case settled:
		v.closed, v.judged = "", true
	case v.closed != "": // what was closed stays so until it is clear
		v.closed = "positions are being compared"
	}
	if settled && len(found) > 0 && len(v.differs) == 0 {
		e.log.Error("the broker's positions are not what this book's fills come to", "broker", v.name, "differences", text)
	}
	if settled {
		v.differs = found
	}
	v.suspected = text
	return settled
}

// differences returns where positions are not what the book's fills and the owner's
// base come to. Called with mu held. The result is sorted, so that two reports can be
// compared as text.
func (e *Engine) differences(held []broker.Position) (found []Difference) {
	// Symbols are spelled differently at the broker; keys make them comparable, and
	// names keep one spelling to show.
	names, book, there := map[string]string{}, map[string]exact.Decimal{}, map[string]exact.Decimal{}
	for symbol, h := range e.ahead.holdings {
		names[broker.Key(symbol)], book[broker.Key(symbol)] = symbol, h.Quantity
	}
	for _, p := range held {
		key := broker.Key(p.Symbol)
		if names[key] == "" {
			names[key] = p.Symbol
		}
		there[key] += p.Quantity
	}
	for key := range e.ahead.venue.Base {
		if names[key] == "" {
			names[key] = key
		}
	}
	for _, key := range sorted(names) {
		if there[key] != book[key]+e.ahead.venue.Base[key] {
			found = append(found, Difference{Symbol: names[key], Book: book[key], Broker: there[key]})
		}
	}
	return found
}

// blind notes that the account could not be read. After a while trading halts:
// what is not known is not taken to be as before.
func (e *Engine) blind(err error) {
	text := limit.Line(err.Error(), 200)
	e.mu.Lock()
	v := e.venue
	first := !v.dark
	v.dark = true
	if time.Since(v.readAt) >= blindAfter {
		v.closed = v.name + " cannot be read: " + text
	}
	e.mu.Unlock()
	if first {
		e.log.Warn("the broker's account cannot be read", "broker", v.name, "error", text)
	}
	e.refreshTrading() // fails only when the journal is broken or HALT cannot be read, which orders say
}
