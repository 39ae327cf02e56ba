// Package notify tells people what happened: by a message on a phone, a line in a chat,
// a mail, or a signed webhook.
//
// An [Event] is something that happened. A [Destination] is a line of the owner's
// file: a service, its address and secrets, and which events it wants. No tool and no
// client can add one. The book (book.go) is what the journal knows: a queue of events
// for each destination, and the dead letters. A worker (worker.go) sends the events of
// one queue to its destination, in order.
//
// # What is promised
//
// The journal record that says that an alert fired also puts its event into the queues,
// so no crash can come between the two. An event leaves its queue only by another record,
// which is written after the service has taken the message. So each message arrives at
// least once, always under the same id. A message that a service refuses for
// some minutes, or does not take for a day, becomes a dead letter, of which the other
// destinations hear. If there are more messages than a destination's
// rate allows, they become one summary. It is written down before it is sent, so that its
// id does not change either.
//
// # Security considerations
//
// Only the owner decides, in a file, who is told what. Records have no address and no
// secret. Texts of strangers (names of clients, notes of alerts) are made one line and
// bounded before they are queued; package service does the sending.
package notify

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Options configure a Notifier.
type Options struct {
	Destinations []*Destination

	// Write adds a record to the journal and returns once it is on disk and Apply
	// was called with it. Its error means that the journal is broken.
	Write func(record []byte) error

	// Picture draws an event's chart as a PNG. Nil means that there are no pictures.
	Picture func(ctx context.Context, e Event) ([]byte, error)

	// Count is called with the name of the destination and the outcome of every attempt:
	// sent, retry or dead. Nil counts nothing.
	Count func(destination, outcome string)

	Log *slog.Logger // nil discards
}

// Notifier queues events and sends them. Its methods may be called from many
// goroutines. Restore, Apply, Happened and Snapshot are for the journal's owner.
type Notifier struct {
	options Options
	told    chan Event // from Tell to Run
	workers map[string]*worker
	opened  sync.Once

	mu   sync.Mutex
	book *book // guarded by mu
}

// maxTold is how many events may wait between Tell and Run. If there are more, as in a
// flood of logins, they are dropped; the log has them all.
const maxTold = 64

// New returns a notifier. It sends nothing before Run.
func New(o Options) *Notifier {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Count == nil {
		o.Count = func(string, string) {}
	}
	n := &Notifier{options: o, told: make(chan Event, maxTold), workers: make(map[string]*worker), book: &book{}}
	for _, d := range o.Destinations {
		n.workers[d.Name] = &worker{n: n, to: d, bell: make(chan struct{}, 1), deliver: d.Send}
	}
	return n
}

// Restore replaces the queues by those of a snapshot; an empty snapshot means empty
// queues. A start calls it again if it has to use an older snapshot.
func (n *Notifier) Restore(snapshot []byte) error {
	b := &book{}
	if len(snapshot) > 0 {
		if err := json.Unmarshal(snapshot, b); err != nil {
			return err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.book = b
	return nil
}

// Snapshot returns the queues in the form that Restore takes.
func (n *Notifier) Snapshot() ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return json.Marshal(n.book)
}

// Happened queues an event that is part of a record of the journal. It does no I/O,
// because the journal waits for it.
func (n *Notifier) Happened(e Event) { n.apply(e.ID, e.Seq, record{Event: &e}) }

// Apply takes the step of a record that was given to Options.Write.
func (n *Notifier) Apply(id string, seq uint64, data []byte) error {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	n.apply(id, seq, r)
	return nil
}

// apply takes a step and wakes the workers that have something to do now.
func (n *Notifier) apply(id string, seq uint64, r record) {
	n.mu.Lock()
	to := n.book.apply(id, seq, r)
	n.mu.Unlock()
	for _, name := range to {
		// A destination of the journal may no longer be in the owner's file.
		if w := n.workers[name]; w != nil {
			select {
			case w.bell <- struct{}{}:
			default: // it has not taken the last ring yet
			}
		}
	}
}

// write writes a record to the journal. If the journal is broken the step is taken in
// memory alone, because the owner must still be told that, and what was queued.
func (n *Notifier) write(r record) {
	data, err := json.Marshal(r)
	if err == nil {
		err = n.options.Write(data)
	}
	if err != nil {
		n.mu.Lock()
		seq := n.book.Last + 1
		n.mu.Unlock()
		n.apply("unwritten-"+strconv.FormatInt(time.Now().UnixNano(), 36), seq, r)
	}
}

// Tell queues an event that is not part of a record of the journal, such as a login. It
// does not wait. Run writes a record for the event, which gives it its ID and Seq.
func (n *Notifier) Tell(e Event) {
	select {
	case n.told <- e:
	default:
		n.options.Log.Warn("too much at once: an event is not sent", "kind", string(e.Kind))
	}
}

// Open writes down, once, which destinations there are. Each gets the events from then
// on. Run calls it; a caller that allows actions before Run must call it before those.
func (n *Notifier) Open() {
	n.opened.Do(func() {
		filters := make(map[string]Filter)
		for _, d := range n.options.Destinations {
			filters[d.Name] = d.Filter
		}
		n.write(record{Open: filters})
	})
}

// Hearing returns the names of the destinations that get an event, in the order of the
// file. They may get it later, after their quiet hours or in a summary.
func (n *Notifier) Hearing(e Event) (names []string) {
	for _, d := range n.options.Destinations {
		if d.Filter.matches(&e) {
			names = append(names, d.Name)
		}
	}
	return names
}

// Hashed returns when the newest event of the kind Journal was queued, or the zero time.
func (n *Notifier) Hashed() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.book.Hashed
}

// Status returns how many events wait for each destination, and the newest dead
// letters, oldest first.
func (n *Notifier) Status() (waiting map[string]int, dead []Dead) {
	n.mu.Lock()
	defer n.mu.Unlock()
	waiting = make(map[string]int)
	for name, q := range n.book.Queues {
		waiting[name] = len(q.Events)
	}
	return waiting, slices.Clone(n.book.Dead)
}
