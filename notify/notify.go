// Package notify tells people what happened: by a message on a phone, a line in a chat,
// a mail, or a signed webhook.
//
// An [Event] is something that happened. A [Destination] is a line of the owner's
// file: a service, its address and secrets, and which events it wants. No tool and no
// client can add one. The book (book.go) is what the journal knows: a queue of events
// for each destination, and the dead letters. A worker sends the events of one queue to its
// destination, in order.
//
// # What is promised
//
// The journal record that says that an alert fired also puts its event into the queues,
// so no crash can come between the two. An event leaves its queue only by another record,
// which is written after the service has taken the message. So each message arrives at
// least once, always under the same id. A message that a service refuses for
// some minutes, or does not take for a day, becomes a dead letter, and the other
// destinations get a message about that. If there are more messages than a destination's
// rate allows, they become one summary. It is written down before it is sent, so that its
// id does not change either.
//
// # Security considerations
//
// Only the owner decides, in a file, who gets which messages. Records have no address and no
// secret. Texts of strangers (names of clients, notes of alerts) are made one line and
// bounded before they are queued; package service does the sending.
package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"wick/internal/limit"
	"wick/notify/service"
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

// write writes a record to the journal. If the journal is broken it takes the step in
// memory alone, because the owner must still get what was queued, and the message that the
// journal is broken.
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

const (
	retryFor   = 24 * time.Hour   // how long a message is tried
	refusedFor = 10 * time.Minute // how long one is tried that the service refuses: it may be being set up
	firstWait  = time.Second      // before the second attempt; doubled for each further one
	longest    = 15 * time.Minute // between two attempts, unless the service asks for more
	window     = time.Minute      // the time in which a destination's rate counts messages
)

// worker sends the events of one queue to its destination: one message at a time, the
// next only when the one before is sent or given up, so that the order is kept. The
// fields below deliver belong to the goroutine of run.
type worker struct {
	n       *Notifier
	to      *Destination
	bell    chan struct{}                                                 // rung when something was queued
	deliver func(ctx context.Context, m service.Message) *service.Failure // one attempt

	fails   int       // attempts on the present message
	refused time.Time // when it first refused a message since it last took one; zero if it has not
	told    bool      // the other destinations have heard that messages get lost here, since it last took one
	since   time.Time // when the present window of the rate began
	count   int       // messages begun in this window
	waited  bool      // the queue had to wait for the rate or for quiet hours
}

// Run sends what is queued until ctx ends.
func (n *Notifier) Run(ctx context.Context) error {
	n.Open()
	var workers sync.WaitGroup
	defer workers.Wait()
	for _, w := range n.workers {
		workers.Go(func() { w.run(ctx) })
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-n.told:
			n.write(record{Event: &e})
		}
	}
}

// run sends what is queued for its destination until ctx ends. It waits while nothing is
// queued, during quiet hours and for the rate, and joins many events into one summary.
func (w *worker) run(ctx context.Context) {
	for ctx.Err() == nil {
		// If the bell rings before the wait begins, nothing is lost: it keeps one ring.
		head, queued, newest := w.next()
		if queued == 0 {
			select {
			case <-ctx.Done():
			case <-w.bell:
			}
			continue
		}
		if queued == maxQueue && !w.told { // the owner hears by the other destinations that messages get lost
			w.told = true
			w.n.write(record{Event: &Event{At: time.Now().UTC(), Kind: Undelivered, Not: w.to.Name,
				Text: fmt.Sprintf("%d messages wait for %s, as many as are kept: the oldest are dropped as further ones come", queued, w.to.Name)}})
		}
		if wait := w.hold(time.Now()); wait > 0 {
			w.waited = true
			sleep(ctx, wait)
			continue
		}
		// If more is queued than the rate allows, or several events had to wait, they become
		// a summary, which the next round sends. A summary that was written down, and a
		// message that was tried before, stay as they are, because their id must not change.
		if alone := len(head) == 1 && w.fails == 0; alone && queued > 1 && (w.waited || queued > w.to.Rate) {
			w.n.write(record{To: w.to.Name, Through: newest, Batch: true})
			continue
		}
		w.attempt(ctx, head)
	}
}

// next returns the events of the next message, how many wait, and the sequence of
// the newest.
func (w *worker) next() (head []*Event, queued int, newest uint64) {
	w.n.mu.Lock()
	defer w.n.mu.Unlock()
	if q := w.n.book.Queues[w.to.Name]; q != nil && len(q.Events) > 0 {
		head, queued = slices.Clone(q.head()), len(q.Events)
		newest = q.Events[queued-1].Seq
	}
	return head, queued, newest
}

// hold returns how long the next message must wait for the end of quiet hours or for the
// rate. A message that was tried before waits for neither.
func (w *worker) hold(now time.Time) time.Duration {
	if w.fails > 0 {
		return 0
	}
	if until := w.to.Quiet.end(now); until.After(now) {
		return until.Sub(now)
	}
	// A new window begins, also if the clock was set back.
	if now.Sub(w.since) >= window || now.Before(w.since) {
		w.since, w.count = now, 0
	}
	if w.count >= w.to.Rate {
		return w.since.Add(window).Sub(now)
	}
	return 0
}

// attempt tries once to send the message of events. It writes down that the message was
// sent or given up, or waits until the next attempt, which run then makes. The events
// leave their queue only by the record that it writes. If a crash prevents that
// record, the message is sent a second time, under the same id.
func (w *worker) attempt(ctx context.Context, events []*Event) {
	if w.fails == 0 { // the rate counts messages, not attempts
		w.count++
	}
	m := NewMessage(events)
	m.Picture = w.picture(ctx, events)
	why := w.deliver(ctx, m)
	step, outcome := record{To: w.to.Name, Through: events[len(events)-1].Seq}, "sent"
	// The message is given up so long after it was made, or after the quiet hours in which
	// it was made. If the service refuses it, and does not say that it may take it later, the
	// time counts from the first refusal since it took a message.
	until, span := w.to.Quiet.end(m.At).Add(retryFor), "a day"
	if why != nil && !why.Retry {
		if w.refused.IsZero() {
			w.refused = time.Now()
		}
		until, span = w.refused.Add(refusedFor), fmt.Sprintf("%.0f minutes", refusedFor.Minutes())
	}
	log := w.n.options.Log.With("destination", w.to.Name, "id", m.ID)
	switch {
	case why == nil:
		w.refused, w.told = time.Time{}, false
	case ctx.Err() != nil: // it may have arrived or not: it is sent again after the next start
		return
	case time.Now().Before(until):
		w.fails++
		w.n.options.Count(w.to.Name, "retry")
		if w.fails == 1 { // one line for each message, not for each attempt
			log.Warn("message not sent yet", "reason", why.Reason)
		}
		// Varied at random, so that destinations that failed at the same time are not tried again
		// at the same time.
		wait := min(firstWait<<min(w.fails-1, 20), longest)
		wait = wait/2 + rand.N(wait/2+1)
		sleep(ctx, min(max(wait, why.After), time.Until(until)))
		return
	default:
		log.Warn("message given up", "attempts", w.fails+1, "reason", why.Reason)
		outcome, step.Dead = "dead", &Dead{w.to.Name, m.ID, len(events), time.Now().UTC(), m.Text, why.Reason}
		if !w.told { // the owner hears of the first one by the other destinations
			w.told, step.Event = true, &Event{At: time.Now().UTC(), Kind: Undelivered, Not: w.to.Name,
				Text: fmt.Sprintf("%s took no message for %s (%s), and this one was given up: %q", w.to.Name, span, limit.Line(why.Reason, maxText/4), limit.Line(m.Text, maxText/2))}
		}
	}
	w.n.options.Count(w.to.Name, outcome)
	w.fails, w.waited = 0, false
	w.n.write(step)
}

// lastWord is how long SendNow waits for the destinations.
const lastWord = 3 * time.Second

// SendNow tries once to send an event, which has an ID, to each destination that wants it and
// has no quiet hours. It queues nothing, so it is for an event that would be of no use later.
// It may be called when Run has returned and the journal is closed.
func (n *Notifier) SendNow(e Event) {
	ctx, cancel := context.WithTimeout(context.Background(), lastWord)
	defer cancel()
	var sending sync.WaitGroup
	for _, w := range n.workers {
		if now := time.Now(); !w.to.Filter.matches(&e) || w.to.Quiet.end(now).After(now) {
			continue
		}
		sending.Go(func() {
			if why := w.deliver(ctx, NewMessage([]*Event{&e})); why != nil {
				n.options.Log.Warn("message not sent", "destination", w.to.Name, "kind", string(e.Kind), "reason", why.Reason)
				return
			}
			n.options.Count(w.to.Name, "sent")
		})
	}
	sending.Wait()
}

// picture draws the chart of a message. It returns nil if the destination wants none or
// the message has none, as a summary never has. If drawing fails the text is sent alone.
// It recovers from a panic: the message is still queued, so the panic would end the
// program again after every start.
func (w *worker) picture(ctx context.Context, events []*Event) (image []byte) {
	e := events[0]
	if !w.to.Picture || w.n.options.Picture == nil || len(events) != 1 || e.Chart == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, service.Timeout)
	defer cancel()
	log := w.n.options.Log.With("destination", w.to.Name, "id", e.ID)
	defer func() {
		if v := recover(); v != nil {
			log.Error("drawing the picture of a message panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
		}
	}()
	image, err := w.n.options.Picture(ctx, *e)
	if err != nil {
		log.Warn("no picture for a message", "error", w.to.Redact(err.Error()))
	}
	return image
}

// sleep returns after d, or when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
