package notify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"wick/internal/limit"
	"wick/notify/service"
)

// record is one step of the book, as the journal keeps it. It holds no address
// and no secret. One of Open, Event and To is set; with Dead also Event may be.
type record struct {
	Open  map[string]Filter `json:"open,omitempty"`  // the destinations there are from now on, by name
	Event *Event            `json:"event,omitempty"` // an event that happened; its ID and Seq are those of the record

	// With To the record says what happens to the events of one destination up to the
	// sequence Through: with Batch, they will be sent as one summary; with Dead, they were
	// given up; with neither, they were sent.
	To      string `json:"to,omitempty"`
	Through uint64 `json:"through,omitempty"`
	Batch   bool   `json:"batch,omitempty"`
	Dead    *Dead  `json:"dead,omitempty"`
}

// Dead is a message that was given up.
type Dead struct {
	To     string    `json:"to"`     // the destination
	ID     string    `json:"id"`     // of the message
	Events int       `json:"events"` // how many events are in it
	At     time.Time `json:"at"`     // when it was given up
	Text   string    `json:"text"`
	Reason string    `json:"reason"`
}

const (
	// maxQueue bounds the events that wait for one destination. If there are more, the
	// oldest becomes a dead letter.
	maxQueue = 10_000
	// maxDead is how many dead letters are remembered. An audit of the journal shows all.
	maxDead = 100
)

// book is the durable state: what the records add up to, without a clock.
//
// A queue is not the same as that of a subscription in package sse. There, entries
// stay for an hour after they were delivered, at most a thousand, so that a client can
// resume. A destination never resumes: an event may wait for a day and leaves the queue
// when it was sent.
type book struct {
	Last   uint64            `json:"last"` // sequence of the newest step
	Queues map[string]*queue `json:"queues"`
	Dead   []Dead            `json:"dead,omitempty"`  // oldest first
	Hashed time.Time         `json:"hashed,omitzero"` // when the newest event of the kind Journal was queued
}

// queue holds what waits for one destination, oldest first.
type queue struct {
	Filter Filter   `json:"filter"`
	Batch  uint64   `json:"batch,omitempty"` // the events up to this sequence are sent as one summary
	Events []*Event `json:"events,omitempty"`
}

// apply takes the step of a record and returns the destinations that have something to
// do now. A step of a destination that is no longer there is ignored.
func (b *book) apply(id string, seq uint64, r record) (to []string) {
	b.Last = max(b.Last, seq)
	q := b.Queues[r.To]
	switch {
	case r.Open != nil:
		return b.open(r.Open)
	// A summary is fixed before it is sent, so that another attempt has the same events.
	case q != nil && r.Batch:
		q.Batch = r.Through
	case q != nil: // sent or given up
		q.cut(q.upTo(r.Through))
	}
	if r.Dead != nil {
		b.bury(*r.Dead)
	}
	if r.Event == nil {
		return nil
	}
	e := *r.Event
	e.ID, e.Seq, e.Text = id, seq, limit.Line(e.Text, maxText)
	if e.Kind == Journal {
		b.Hashed = e.At
	}
	for name, q := range b.Queues {
		if name == e.Not || !q.Filter.matches(&e) {
			continue
		}
		q.Events = append(q.Events, &e)
		if len(q.Events) > maxQueue {
			b.bury(Dead{name, q.Events[0].ID, 1, e.At, q.Events[0].Text, tooMany})
			q.cut(1)
		}
		to = append(to, name)
	}
	return to
}

// open replaces the queues by those of the given destinations. A queue that was there
// before keeps its events, even those that its new filter does not match.
func (b *book) open(destinations map[string]Filter) (to []string) {
	before := b.Queues
	b.Queues = make(map[string]*queue)
	for name, filter := range destinations {
		q := cmp.Or(before[name], &queue{})
		q.Filter = filter
		b.Queues[name] = q
		to = append(to, name)
	}
	return to
}

// tooMany is the reason of an event that was dropped because its queue was full.
const tooMany = "the queue was full"

// bury adds a message that was given up to the dead letters, of which it keeps the newest
// maxDead. Several in a row that were dropped because a queue was full are one.
func (b *book) bury(d Dead) {
	if last := len(b.Dead) - 1; last >= 0 && d.Reason == tooMany && b.Dead[last].Reason == tooMany && b.Dead[last].To == d.To {
		b.Dead[last].Events += d.Events
		return
	}
	b.Dead = append(b.Dead, d)
	b.Dead = slices.Delete(b.Dead, 0, max(0, len(b.Dead)-maxDead))
}

// upTo returns how many events have a sequence of at most through.
func (q *queue) upTo(through uint64) int {
	n, _ := slices.BinarySearchFunc(q.Events, through+1, func(e *Event, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	return n
}

// cut removes the first n events.
func (q *queue) cut(n int) { q.Events = slices.Delete(q.Events, 0, n) }

// head returns the events of the next message: those of a summary that was written down,
// or the first event alone.
func (q *queue) head() []*Event {
	return q.Events[:max(q.upTo(q.Batch), min(1, len(q.Events)))]
}

// Kind says what happened.
type Kind string

// The kinds of events. Their texts stand in the owner's file, after kinds=, and in the
// type of a webhook.
const (
	Alert   Kind = "alert"   // an alert fired
	Fill    Kind = "fill"    // an order ended, and all or a part of it was filled
	Cancel  Kind = "cancel"  // an order, or the rest of one, was cancelled
	Reject  Kind = "reject"  // an order, or the rest of one, was rejected by its broker
	Halt    Kind = "halt"    // trading was halted, reduced to closing positions, or resumed
	Loss    Kind = "loss"    // the account has lost as much as it may in a day
	Storage Kind = "storage" // the journal cannot be written any more
	Silent  Kind = "silent"  // a data source stopped answering, or answers again
	Login   Kind = "login"   // somebody logged in

	Journal Kind = "journal" // the newest hash of the journal, once a day and at each planned stop

	Undelivered Kind = "undelivered" // another destination took no message for so long that one was given up or dropped
)

// Kinds lists all kinds.
var Kinds = []Kind{Alert, Fill, Cancel, Reject, Halt, Loss, Storage, Silent, Login, Journal, Undelivered}

// Event is something that happened. It is never changed once it is queued.
type Event struct {
	ID     string    `json:"id"`  // unique in the store, the same after a restart
	Seq    uint64    `json:"seq"` // of the journal's record: rising
	At     time.Time `json:"at"`
	Kind   Kind      `json:"kind"`
	Also   Kind      `json:"also,omitempty"` // another kind that it is of, for destinations that want only that; empty means none
	Symbol string    `json:"symbol,omitempty"`
	Not    string    `json:"not,omitempty"`    // the destination that it is about, and that does not get it; empty means none
	Client string    `json:"client,omitempty"` // name of the program behind it: a stranger's text
	Text   string    `json:"text"`             // one sentence, for a lock screen

	Chart  json.RawMessage `json:"chart,omitempty"`  // what its picture shows, for Options.Picture; nil means no picture
	Detail json.RawMessage `json:"detail,omitempty"` // the same for programs, for webhooks
}

// maxText bounds the sentence of an event, in bytes.
const maxText = 400

// Filter says which events a destination wants. An empty list matches all.
type Filter struct {
	Kinds   []Kind   `json:"kinds,omitempty"`
	Symbols []string `json:"symbols,omitempty"`
	Clients []string `json:"clients,omitempty"` // by name
}

// matches reports whether a destination with this filter gets an event. Symbols do not
// matter for an event without a symbol, such as a halt, and clients not for one without a
// client.
func (f Filter) matches(e *Event) bool {
	return (len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind) || slices.Contains(f.Kinds, e.Also)) &&
		(len(f.Symbols) == 0 || e.Symbol == "" || slices.Contains(f.Symbols, e.Symbol)) &&
		(len(f.Clients) == 0 || e.Client == "" || slices.Contains(f.Clients, e.Client))
}

// NewMessage returns the message for events that wait for one destination: that of one
// event, or a summary of several. There must be at least one event, and they must be in
// the order of their sequence. The id of the message is made from the events alone, so a
// message that is sent again has the same id.
func NewMessage(events []*Event) service.Message {
	first, last := events[0], events[len(events)-1]
	m := service.Message{ID: first.ID, At: last.At, Kind: string(first.Kind), Text: first.Text, Events: len(events),
		Symbol: first.Symbol, Client: first.Client, Detail: first.Detail}
	// A summary has no symbol, no client, and no detail for programs.
	if len(events) > 1 {
		m.ID, m.Kind, m.Text = fmt.Sprintf("%s-to-%d", first.ID, last.Seq), "summary", summary(events)
		m.Symbol, m.Client, m.Detail = "", "", nil
	}
	m.Urgent = slices.ContainsFunc(events, func(e *Event) bool { return e.Kind == Storage || e.Kind == Halt || e.Kind == Loss })
	return m
}

// summary says what happened, such as "37 alerts fired in a minute: …". It quotes
// the first five. Of hashes of the journal it has the newest, at the end: a part of one is of
// no use.
func summary(events []*Event) string {
	const quoted = 5
	what := "alerts fired"
	if slices.ContainsFunc(events, func(e *Event) bool { return e.Kind != Alert }) {
		what = "messages"
	}
	within := "a minute"
	if minutes := events[len(events)-1].At.Sub(events[0].At).Minutes(); minutes > 1.5 {
		within = fmt.Sprintf("%.0f minutes", minutes)
	}
	var texts []string
	more, hash := 0, ""
	for _, e := range events {
		switch {
		case e.Kind == Journal:
			hash = e.Text
		case len(texts) < quoted:
			texts = append(texts, limit.Line(e.Text, maxText/quoted))
		default:
			more++
		}
	}
	if more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	if hash != "" {
		texts = append(texts, hash)
	}
	return fmt.Sprintf("%d %s in %s: %s", len(events), what, within, strings.Join(texts, "; "))
}
