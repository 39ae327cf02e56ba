package alpaca

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"wick/internal/limit"
)

// Alpaca allows 200 requests a minute for each account. A bucket with a burst of b that
// regains one unit every half second allows b+120 requests in any minute. That makes 170
// for ordinary requests. Cancels, and orders that close a position, count in the same bucket
// with a larger burst, so that they are still sent when ordinary requests have to wait; with them it makes 200.
var (
	ordinary = limit.Rate{Burst: 50, Every: time.Second / 2}
	urgent   = limit.Rate{Burst: 80, Every: time.Second / 2}
)

// maxWait is how long a request may wait for its turn. One that would wait longer is
// refused.
const maxWait = 10 * time.Second

// budget keeps the requests of a client below Alpaca's limit.
type budget struct {
	mu     sync.Mutex
	bucket limit.Bucket // guarded by mu, like paused
	paused time.Time    // Alpaca allows no requests before this
}

// take waits until a request may be sent, for at most maxWait, so that the caller gets an
// answer before it gives up. It returns a refusal if the request may not be sent.
func (b *budget) take(ctx context.Context, r limit.Rate) error {
	deadline := time.Now().Add(maxWait)
	for {
		// The lock is not held during the wait. After it the loop asks again, since another
		// request may have come first. A pause that Alpaca asked for comes before our own rate.
		b.mu.Lock()
		now := time.Now()
		wait := b.paused.Sub(now)
		if wait <= 0 {
			wait = b.bucket.Take(now, r)
		}
		b.mu.Unlock()
		if wait <= 0 {
			return nil
		}
		if now.Add(wait).After(deadline) {
			// An order that was refused keeps its client_order_id: a retry with it would return
			// this refusal.
			return refusal("too many requests to Alpaca within a minute; nothing was sent: retry in a minute, an order with a new client_order_id or without one")
		}
		select {
		case <-ctx.Done():
			return refusal("nothing was sent: %v", ctx.Err())
		case <-time.After(wait):
		}
	}
}

// pause stops all requests after a reply that there were too many, with these headers: until
// the time that Alpaca names, or for the seconds that Retry-After does, which a proxy may send
// too. If neither is given it stops them for a second, and never for more than a minute, since a
// wrong header must not stop all trading.
func (b *budget) pause(h http.Header) {
	wait := time.Second
	if reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil && time.Until(time.Unix(reset, 0)) > 0 {
		wait = time.Until(time.Unix(reset, 0))
	}
	if after, err := strconv.Atoi(h.Get("Retry-After")); err == nil && after > 0 {
		wait = time.Duration(min(after, 60)) * time.Second
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paused = time.Now().Add(min(wait, time.Minute))
}
