package trade

import (
	"time"

	"wick/trade/book"
)

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
			if err := e.book.Expire(symbol, book.Time{Time: at.Add(-expireLate)}, at); err != nil {
				return err
			}
		}
		return nil
	})
}
