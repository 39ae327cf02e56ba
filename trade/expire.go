package trade

import (
	"fmt"
	"time"

	"wick/trade/book"
)

// expire cancels the open orders of a symbol that have expired by instant, a time of the
// market; at is the time of the records. A broker elsewhere ends its orders itself. Called
// with mu held.
func (d *desk) expire(symbol string, instant, at book.Time) error {
	// They are gathered first, because ending one may end others and change the list.
	var over []*book.Order
	for _, id := range d.ahead.Open[symbol] {
		if o := d.ahead.Order(id); o.Account == "" && o.Expired(instant.UnixMilli()) {
			over = append(over, o)
		}
	}
	for _, o := range over {
		if o = d.ahead.Order(o.ID); o.Status.Terminal() { // it ended with an order before it
			continue
		}
		if _, err := d.cancel(o, book.Who{}, book.Because(book.Expired), at); err != nil {
			return fmt.Errorf("order %s has expired: %w", o.ID, err)
		}
	}
	return nil
}

// expireLate is how long after its expiry an order is cancelled although no later price
// has come. Until then an earlier price may still be on its way, and fill it. It is longer
// than the feed takes to tell a minute that has ended; one that ends later fills nothing.
const expireLate = 5 * time.Second

// expireAll cancels the orders of all symbols that expired at least expireLate ago, and
// returns when that is on disk. After a start the feed has as long to tell what was traded
// before they expired.
func (e *Engine) expireAll() error {
	return e.Do(func(s *book.State) error {
		at := now()
		if at.Sub(e.began.Time) < expireLate {
			return nil
		}
		for _, symbol := range sorted(s.Open) {
			if err := e.expire(symbol, book.Time{Time: at.Add(-expireLate)}, at); err != nil {
				return err
			}
		}
		return nil
	})
}
