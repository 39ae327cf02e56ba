package notify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"wick/internal/limit"
	"wick/notify/service"
)

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
		sleep(ctx, min(max(pause(w.fails), why.After), time.Until(until)))
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

// pause returns how long to wait after the nth failure, varied at random so that
// destinations that failed at the same time are not tried again at the same time.
func pause(n int) time.Duration {
	d := min(firstWait<<min(n-1, 20), longest)
	return d/2 + rand.N(d/2+1)
}

// sleep returns after d, or when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
