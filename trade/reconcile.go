package trade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"wick/broker"
	"wick/exact"
	"wick/limit"
)

// reconcile reads the account at the broker and brings the book up to date with it:
// first every open order with what was filled of it, then positions are compared. It reports
// whether no doubt is left. If the account cannot be read, no order changes. It runs in
// one goroutine, and holds no lock while it asks the broker.
func (e *Engine) reconcile(ctx context.Context) (sure bool) {
	v := e.venue
	e.mu.Lock()
	before, asked := maps.Clone(e.ahead.holdings), time.Now()
	e.mu.Unlock()
	report, err := v.Report(ctx)
	if err != nil {
		e.blind(err)
		return false
	}
	if e.elsewhere(report.Account.ID) { // another account knows none of our orders, so its report says nothing about them
		e.refreshTrading() // fails only when the journal is broken or HALT cannot be read, which orders say
		return false
	}
	// The state of every open order is asked for before the book is changed.
	open, found, sure := e.askOpen(ctx, report)
	for _, o := range open {
		s, ok := found[o.ID]
		if !ok {
			continue
		}
		clear := e.learnAnswer(o.ID, s)
		if o.Unknown() && !o.isOf(s) {
			clear = e.giveUp(o, because(idOfAnother, e.venue.name, described(s)))
		}
		sure = clear && sure
	}
	sure = e.compare(report, asked, before, sure) && sure
	if err := e.refreshTrading(); err != nil {
		return false
	}
	return sure
}

// askOpen returns the orders that are open in the book or in the report; found, the broker's state of each order
// that it knows, from the report or asked for one by one; and sure, whether the state of all is known.
func (e *Engine) askOpen(ctx context.Context, report broker.Report) (open []*Order, found map[string]broker.State, sure bool) {
	e.mu.Lock()
	open = slices.Clone(e.ahead.openOrders())
	for _, s := range withLegs(report) {
		if o := e.ours(s); o != nil && o.Status.Terminal() {
			open = append(open, o)
		}
	}
	e.mu.Unlock()
	found, sure = make(map[string]broker.State), true
	for _, o := range open {
		s, ok := stateOf(o, report)
		// A list that says something else of the id of an order in doubt is not believed alone.
		if !ok || o.Unknown() && !o.isOf(s) {
			var err error
			if s, err = e.venue.Lookup(ctx, o.wire()); err != nil {
				sure = e.missed(o, err) && sure
				continue
			}
		}
		found[o.ID] = s
	}
	return open, found, sure
}

// elsewhere reports whether a report comes from another account than that of this book.
// If so, no more orders are taken.
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

// stateOf returns the broker's state of o, which may be a leg, in a report. If the broker
// has not confirmed the order, its id there is not known and the order is found by ours.
func stateOf(o *Order, r broker.Report) (found broker.State, ok bool) {
	for _, s := range withLegs(r) {
		if o.BrokerID != "" && s.ID == o.BrokerID || o.BrokerID == "" && s.ClientID == o.ID {
			found, ok = s, true
		}
	}
	return found, ok
}

// withLegs returns the open orders of a report and their legs, which count for themselves:
// they outlive a parent that was filled, and one that a person has moved at the broker is
// not in the book.
func withLegs(r broker.Report) (all []broker.State) {
	for _, s := range r.Open {
		all = append(append(all, s), s.Legs...)
	}
	return all
}

// missed is called when looking up o at the broker failed with err. If that means that
// the order never arrived there, it is given up. It reports whether the state of o is
// clear then.
func (e *Engine) missed(o *Order, err error) bool {
	if !errors.Is(err, broker.ErrUnknown) || !o.Unknown() {
		return false // the broker could not be asked, or has confirmed the order before and must know it
	}
	return e.giveUp(o, because(neverArrived, e.venue.name))
}

// giveUp counts that the broker, asked for o, did not have it, and rejects o with a reason once
// that can be believed. It reports whether the state of o is clear then.
func (e *Engine) giveUp(o *Order, reason Reason) (clear bool) {
	err := e.Do(func(s *state) error {
		d := e.doubt(o.ID)
		if d == nil { // the stream has told of it meanwhile
			clear = true
			return nil
		}
		// While the request may still be on its way, or after the broker has known the order, "not
		// known" means nothing. And one may come from a server that has not heard of it yet.
		if !d.sending && d.found.IsZero() && time.Since(d.ended) >= unknownPatience {
			d.misses++
		}
		if d.misses < 2 {
			return nil
		}
		clear = true
		return e.restate(s.order(o.ID), StatusRejected, reason)
	})
	return clear && err == nil
}

// compare takes over a report and notes where the positions of the account differ from
// the book. Asked is when the report was asked for, and before what the book held then. Sure is false if
// orders are in doubt. It reports whether it is settled what differs, if anything.
//
// Each symbol counts for itself. A difference counts when two reports in a row show it,
// because a fill may come between two parts of one report. While orders are in doubt, or
// if it is never the same twice, the symbol must have differed for longer than a doubt can
// explain. Until a difference counts, the one that was settled before stays.
func (e *Engine) compare(r broker.Report, asked time.Time, before map[string]holding, sure bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.venue
	v.report, v.readAt, v.external, v.dark = r, asked, nil, false
	for _, s := range withLegs(r) {
		if e.ours(s) == nil && s.Status == broker.Open {
			v.external = append(v.external, s)
		}
	}
	found, since, settled := e.differences(r.Positions, before), make(map[string]time.Time), true
	var differs []Difference
	for _, d := range found {
		at, again := v.suspectAt[d.Symbol], slices.Contains(v.suspected, d)
		if at.IsZero() {
			at = time.Now()
		}
		if slices.Contains(v.differs, d) || sure && again || time.Since(at) >= differPatience {
			differs = append(differs, d)
			continue
		}
		since[d.Symbol], settled = at, false
		if i := slices.IndexFunc(v.differs, func(was Difference) bool { return was.Symbol == d.Symbol }); i >= 0 {
			differs = append(differs, v.differs[i])
		}
	}
	switch {
	case r.Account.Blocked != "":
		v.closed, v.judged = r.Account.Blocked, true
	case settled:
		v.closed, v.judged = "", true
	case v.closed != "": // no orders were taken, and none are until it is settled
		v.closed = "positions are being compared"
	}
	if len(differs) > 0 && len(v.differs) == 0 {
		e.log.Error("the broker's positions are not what this book's fills come to", "broker", v.name, "differences", fmt.Sprint(differs))
	}
	v.differs, v.suspected, v.suspectAt = differs, found, since
	return settled
}

// differences returns where the broker's positions are not the sum of the book's fills
// and of the base, which is what the owner has accepted as held otherwise, and counts once
// it is on disk. If fills came while the report was read, a position between the sum of before
// and that of now tells nothing: what was known of it stays, be it a difference or none.
// Called with mu held. The result is sorted, so that those of two reports can be compared.
func (e *Engine) differences(held []broker.Position, before map[string]holding) (found []Difference) {
	base := e.ahead.venue.Base
	// Symbols are spelled differently at the broker, and the book may have one in two
	// spellings; keys make them comparable, and names keep one spelling to show.
	names, book, was, there := map[string]string{}, map[string]exact.Decimal{}, map[string]exact.Decimal{}, map[string]exact.Decimal{}
	for _, symbol := range sorted(e.ahead.holdings) {
		key := broker.Key(symbol)
		names[key] = symbol
		book[key] += e.ahead.holdings[symbol].Quantity
		was[key] += before[symbol].Quantity
	}
	for _, p := range held {
		key := broker.Key(p.Symbol)
		if names[key] == "" {
			names[key] = p.Symbol
		}
		there[key] += p.Quantity
	}
	for key := range base {
		if names[key] == "" {
			names[key] = key
		}
	}
	for _, key := range sorted(names) {
		d, ours := Difference{Symbol: names[key], Book: book[key], Broker: there[key]}, there[key]-base[key]
		if was[key] != book[key] && ours >= min(was[key], book[key]) && ours <= max(was[key], book[key]) {
			d.Broker = book[key] + e.besideBy(e.venue.suspected, key) // the report does not tell
		}
		if d.Broker-base[key] != book[key] {
			found = append(found, d)
		}
	}
	return found
}

// blind notes that the account could not be read. After blindAfter trading halts,
// because the account may have changed since it was last read.
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
