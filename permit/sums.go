package permit

import (
	"math"
	"sync"
	"time"

	"wick/exact"
)

const (
	maxClients = 1000 // clients whose orders are counted
	minutes    = 60   // that an order counts against its client
)

// sums counts the worth of the orders that each client placed within the last hour, a
// minute at a time. The minutes of a client form a ring. The gate's lock guards it.
type sums map[string]*[minutes]minute

// minute is the worth of the orders that were placed within one minute.
type minute struct {
	at  int64 // minutes since 1970
	sum exact.Money
}

// fit reports whether a client may place an order of this worth without a yes: the order
// and what the client placed in the last hour together are not more than above.
func (s sums) fit(client string, worth, above exact.Money, now time.Time) bool {
	total, fits := worth, true
	if ring := s[client]; ring != nil {
		for _, m := range ring {
			if fits && now.Unix()/60-m.at < minutes {
				total, fits = total.Add(m.sum)
			}
		}
	}
	left, ok := above.Sub(total) // a sum that is too large for Money is above any bound
	return fits && ok && left.Sign() >= 0
}

// reserve counts an order before it is placed. The function that it returns takes the count
// back if it was not placed; its caller does not hold mu.
func (s sums) reserve(mu *sync.Mutex, client string, worth exact.Money, now time.Time) (settle func(placed bool)) {
	s.count(client, worth, now)
	return func(placed bool) {
		if !placed {
			mu.Lock()
			defer mu.Unlock()
			s.count(client, worth.Neg(), now)
		}
	}
}

// count adds the worth of an order to what its client placed in the minute of at.
func (s sums) count(client string, worth exact.Money, at time.Time) {
	ring := s[client]
	if ring == nil {
		if len(s) >= maxClients {
			s.forgetQuietest()
		}
		ring = new([minutes]minute)
		s[client] = ring
	}
	now := at.Unix() / 60
	m := &ring[now%minutes]
	if m.at != now { // a minute of an earlier hour
		*m = minute{at: now}
	}
	if sum, ok := m.sum.Add(worth); ok { // one that Money cannot hold stays as it was
		m.sum = sum
	}
}

// forgetQuietest drops the count of the client whose last order is the oldest.
func (s sums) forgetQuietest() {
	quietest, oldest := "", int64(math.MaxInt64)
	for client, ring := range s {
		last := int64(0)
		for _, m := range ring {
			last = max(last, m.at)
		}
		if last < oldest {
			quietest, oldest = client, last
		}
	}
	delete(s, quietest)
}
