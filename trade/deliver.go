package trade

import (
	"cmp"
	"context"
	"slices"

	"wick/delivery"
	"wick/market"
)

// deliver takes one update of the feed through the engine: windows, resting
// orders, price alerts, signals. The feed calls it from one goroutine at a
// time. When it returns, all that followed from the update is on disk, and subscribers
// have been told.
func (e *Engine) deliver(ctx context.Context, u market.Update) {
	t, ok := newTick(u)
	if !ok {
		e.log.Warn("update without a usable price", "symbol", u.Symbol, "price", u.Price)
		return
	}
	// The windows first. Signals are judged without the engine's lock, because that
	// takes long and may ask the source. Then everything is decided under one lock.
	closed, watched := e.watch.observe(t, e.awaited(t))
	if !watched {
		return
	}
	if e.follows() {
		closed = nil // the leader judges them
	}
	var hits []hit
	for _, c := range closed {
		hits = append(hits, e.judge(ctx, c)...)
	}
	if ctx.Err() != nil {
		return // bars may have been judged without data that could not be loaded: the next start judges them again
	}
	fired, seq := e.settle(t, hits, e.foresee(t))
	if err := e.commit(seq); err != nil {
		return // the journal logged why it broke, and every later request is told
	}
	for _, ev := range fired {
		e.options.Notify(*ev.Notification, ev.To)
	}
}

// settle takes every step that follows from t, under one lock: fills first, in order of
// acceptance, then price alerts by age, then signals by bar and age. It returns the steps
// by which alerts fired, and the last sequence. What cannot be written down is not decided:
// the next update judges it again.
func (e *Engine) settle(t tick, hits []hit, f foreseen) (fired []*event, seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := now()
	e.fedAt = at
	// Nothing is decided without a journal that can take it: a fill that is not written
	// down could be undone by a restart.
	since, from, watched := e.watch.setPrice(t)
	if !watched || e.journal.Broken() != nil {
		return nil, 0
	}
	t.begin(since, from, e.began)
	if since != f.since || from != f.from {
		f.triggers = nil // they were judged by another price than the one before t
	}
	if e.venue == nil && t.tradable {
		seq = e.fillResting(t, since, at)
	}
	for _, h := range e.firings(t, hits, f) {
		a := e.ahead.alerts[h.alert] // looked up anew: an alert that repeats changes with each firing
		// It was cancelled meanwhile, or has just fired on the bar before.
		if a == nil || a.Condition.Type == IndicatorSignal && !a.ready(h.at) {
			continue
		}
		h.synthetic, h.price = e.watch.of(t.Symbol).synthetic, string(asTold(t.Price))
		if ev, s, err := e.fire(a, h.trigger, at); err == nil { // otherwise the alert stays as it is
			fired, seq = append(fired, ev), s
		}
	}
	return fired, seq
}

// firings returns what makes alerts fire by t, in the order in which they do: price alerts
// by age, and then hits, which are of signals, by bar and age. An alert that f does not
// have is judged here. Called with mu held.
func (e *Engine) firings(t tick, hits []hit, f foreseen) (all []hit) {
	reached := e.ahead.index.reached(t.Symbol, t.span)
	slices.SortFunc(reached, byAge)
	for _, a := range reached {
		list, done := f.triggers[a]
		if !done {
			list = t.meets(a)
		}
		for _, why := range list {
			all = append(all, hit{a.ID, why})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.at, b.at), compareIDs(a.alert, b.alert)) })
	return newest(append(all, hits...))
}

// newest returns hits, those of each alert in order of time, as they are if they are no
// more than a queue keeps. Otherwise each alert tells only an equal share of that, its
// newest, and at least one. So a thousand alerts that repeat cannot hold up trading for
// seconds after a downtime. It uses the memory of hits.
func newest(hits []hit) []hit {
	if len(hits) <= delivery.QueueCap {
		return hits
	}
	left := make(map[string]int) // of each alert
	for _, h := range hits {
		left[h.alert]++
	}
	told := min(maxFirings, max(1, delivery.QueueCap/len(left)))
	gone, out := make(map[string]trigger), hits[:0]
	for _, h := range hits {
		if before, ok := gone[h.alert]; ok {
			h.skip(before, told)
		}
		if left[h.alert] > told {
			left[h.alert]--
			gone[h.alert] = h.trigger
			continue
		}
		delete(gone, h.alert)
		out = append(out, h)
	}
	return out
}

// foreseen is what makes price alerts fire by an update, as it was judged before the lock
// was taken. It holds for the alerts as they were then, and if the time and the price before
// the update are still the same.
type foreseen struct {
	since    int64
	from     quote
	triggers map[*Alert][]trigger
}

// foresee judges the price alerts that t reaches, if t has a long path, as after a downtime.
// A thousand alerts on thousands of minutes take seconds, so no lock is held meanwhile.
func (e *Engine) foresee(t tick) (f foreseen) {
	if len(t.legs) <= maxFirings {
		return f
	}
	in := e.watch.of(t.Symbol)
	f.since, f.from = in.fed, in.last // what setPrice will return, unless the symbol is watched anew until then
	t.legs = slices.Clone(t.legs)     // begin changes them
	e.mu.Lock()
	t.begin(f.since, f.from, e.began)
	reached := e.ahead.index.reached(t.Symbol, t.span)
	e.mu.Unlock()
	f.triggers = make(map[*Alert][]trigger, len(reached))
	for _, a := range reached {
		f.triggers[a] = t.meets(a)
	}
	return f
}
