package trade

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"wick/market"
	"wick/sse"
	"wick/trade/alert"
	"wick/trade/book"
	"wick/trade/watch"
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
	var closed []watch.Key
	if e.firing(t.Symbol, func(at book.Time) (hits []alert.Hit, err error) {
		hits, closed, err = e.judge(&t, at)
		return hits, err
	}) != nil {
		return // the journal logged why it broke, and every later request is told
	}
	for _, key := range closed {
		e.judging.Go(func() {
			e.watch.Judge(ctx, key, func(r watch.Round) { e.judgeRound(ctx, r) })
		})
	}
}

// judge takes every step that follows from the price of t: fills first, in order of acceptance.
// It returns what makes price alerts fire, by age of the alert, and the series whose bars are to
// be judged. What cannot be written down is not decided: the next update judges it again. Called
// with mu held.
func (e *Engine) judge(t *book.Tick, at book.Time) (hits []alert.Hit, closed []watch.Key, err error) {
	since, closed, watched := e.watch.Take(t, e.began, func(key watch.Key) bool {
		return !e.following && len(e.watching.On(key)) > 0 // otherwise the leader judges them
	})
	// Nothing is decided without a journal that can take it: a fill that is not written
	// down could be undone by a restart.
	if !watched || e.broken != nil {
		return nil, nil, nil
	}
	if err := e.venue.Reach(*t, since, at); err != nil {
		return nil, nil, err
	}
	for _, a := range e.watching.Reached(*t) {
		for _, why := range t.Meets(a) {
			hits = append(hits, alert.Hit{ID: a.ID, Trigger: why})
		}
	}
	return newest(hits), closed, nil
}

// judgeRound fires the alerts whose signals are on the bars of r, by bar and age.
func (e *Engine) judgeRound(ctx context.Context, r watch.Round) {
	e.mu.Lock()
	waiting, began := e.watching.On(r.Key), e.began
	e.mu.Unlock()
	e.signals.Round(ctx, r, waiting, began, func(hits []alert.Hit) {
		slices.SortFunc(hits, func(a, b alert.Hit) int { return cmp.Or(cmp.Compare(a.At, b.At), book.CompareIDs(a.ID, b.ID)) })
		if e.firing(r.Symbol, func(book.Time) ([]alert.Hit, error) { return newest(hits), nil }) != nil { // the journal is broken, which is logged once
			return
		}
		e.judging.Go(func() { // one after the other, and no alert waits for them
			for _, h := range hits {
				if !h.Late {
					e.act(ctx, h.ID)
				}
			}
		})
	})
}

// pulse fires the alerts on times and profits. It is called once a second.
func (e *Engine) pulse() error {
	return e.firing("", func(at book.Time) ([]alert.Hit, error) {
		var hits []alert.Hit
		if e.broken == nil { // otherwise a later look finds the same
			hits = e.watching.Pulse(at, e.began, func(of book.Scope, symbol string) (book.Profit, bool) {
				return e.book.Profit(of, symbol, at)
			})
		}
		if len(hits) == 0 {
			return nil, errIdle
		}
		return newest(hits), nil
	})
}

// firing fires those alerts that judge returns, which is called with mu held: alerts of a symbol,
// or of any if that is empty. When that is on disk, it tells the listener.
func (e *Engine) firing(symbol string, judge func(at book.Time) ([]alert.Hit, error)) error {
	var fired []*book.Event
	err := e.Do(func(s *book.State) error {
		at := now()
		hits, err := judge(at)
		if err == errIdle {
			return err
		}
		seen := make(map[string]*book.Seen)
		for _, h := range hits {
			if o := s.Order(h.ID); o.Pending() {
				if err = e.book.Becomes(o, h.Trigger, at); err != nil {
					err = fmt.Errorf("the rule of order %s became true: %w", o.ID, err)
					break
				}
				continue
			}
			a := s.Alerts[h.ID] // looked up anew: an alert that repeats changes with each firing
			// It was cancelled meanwhile, or has just fired on the bar before.
			if a == nil || a.Condition.OnSignal() && !a.Ready(h.At) {
				continue
			}
			if seen[a.Symbol] == nil {
				seen[a.Symbol] = cmp.Or(e.watch.Seen(a.Symbol), new(book.Seen))
			}
			h.Synthetic, h.Price = h.Synthetic || !a.Condition.OnTime() && seen[a.Symbol].Synthetic, seen[a.Symbol].Price.String()
			ev := &book.Event{At: at, Notification: a.Notification(h.Trigger, at), To: e.book.Recipients(a), Alert: a.After(h.Trigger.At)}
			if err = e.book.Propose(book.KindFired, ev); err != nil {
				err = fmt.Errorf("alert %s fires: %w", a.ID, err)
				break
			}
			fired = append(fired, ev)
		}
		// An open order may need it on disk how far the symbol was judged.
		if err == nil && symbol != "" && !e.book.Calm(symbol) {
			seen := e.watch.Seen(symbol)
			if slices.ContainsFunc(s.Open[symbol], func(o *book.Order) bool { return unnoted(seen, s.Seen[symbol], o.Since()) }) {
				err = e.proposeSeen(map[string]*book.Seen{symbol: seen}, at)
			}
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

// newest returns hits, those of each alert in order of time, as they are if they are no
// more than a queue keeps. Otherwise each alert tells only an equal share of that, its
// newest, and at least one. So a thousand alerts that repeat cannot hold up trading for
// seconds after a downtime. It uses the memory of hits.
func newest(hits []alert.Hit) []alert.Hit {
	if len(hits) <= sse.QueueCap {
		return hits
	}
	left := make(map[string]int) // of each alert
	for _, h := range hits {
		left[h.ID]++
	}
	told := min(book.MaxFirings, max(1, sse.QueueCap/len(left)))
	return slices.DeleteFunc(hits, func(h alert.Hit) bool {
		left[h.ID]--
		return left[h.ID] >= told
	})
}
