package trade

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"wick/internal/journal"
	"wick/internal/limit"
	"wick/trade/book"
)

// keptOrders is how many terminal orders stay in memory. The others are read from the
// closed generations of the journal, whose index finds them.
const keptOrders = 10_000

// The index finds the records of an order by its own id, the first of them by the client's, those
// that label it, and all that end a trade. Clients choose their ids, so the kinds of keys are kept
// apart.
func orderKey(id string) string  { return "order " + id }
func clientKey(id string) string { return "client " + id }
func labelKey(id string) string  { return "label " + id }

const tradesKey = "trades"

// recordKeys says under which keys the index finds a record.
func recordKeys(_ byte, payload []byte) (k journal.Keys, err error) {
	ev, err := book.DecodeEvent(payload)
	if err != nil {
		return k, err
	}
	for _, o := range append([]*book.Order{ev.Order}, ev.Begin...) {
		if o == nil {
			continue
		}
		k.All = append(k.All, orderKey(o.ID))
		if o.ClientOrderID != "" {
			k.All = append(k.All, clientKey(o.ClientOrderID))
		}
		if o.Status.Terminal() {
			k.Ended = append(k.Ended, orderKey(o.ID))
		}
	}
	for _, e := range ev.Ends {
		k.All, k.Ended = append(k.All, orderKey(e.ID)), append(k.Ended, orderKey(e.ID))
	}
	for id := range ev.Stops {
		k.All = append(k.All, orderKey(id))
	}
	if l := ev.Label; l != nil {
		k.All = append(k.All, orderKey(l.OrderID), labelKey(l.OrderID))
	}
	if len(ev.Trades) > 0 {
		k.Ended = append(k.Ended, tradesKey)
	}
	return k, nil
}

// orderHistory is what the records of a journal say of orders, one record after the other.
type orderHistory struct {
	orders map[string]*book.Order
	ids    []string // in the order in which they were placed
}

// add takes over what an event says of the orders that are wanted.
func (h *orderHistory) add(ev *book.Event, wanted func(id string) bool) {
	for _, o := range ev.Changed(func(id string) *book.Order { return h.orders[id] }) {
		if wanted(o.ID) {
			h.set(o)
		}
	}
	for id, stop := range ev.Stops {
		if o := h.orders[id]; o != nil {
			h.orders[id] = o.WithStop(stop)
		}
	}
	if l := ev.Label; l != nil && h.orders[l.OrderID] != nil {
		o := *h.orders[l.OrderID]
		o.Label = l.Over(o.Label)
		h.orders[o.ID] = &o
	}
}

// set takes over an order.
func (h *orderHistory) set(o *book.Order) {
	if h.orders[o.ID] == nil {
		h.ids = append(h.ids, o.ID)
	}
	h.orders[o.ID] = o
}

// archive has the orders of the closed generations of the journal. Its methods read the disk,
// so they are called without mu, which they do not need.
type archive struct {
	*journal.Index // nil with a shared log
}

// order returns the order with a key, or nil. A damaged file is an error: to say wrongly that
// there is no such order would let the same order be placed twice.
func (a archive) order(key string) (o *book.Order, err error) {
	if o, _, err = a.lookUp(key); err != nil {
		err = fmt.Errorf("%w: whether there is a %s cannot be said: %w", journal.ErrStorage, limit.Clip(key), err)
	}
	return o, err
}

// lookUp is order, and also returns the sequence of the last record of the order.
func (a archive) lookUp(key string) (o *book.Order, last uint64, err error) {
	records, err := a.Find(key)
	if err != nil || len(records) == 0 {
		return nil, 0, err
	}
	id, ours := strings.CutPrefix(key, orderKey(""))
	if !ours { // the order whose id the client chose
		ev, err := book.DecodeEvent(records[0].Payload)
		if err != nil {
			return nil, 0, err
		}
		for _, o := range append([]*book.Order{ev.Order}, ev.Begin...) {
			if o != nil && clientKey(o.ClientOrderID) == key {
				id = o.ID
			}
		}
		if records, err = a.Find(orderKey(id)); err != nil {
			return nil, 0, err
		}
	}
	h := orderHistory{orders: make(map[string]*book.Order)}
	for _, r := range records {
		ev, err := book.DecodeEvent(r.Payload)
		if err != nil {
			return nil, 0, err
		}
		h.add(ev, func(other string) bool { return other == id })
		if ev.Label == nil {
			last = r.Seq
		}
	}
	return h.orders[id], last, nil
}

// forgetClosed takes orders and trades out of memory that have ended and are in the index. An order
// that a broker elsewhere may still say something about stays, and one that counts against its client,
// which the next start has to find.
func (b *store) forgetClosed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := now()
	b.book.ForgetOrders(b.archive.Through(), b.kept, func(o *book.Order) bool {
		return o.EndedWithin(book.LateWithin+time.Hour, at) || o.Counts(at)
	})
	b.book.ForgetTrades(b.archive.Through(), b.kept)
}

// indexClosed puts generations that were closed into the index and forgets what ended in
// them. It fails if the disk is full, and then all stays in memory until it is called again.
func (b *store) indexClosed() error {
	b.indexing.Lock()
	defer b.indexing.Unlock()
	if b.archive.Index == nil {
		return nil
	}
	err := b.archive.Update()
	if err == nil {
		b.forgetClosed()
	}
	return err
}

// keepIndex calls indexClosed after each rotation, beside the writers, until ctx ends.
func (b *store) keepIndex(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.rotated:
		}
		if err := b.indexClosed(); err != nil {
			b.log.Warn("the index of finished orders was not written, which the next rotation tries again: they stay in memory", "error", err)
		}
	}
}

// Archived is what [Engine.FindArchived] has found.
type Archived struct {
	Orders []book.Order // newest first
	More   bool         // others pass the filter
	Before book.Time    // orders that ended earlier were not looked at; zero if all were
}

// archiveLooks is how many finished orders one search looks at, which takes a second. An
// order whose records are far apart counts as many times as that takes longer.
const (
	archiveLooks = 100_000
	farLooks     = 10
)

// outOfOrder is by how much an order may have ended before one that the journal has earlier:
// the clock may have been set back.
const outOfOrder = 24 * time.Hour

// FindArchived returns orders that are no longer in memory and pass the filter, those that
// ended last first: at most so many, after the first skip. An order that leaves memory
// meanwhile may be found by Find as well.
func (e *Engine) FindArchived(ctx context.Context, f OrderFilter, skip, most int) (found Archived, err error) {
	if f.Symbol, err = e.symbolOrAll(f.Symbol); err != nil || f.Status == book.StatusOpen {
		return found, err
	}
	e.mu.Lock()
	orders, last, late := slices.Clone(e.book.Orders), e.archive.Len(), maps.Clone(e.book.Labels)
	e.mu.Unlock()
	there := map[uint64]bool{journal.Digest(tradesKey): true} // in memory, by digest
	for _, o := range orders {
		there[journal.Digest(orderKey(o.ID))] = true
	}
	found.Before, err = e.archive.back(ctx, last, f.Since, f.Until, func(digest uint64) bool {
		unread := f == (OrderFilter{}) && skip > 0 && !there[digest] // all pass, so none need be looked at
		if unread {
			skip--
		}
		return !unread && !there[digest]
	}, func(end journal.Ending, r journal.Entry, ev *book.Event) (cost int, more bool, err error) {
		o, cost, err := e.archive.ended(end, r, ev)
		switch {
		case err != nil || o == nil || !f.passes(o): // if it is nil, it changed later: it is found where it ended at last
		case skip > 0:
			skip--
		case len(found.Orders) == most:
			found.More = true
			return cost, false, nil
		default:
			shown := o.Public()
			shown.Label, err = e.archive.label(o.ID, o.Label, late)
			found.Orders = append(found.Orders, shown)
		}
		return cost, true, err
	})
	return found, err
}

// back calls visit with the records of the first last endings, the last of them first: with those
// whose digest is wanted, and that may be of a time. Visit returns what it has cost to look at one,
// and false to end the search. If that comes to archiveLooks, back returns when those ended that
// were not looked at.
func (a archive) back(ctx context.Context, last int, since, until time.Time, wanted func(digest uint64) bool,
	visit func(journal.Ending, journal.Entry, *book.Event) (cost int, more bool, err error)) (before book.Time, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", journal.ErrStorage, err)
		}
	}()
	if !until.IsZero() {
		if last, err = a.endedBefore(last, until.Add(outOfOrder)); err != nil {
			return before, err
		}
	}
	looks := 0
	for end, err := range a.Endings(last) {
		if err == nil && !wanted(end.Digest) {
			continue
		}
		var r journal.Entry
		if err == nil {
			r, err = end.Read()
		}
		var ev *book.Event
		if err == nil {
			ev, err = book.DecodeEvent(r.Payload)
		}
		switch err := cmp.Or(err, ctx.Err()); {
		case err != nil:
			return before, err
		case !since.IsZero() && ev.At.Before(since.Add(-outOfOrder)):
			return before, nil
		case looks >= archiveLooks:
			return book.Time{Time: ev.At.Add(time.Millisecond)}, nil // others may have ended with it
		}
		cost, more, err := visit(end, r, ev)
		if looks += cost; err != nil || !more {
			return before, err
		}
	}
	return before, nil
}

// endedBefore returns how many of the first n orders that ended did so before a time.
func (a archive) endedBefore(n int, until time.Time) (before int, err error) {
	before = sort.Search(n, func(i int) bool {
		var at struct{ At book.Time }
		for end, failed := range a.Endings(i + 1) {
			var r journal.Entry
			if failed == nil {
				r, failed = end.Read()
			}
			if failed == nil {
				failed = json.Unmarshal(r.Payload, &at)
			}
			err = cmp.Or(err, failed)
			break
		}
		return err != nil || !at.At.Before(until)
	})
	return before, err
}

// ended returns the order that a record has ended, as the record says, and what it cost to find
// it. It returns nil if a later record has changed it.
func (a archive) ended(end journal.Ending, r journal.Entry, ev *book.Event) (o *book.Order, cost int, err error) {
	// On paper nothing changes an order that has ended.
	if o := ev.Order; o != nil && o.Account == "" && journal.Digest(orderKey(o.ID)) == end.Digest {
		return o, 1, nil
	}
	keys, err := recordKeys(r.Kind, r.Payload)
	for _, key := range keys.Ended {
		if journal.Digest(key) == end.Digest {
			o, last, err := a.lookUp(key)
			if last != r.Seq {
				o = nil
			}
			return o, farLooks, err
		}
	}
	return nil, 1, err
}
