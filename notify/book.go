package notify

import (
	"slices"
	"time"

	"wick/limit"
)

// record is one step of the book, as the journal keeps it. It holds no address
// and no secret. One of Open, Event and To is set.
type record struct {
	Open  map[string]Filter `json:"open,omitempty"`  // the destinations there are from now on, by name
	Event *Event            `json:"event,omitempty"` // happened; its ID and Seq are the record's

	To      string `json:"to,omitempty"`      // this destination
	Through uint64 `json:"through,omitempty"` // was sent everything up to this sequence,
	Batch   bool   `json:"batch,omitempty"`   // or is to be sent it as one summary,
	Dead    *Dead  `json:"dead,omitempty"`    // or is not sent it, which is given up
}

// Dead is a message that was given up.
type Dead struct {
	To     string    `json:"to"`     // the destination
	ID     string    `json:"id"`     // of the message
	Events int       `json:"events"` // how many are in it
	At     time.Time `json:"at"`     // when it was given up
	Text   string    `json:"text"`
	Reason string    `json:"reason"`
}

const (
	// maxQueue bounds the events that wait for one destination. Past it the oldest
	// goes and is a dead letter.
	maxQueue = 10_000
	// maxDead is how many dead letters are remembered. The journal's audit has all.
	maxDead = 100
)

// book is the durable state: a fold over records, without a clock.
//
// A queue is not a subscription of package delivery: that keeps what was
// delivered, for an hour and a thousand entries, so that a client can resume. A
// destination never resumes, needs a day, and lets go of what it was sent.
type book struct {
	Last   uint64            `json:"last"` // sequence of the newest step
	Queues map[string]*queue `json:"queues"`
	Dead   []Dead            `json:"dead,omitempty"` // oldest first
}

// queue holds what waits for one destination, oldest first.
type queue struct {
	Filter Filter   `json:"filter"`
	Batch  uint64   `json:"batch,omitempty"` // the events up to here are one summary
	Events []*Event `json:"events,omitempty"`
}

// apply takes the step of a record and returns the destinations that have
// something to do by it. A step of a destination that is gone is ignored.
func (b *book) apply(id string, seq uint64, r record) (to []string) {
	b.Last = max(b.Last, seq)
	q := b.Queues[r.To]
	switch {
	case r.Open != nil:
		return b.open(r.Open)
	case r.Event != nil:
		e := *r.Event
		e.ID, e.Seq, e.Text = id, seq, limit.Line(e.Text, maxText)
		return b.add(&e)
	case r.Dead != nil:
		b.bury(*r.Dead)
	}
	// What is left is a step of one destination: a summary that was decided on, a message
	// that was sent, or one that was given up.
	switch {
	// A batch is fixed before it is sent, so that a repeat has the same events in it;
	// else the events up to there are done.
	case q != nil && r.Batch:
		q.Batch = r.Through
	case q != nil:
		q.cut(q.upTo(r.Through))
	}
	return nil
}

// open makes the queues those of the destinations named. One that was there keeps
// what waits in it, also what its new filter would not let through.
func (b *book) open(destinations map[string]Filter) (to []string) {
	before := b.Queues
	b.Queues = make(map[string]*queue)
	for name, filter := range destinations {
		q := &queue{}
		if before[name] != nil {
			q = before[name]
		}
		q.Filter = filter
		b.Queues[name] = q
		to = append(to, name)
	}
	return to
}

// add queues an event and returns the destinations that get it.
func (b *book) add(e *Event) (to []string) {
	for name, q := range b.Queues {
		if !q.Filter.matches(e) {
			continue
		}
		q.Events = append(q.Events, e)
		if len(q.Events) > maxQueue {
			b.overflow(name, q.Events[0], e.At)
			q.cut(1)
		}
		to = append(to, name)
	}
	return to
}

// overflow notes that an event made room. Those in a row are one dead letter.
func (b *book) overflow(name string, gone *Event, at time.Time) {
	const reason = "the queue was full"
	if last := len(b.Dead) - 1; last >= 0 && b.Dead[last].To == name && b.Dead[last].Reason == reason {
		b.Dead[last].Events++
		return
	}
	b.bury(Dead{name, gone.ID, 1, at, gone.Text, reason})
}

// bury keeps a message that was given up, the newest maxDead of them.
func (b *book) bury(d Dead) {
	b.Dead = append(b.Dead, d)
	b.Dead = slices.Delete(b.Dead, 0, max(0, len(b.Dead)-maxDead))
}

// upTo returns how many events have a sequence of at most through.
func (q *queue) upTo(through uint64) int {
	n := 0
	for n < len(q.Events) && q.Events[n].Seq <= through {
		n++
	}
	return n
}

// cut takes the first n events out.
func (q *queue) cut(n int) {
	clear(q.Events[:n]) // the array behind the slice lives on
	if q.Events = q.Events[n:]; len(q.Events) == 0 {
		q.Events = nil
	}
}

// head returns the events of the next message: those of the summary that was
// decided on, or the first alone.
func (q *queue) head() []*Event {
	return q.Events[:max(q.upTo(q.Batch), min(1, len(q.Events)))]
}
