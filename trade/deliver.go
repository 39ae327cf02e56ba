package trade

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"wick/market"
	"wick/sse"
	"wick/trade/book"
)

// onUpdate takes one update of the feed through the engine: windows, resting orders and price
// alerts. The feed calls it from one goroutine at a time. When it returns, all that
// followed from the price is on disk, and subscribers have been told. Alerts on the bars
// that closed are judged in other goroutines, which may ask the source: no other symbol's
// price waits for that.
func (e *Engine) onUpdate(ctx context.Context, u market.Update) {
	t, ok := book.NewTick(u)
	if !ok {
		e.log.Warn("update without a usable price", "symbol", u.Symbol, "price", u.Price)
		return
	}
	awaited := map[market.Interval]bool{}
	if !e.follows() { // otherwise the leader judges them
		awaited = e.awaited(t)
	}
	closed, watched := e.watch.observe(t, awaited)
	if !watched {
		return
	}
	if e.settle(t, e.foresee(t)) != nil {
		return // the journal logged why it broke, and every later request is told
	}
	for _, key := range closed {
		e.judging.Go(func() { e.judgeSeries(ctx, key) })
	}
}

// settle takes every step that follows from the price of t, under one lock: fills first, in
// order of acceptance, then price alerts by age. What cannot be written down is not decided:
// the next update judges it again.
func (e *Engine) settle(t book.Tick, f foreseen) error {
	return e.firing(t.Symbol, func(at book.Time) ([]hit, error) {
		e.fedAt = at
		// Nothing is decided without a journal that can take it: a fill that is not written
		// down could be undone by a restart.
		since, from, watched := e.watch.setPrice(t)
		if !watched || e.broken != nil {
			return nil, nil
		}
		t.Begin(since, from, e.began)
		if since != f.since || from != f.from {
			f.triggers = nil // they were judged by another price than the one before t
		}
		if err := e.venue.reach(t, since, at); err != nil {
			return nil, err
		}
		return e.firings(t, f), nil
	})
}

// settleSignals takes the steps that follow from signals of a symbol, by bar and age.
func (e *Engine) settleSignals(symbol string, hits []hit) {
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.At, b.At), book.CompareIDs(a.alert, b.alert)) })
	_ = e.firing(symbol, func(book.Time) ([]hit, error) { return newest(hits), nil }) // it fails only if the journal is broken, which is logged once
}

// firing fires those alerts of a symbol that judge returns, which is called with mu held.
// When that is on disk, it tells the listener.
func (e *Engine) firing(symbol string, judge func(at book.Time) ([]hit, error)) error {
	var fired []*book.Event
	err := e.Do(func(s *book.State) error {
		at := now()
		hits, err := judge(at)
		for _, h := range hits {
			a := s.Alerts[h.alert] // looked up anew: an alert that repeats changes with each firing
			// It was cancelled meanwhile, or has just fired on the bar before.
			if a == nil || a.Condition.Type == book.IndicatorSignal && !a.Ready(h.At) {
				continue
			}
			in := e.watch.of(symbol)
			h.Synthetic, h.Price = in.Synthetic, in.last.Price.String()
			ev := &book.Event{At: at, Notification: a.Notification(h.Trigger, at), To: e.book.Recipients(a), Alert: a.After(h.Trigger.At)}
			if err = e.book.Propose(book.KindFired, ev); err != nil {
				err = fmt.Errorf("alert %s fires: %w", a.ID, err)
				break
			}
			fired = append(fired, ev)
		}
		if err == nil {
			err = e.noteArrivals(symbol, at)
		}
		if err != nil { // it has to be done and cannot be written down
			e.journal.Break(err)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, ev := range fired {
		e.options.Notify(*ev.Notification, ev.To)
	}
	return nil
}

// firings returns what makes price alerts fire by t, in the order in which they do: by age.
// An alert that f does not have is judged here. Called with mu held.
func (e *Engine) firings(t book.Tick, f foreseen) (all []hit) {
	reached := e.watching.reached(t)
	slices.SortFunc(reached, book.ByAge)
	for _, a := range reached {
		list, done := f.triggers[a]
		if !done {
			list = t.Meets(a)
		}
		for _, why := range list {
			all = append(all, hit{a.ID, why})
		}
	}
	return newest(all)
}

// newest returns hits, those of each alert in order of time, as they are if they are no
// more than a queue keeps. Otherwise each alert tells only an equal share of that, its
// newest, and at least one. So a thousand alerts that repeat cannot hold up trading for
// seconds after a downtime. It uses the memory of hits.
func newest(hits []hit) []hit {
	if len(hits) <= sse.QueueCap {
		return hits
	}
	left := make(map[string]int) // of each alert
	for _, h := range hits {
		left[h.alert]++
	}
	told := min(book.MaxFirings, max(1, sse.QueueCap/len(left)))
	return slices.DeleteFunc(hits, func(h hit) bool {
		left[h.alert]--
		return left[h.alert] >= told
	})
}

// foreseen is what makes price alerts fire by an update, as it was judged before the lock
// was taken. It holds for the alerts as they were then, and if the time and the price before
// the update are still the same.
type foreseen struct {
	since    int64
	from     book.Quote
	triggers map[*book.Alert][]book.Trigger
}

// foresee judges the price alerts that t reaches, if t has a long path, as after a downtime.
// A thousand alerts on thousands of minutes take seconds, so no lock is held meanwhile.
func (e *Engine) foresee(t book.Tick) (f foreseen) {
	if t.Legs() <= book.MaxFirings {
		return f
	}
	in := e.watch.of(t.Symbol)
	f.since, f.from = in.fed, in.last // what setPrice will return, unless the symbol is watched anew until then
	e.mu.Lock()
	t.Begin(f.since, f.from, e.began)
	reached := e.watching.reached(t)
	e.mu.Unlock()
	f.triggers = make(map[*book.Alert][]book.Trigger, len(reached))
	for _, a := range reached {
		f.triggers[a] = t.Meets(a)
	}
	return f
}
