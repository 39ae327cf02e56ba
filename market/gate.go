package market

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// gate keeps the requests to one host within its budget, which is a number of units
// in each window of the clock. It counts them, and corrects its count by what the
// service says that we used. Requests pass in the order in which they came, but those for
// prices before all others. After a failure, or when the host asked for a pause, no
// request passes until the pause is over.
type gate struct {
	limit   int // this and the next two fields are copies of the site's
	window  time.Duration
	used    string
	reserve int // units of each window that are kept for prices

	mu     sync.Mutex
	queue  []*turn   // the requests that wait, the next one first
	since  time.Time // start of the current window
	spent  int
	closed time.Time // no request before this time
	why    Error     // the reason: the error that callers get before that time
	fails  int       // failures in a row
}

type turn struct {
	weight int
	price  bool // it is for prices
}

// priceKey marks a context whose requests are for prices.
type priceKey struct{}

// forPrice returns a context whose requests pass before others: stops and orders wait for
// what they ask.
func forPrice(ctx context.Context) context.Context { return context.WithValue(ctx, priceKey{}, true) }

// How long a host is left alone.
const (
	backoffMin = time.Second
	backoffMax = time.Minute
	banMin     = 2 * time.Minute // after 418 and 403, whatever the header says
	banLegal   = time.Hour       // after 451: laws do not change in minutes
	waitMax    = 24 * time.Hour  // a header may ask for no longer wait
)

// answerTime is what must be left of a call after a wait. With less the request could be
// cut off, and the service would be blamed for it.
const answerTime = 4 * time.Second

// enter waits until weight units may be spent, and spends them. If the wait would leave
// less than answerTime of the time that ctx has, it returns an error at once.
func (g *gate) enter(ctx context.Context, weight int) *Error {
	t := &turn{weight: weight, price: ctx.Value(priceKey{}) != nil}
	g.join(t)
	defer g.leave(t)
	for { // again in each window: requests for prices may have come in between
		wait, why := g.take(t)
		if wait == 0 {
			return nil
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait+answerTime {
			why.After = wait
			return &why
		}
		timer := time.NewTimer(min(wait, time.Until(time.Now().Truncate(g.window).Add(g.window))))
		select {
		case <-ctx.Done():
			timer.Stop()
			return &Error{Reason: "the call was cancelled", Retry: true, Err: ctx.Err()}
		case <-timer.C:
		}
	}
}

// join puts t into the queue: at its end, or behind the other requests for prices.
func (g *gate) join(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := len(g.queue)
	if t.price {
		if i := slices.IndexFunc(g.queue, func(other *turn) bool { return !other.price }); i >= 0 {
			at = i
		}
	}
	g.queue = slices.Insert(g.queue, at, t)
}

func (g *gate) leave(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = slices.DeleteFunc(g.queue, func(other *turn) bool { return other == t })
}

func (g *gate) crowded() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue) > 0
}

// take spends the units of t if there are enough for it and all that are before it in the
// queue. Otherwise it returns how long to wait, if nobody comes before t meanwhile, and why.
func (g *gate) take(t *turn) (wait time.Duration, why Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	// The service has asked us to stay away until then.
	if wait := g.closed.Sub(now); wait > 0 {
		return wait, g.why
	}
	g.roll(now)
	limit := g.limit
	if !t.price {
		limit -= g.reserve
	}
	over := g.spent + t.weight - limit
	for _, before := range g.queue {
		if before == t {
			break
		}
		over += before.weight
	}
	if over > 0 {
		windows := time.Duration((over + limit - 1) / limit)
		return g.since.Add(windows * g.window).Sub(now), Error{Reason: "the limit that wick keeps to, so that the service does not refuse it, is used up", Retry: true, busy: true}
	}
	g.spent += t.weight
	g.queue = slices.DeleteFunc(g.queue, func(other *turn) bool { return other == t }) // those behind it count no units for it twice
	return 0, Error{}
}

// roll starts a new window if the clock has left the old one. The caller holds
// g.mu.
func (g *gate) roll(now time.Time) {
	if since := now.Truncate(g.window); !since.Equal(g.since) {
		g.since, g.spent = since, 0
	}
}

// good notes a successful answer, and the number of units that its header says we used.
func (g *gate) good(header http.Header) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fails = 0
	// Others at our address may spend from the same budget, so the service's number can
	// be higher than ours. A lower one may lack requests that are under way.
	if n, err := strconv.Atoi(header.Get(g.used)); err == nil && n > g.spent {
		g.roll(time.Now())
		g.spent = n
	}
}

// close lets no request pass for d. A longer closure that is under way stays as it is.
func (g *gate) close(d time.Duration, why Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(d); until.After(g.closed) {
		g.closed, g.why = until, why
	}
}

// backOff notes a failure and returns how long to wait: a second at first, twice as long
// after each further failure, up to a minute. The time varies at random by up to a
// quarter so that many callers do not come back at the same time.
func (g *gate) backOff() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fails++
	d := min(backoffMin<<min(g.fails-1, 10), backoffMax)
	return d*3/4 + rand.N(d/2)
}

// retryAfter returns how long the header Retry-After asks to wait, in either of its
// forms, seconds or a date. It returns 0 if the header is missing or makes no sense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	// Of a number that is out of range ParseInt returns the largest one.
	if n, err := strconv.ParseInt(text, 10, 64); n > 0 && (err == nil || errors.Is(err, strconv.ErrRange)) {
		return time.Duration(min(n, int64(waitMax/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), waitMax)
	}
	return 0
}
