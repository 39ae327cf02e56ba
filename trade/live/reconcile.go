package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

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
func (v *venue) reconcile(ctx context.Context) (sure bool) {
	var held map[string]book.Holding
	asked := v.Now()
	v.Look(func() { held = maps.Clone(v.Book.Holdings) })
	report, err := v.broker.Report(ctx)
	remote := &v.Book.Remote
	switch {
	case err != nil:
		v.Look(func() { v.blind(err) })
	// Another account knows none of our orders, so its report says nothing about them.
	case report.Account.ID != remote.Account:
		v.Look(func() {
			remote.Closed, remote.Judged = fmt.Sprintf("the keys are of account %s, and this book is of account %s", report.Account.ID, remote.Account), true
		})
	default:
		sure = true
		all := withLegs(report)
		for _, o := range v.concerned(all) {
			sure = v.readOrder(ctx, o, all) && sure
		}
		v.Look(func() { sure = v.compare(report, asked, held, sure) && sure })
	}
	return v.Refresh() == nil && sure // it fails only when the journal is broken, which orders say
}

// blind notes that the account could not be read. After blindAfter trading halts,
// because the account may have changed since it was last read. Locked.
func (v *venue) blind(err error) {
	text, remote, long := limit.Line(err.Error(), 200), &v.Book.Remote, time.Since(v.readAt) >= blindAfter
	if !v.dark {
		v.Log.Warn("the broker's account cannot be read", "broker", remote.Name, "error", text)
	}
	if v.dark = true; long || remote.ReadAt.IsZero() {
		remote.Closed = remote.Name + " cannot be read: " + text
	}
	remote.Judged = remote.Judged || long
}

// concerned returns the orders of the book that are open, there or at the broker.
func (v *venue) concerned(there []State) (orders []*book.Order) {
	v.Look(func() {
		orders = slices.DeleteFunc(v.Book.OpenOrders(), (*book.Order).Pending) // the broker does not know those
		for _, s := range there {
			if o := v.ours(s); o != nil && o.Status.Terminal() {
				orders = append(orders, o)
			}
		}
	})
	return orders
}

// withLegs returns the open orders of a report and their legs, which count for themselves:
// they outlive a parent that was filled, and one that a person has moved at the broker is
// not in the book.
func withLegs(r Report) (all []State) {
	for _, s := range r.Open {
		all = append(append(all, s), s.Legs...)
	}
	return all
}

// readOrder learns what became of o, which may be a leg, from the orders of a report or by
// asking for it, and reports whether its state is clear then.
func (v *venue) readOrder(ctx context.Context, o *book.Order, there []State) bool {
	// If the broker has not confirmed the order, its id there is not known.
	i := slices.IndexFunc(there, func(s State) bool {
		return o.BrokerID != "" && s.ID == o.BrokerID || o.BrokerID == "" && s.ClientID == o.ID
	})
	// A list that says something else of the id of an order in doubt is not believed alone.
	if i >= 0 && (!o.Unknown() || isOf(o, there[i])) {
		return v.tell(o.ID, there[i])
	}
	s, err := v.broker.Lookup(ctx, wire(o))
	switch {
	case errors.Is(err, ErrUnknown) && o.Unknown():
		return v.giveUp(o, book.Because(book.NeverArrived, v.Book.Remote.Name))
	case err != nil: // the broker could not be asked, or has confirmed the order before and must know it
		return false
	}
	clear := v.tell(o.ID, s)
	if o.Unknown() && !isOf(o, s) {
		return v.giveUp(o, book.Because(book.IdOfAnother, v.Book.Remote.Name, described(s)))
	}
	return clear
}

// giveUp counts that the broker, asked for o, did not have it, and rejects o with a reason once
// that can be believed. It reports whether the state of o is clear then.
func (v *venue) giveUp(o *book.Order, why book.Reason) (clear bool) {
	err := v.Do(func(s *book.State) error {
		if o = s.Order(o.ID); !o.Unknown() { // the stream has told of it meanwhile
			clear = true
			return nil
		}
		// While the request may still be on its way "not known" means nothing. And one may come from
		// a server that has not heard of it yet.
		x := v.of(o)
		if !x.sending && time.Since(x.ended) >= unknownPatience {
			x.misses++
		}
		if clear = x.misses >= 2; clear {
			return v.restate(o, book.StatusRejected, why)
		}
		return nil
	})
	return clear && err == nil
}

// compare takes over a report and notes where the positions of the account differ from the
// book. Asked is when the report was asked for, and held what the book held then. Sure is
// false if orders are in doubt. It reports whether it is settled what differs, if anything.
//
// Each symbol counts for itself. A difference counts when two reports in a row show it,
// because a fill may come between two parts of one report. While orders are in doubt, or
// if it is never the same twice, the symbol must have differed for longer than a doubt can
// explain. Until a difference counts, the one that was settled before stays. Locked.
func (v *venue) compare(r Report, asked book.Time, held map[string]book.Holding, sure bool) bool {
	remote := &v.Book.Remote
	v.readAt, v.dark = asked.Time, false
	remote.ReadAt, remote.Statement, remote.Held, remote.External = asked, r.Account, r.Positions, nil
	for _, s := range withLegs(r) {
		if v.ours(s) == nil && s.Status == Open {
			remote.External = append(remote.External, v.external(s))
		}
	}
	gaps, settled, before := make(map[string]book.Gap), true, len(remote.Differs())
	for key, d := range v.differences(r.Positions, held) {
		was := remote.Gaps[key]
		g := book.Gap{Difference: d, Settled: was.Settled, Since: was.Since}
		if g.Since.IsZero() {
			g.Since = time.Now()
		}
		if was.Settled != nil && *was.Settled == d || sure && was.Difference == d || time.Since(g.Since) >= differPatience {
			g.Settled, g.Since = &d, time.Time{}
		} else {
			settled = false
		}
		gaps[key] = g
	}
	remote.Gaps = gaps
	switch {
	case r.Account.Blocked != "":
		remote.Closed, remote.Judged = r.Account.Blocked, true
	case settled:
		remote.Closed, remote.Judged = "", true
	case remote.Closed != "": // no orders were taken, and none are until it is settled
		remote.Closed = "positions are being compared"
	}
	if differs := remote.Differs(); len(differs) > 0 && before == 0 {
		v.Log.Error("the broker's positions are not what this book's fills come to", "broker", remote.Name, "differences", fmt.Sprint(differs))
	}
	return settled
}

// external returns an open order of the account that this book did not place. It is shown and
// never touched. Locked.
func (v *venue) external(s State) book.Order {
	o := book.Order{
		ID: "external-" + s.ID, ClientOrderID: limit.Clip(s.ClientID), Symbol: s.Symbol, Side: book.Side(s.Side), Type: book.OrderType(s.Type), Quantity: s.Quantity, Status: book.StatusOpen,
		FilledQuantity: s.Filled, Broker: v.Book.Remote.Name, Account: v.Book.Remote.Account, BrokerID: s.ID, CreatedAt: book.Time{Time: s.CreatedAt.UTC()}, UpdatedAt: book.Time{Time: s.UpdatedAt.UTC()},
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
// They are returned by the key of their symbol. Locked.
func (v *venue) differences(there []book.BrokerPosition, before map[string]book.Holding) map[string]book.Difference {
	// Symbols are spelled differently at the broker, and the book may have one in two
	// spellings; keys make them comparable, and one spelling is shown.
	type sum struct {
		symbol            string
		was, own, account exact.Decimal
	}
	sums := make(map[string]sum)
	add := func(symbol string, x sum) {
		key := book.Key(symbol)
		s := sums[key]
		sums[key] = sum{cmp.Or(s.symbol, symbol), s.was + x.was, s.own + x.own, s.account + x.account}
	}
	for _, symbol := range slices.Sorted(maps.Keys(v.Book.Holdings)) {
		add(symbol, sum{was: before[symbol].Quantity, own: v.Book.Holdings[symbol].Quantity})
	}
	for _, p := range there {
		add(p.Symbol, sum{account: p.Quantity})
	}
	for key := range v.Book.Venue.Base {
		add(key, sum{})
	}
	found := make(map[string]book.Difference)
	for key, s := range sums {
		base := v.Book.Venue.Base[key]
		if ours := s.account - base; s.was != s.own && ours >= min(s.was, s.own) && ours <= max(s.was, s.own) {
			s.account = s.own + v.Book.Excess(key) // the report does not tell
		}
		if s.account-base != s.own {
			found[key] = book.Difference{Symbol: s.symbol, Book: s.own, Broker: s.account}
		}
	}
	return found
}

// Accept takes what differs as known from here on. Only the owner can ask for it. Until then
// new positions are refused, because the book does not know what it holds. What cannot be
// written down is not accepted.
func (v *venue) Accept(who book.Who) (accepted []book.Difference, turnedUp []string, err error) {
	r := &v.Book.Remote
	var late map[string]int
	err = v.Do(func(*book.State) error {
		late = maps.Clone(r.Late)
		if !r.Unlike() && (r.Closed != "" || len(r.Gaps) > 0) {
			return book.Refuse("broker_not_ready", "what differs at %s is not known yet: %s", r.Name, cmp.Or(r.Closed, "positions are being compared"))
		}
		ev := &book.Event{At: v.Now(), Holdings: make(map[string]book.Holding), By: who.Short(),
			Venue: &book.Stamp{Broker: r.Name, Account: r.Account, Base: make(map[string]exact.Decimal)}}
		maps.Copy(ev.Venue.Base, v.Book.Venue.Base)
		var doubt error
		for _, d := range r.Differs() {
			if id := v.mayHaveFills(d.Symbol); id != "" { // what the account lacks by one would be counted again when it is known
				doubt = book.Refuse("outcome_unknown", "what was filled of %s is not known yet, and may be why %s differs: it can be accepted once that is known", id, d.Symbol)
				continue
			}
			accepted = append(accepted, d)
			v.lose(ev, d)
		}
		if len(accepted)+len(late) == 0 && doubt != nil {
			return doubt
		}
		return v.Book.Propose(book.KindVenue, ev)
	})
	if err != nil {
		return nil, nil, err
	}
	// What was found while the step was being written has not been accepted, and stays.
	v.Look(func() {
		r.Gaps = maps.Clone(r.Gaps)
		for _, d := range accepted {
			switch key, g := book.Key(d.Symbol), r.Gaps[book.Key(d.Symbol)]; {
			case g.Difference == d:
				delete(r.Gaps, key)
			case g.Settled != nil && *g.Settled == d:
				g.Settled = nil
				r.Gaps[key] = g
			}
		}
		maps.DeleteFunc(r.Late, func(id string, times int) bool { return late[id] == times })
	})
	v.soon()
	return accepted, slices.Sorted(maps.Keys(late)), v.Refresh()
}

// lose puts into ev that a difference is accepted. What the account lacks leaves the book, which
// may have it in two spellings. The base then says by how much the account may differ from the
// book; it takes the place of what was accepted before. Locked.
func (v *venue) lose(ev *book.Event, d book.Difference) {
	key, base := book.Key(d.Symbol), d.Broker-d.Book
	for _, symbol := range slices.Sorted(maps.Keys(v.Book.Holdings)) {
		h := v.Book.Holdings[symbol]
		if gone := book.Reducible(h.Quantity, base); book.Key(symbol) == key && gone != 0 {
			ev.Holdings[symbol] = h.Without(gone)
			base += h.Quantity - ev.Holdings[symbol].Quantity
		}
	}
	ev.Venue.Base[key] = base
}

// mayHaveFills returns the id of an open order of a symbol that may have fills which the
// book does not know, or "". Locked.
func (v *venue) mayHaveFills(symbol string) string {
	for _, o := range v.Book.OpenOrders() {
		if x := v.doubts[o.ID]; book.Key(o.Symbol) == book.Key(symbol) && (o.Unknown() || x != nil && x.behind) {
			return o.ID
		}
	}
	return ""
}
