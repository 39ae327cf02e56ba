package alpaca

import (
	"context"
	"fmt"
	"sync"
	"time"

	"wick/broker"
	"wick/limit"
)

// Alpaca takes 200 requests a minute and account. A bucket lets through its burst
// and what has come back, so in any minute a bucket of burst b that gets one unit
// every half second lets through b+120: 170 of all kinds, and 200 with cancels,
// which may always go further than the others.
var (
	ordinary = limit.Rate{Burst: 50, Every: time.Second / 2}
	urgent   = limit.Rate{Burst: 80, Every: time.Second / 2}
)

// maxWait is how long a request waits for its turn before it is given up.
const maxWait = 10 * time.Second

// budget keeps the requests of a client below Alpaca's limit.
type budget struct {
	mu     sync.Mutex
	bucket limit.Bucket // guarded by mu, like paused
	paused time.Time    // Alpaca has asked for silence until then
}

// take waits for the turn of a request. A refusal means that nothing was sent. It
// waits at most maxWait, so that a caller hears of a full budget while it still
// listens.
func (b *budget) take(ctx context.Context, r limit.Rate) error {
	deadline := time.Now().Add(maxWait)
	for {
		// The lock is not held while waiting. Whoever wakes asks again, since another
		// may have been first.
		b.mu.Lock()
		now := time.Now()
		// A pause that Alpaca asked for goes before our own rate.
		wait := b.paused.Sub(now)
		if wait <= 0 {
			wait = b.bucket.Take(now, r)
		}
		b.mu.Unlock()
		if wait <= 0 {
			return nil
		}
		if now.Add(wait).After(deadline) {
			return refusal("too many requests to Alpaca within a minute; nothing was sent: retry in a minute")
		}
		select {
		case <-ctx.Done():
			return refusal("nothing was sent: %v", ctx.Err())
		case <-time.After(wait):
		}
	}
}

// pause keeps all requests back until a time that Alpaca named, a minute at most. A
// header with a time far off must not stop all trading.
func (b *budget) pause(until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paused = until
	if most := time.Now().Add(time.Minute); until.After(most) {
		b.paused = most
	}
}

// refusal returns an error that says for certain that nothing was done, and why.
func refusal(format string, args ...any) error {
	return &broker.Refused{Text: fmt.Sprintf(format, args...)}
}
