package permit

import (
	"maps"
	"time"

	"wick/internal/exact"
)

const (
	hour       = 60     // minutes that an order counts against its client
	maxMinutes = 10_000 // sums that are kept
)

// sums has the worth of the orders that each client placed within each minute of the last
// hour. The gate's lock guards it. If there are too many clients to keep count of, every
// order needs a yes: none is forgotten.
type sums map[minute]exact.Money

// minute is a client's minute, counted from 1970.
type minute struct {
	client string
	at     int64
}

// fit reports whether a client may place an order of this worth without a yes: the order
// and what the client placed in the last hour together are not more than above.
func (s sums) fit(client string, worth, above exact.Money, now time.Time) bool {
	last := now.Unix() / 60
	if len(s) >= maxMinutes {
		maps.DeleteFunc(s, func(m minute, _ exact.Money) bool { return m.at <= last-hour })
	}
	total, fits := worth, len(s) < maxMinutes
	for at := last - hour + 1; at <= last && fits; at++ {
		total, fits = total.Add(s[minute{client, at}])
	}
	left, ok := above.Sub(total) // a sum that is too large for Money is above any bound
	return fits && ok && left.Sign() >= 0
}

// count adds the worth of an order to what its client placed in the minute of at.
func (s sums) count(client string, worth exact.Money, at time.Time) {
	m := minute{client, at.Unix() / 60}
	if sum, ok := s[m].Add(worth); ok { // one that Money cannot hold stays as it was
		s[m] = sum
	}
}
