package alpaca

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"wick/trade/live"
)

// clock is GET /v2/clock. It knows the holidays and the half days: while the exchange is
// closed, NextOpen and NextClose are those of the next session.
type clock struct {
	Timestamp time.Time `json:"timestamp"`
	IsOpen    bool      `json:"is_open"`
	NextOpen  time.Time `json:"next_open"`
	NextClose time.Time `json:"next_close"`
}

// hours returns the clock of the exchange. It asks for it only if the last answer does not
// hold any more: it holds until the exchange opens or closes next, but at most for an hour,
// in case it was wrong.
func (c *Client) hours(ctx context.Context) (clock, error) {
	// Two callers may both ask for the clock. Both answers are right, and the later one
	// is kept.
	c.mu.Lock()
	k := c.clock
	c.mu.Unlock()
	until := k.NextOpen
	if k.IsOpen {
		until = k.NextClose
	}
	if now := time.Now(); now.Before(until) && now.Before(k.Timestamp.Add(time.Hour)) {
		return k, nil
	}
	if err := c.do(ctx, ordinary, http.MethodGet, "/v2/clock", nil, nil, &k); err != nil {
		return k, err
	}
	// Without these times we would have to ask for the clock before every order.
	if k.NextOpen.IsZero() || k.NextClose.IsZero() {
		return k, fmt.Errorf("alpaca: a clock without the times of the next session")
	}
	c.mu.Lock()
	c.clock = k
	c.mu.Unlock()
	return k, nil
}

// check refuses an order that must be filled at once if the exchange is closed: it would
// be filled at the opening, at a price that nobody knows yet.
func (k clock) check(o live.Order) error {
	if k.IsOpen || o.Type != "market" && o.TimeInForce != "ioc" && o.TimeInForce != "fok" {
		return nil
	}
	return refusal("the exchange is closed until %s, and then open until %s: a limit or a stop with time_in_force day or gtc can wait for it",
		k.NextOpen.UTC().Format("2006-01-02 15:04 UTC"), k.NextClose.UTC().Format("15:04 UTC"))
}
