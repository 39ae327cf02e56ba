package market

import "time"

// Hours is the present session of an exchange, or the last or next one if it is closed,
// in unix seconds. The zero value is a market that never closes, or of which nothing is
// known.
type Hours struct{ Open, Close int64 }

// IsOpen reports whether the exchange is open at an instant in unix seconds.
func (h Hours) IsOpen(at int64) bool { return h == Hours{} || at >= h.Open && at < h.Close }

const (
	// lateTrades is how late a trade at an exchange may be told, in seconds. For many exchanges
	// Yahoo does it 15 or 20 minutes late; its answers do not say how many, and no document
	// says which is the longest.
	lateTrades = 30 * minute
	// lastTold is how long after the end of a session, in seconds, its last trade may be told.
	// Exchanges hold a closing auction after it: in Sydney, for one, that is over 12 minutes
	// later.
	lastTold = 15*minute + lateTrades
)

// session is the trading day of an exchange. A nil *session stands for a market that
// never closes, whose bars follow the clock in UTC.
type session struct {
	zone *time.Location
	open time.Duration // the opening, after midnight by the wall clock there
}
