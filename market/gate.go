package market

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// gate stands before one host and lets requests pass within its budget: so
// many units in each window of the clock, counted here and corrected by what
// the service itself says we used. A host that failed or asked for peace is
// left alone until that time is over.
type gate struct {
	limit  int           // units per window; below the service's own limit, for others share our address
	window time.Duration // windows start at whole multiples, as the services count
	used   string        // header in which the service says what we used of the window; "" if it does not

	mu     sync.Mutex
	since  time.Time // start of the current window
	spent  int
	closed time.Time // no request before
	why    Error     // what closed it; all who come before that time hear it
	fails  int       // in a row
}

const (
	backoffMin = time.Second
	backoffMax = time.Minute
	banMin     = 2 * time.Minute // after 418 and 403, whatever the header says
	banLegal   = time.Hour       // after 451: a place does not change its law in minutes
	waitMax    = 24 * time.Hour  // longest wait believed of a header
)

// enter waits until weight units may be spent. It fails at once when that
// would take longer than ctx has: an error now beats the same error later.
func (g *gate) enter(ctx context.Context, weight int) *Error {
	for {
		wait, why := g.take(weight)
		if wait == 0 {
			return nil
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			why.After = wait
			return &why
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return &Error{Reason: "the caller gave up", Retry: true, Err: ctx.Err()}
		case <-timer.C:
		}
	}
}

// take spends weight, or says how long to wait and why.
func (g *gate) take(weight int) (wait time.Duration, why Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if wait := g.closed.Sub(now); wait > 0 {
		return wait, g.why
	}
	g.roll(now)
	if g.spent+weight > g.limit {
		return g.since.Add(g.window).Sub(now), Error{Reason: "the budget of requests is spent", Retry: true}
	}
	g.spent += weight
	return 0, Error{}
}

// roll starts a new window when the clock has left the old one.
func (g *gate) roll(now time.Time) {
	if since := now.Truncate(g.window); !since.Equal(g.since) {
		g.since, g.spent = since, 0
	}
}

// good notes an answer and what it says about our use of the window.
func (g *gate) good(header http.Header) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fails = 0
	if n, err := strconv.Atoi(header.Get(g.used)); err == nil && n > g.spent {
		g.roll(time.Now())
		g.spent = n
	}
}

// close keeps requests away for d, or longer if that was asked before.
func (g *gate) close(d time.Duration, why Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(d); until.After(g.closed) {
		g.closed, g.why = until, why
	}
}

// backOff notes a failure and returns how long the host should be left alone:
// twice as long after each further one, and off by up to a quarter so that
// many callers do not come back together.
func (g *gate) backOff() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fails++
	d := min(backoffMin<<min(g.fails-1, 10), backoffMax)
	return d*3/4 + rand.N(d/2)
}

// retryAfter reads the header's two forms, seconds and a date. It returns 0
// if there is none that makes sense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return time.Duration(min(n, int(waitMax/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), waitMax)
	}
	return 0
}
