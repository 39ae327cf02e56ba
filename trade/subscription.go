package trade

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"wick/internal/journal"
	"wick/internal/limit"
	"wick/market"
	"wick/sse"
	"wick/trade/book"
)

// Filter says which alerts a subscription wants. An empty list matches all.
type Filter = sse.Filter

// maxFilterSymbols bounds a filter, so that a record stays small.
const maxFilterSymbols = 100

// subscriptions are who wants to be told of what. They stand in the book.
type subscriptions struct {
	store  *store
	source market.Source
	works  func(*sse.Subscription) bool // see Options.Works

	fileMu sync.Mutex // one writer of subscriptions.json at a time
}

// normalize returns a filter in one spelling, with symbols as the source writes them,
// and refuses what can never match.
func (b *subscriptions) normalize(f Filter) (Filter, error) {
	if len(f.Symbols) > maxFilterSymbols {
		return f, book.Refuse("bad_filter", "%d symbols, at most %d; leave the list out to match all", len(f.Symbols), maxFilterSymbols)
	}
	clean := Filter{Symbols: []string{}, AlertTypes: []string{}}
	for _, text := range f.Symbols {
		symbol, err := market.Resolve(b.source, text)
		if err != nil {
			return f, book.Refuse("bad_symbol", "%v", err)
		}
		clean.Symbols = append(clean.Symbols, symbol)
	}
	types := append(slices.Clip(book.ConditionTypes), book.OrderAlerts)
	for _, t := range f.AlertTypes {
		if !slices.Contains(types, t) {
			return f, book.Refuse("bad_filter", "alert type %q: one of %s", limit.Clip(t), strings.Join(types, ", "))
		}
		clean.AlertTypes = append(clean.AlertTypes, t)
	}
	// Two filters that mean the same are stored alike.
	slices.Sort(clean.Symbols)
	slices.Sort(clean.AlertTypes)
	clean.Symbols, clean.AlertTypes = slices.Compact(clean.Symbols), slices.Compact(clean.AlertTypes)
	return clean, nil
}

// maxSubscriptions bounds the subscriptions of a store; an alert that fires to
// all of them still fits one record.
const maxSubscriptions = 1000

// maxName bounds, in bytes, the digests by which callers and clients are known.
const maxName = 128

// Subscribe makes a subscription for the caller, or changes the filter of the one it
// has, and returns it. What is queued already stays as it is.
func (b *subscriptions) Subscribe(c sse.Caller, f Filter) (sse.Subscription, error) {
	filter, err := b.normalize(f)
	if err != nil {
		return sse.Subscription{}, err
	}
	if c.ID == "" || len(c.ID) > maxName || len(c.Client) > maxName || len(c.Login) > maxName {
		return sse.Subscription{}, book.Refuse("bad_caller", "a caller needs a name of 1 to %d bytes", maxName)
	}
	var dropped *sse.Subscription
	sub := &sse.Subscription{Caller: c.ID, Client: c.Client, Login: c.Login, TokenEnds: c.Expires, Filter: filter, CreatedAt: now().String()}
	err = b.store.Do(func(s *book.State) (err error) {
		// A second call changes the filter and keeps the id, and with it the queue.
		if before := s.Subs.Of(c.ID); before != nil {
			sub.ID, sub.CreatedAt = before.ID, before.CreatedAt
			return b.store.book.Propose(book.KindSubscribed, &book.Event{At: now(), Subscription: sub})
		}
		// If there is no room, the oldest one that nobody holds goes.
		if s.Subs.Len() >= maxSubscriptions {
			left := s.Subs.Select(func(s *sse.Subscription) bool { return !b.holds(s) })
			if len(left) == 0 {
				return book.Refuse("max_subscriptions", "%d subscriptions exist, which is the limit; unsubscribe one", maxSubscriptions)
			}
			dropped = left[0]
			if err := b.store.book.Propose(book.KindUnsubscribed, &book.Event{At: now(), Subscription: dropped}); err != nil {
				return err
			}
		}
		sub.ID = s.NewID("s")
		return b.store.book.Propose(book.KindSubscribed, &book.Event{At: now(), Subscription: sub})
	})
	if dropped != nil {
		b.store.log.Warn("the oldest subscription that nobody holds is dropped, with what waits in its queue", "subscription", dropped.ID, "created", dropped.CreatedAt, "limit", maxSubscriptions)
	}
	if err != nil {
		return sse.Subscription{}, err
	}
	b.writeSubscriptions()
	return *sub, nil
}

// Unsubscribe ends the caller's subscription and drops its queue. It reports
// whether there was one.
func (b *subscriptions) Unsubscribe(caller string) (was bool, err error) {
	err = b.store.Do(func(s *book.State) error {
		sub := s.Subs.Of(caller)
		if was = sub != nil; !was {
			return nil
		}
		return b.store.book.Propose(book.KindUnsubscribed, &book.Event{At: now(), Subscription: sub})
	})
	if err != nil {
		return false, err
	}
	if was {
		b.writeSubscriptions()
	}
	return was, nil
}

// holds reports whether the token that a subscription was made or claimed with still works.
func (b *subscriptions) holds(s *sse.Subscription) bool {
	return (s.TokenEnds.IsZero() || time.Now().Before(s.TokenEnds)) && b.works != nil && b.works(s)
}

// Claim gives a caller that has no subscription the newest one of the same client that
// nobody holds, with its queue: when a token ends, its program comes back with another
// one. If another call for the same caller is claiming it at the same time, Claim waits
// for that. If there is none to claim, it does nothing and returns nil.
func (b *subscriptions) Claim(c sse.Caller) error {
	if b.store.hub.Subscribed(c.ID) {
		return nil
	}
	claimed, remote := false, false
	err := b.store.Do(func(s *book.State) error {
		left := s.Subs.Select(func(s *sse.Subscription) bool { return s.Client == c.Client && !b.holds(s) })
		if s.Subs.Of(c.ID) != nil || len(left) == 0 || c.ID == "" || len(c.ID) > maxName || len(c.Login) > maxName { // it has one, which is on its way to the disk, or there is none for it
			return nil
		}
		if remote = b.store.following; remote {
			return nil
		}
		sub := *left[len(left)-1]
		sub.Caller, sub.Login, sub.TokenEnds = c.ID, c.Login, c.Expires
		claimed = true
		return b.store.book.Propose(book.KindSubscribed, &book.Event{At: now(), Subscription: &sub})
	})
	switch {
	case remote: // the leader decides: otherwise two replicas could give the same subscription away
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		if err := b.store.peers.Ask(ctx, AskClaim, c, nil); err != nil {
			return err
		}
		return b.store.Confirm(ctx) // it is shown here, too
	case err == nil && claimed:
		b.writeSubscriptions()
	}
	return err
}

// subscriptionsName is the file that the specification names.
const subscriptionsName = "subscriptions.json"

// writeSubscriptions writes the file of subscriptions anew after one of them has changed. The
// file is for people and other programs, and has digests in it, no tokens. The journal has
// the same content, so if the file cannot be written, that is only logged.
func (b *subscriptions) writeSubscriptions() {
	b.fileMu.Lock()
	defer b.fileMu.Unlock()
	subs := map[string][]*sse.Subscription{"subscriptions": b.store.hub.Clone().Select(nil)}
	text, err := json.MarshalIndent(subs, "", "  ")
	if err == nil {
		err = journal.WriteAtomic(b.store.disk, subscriptionsName, append(text, '\n'))
	}
	if err != nil {
		b.store.log.Warn("subscriptions.json could not be written; the journal has its content", "error", err)
	}
}
