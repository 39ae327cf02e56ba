package trade

import (
	"maps"
	"slices"
	"sync"
	"time"

	"wick/internal/journal"
	"wick/trade/alert"
	"wick/trade/book"
	"wick/trade/watch"
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

	judging sync.WaitGroup // judgements of signals that are under way
	signals alert.Judge

	fileMu sync.Mutex // one writer of subscriptions.json at a time

	options Options
	venue   book.Venue
	watch   *watch.List // has a lock of its own, which may be taken while mu is held

	store // its mu guards every field below

	began   book.Time // when this process took over; set once
	fedAt   book.Time // when the feed last spoke
	notedAt book.Time // when it was last written down how far the market was judged

	haltFile bool // the last look at the file HALT found one
	differed bool // the broker's positions differed when trading was last found not to be halted

	halting  sync.Mutex      // held from a look at the file HALT, or a change of it, to the step that follows
	unlisted map[string]bool // symbols that only Options.Symbols names, and that the source does not have
}

// sorted returns the keys of m in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
