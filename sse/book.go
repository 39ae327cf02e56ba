package sse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/internal/limit"
)

// Record is one step of a book, made from a record of the journal. Besides At one part
// is set: Fired with To, Marks, Subscribed or Unsubscribed. A record with Marks, or
// with nothing but At, also removes what is too old from every queue.
type Record struct {
	At time.Time // of the record

	Fired *Entry   // it enters the queues
	To    []string // of these subscriptions

	Marks map[string]uint64 // by subscription: the sequence up to which it has got everything

	Subscribed   *Subscription // made, changed, or passed to another caller
	Unsubscribed string        // the id of a subscription that ends, with its queue
}

// Book is what the journal knows about deliveries. Its methods may not be
// called at the same time.
type Book struct {
	queues  map[string]*queue // by subscription
	callers map[string]*queue // by the subscription's caller
}

// NewBook returns an empty book.
func NewBook() *Book { return &Book{map[string]*queue{}, map[string]*queue{}} }

// Apply takes one step. An error means that this record cannot come after the ones
// before it; the book is then unchanged.
func (b *Book) Apply(r Record) error {
	switch {
	case r.Fired != nil:
		return b.fire(r.Fired, r.To)
	case r.Subscribed != nil:
		return b.subscribe(r.Subscribed)
	case r.Unsubscribed != "":
		return b.unsubscribe(r.Unsubscribed)
	}
	for id, through := range r.Marks {
		if q := b.queues[id]; q != nil && len(q.entries) > 0 { // the subscription may have ended since
			q.settle(max(q.mark, min(through, q.entries[len(q.entries)-1].Seq))) // not beyond the last entry
		}
	}
	for _, q := range b.queues {
		q.drop(r.At)
	}
	return nil
}

// fire puts an entry into the queues of the subscriptions. It checks all of them first,
// so that a record is applied as a whole or not at all.
func (b *Book) fire(e *Entry, to []string) error {
	queues := make([]*queue, len(to))
	for i, id := range to {
		q := b.queues[id]
		if q == nil {
			return fmt.Errorf("an alert fired to the unknown subscription %q", limit.Clip(id))
		}
		if last := len(q.entries) - 1; last >= 0 && q.entries[last].Seq >= e.Seq {
			return fmt.Errorf("sequence %d enters a queue after %d", e.Seq, q.entries[last].Seq)
		}
		queues[i] = q
	}
	for _, q := range queues {
		q.entries = append(q.entries, queued{Entry: e})
		q.waiting++
		q.drop(e.At)
	}
	return nil
}

// subscribe adds a subscription, or replaces one with the same ID and keeps its queue.
// An ID must be printable ASCII without blanks: it is part of the ids of events, which
// clients send back in a header.
func (b *Book) subscribe(s *Subscription) error {
	if s.ID == "" || strings.ContainsFunc(s.ID, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%q cannot be part of an event id", limit.Clip(s.ID))
	}
	q := b.queues[s.ID]
	switch other := b.callers[s.Caller]; {
	case other != nil && other != q:
		return fmt.Errorf("the caller of subscription %q has another", s.ID)
	case q == nil:
		q = &queue{}
	default:
		delete(b.callers, q.sub.Caller)
	}
	q.sub = s
	b.queues[s.ID], b.callers[s.Caller] = q, q
	return nil
}

// unsubscribe removes a subscription with its queue.
func (b *Book) unsubscribe(id string) error {
	q := b.queues[id]
	if q == nil {
		return fmt.Errorf("end of the unknown subscription %q", limit.Clip(id))
	}
	delete(b.callers, q.sub.Caller)
	delete(b.queues, id)
	return nil
}

// Len returns how many subscriptions there are.
func (b *Book) Len() int { return len(b.queues) }

// Of returns the caller's subscription, or nil.
func (b *Book) Of(caller string) *Subscription {
	if q := b.callers[caller]; q != nil {
		return q.sub
	}
	return nil
}

// Select returns the subscriptions for which ok returns true, or all if ok is nil,
// oldest first. Those made at the same instant are ordered by the length of their ids
// and then by the ids, which is the order in which they were made.
func (b *Book) Select(ok func(*Subscription) bool) []*Subscription {
	subs := []*Subscription{}
	for _, q := range b.queues {
		if ok == nil || ok(q.sub) {
			subs = append(subs, q.sub)
		}
	}
	slices.SortFunc(subs, func(a, b *Subscription) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return subs
}

// Stale reports whether any queue holds an entry that is too old.
func (b *Book) Stale(now time.Time) bool {
	for _, q := range b.queues {
		if len(q.entries) > 0 && q.entries[0].old(now) {
			return true
		}
	}
	return false
}

// Clone returns a copy, as a journal would restore it. The two books share only values that
// never change.
func (b *Book) Clone() *Book {
	c := NewBook()
	for id, q := range b.queues {
		copied := &queue{sub: q.sub, entries: make([]queued, len(q.entries)), waiting: len(q.entries)}
		for i, e := range q.entries {
			copied.entries[i].Entry = e.Entry
		}
		copied.settle(q.mark)
		c.queues[id], c.callers[q.sub.Caller] = copied, copied
	}
	return c
}

// Queues returns what a journal has to keep of a book beside its subscriptions, by their ids: the
// entries of the queues, oldest first, and the marks, without those at 0.
func (b *Book) Queues() (entries map[string][]*Entry, marks map[string]uint64) {
	entries, marks = make(map[string][]*Entry), make(map[string]uint64)
	for id, q := range b.queues {
		for _, e := range q.entries {
			entries[id] = append(entries[id], e.Entry)
		}
		if q.mark > 0 {
			marks[id] = q.mark
		}
	}
	return entries, marks
}

// SetMarks sets marks as they were, in a book that was made anew by records of its subscriptions and
// entries.
func (b *Book) SetMarks(marks map[string]uint64) {
	for id, mark := range marks {
		if q := b.queues[id]; q != nil {
			q.settle(mark)
		}
	}
}
