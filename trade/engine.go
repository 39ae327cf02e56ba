package trade

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/limit"
	"wick/trade/book"
)

// now returns the present cut to the millisecond, so that what memory holds is
// what the journal will give back. Subtracting, and not Truncate, keeps the
// monotonic clock: ages stay right when somebody sets the wall clock.
func now() book.Time {
	t := time.Now()
	return book.Time{Time: t.Add(-time.Duration(t.Nanosecond() % 1e6)).UTC()}
}

// Engine is the store with all that works on it. Its methods may be called from
// many goroutines.
type Engine struct {
	dir *journal.Dir // nil in tests that have a disk in memory

	judging   sync.WaitGroup // judgements of signals that are under way
	computing sync.Mutex     // one of them computes at a time, so that prices get their share of the processor

	fileMu sync.Mutex // one writer of subscriptions.json at a time

	store // its mu guards every field below, and what is in its desk

	began   book.Time // when this process took over; set once
	fedAt   book.Time // when the feed last spoke
	notedAt book.Time // when it was last written down how far the market was judged

	haltFile bool // the last look at the file HALT found one
	differed bool // the broker's positions differed when trading was last found not to be halted

	halting  sync.Mutex      // held from a look at the file HALT, or a change of it, to the step that follows
	unlisted map[string]bool // symbols that only Options.Symbols names, and that the source does not have
}

// desk is all that a decision is made from: the state, the rules of the operator and the
// prices. Its methods decide, and take the steps that they decide on in memory; they wait
// for nothing. [store.Do] has the lock under which they run, and writes the steps down.
type desk struct {
	ahead    *book.State
	watching *alertIndex // the alerts in the state
	options  Options
	paper    paper
	venue    venue
	remote   remoteAccount
	watch    watchlist // has a lock of its own, which may be taken while mu is held

	haltUnread bool // the last look at the file HALT failed: resting orders are held

	// arrived has the resting orders that came since the last update of their symbol, and
	// when they came, in unix milliseconds: what the market did before that does not fill
	// them. An order that is not in it was there before. The clock is believed until the
	// next update only, so that setting the clock back delays no fill.
	arrived map[string]int64
	trails  map[string]exact.Decimal // where trailing stops stand, by order id, if the market has moved them since the start
	rate    limit.Bucket

	broken error            // why no step can be taken: the journal is broken
	taken  []journal.Record // steps that the present decision has taken, which the journal gets when it has ended
	tells  bool             // there is an outbox, which is told of steps
}

// propose takes a step: the state has it from here on, and it counts once its record is on
// disk, for which [store.Do] waits.
func (d *desk) propose(k book.Kind, ev *book.Event) error {
	if d.broken != nil {
		return d.broken
	}
	record, err := journal.NewRecord(byte(k), ev)
	if err != nil {
		return err
	}
	// The record is encoded before the step is taken: a record that is too long must
	// not leave a state that cannot be written down.
	if err := d.take(d.ahead.Seq+1, k, ev); err != nil {
		return fmt.Errorf("trade: decided on an impossible step: %w", err)
	}
	d.taken = append(d.taken, record)
	return nil
}

// take takes a step in the state, after it has noted in ev what the owner may want to know
// of it: that depends on what the step changes.
func (d *desk) take(seq uint64, k book.Kind, ev *book.Event) error {
	if d.tells {
		ev.Steps = d.ahead.OutboxSteps(seq, k, ev)
	}
	return d.ahead.Apply(seq, k, ev)
}

// orderRate returns how often orders may be accepted: OrdersPerSecond, and twice as many
// at once.
func (d *desk) orderRate() limit.Rate {
	n := d.options.Limits.OrdersPerSecond
	return limit.Rate{Burst: 2 * float64(n), Every: time.Second / time.Duration(n)}
}

// brokerName returns what orders and positions carry as their broker.
func (d *desk) brokerName() string { return cmp.Or(d.remote.name, paperName) }
