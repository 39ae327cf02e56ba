// Package notify brings what happened to people: a message on a phone, a line in
// a chat, a mail, a signed webhook.
//
// An [Event] is something that happened. A [Destination] is a line of the owner's
// file: a service, its address and secrets, and which events it wants; no tool and
// no client can add one. The book (book.go) is what the journal knows: a queue of
// events per destination, and the dead letters. A worker (worker.go) brings one
// queue to its destination, in order.
//
// # What is promised
//
// The record by which an alert fires is the one that puts its event into the
// queues, so no crash comes between the two. A message leaves its queue only by
// another record, written after the service has taken it: each arrives at least
// once, under an id that does not change. What a service refuses, or does not take
// for a day, is a dead letter. More messages than a destination's rate become one
// summary, which is written down before it is sent, so that its id does not change
// either.
//
// # Security considerations
//
// Who is told what is the owner's to say, in a file. Records hold no address and no
// secret. Texts of strangers (names of clients, notes of alerts) are made one line
// and bounded before they are queued; package service does the sending.
package notify

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"wick/notify/service"
)

// Options configure a Notifier.
type Options struct {
	Destinations []*Destination

	// Write adds a record to the journal and returns once it is on disk and Apply
	// was called with it. Its error means that the journal is broken.
	Write func(record []byte) error

	// Picture draws an event's chart as a PNG. Nil means that there are none.
	Picture func(ctx context.Context, e Event) ([]byte, error)

	// Count is told what came of every attempt (sent, retry, dead), with the name
	// of the destination. Nil counts nothing.
	Count func(destination, outcome string)

	Log *slog.Logger // nil discards
}

// Notifier queues events and sends them. Its methods may be called from many
// goroutines. Restore, Apply, Happened and Snapshot are for the journal's owner.
type Notifier struct {
	options Options
	told    chan Event // by Tell, for Run
	workers map[string]*worker
	opened  sync.Once

	mu   sync.Mutex
	book *book // guarded by mu
}

// worker brings one queue to its destination: one message at a time, the next
// only when the one before is sent or given up, so that the order is kept. What is
// below deliver belongs to the goroutine of run (worker.go).
type worker struct {
	n       *Notifier
	to      *Destination
	bell    chan struct{}                                                 // rung when something was queued
	deliver func(ctx context.Context, m service.Message) *service.Failure // one attempt

	fails  int       // attempts on the present message
	since  time.Time // when the present window of the rate began
	count  int       // messages begun in it
	waited bool      // what is queued had to wait for the rate or for quiet hours
}

// maxTold is how many events Tell holds for Run. A flood of logins is cut here;
// the log has them all.
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

// Restore begins with a snapshot; none means empty queues. It may be called
// again, when a start falls back to an older snapshot.
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

// Happened queues an event that a record of the journal tells of. It does no I/O:
// the journal waits for it.
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

// apply takes a step and wakes the workers that have something to do by it.
func (n *Notifier) apply(id string, seq uint64, r record) {
	n.mu.Lock()
	to := n.book.apply(id, seq, r)
	n.mu.Unlock()
	for _, name := range to {
		// The journal may still know a destination that the file no longer has.
		if w := n.workers[name]; w != nil {
			select {
			case w.bell <- struct{}{}:
			default: // it has not heard the last one yet
			}
		}
	}
}

// write has a record written. When the journal is broken the step is taken in
// memory alone: the owner should hear of just that, and of what was queued.
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

// Tell queues an event that no record tells of, such as a login. It does not
// wait. The event's ID and Seq are those of the record that is written for it.
func (n *Notifier) Tell(e Event) {
	select {
	case n.told <- e:
	default:
		n.options.Log.Warn("too much at once: an event is not sent", "kind", string(e.Kind))
	}
}

// Open writes down, once, which destinations there are: each gets what happens from
// then on. Whoever lets others act before Run calls it first.
func (n *Notifier) Open() {
	n.opened.Do(func() {
		filters := make(map[string]Filter)
		for _, d := range n.options.Destinations {
			filters[d.Name] = d.Filter
		}
		n.write(record{Open: filters})
	})
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
