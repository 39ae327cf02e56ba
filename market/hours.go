package market

import "time"

// Hours is the present session of an exchange, or the last or next one if it is closed,
// in unix seconds. The zero value is a market that never closes, or of which nothing is
// known.
type Hours struct{ Open, Close int64 }

// IsOpen reports whether the exchange is open at an instant in unix seconds.
func (h Hours) IsOpen(at int64) bool { return h == Hours{} || at >= h.Open && at < h.Close }

// session is the trading day of an exchange. A nil *session stands for a market that
// never closes, whose bars follow the clock in UTC.
type session struct {
	zone *time.Location
	open time.Duration // the opening, after midnight by the wall clock there
}
