package trade

import (
	"fmt"
	"time"
)

// expire cancels the open orders of a symbol that have expired by instant, a time of the
// market; at is the time of the records. A broker elsewhere ends its orders itself. Called
// with mu held.
func (d *desk) expire(symbol string, instant, at Time) error {
	// They are gathered first, because ending one may end others and change the list.
	var over []*Order
	for _, id := range d.ahead.open[symbol] {
		if o := d.ahead.order(id); o.Account == "" && o.expired(instant.UnixMilli()) {
			over = append(over, o)
		}
	}
	for _, o := range over {
		if o = d.ahead.order(o.ID); o.Status.Terminal() { // it ended with an order before it
			continue
		}
		if _, err := d.cancel(o, Who{}, because(expired), at); err != nil {
			return fmt.Errorf("order %s has expired: %w", o.ID, err)
		}
	}
	return nil
}

// expireLate is how long after its expiry an order is cancelled although no later price
// has come. Until then an earlier price may still be on its way, and fill it.
const expireLate = time.Minute

// expireAll cancels the orders of all symbols that expired at least expireLate ago, and
// returns when that is on disk.
func (e *Engine) expireAll() error {
	return e.Do(func(s *state) error {
		at := now()
		for _, symbol := range sorted(s.open) {
			if err := e.expire(symbol, Time{at.Add(-expireLate)}, at); err != nil {
				return err
			}
		}
		return nil
	})
}
