package notify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"wick/limit"
	"wick/notify/service"
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
	bell    chan struct{}                                                 // rung when something was queued
	deliver func(ctx context.Context, m service.Message) *service.Failure // one attempt

	fails  int       // attempts on the present message
	since  time.Time // when the present window of the rate began
	count  int       // messages begun in it
	waited bool      // what is queued had to wait for the rate or for quiet hours
}

// NewMessage returns the message of events that wait for one destination: an
// event's own, or a summary of several.
func NewMessage(events []*Event) service.Message {
	first, last := events[0], events[len(events)-1]
	m := service.Message{ID: first.ID, At: last.At, Kind: string(first.Kind), Text: first.Text, Events: len(events),
		Symbol: first.Symbol, Client: first.Client, Detail: first.Detail}
	if len(events) > 1 {
		m.ID, m.Kind, m.Text = fmt.Sprintf("%s-to-%d", first.ID, last.Seq), "summary", summary(events)
		m.Symbol, m.Client, m.Detail = "", "", nil
	}
	m.Urgent = slices.ContainsFunc(events, func(e *Event) bool { return e.Kind == Storage || e.Kind == Halt || e.Kind == Loss })
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

// run sends what is queued for its destination until ctx ends. It waits while nothing
// is queued and while the destination is to have quiet, and gathers many events into
// one message.
func (w *worker) run(ctx context.Context) {
	for ctx.Err() == nil {
		head, queued, newest := w.next()
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

// hold returns how long the next message must wait for the end of quiet hours or
// for the rate. One that was tried before waits for neither.
func (w *worker) hold(now time.Time) time.Duration {
	if w.fails > 0 {
		return 0
	}
	if until := w.to.Quiet.end(now); until.After(now) {
		return until.Sub(now)
	}
	// A new window begins; also when the clock was set back.
	if now.Sub(w.since) >= window || now.Before(w.since) {
		w.since, w.count = now, 0
	}
	if w.count >= w.to.Rate {
		return w.since.Add(window).Sub(now)
	}
	return 0
}

// attempt tries once to send a message of events. It writes down what came of it, or
// waits for the time of the next attempt.
func (w *worker) attempt(ctx context.Context, events []*Event) {
	if w.fails == 0 {
		w.count++
	}
	m := NewMessage(events)
	m.Picture = w.picture(ctx, events)
	why := w.deliver(ctx, m)
	step := record{To: w.to.Name, Through: events[len(events)-1].Seq}
	// Tried for so long after the message, or after the quiet hours that held it.
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
		step.Dead = &Dead{w.to.Name, m.ID, len(events), time.Now().UTC(), m.Text, why.Reason}
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
func (w *worker) picture(ctx context.Context, events []*Event) []byte {
	e := events[0]
	if !w.to.Picture || w.n.options.Picture == nil || len(events) != 1 || e.Chart == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, service.Timeout)
	defer cancel()
	image, err := w.n.options.Picture(ctx, *e)
	if err != nil {
		w.n.options.Log.Warn("no picture for a message", "destination", w.to.Name, "id", e.ID, "error", w.to.Redact(err.Error()))
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
