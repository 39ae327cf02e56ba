package trade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"wick/broker"
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"
)

const (
	restPeriod = 45 * time.Second // between two reconciliations when all is well
	busyPeriod = 5 * time.Second  // the same while something is in doubt
	blindAfter = 3 * time.Minute  // after so long without a report trading halts
	// unknownPatience is how long an order may still arrive at the broker after its
	// request was given up: longer than any request lives, on either side. Only a
	// "not known" that comes later is believed, and only twice in a row.
	unknownPatience = time.Minute
	// differPatience is how long orders in doubt may explain a difference of positions.
	// It is longer than any doubt that ends by itself.
	differPatience = 3 * time.Minute
)

// reconcile reads the account at the broker and brings the book up to date with it:
// first every open order with what was filled of it, then positions are compared. It reports
// whether no doubt is left. If the account cannot be read, no order changes. It runs in
// one goroutine, and holds no lock while it asks the broker.
func (v *liveVenue) reconcile(ctx context.Context) (sure bool) {
	v.mu.Lock()
	before, asked := maps.Clone(v.book.Holdings), time.Now()
	v.mu.Unlock()
	report, err := v.broker.Report(ctx)
	if err != nil {
		v.blind(err)
		return false
	}
	// Another account knows none of our orders, so its report says nothing about them.
	if id := report.Account.ID; id != v.book.Remote.Account {
		v.mu.Lock()
		v.book.Remote.Closed, v.book.Remote.Judged = fmt.Sprintf("the keys are of account %s, and this book is of account %s", id, v.book.Remote.Account), true
		v.mu.Unlock()
		v.refreshTrading() // fails only when the journal is broken or HALT cannot be read, which orders say
		return false
	}
	v.mu.Lock()
	open := slices.Clone(openOrders(v.book.State))
	for _, s := range withLegs(report) {
		if o := v.ours(s); o != nil && o.Status.Terminal() {
			open = append(open, o)
		}
	}
	v.mu.Unlock()
	sure = true
	for _, o := range open {
		sure = v.readOrder(ctx, o, report) && sure
	}
	sure = v.compare(report, asked, before, sure) && sure
	if err := v.refreshTrading(); err != nil {
		return false
	}
	return sure
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

// readOrder learns what became of o, which may be a leg, from a report or by asking for it,
// and reports whether its state is clear then.
func (v *liveVenue) readOrder(ctx context.Context, o *book.Order, r broker.Report) bool {
	var s broker.State
	listed := false
	for _, other := range withLegs(r) {
		// If the broker has not confirmed the order, its id there is not known.
		if o.BrokerID != "" && other.ID == o.BrokerID || o.BrokerID == "" && other.ClientID == o.ID {
			s, listed = other, true
		}
	}
	// A list that says something else of the id of an order in doubt is not believed alone.
	if !listed || o.Unknown() && !isOf(o, s) {
		var err error
		if s, err = v.broker.Lookup(ctx, wire(o)); err != nil {
			if !errors.Is(err, broker.ErrUnknown) || !o.Unknown() {
				return false // the broker could not be asked, or has confirmed the order before and must know it
			}
			return v.giveUp(o, book.Because(book.NeverArrived, v.book.Remote.Name))
		}
	}
	clear := v.learnAnswer(o.ID, s)
	if o.Unknown() && !isOf(o, s) {
		return v.giveUp(o, book.Because(book.IdOfAnother, v.book.Remote.Name, described(s)))
	}
	return clear
}

// giveUp counts that the broker, asked for o, did not have it, and rejects o with a reason once
// that can be believed. It reports whether the state of o is clear then.
func (v *liveVenue) giveUp(o *book.Order, reason book.Reason) (clear bool) {
	err := v.Do(func(s *book.State) error {
		if o = s.Order(o.ID); !o.Unknown() { // the stream has told of it meanwhile
			clear = true
			return nil
		}
		// While the request may still be on its way, or after the broker has known the order, "not
		// known" means nothing. And one may come from a server that has not heard of it yet.
		x := v.of(o)
		if !x.sending && x.found.IsZero() && time.Since(x.ended) >= unknownPatience {
			x.misses++
		}
		if x.misses < 2 {
			return nil
		}
		clear = true
		return v.restate(o, book.StatusRejected, reason)
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
func (v *liveVenue) compare(r broker.Report, asked time.Time, before map[string]book.Holding, sure bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.remote.report, v.remote.readAt, v.book.Remote.External, v.remote.dark = r, asked, nil, false
	for _, s := range withLegs(r) {
		if v.ours(s) == nil && s.Status == broker.Open {
			v.book.Remote.External = append(v.book.Remote.External, v.external(s))
		}
	}
	v.book.Remote.Lost = r.Account.LastEquity - r.Account.Equity
	found, since, settled := v.differences(r.Positions, before), make(map[string]time.Time), true
	var differs []book.Difference
	for _, d := range found {
		at, again := v.remote.suspectAt[d.Symbol], slices.Contains(v.book.Remote.Suspected, d)
		if at.IsZero() {
			at = time.Now()
		}
		if slices.Contains(v.book.Remote.Differs, d) || sure && again || time.Since(at) >= differPatience {
			differs = append(differs, d)
			continue
		}
		since[d.Symbol], settled = at, false
		if i := slices.IndexFunc(v.book.Remote.Differs, func(was book.Difference) bool { return was.Symbol == d.Symbol }); i >= 0 {
			differs = append(differs, v.book.Remote.Differs[i])
		}
	}
	switch {
	case r.Account.Blocked != "":
		v.book.Remote.Closed, v.book.Remote.Judged = r.Account.Blocked, true
	case settled:
		v.book.Remote.Closed, v.book.Remote.Judged = "", true
	case v.book.Remote.Closed != "": // no orders were taken, and none are until it is settled
		v.book.Remote.Closed = "positions are being compared"
	}
	if len(differs) > 0 && len(v.book.Remote.Differs) == 0 {
		v.log.Error("the broker's positions are not what this book's fills come to", "broker", v.book.Remote.Name, "differences", fmt.Sprint(differs))
	}
	v.book.Remote.Differs, v.book.Remote.Suspected, v.remote.suspectAt = differs, found, since
	return settled
}

// external returns an open order of the account that this book did not place. It is shown and
// never touched. Called with mu held.
func (v *liveVenue) external(s broker.State) book.Order {
	o := book.Order{
		ID: "external-" + s.ID, ClientOrderID: limit.Clip(s.ClientID), Symbol: s.Symbol, Side: book.Side(s.Side), Type: book.OrderType(s.Type), Quantity: s.Quantity, Status: book.StatusOpen,
		FilledQuantity: s.Filled, Broker: v.book.Remote.Name, Account: v.book.Remote.Account, BrokerID: s.ID, CreatedAt: book.Time{Time: s.CreatedAt.UTC()}, UpdatedAt: book.Time{Time: s.UpdatedAt.UTC()},
		Why: []book.Reason{book.Because(book.External)},
	}
	if s.Quantity == 0 {
		o.Explain(book.Because(book.ExternalSum))
	}
	if s.Limit != 0 {
		o.Price = &s.Limit
	}
	if s.Stop != 0 {
		o.StopPrice = &s.Stop
	}
	return o.Public()
}

// differences returns where the broker's positions are not the sum of the book's fills
// and of the base, which is what the owner has accepted as held otherwise, and counts once
// it is on disk. If fills came while the report was read, a position between the sum of before
// and that of now tells nothing: what was known of it stays, be it a difference or none.
// Called with mu held. The result is sorted, so that those of two reports can be compared.
func (v *liveVenue) differences(held []broker.Position, before map[string]book.Holding) (found []book.Difference) {
	base := v.book.Venue.Base
	// Symbols are spelled differently at the broker, and the book may have one in two
	// spellings; keys make them comparable, and names keep one spelling to show.
	names, own, was, there := map[string]string{}, map[string]exact.Decimal{}, map[string]exact.Decimal{}, map[string]exact.Decimal{}
	for _, symbol := range sorted(v.book.Holdings) {
		key := broker.Key(symbol)
		names[key] = symbol
		own[key] += v.book.Holdings[symbol].Quantity
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
		d, ours := book.Difference{Symbol: names[key], Book: own[key], Broker: there[key]}, there[key]-base[key]
		if was[key] != own[key] && ours >= min(was[key], own[key]) && ours <= max(was[key], own[key]) {
			d.Broker = own[key] + v.book.ExcessBy(v.book.Remote.Suspected, key) // the report does not tell
		}
		if d.Broker-base[key] != own[key] {
			found = append(found, d)
		}
	}
	return found
}

// blind notes that the account could not be read. After blindAfter trading halts,
// because the account may have changed since it was last read.
func (v *liveVenue) blind(err error) {
	text := limit.Line(err.Error(), 200)
	v.mu.Lock()
	first := !v.remote.dark
	v.remote.dark = true
	if time.Since(v.remote.readAt) >= blindAfter {
		v.book.Remote.Closed = v.book.Remote.Name + " cannot be read: " + text
	}
	v.mu.Unlock()
	if first {
		v.log.Warn("the broker's account cannot be read", "broker", v.book.Remote.Name, "error", text)
	}
	v.refreshTrading() // fails only when the journal is broken or HALT cannot be read, which orders say
}
