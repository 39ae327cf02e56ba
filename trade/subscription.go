package trade

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"wick/journal"
	"wick/limit"
	"wick/market"
)

// Filter says which alerts a subscription wants. An empty list matches all.
type Filter struct {
	Symbols    []string        `json:"symbols"`
	AlertTypes []ConditionType `json:"alert_types"`
}

// matches reports whether an alert of this symbol and type passes the filter.
func (f Filter) matches(symbol string, t ConditionType) bool {
	return (len(f.Symbols) == 0 || slices.Contains(f.Symbols, symbol)) &&
		(len(f.AlertTypes) == 0 || slices.Contains(f.AlertTypes, t))
}

// maxFilterSymbols bounds a filter, so that a record stays small.
const maxFilterSymbols = 100

// normalize settles the spelling of a filter and refuses what can never match.
func (f Filter) normalize() (Filter, error) {
	if len(f.Symbols) > maxFilterSymbols {
		return f, refuse("bad_filter", fixIt, "%d symbols, at most %d; leave the list out to match all", len(f.Symbols), maxFilterSymbols)
	}
	clean := Filter{Symbols: []string{}, AlertTypes: []ConditionType{}}
	for _, text := range f.Symbols {
		symbol, err := market.ParseSymbol(text)
		if err != nil {
			return f, refuse("bad_symbol", fixIt, "%v", err)
		}
		clean.Symbols = append(clean.Symbols, symbol)
	}
	for _, t := range f.AlertTypes {
		if t != PriceAbove && t != PriceBelow && t != IndicatorSignal {
			return f, refuse("bad_filter", fixIt, "alert type %q: one of price_above, price_below, indicator_signal", limit.Clip(string(t)))
		}
		clean.AlertTypes = append(clean.AlertTypes, t)
	}
	slices.Sort(clean.Symbols)
	slices.Sort(clean.AlertTypes)
	clean.Symbols, clean.AlertTypes = slices.Compact(clean.Symbols), slices.Compact(clean.AlertTypes)
	return clean, nil
}

// Subscription is a caller's wish to be pushed what passes its filter. Caller
// and client are digests: no token comes near this package.
type Subscription struct {
	ID        string `json:"id"` // its own, for life: callers change, event ids must not
	Caller    string `json:"caller"`
	Client    string `json:"client"` // which program, to know it again after a restart
	Filter    Filter `json:"filter"`
	CreatedAt Time   `json:"created_at"`
}

// maxSubscriptions bounds the subscriptions of a store; an alert that fires to
// all of them still fits one record.
const maxSubscriptions = 1000

// maxName bounds the digests that callers and clients are known by.
const maxName = 128

// Subscribe makes the caller's subscription or changes its filter. What is
// queued already stays as it is.
func (e *Engine) Subscribe(caller, client string, f Filter) (Subscription, error) {
	filter, err := f.normalize()
	if err != nil {
		return Subscription{}, err
	}
	if caller == "" || len(caller) > maxName || len(client) > maxName {
		return Subscription{}, refuse("bad_caller", never, "a caller needs a name of 1 to %d bytes", maxName)
	}
	e.mu.Lock()
	sub := &Subscription{Caller: caller, Client: client, Filter: filter, CreatedAt: now()}
	if id, ok := e.ahead.callers[caller]; ok {
		sub.ID, sub.CreatedAt = id, e.ahead.subs[id].CreatedAt
	} else if err = e.makeRoom(); err == nil {
		sub.ID = e.ahead.newID("s")
	}
	var seq uint64
	if err == nil {
		seq, err = e.propose(kindSubscribed, &event{At: now(), Subscription: sub})
	}
	e.mu.Unlock()
	if err != nil {
		return Subscription{}, err
	}
	return *sub, e.finish(seq)
}

// makeRoom lets the oldest orphan go when there are too many subscriptions.
// Called with mu held.
func (e *Engine) makeRoom() error {
	if len(e.ahead.subs) < maxSubscriptions {
		return nil
	}
	for _, id := range slices.SortedFunc(maps.Keys(e.ahead.subs), compareIDs) {
		if e.orphans[id] {
			_, err := e.propose(kindUnsubscribed, &event{At: now(), Subscription: e.ahead.subs[id]})
			delete(e.orphans, id)
			return err
		}
	}
	return refuse("max_subscriptions", later, "%d subscriptions exist, which is the limit; unsubscribe one", maxSubscriptions)
}

// Unsubscribe ends the caller's subscription and drops its queue. It reports
// whether there was one.
func (e *Engine) Unsubscribe(caller string) (bool, error) {
	e.mu.Lock()
	id, ok := e.ahead.callers[caller]
	if !ok {
		e.mu.Unlock()
		return false, nil
	}
	seq, err := e.propose(kindUnsubscribed, &event{At: now(), Subscription: e.ahead.subs[id]})
	delete(e.orphans, id)
	delete(e.marks, id)
	e.mu.Unlock()
	if err != nil {
		return false, err
	}
	return true, e.finish(seq)
}

// Subscription returns the caller's subscription, if there is one.
func (e *Engine) Subscription(caller string) (Subscription, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id, ok := e.shown.callers[caller]; ok {
		return *e.shown.subs[id], true
	}
	return Subscription{}, false
}

// HasSubscriptions reports whether there is any, orphans and those on their way
// to the journal included. Without one there is nothing to claim.
func (e *Engine) HasSubscriptions() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.ahead.subs) > 0
}

// Claim gives the caller the newest orphan of the same client, with its queue.
// Orphans are the subscriptions from before the last start, and those whose
// caller was released: tokens die, the program behind them comes back. It
// reports false when there is nothing to claim, or the caller has a
// subscription already.
func (e *Engine) Claim(caller, client string) (Subscription, bool, error) {
	e.mu.Lock()
	var best *Subscription
	if _, has := e.ahead.callers[caller]; !has && caller != "" && len(caller) <= maxName {
		for id := range e.orphans {
			if sub := e.ahead.subs[id]; sub != nil && sub.Client == client && (best == nil || compareIDs(best.ID, id) < 0) {
				best = sub
			}
		}
	}
	if best == nil {
		e.mu.Unlock()
		return Subscription{}, false, nil
	}
	sub := *best
	sub.Caller = caller
	seq, err := e.propose(kindSubscribed, &event{At: now(), Subscription: &sub})
	delete(e.orphans, sub.ID)
	e.mu.Unlock()
	if err != nil {
		return Subscription{}, false, err
	}
	return sub, true, e.finish(seq)
}

// Release says that a caller will not come back, because its token has ended.
// Its subscription stays for the same client to claim.
func (e *Engine) Release(caller string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id, ok := e.ahead.callers[caller]; ok {
		e.orphans[id] = true
	}
}

const subscriptionsName = "subscriptions.json"

// finish commits a change of subscriptions and rewrites their file. The file is
// for people and other programs: the journal knows the same, so failing to
// write it is logged and no more.
func (e *Engine) finish(seq uint64) error {
	if err := e.commit(seq); err != nil {
		return err
	}
	e.fileMu.Lock()
	defer e.fileMu.Unlock()
	if err := e.writeSubscriptions(); err != nil {
		e.log.Warn("subscriptions.json could not be written; the journal has its content", "error", err)
	}
	return nil
}

// writeSubscriptions replaces the specified file. It holds digests, no tokens.
func (e *Engine) writeSubscriptions() error {
	e.mu.Lock()
	subs := slices.SortedFunc(maps.Values(e.shown.subs), func(a, b *Subscription) int { return cmp.Compare(a.ID, b.ID) })
	e.mu.Unlock()
	if subs == nil {
		subs = []*Subscription{}
	}
	text, err := json.MarshalIndent(map[string][]*Subscription{"subscriptions": subs}, "", "  ")
	if err != nil {
		return err
	}
	return journal.WriteAtomic(e.disk, subscriptionsName, append(text, '\n'))
}
