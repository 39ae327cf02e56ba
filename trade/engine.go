package trade

import (
	"log/slog"
	"sync"
	"time"

	"wick/exact"
	"wick/journal"
	"wick/limit"
)

// Engine is the book with all that works on it. Its methods may be called from
// many goroutines.
type Engine struct {
	options Options
	log     *slog.Logger // never nil
	dir     *journal.Dir // nil in tests that have a disk in memory
	paper   paper
	venue   *venue    // nil on paper
	watch   watchlist // has a lock of its own, which is taken within ours

	fileMu sync.Mutex // one writer of subscriptions.json at a time

	book // its mu guards every field below

	began   Time // when this process took over; set once
	fedAt   Time // when the feed last spoke
	notedAt Time // when it was last written down how far the market was judged
	// arrived has the resting orders that came since their symbol's bars were last
	// seen, and when, in unix milliseconds: what the market did before does not fill
	// them. An order that is not in it was there all the while. The clock is believed
	// until the next update only, so that setting it delays no fill.
	arrived map[string]int64
	spent   map[string]int64         // when an earlier process last filled an order, by symbol, in unix milliseconds
	near    map[string]near          // by symbol
	trails  map[string]exact.Decimal // where trailing stops stand, by order id, if the market has drawn them since the start
	rate    limit.Bucket
	scratch []*Alert // memory for settle
}

// orderRate is how often orders may be accepted: so many a second, and twice as many
// at once.
func (e *Engine) orderRate() limit.Rate {
	n := e.options.Limits.OrdersPerSecond
	return limit.Rate{Burst: 2 * float64(n), Every: time.Second / time.Duration(n)}
}

// near is what the market must do for any open order of a symbol to be looked at:
// most updates do none of it, however many orders rest.
type near struct {
	changes     uint64        // of the symbol's orders when it was worked out
	above       exact.Decimal // a price of this or more
	below       exact.Decimal // a price of this or less
	expires     int64         // this time or later, in unix milliseconds
	trails      bool          // any price, because a trailing stop follows it
	unsettled   bool          // any update, because an order has just arrived
	initialized bool
}

// brokerName returns what orders and positions carry as their broker.
func (e *Engine) brokerName() string {
	if e.venue != nil {
		return e.venue.name
	}
	return paperName
}
