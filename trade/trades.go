package trade

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"wick/internal/journal"
	"wick/trade/book"
)

// TradeFilter says which trades are wanted. A zero field does not restrict them.
type TradeFilter struct {
	Symbol       string    // in any spelling
	Tag          string    // in any letters
	Since, Until time.Time // of the end; Until is not included
	Open         bool      // those that are open alone
}

// passes reports whether the filter wants t.
func (f TradeFilter) passes(t *book.Trade) bool {
	switch {
	case f.Symbol != "" && t.Symbol != f.Symbol, f.Tag != "" && t.Tag != f.Tag:
		return false
	case t.ClosedAt == nil:
		return f.Until.IsZero()
	}
	return !f.Open && !t.ClosedAt.Before(f.Since) && (f.Until.IsZero() || t.ClosedAt.Before(f.Until))
}

// Trades is what [Engine.FindTrades] has found.
type Trades struct {
	Trades []book.TradeShown
	More   bool      // others pass the filter
	Before book.Time // trades that ended earlier were not looked at; zero if all were
}

// FindTrades returns trades that pass the filter: those that are open, and then those that are
// closed, the last of them first; at most so many, after the first skip.
func (e *Engine) FindTrades(ctx context.Context, f TradeFilter, skip, most int) (found Trades, err error) {
	found.Trades = []book.TradeShown{}
	found.Before, err = e.eachTrade(ctx, f, func(t *book.Trade) bool {
		switch {
		case skip > 0:
			skip--
		case len(found.Trades) == most:
			found.More = true
			return false
		default:
			found.Trades = append(found.Trades, t.Show(e.book.BrokerName(), e.Currency(t.Symbol)))
		}
		return true
	})
	return found, err
}

// eachTrade calls visit with the trades that pass the filter, in the order of FindTrades, until it
// returns false. The closed ones of earlier generations are read from the journal, without mu, at
// most archiveLooks of them: then it returns before when those ended that were not looked at.
func (e *Engine) eachTrade(ctx context.Context, f TradeFilter, visit func(*book.Trade) bool) (before book.Time, err error) {
	f.Tag = strings.ToLower(f.Tag)
	if f.Symbol, err = e.symbolOrAll(f.Symbol); err != nil {
		return before, err
	}
	var open, done []*book.Trade
	var late map[string]book.LateLabel
	last := 0
	if err := e.View(func(s *book.State) {
		open, done, late, last = e.book.OpenTrades(), slices.Clone(s.Done), maps.Clone(s.Labels), e.archive.Len()
	}); err != nil {
		return before, err
	}
	slices.Reverse(done)
	for _, t := range append(open, done...) {
		if f.passes(t) && !visit(t) {
			return before, nil
		}
	}
	if f.Open {
		return before, nil
	}
	digest := journal.Digest(tradesKey)
	return e.archive.back(ctx, last, f.Since, f.Until, func(d uint64) bool { return d == digest }, func(_ journal.Ending, r journal.Entry, ev *book.Event) (cost int, more bool, err error) {
		if n := len(done); n > 0 && r.Seq >= done[n-1].Seq { // it is in memory
			return 0, true, nil
		}
		for _, t := range slices.Backward(ev.Trades) {
			if t.Label, err = e.archive.label(t.OpenedBy, t.Label, late); err != nil || f.passes(t) && !visit(t) {
				return 1, false, err
			}
		}
		return 1, true, nil
	})
}

// label returns the label of an order that has left memory, or of the trade that it opened: what it
// had, and what was given to it later.
func (a archive) label(id string, had book.Label, late map[string]book.LateLabel) (book.Label, error) {
	records, err := a.Find(labelKey(id))
	for _, r := range records {
		var ev *book.Event
		if ev, err = book.DecodeEvent(r.Payload); err != nil {
			break
		}
		had = ev.Label.Over(had)
	}
	return late[id].Over(had), err
}

// Label gives an order a tag or a note, and with it the trade that it opened, or else in which it was
// filled: such a trade has the label of the order that opened it. Nothing else changes.
func (e *Engine) Label(ctx context.Context, who book.Who, id string, l book.Label) (book.Order, error) {
	if err := l.Normalize(); err != nil {
		return book.Order{}, err
	}
	o, err := e.Order(id)
	if err != nil {
		return o, err
	}
	if o.ReasonCode == book.External {
		return o, book.Refuse("unknown_order", "order %s was not placed by this book, which has no label for it", o.ID)
	}
	opener, err := e.opener(ctx, o)
	for _, id := range slices.Compact([]string{opener, o.ID}) {
		if err == nil {
			err = e.step(book.KindLabelled, &book.Event{At: now(), Label: &book.Labelling{OrderID: id, Label: l}, By: who.Short()})
		}
	}
	o.Label = l.Over(o.Label)
	return o, err
}

// opener returns the id of the order that opened the trade in which o was filled, of o itself if it
// opened one, or was not filled.
func (e *Engine) opener(ctx context.Context, o book.Order) (string, error) {
	id := o.ID
	if o.FilledQuantity == 0 {
		return id, nil
	}
	_, err := e.eachTrade(ctx, TradeFilter{Symbol: o.Symbol, Since: o.Came().Time}, func(t *book.Trade) bool {
		closes := t.ClosedBy == o.ID || slices.ContainsFunc(t.Closes, func(c book.Close) bool { return c.OrderID == o.ID })
		during := !t.OpenedAt.After(o.UpdatedAt.Time) && (t.ClosedAt == nil || !t.ClosedAt.Before(o.UpdatedAt.Time))
		if t.OpenedBy == o.ID || closes || during && (t.Side == o.Side || t.More > 0) { // more than a trade lists
			id = t.OpenedBy
		}
		return t.OpenedBy != o.ID && !closes
	})
	return id, err
}

// Report returns closed trades that pass the filter, summed up by one of [book.ReportBy], with
// months in a time zone: the lines, and one for all of each currency. If there are too many to look at,
// before is when those ended that are not in it.
func (e *Engine) Report(ctx context.Context, f TradeFilter, by string, zone *time.Location) (groups, all []*book.Group, before book.Time, err error) {
	var days []book.DayMark
	if f.Symbol == "" && f.Tag == "" {
		err = e.View(func(s *book.State) { days = slices.Clone(s.Days) })
		days = slices.DeleteFunc(days, func(d book.DayMark) bool {
			return !f.Since.IsZero() && d.Date < f.Since.UTC().Format(time.DateOnly) || !f.Until.IsZero() && d.Date >= f.Until.UTC().Format(time.DateOnly)
		})
	}
	if err != nil {
		return nil, nil, before, err
	}
	tally := book.NewTally(by, zone, days)
	before, err = e.eachTrade(ctx, f, func(t *book.Trade) bool {
		if t.ClosedAt != nil {
			tally.Add(t, e.Currency(t.Symbol))
		}
		return true
	})
	groups, all = tally.Done()
	return groups, all, before, err
}
