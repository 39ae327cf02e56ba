package notify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"wick/limit"
)

const (
	retryFor  = 24 * time.Hour   // how long a message is tried
	firstWait = time.Second      // before the second attempt; doubled with each
	longest   = 15 * time.Minute // between two attempts, unless the service asks for more
	window    = time.Minute      // that a destination's rate counts in
)

// worker brings one queue to its destination: one message at a time, the next
// only when the one before is sent or given up, so that the order is kept. What is
// below deliver belongs to the goroutine of run.
type worker struct {
	n       *Notifier
	to      *Destination
	bell    chan struct{}                                 // rung when something was queued
	deliver func(ctx context.Context, m Message) *Failure // one attempt

	fails  int       // attempts on the present message
	since  time.Time // when the present window of the rate began
	count  int       // messages begun in it
	waited bool      // what is queued had to wait for the rate or for quiet hours
}

// Message is what a destination is sent at once: an event, or a summary of
// several.
type Message struct {
	ID      string
	At      time.Time // of its newest event
	Kind    string    // the event's, or "summary"
	Text    string
	Events  []*Event
	Picture []byte // PNG; nil for none
}

// NewMessage returns the message of events that wait for one destination.
func NewMessage(events []*Event) Message {
	first, last := events[0], events[len(events)-1]
	m := Message{ID: first.ID, At: last.At, Kind: string(first.Kind), Text: first.Text, Events: slices.Clone(events)}
	if len(events) > 1 {
		m.ID, m.Kind, m.Text = fmt.Sprintf("%s-to-%d", first.ID, last.Seq), "summary", summary(events)
	}
	return m
}

// summary says what happened, such as "37 alerts fired in a minute: …". It quotes
// the first five.
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
	for _, e := range events[:min(quoted, len(events))] {
		texts = append(texts, limit.Line(e.Text, maxText/quoted))
	}
	if more := len(events) - quoted; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d %s in %s: %s", len(events), what, within, strings.Join(texts, "; "))
}

// run works until ctx ends.
func (w *worker) run(ctx context.Context) {
	for ctx.Err() == nil {
		m, queued, newest := w.next()
		if queued == 0 {
			select {
			case <-ctx.Done():
			case <-w.bell:
			}
			continue
		}
		if wait := w.hold(time.Now()); wait > 0 {
			w.waited = true
			sleep(ctx, wait)
			continue
		}
		// A summary that was decided on, and a message that was tried, stay as they
		// are: their id must not change.
		if alone := len(m.Events) == 1 && w.fails == 0; alone && queued > 1 && (w.waited || queued > w.to.Rate) {
			w.n.write(record{To: w.to.Name, Through: newest, Batch: true})
			continue
		}
		w.attempt(ctx, m)
	}
}

// next returns the message at the head of the queue, how many events wait, and
// the sequence of the newest.
func (w *worker) next() (m Message, queued int, newest uint64) {
	w.n.mu.Lock()
	defer w.n.mu.Unlock()
	if q := w.n.book.Queues[w.to.Name]; q != nil && len(q.Events) > 0 {
		m, queued = NewMessage(q.head()), len(q.Events)
		newest = q.Events[queued-1].Seq
	}
	return m, queued, newest
}

// hold returns how long the next message must wait for the end of quiet hours or
// for the rate. One that was tried before waits for neither.
func (w *worker) hold(now time.Time) time.Duration {
	if w.fails > 0 {
		return 0
	}
	if until := w.to.Quiet.end(now); until.After(now) {
		return until.Sub(now)
	}
	if now.Sub(w.since) >= window || now.Before(w.since) {
		w.since, w.count = now, 0
	}
	if w.count >= w.to.Rate {
		return w.since.Add(window).Sub(now)
	}
	return 0
}

// attempt tries once to send m. It writes down what came of it, or waits for the
// time of the next attempt.
func (w *worker) attempt(ctx context.Context, m Message) {
	if w.fails == 0 {
		w.count++
	}
	m.Picture = w.picture(ctx, m)
	why := w.deliver(ctx, m)
	step := record{To: w.to.Name, Through: m.Events[len(m.Events)-1].Seq}
	until := w.to.Quiet.end(m.At).Add(retryFor)
	switch {
	case why == nil:
		w.finish("sent", step)
	case ctx.Err() != nil: // whether it arrived is not known: it is sent again
	case why.Retry && time.Now().Before(until):
		w.fails++
		w.n.options.Count(w.to.Name, "retry")
		if w.fails == 1 {
			w.n.options.Log.Warn("message not sent yet", "destination", w.to.Name, "id", m.ID, "reason", why.Reason)
		}
		sleep(ctx, min(max(pause(w.fails), why.After), time.Until(until)))
	default:
		w.n.options.Log.Warn("message given up", "destination", w.to.Name, "id", m.ID, "attempts", w.fails+1, "reason", why.Reason)
		step.Dead = &Dead{w.to.Name, m.ID, len(m.Events), time.Now().UTC(), m.Text, why.Reason}
		w.finish("dead", step)
	}
}

// finish ends the present message by a record.
func (w *worker) finish(outcome string, step record) {
	w.n.options.Count(w.to.Name, outcome)
	w.fails, w.waited = 0, false
	w.n.write(step)
}

// picture draws the chart of a message. If that fails the text is sent alone.
func (w *worker) picture(ctx context.Context, m Message) []byte {
	if !w.to.Picture || w.n.options.Picture == nil || len(m.Events) != 1 || m.Events[0].Chart == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	image, err := w.n.options.Picture(ctx, *m.Events[0])
	if err != nil {
		w.n.options.Log.Warn("no picture for a message", "destination", w.to.Name, "id", m.ID, "error", w.to.redact(err.Error()))
	}
	return image
}

// pause returns how long to wait after the nth failure, with jitter: destinations
// that failed together should not come back together.
func pause(n int) time.Duration {
	d := min(firstWait<<min(n-1, 20), longest)
	return d/2 + rand.N(d/2+1)
}

// sleep returns after d, or when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
