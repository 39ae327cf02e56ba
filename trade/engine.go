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
	watch   watchlist // has a lock of its own, which may be taken while mu is held

	judging   sync.WaitGroup // judgements of signals that are under way
	computing sync.Mutex     // one of them computes at a time, so that prices get their share of the processor

	fileMu sync.Mutex // one writer of subscriptions.json at a time

	book // its mu guards every field below

	began   Time // when this process took over; set once
	fedAt   Time // when the feed last spoke
	notedAt Time // when it was last written down how far the market was judged

	haltFile   bool // the last look at the file HALT found one
	haltUnread bool // the last look at the file HALT failed: resting orders are held
	differed   bool // the broker's positions differed when trading was last found not to be halted

	// arrived has the resting orders that came since the last update of their symbol, and
	// when they came, in unix milliseconds: what the market did before that does not fill
	// them. An order that is not in it was there before. The clock is believed until the
	// next update only, so that setting the clock back delays no fill.
	arrived  map[string]int64
	trails   map[string]exact.Decimal // where trailing stops stand, by order id, if the market has moved them since the start
	rate     limit.Bucket
	halting  sync.Mutex      // held from a look at the file HALT, or a change of it, to the step that follows
	unlisted map[string]bool // symbols that only Options.Symbols names, and that the source does not have
}

// orderRate returns how often orders may be accepted: OrdersPerSecond, and twice as many
// at once.
func (e *Engine) orderRate() limit.Rate {
	n := e.options.Limits.OrdersPerSecond
	return limit.Rate{Burst: 2 * float64(n), Every: time.Second / time.Duration(n)}
}

// brokerName returns what orders and positions carry as their broker.
func (e *Engine) brokerName() string {
	if e.venue != nil {
		return e.venue.name
	}
	return paperName
}

// accountName returns the account at the broker that orders go to, empty on paper.
func (e *Engine) accountName() string {
	if e.venue != nil {
		return e.venue.account
	}
	return ""
}
