// Package trade keeps the book, which is all orders, positions and alerts, in a journal on
// disk, and runs it: it feeds prices to it, and tells subscribers what follows from them.
//
// An [Engine] is opened on a state directory that it alone may use. Its methods may be
// called from any goroutine; [Engine.Run] feeds it prices. Amounts of money are exact: an
// [exact.Decimal] for prices and quantities, an [exact.Money] for their products, never
// a float.
//
// # What is promised
//
// A method that changes something returns nil only when the change is on disk,
// and reads show only what is on disk. An alert's firing, its notification and
// the queues it enters are one record: no crash fires it twice or loses it. A
// client_order_id names one order for ever. After a failed write nothing more is
// accepted, reads go on, and a restart recovers; see [journal.ErrStorage]. A start with
// a damaged file is refused; see [journal.DamageError].
//
// # The parts
//
// What is computed is in package trade/book: orders, positions, alerts, the events, the state
// that they add up to, and every decision. Package trade/watch has what is known of the markets,
// trade/alert which alerts wait for what, trade/paper and trade/live the venues of paper orders
// and of those at a broker elsewhere, and package sse who is subscribed and what is queued for
// each. Here is what works on them: the store, which is the book with its journal and the one
// lock (store.go, finished.go), and all that waits for a disk, a network or a time.
//
// One mutex guards the engine. It is not held while disk, network or callbacks are used; see
// package journal.
//
// # The way of an order
//
// [Engine.PlaceOrder] in place.go reads from top to bottom:
//
//  1. The request is brought into one spelling, and refused if it is wrong whatever the state of
//     the book ([book.OrderRequest.Normalize]).
//  2. If its client_order_id was used before, the answer is that order.
//  3. Has the owner halted trading (halt.go)?
//  4. The symbol is watched (needs.go), and the feed is asked for the rules of its market and its
//     price; the venue prepares for the order.
//  5. Under the lock, so that no other order comes between the check of a limit and its use: the
//     order is built and held against every limit ([book.Book.Draft]), and the venue decides what
//     becomes of it. On paper it is filled or waits; at a broker elsewhere the step is the intent to
//     send it.
//  6. The step is taken in memory and handed to the journal (store.go); once it is on disk, the
//     venue sends the order, if it is elsewhere.
//
// One that waits for a rule (book.When) goes that way twice. The first time step 5 ends in
// [book.Book.Suspend]: the order is in the book and nowhere else. When its rule fires, as an alert
// does, act has it go the way again from step 3 on, under its id.
//
// # The way of a price, and of an alert
//
// onUpdate in deliver.go makes the numbers of an update exact. Under the lock, package watch
// takes in price and bars, the venue fills the resting orders that the price reaches, and price
// alerts fire, oldest first; after the commit the subscribers are told. Beside that, so that no
// price waits for it, package alert loads what alerts on the closed bars read and computes their
// indicators, and what fires goes the same way.
//
// The journal knows how far the prices and closed bars of a symbol were judged, as
// long as an order or an alert waits for them (resume.go). The next process goes on from
// there: the feed tells the minutes and the bars since, which are judged in order, like
// those of any update. A limit order whose limit was passed meanwhile is filled at the
// limit, and what fires because of bars that closed meanwhile is marked late.
//
// # Security considerations
//
// The caller of this package authenticates clients: the package sees only digests of
// their tokens. All limits of orders are set by the operator. When a resting order is filled,
// the limits of the position and of the cash are checked once more. The state directory has mode
// 0700 and its files 0600, and no token is in them.
package trade

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"wick/internal/journal"
	"wick/market"
	"wick/sse"
	"wick/trade/alert"
	"wick/trade/book"
	"wick/trade/paper"
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

	options Options
	venue   book.Venue
	watch   *watch.List // has a lock of its own, which may be taken while mu is held

	progress
	brake
	subscriptions
	wanted

	store // its mu guards every field below

	began book.Time // when this process took over; set once
}

// sorted returns the keys of m in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Open locks the state directory for this process and reads it. It starts no goroutine.
func Open(o Options) (*Engine, error) {
	d, err := journal.OpenDir(o.Dir)
	if err != nil {
		return nil, err
	}
	e, err := openOn(o, d)
	if err != nil {
		d.Close()
		return nil, err
	}
	e.dir = d
	return e, nil
}

// openOn makes an engine and reads its state from d. The journal is
// closed again if the start is refused.
func openOn(o Options, d journal.Disk) (*Engine, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Shared != nil && o.Venue != nil {
		return nil, errors.New("a broker elsewhere does not work with several replicas: the next leader would not know what the one before had under way with it")
	}
	e := new(Engine)
	e.options, e.signals.Source, e.signals.Log = o, o.Source, o.Log
	e.watch = watch.New(o.Source, o.Feed, o.Intervals, o.Limits.Symbols, o.Log)
	e.progress = progress{store: &e.store, watch: e.watch}
	e.brake = brake{store: &e.store, progress: &e.progress, dir: o.Dir}
	e.subscriptions = subscriptions{store: &e.store, source: o.Source, works: o.Works}
	e.wanted = wanted{&e.store, e.watch, o.Feed, o.Symbols, o.Limits.Symbols, make(map[string]bool)}
	e.book = *book.NewBook(o.Rules, e.watch)
	e.book.Write, e.book.Tells = e.write, o.Outbox != nil
	e.log, e.hub, e.outbox, e.peers = o.Log, o.Hub, o.Outbox, o.Shared
	if e.venue = (paper.Venue{Host: e.host()}); o.Venue != nil {
		e.venue = o.Venue.Open(e.host())
	}
	e.kept = o.kept
	files := o.files
	files.Closed = func() { sse.Ring(e.rotated) }
	if o.Recover != nil {
		files.Recover = func(r journal.Recovery) error {
			return o.Recover(recovery(e.book.State, r))
		}
	}
	// The log is the one shared with other processes, or files of our own.
	var from journal.Log = o.Shared
	if o.Shared == nil {
		from = journal.NewFiles(d, files, o.Log)
	}
	// A replica begins its work when it leads, not here.
	if err := e.store.read(d, from); err != nil || o.Shared != nil {
		return e, err
	}
	if _, _, err = e.locked(e.checkStamp); err == nil {
		err = e.begin()
	}
	if err != nil {
		e.journal.Close()
		return nil, err
	}
	return e, nil
}

// Run watches the symbols and works until ctx ends; then it returns nil. The other
// methods also work before and after, but prices come in, alerts fire and resting orders
// are filled only while Run runs.
func (e *Engine) Run(ctx context.Context) error {
	if e.peers != nil {
		return e.runShared(ctx)
	}
	return e.work(ctx)
}

// Close writes a snapshot and releases the directory. If the journal was broken, it
// returns an error, and the process should not exit with success.
func (e *Engine) Close() error {
	var err error
	// A follower has nothing of its own to write.
	if e.peers != nil && e.journal.Broken() != nil { // this process follows, or leads no longer
		err = e.peers.Close()
	} else {
		e.tidy()
		e.writeSeen() // like tidy, it fails only when the journal is broken
		if err = e.journal.Close(); err == nil && e.peers == nil {
			seq, hash := e.Head()
			e.log.Info("journal closed", "record", seq, "hash", hash.String())
		}
	}
	if e.dir != nil {
		err = errors.Join(err, e.dir.Close())
	}
	return err
}

// Broken returns why nothing more can be written, or nil, and whether restarting the
// process would help: it would if the data directory is where it was and its disk can be
// written.
func (e *Engine) Broken() (reason error, restart bool) {
	if e.follows() {
		return nil, false
	}
	reason = e.journal.Broken()
	return reason, reason != nil && e.peers == nil && e.dir != nil && !errors.Is(reason, journal.ErrMoved) && e.dir.Probe() == nil
}

// Health is how the engine is doing.
type Health struct {
	Trading       book.TradingState `json:"trading"`
	Journal       string            `json:"journal"`          // "ok" or "broken"
	Reason        string            `json:"reason,omitempty"` // why it is broken
	FeedAge       time.Duration     `json:"-"`                // since the source last answered, the longest if there are several; negative if nothing is to be watched
	Symbols       int               `json:"symbols"`
	Orders        int               `json:"orders"`
	OpenOrders    int               `json:"open_orders"`
	Positions     int               `json:"positions"`
	Alerts        int               `json:"alerts"`
	Subscriptions int               `json:"subscriptions"`
	Notifications int               `json:"notifications"` // waiting to be polled
	Records       uint64            `json:"records"`       // on disk since the store was made
	Syncs         uint64            `json:"syncs"`         // of the journal since the start; one sync may write several records
	SyncTime      time.Duration     `json:"-"`             // spent in syncs
}

// Status returns how the engine is doing. It never waits for the disk.
func (e *Engine) Status() Health {
	stats := e.journal.Stats()
	subscriptions, _, _ := e.hub.Stats()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Health{
		Trading: e.book.Remote.State(e.book.Trading), Journal: "ok", FeedAge: -1, Symbols: len(e.watch.Symbols()),
		Orders: len(e.book.Orders), OpenOrders: e.book.OpenCount, Alerts: len(e.book.Alerts),
		Subscriptions: subscriptions, Notifications: len(e.book.Polling),
		Records: stats.Records, Syncs: stats.Syncs, SyncTime: stats.SyncTime,
	}
	if err := e.journal.Broken(); err != nil && !e.following {
		s.Journal, s.Reason = "broken", err.Error()
	}
	for _, age := range e.options.Feed.Ages() {
		s.FeedAge = max(s.FeedAge, age)
	}
	for _, h := range e.book.Holdings {
		if h.Quantity != 0 {
			s.Positions++
		}
	}
	return s
}

// Symbols returns the watched symbols.
func (e *Engine) Symbols() []string { return e.watch.Symbols() }

// Period returns how much time passes between two prices of a symbol.
func (e *Engine) Period(symbol string) time.Duration { return e.options.Feed.Period(symbol) }

// Window returns a copy of the bars that the engine keeps of a series, the forming one
// last and marked, and whether they are what the source would return. They are not if the
// engine does not watch the series, or knows its forming bar by prices alone, without a volume.
func (e *Engine) Window(symbol string, iv market.Interval) (s *market.Series, whole bool) {
	return e.watch.Window(symbol, iv)
}
