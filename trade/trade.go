// Package trade keeps the book: orders of a paper broker, positions and alerts,
// in a journal that makes them last. Who is subscribed to alerts and what is
// queued for each is package delivery's; its steps stand in the same journal.
//
// An [Engine] is opened on a state directory that it alone may use. Its methods
// are called from any goroutine; [Engine.Run] feeds it prices. Numbers of money
// are exact: an [exact.Decimal] for prices and quantities, an [exact.Money] for their
// products, never a float.
//
// # What is promised
//
// A method that changes something returns nil only when the change is on disk,
// and reads show only what is on disk. An alert's firing, its notification and
// the queues it enters are one record: no crash fires it twice or loses it. A
// client_order_id names one order for ever. After a failed write nothing more is
// accepted, reads go on, and a restart recovers; see [journal.ErrStorage]. A damaged
// file is never skipped over; see [journal.DamageError].
//
// # The way of an order
//
// [Engine.Place] in place.go reads from top to bottom:
//
//  1. request.go and symbol.go: the spelling is settled, and what cannot be right is
//     refused.
//  2. place.go: a client_order_id that was used before gives the first order.
//  3. halt.go: has the owner halted trading?
//  4. watch.go and price.go: the symbol is watched, and has a price that is fresh.
//  5. draft.go: the order itself: how much it is, how long it may wait, where its exits
//     stand, what it replaces.
//  6. paper.go: at which price would it be filled on arrival, if at all?
//  7. check.go: every limit, in one function; that of the cash is in account.go.
//  8. arrival.go and outcome.go: the order and the position as they will be, and
//     group.go: the orders that begin and end with it.
//  9. book.go: the step is taken in memory and handed to the journal, and the
//     answer waits until it is on disk.
//
// From 4 to the hand-over in 9 the engine is locked: no other order comes between
// the check of a limit and its use.
//
// # The way of a price
//
// deliver in deliver.go takes an update through: tick.go makes its numbers exact;
// watch.go brings the windows up to date and says which bars closed; signals.go
// computes the indicators that alerts wait for; settle fills resting orders (resting.go)
// and lets trailing stops follow (trail.go),
// then fires alerts, oldest first; after the commit the subscribers are told.
//
// # What the paper broker does not do
//
// It has no order book: an order fills at prices the feed has told, whole or, with
// Options.Participation, in parts (volume.go).
//
// # Over a restart
//
// The journal knows how far the prices and closed bars of a symbol were judged, as
// long as something waits for them (seen.go). The next process takes it up there:
// the feed tells the minutes and the bars since, which are judged in order, like
// those of any update. A limit that was passed meanwhile is filled at the limit, and
// what fires because of them is marked late.
//
// # Locks
//
// One mutex guards the engine. Disk, network and callbacks are used without it:
// see package journal.
//
// # Security considerations
//
// Callers are authenticated by whoever calls this package; it sees digests. All
// limits of orders are the operator's and are checked in one function, check; a
// resting order is held to that of the position once more when it is filled. The
// state directory has mode 0700, its files 0600, and no token in them.
package trade

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/delivery"
	"wick/exact"
	"wick/journal"
	"wick/market"
)

// Open takes the state directory and reads it. It starts nothing.
func Open(o Options) (*Engine, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	d, err := journal.OpenDir(o.Dir, o.Log)
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

// openOn makes an engine and reads its state from d.
func openOn(o Options, d journal.Disk) (*Engine, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Shared != nil && o.Venue != nil {
		return nil, errors.New("a broker elsewhere does not work with several replicas: the next leader would not know what the one before had under way with it")
	}
	e := &Engine{
		options: o, log: o.Log, paper: paper{o.FeeRate, *o.MakerFeeRate, o.Slippage, o.HalfSpread, o.Quoted, nil},
		watch:   watchlist{source: o.Source, feed: o.Feed, intervals: o.Intervals, volumes: o.Participation != 0 && o.Venue == nil, most: o.Limits.Symbols, instruments: make(map[string]*instrument)},
		arrived: make(map[string]int64), trails: make(map[string]exact.Decimal), near: make(map[string]near),
	}
	e.paper.grid = e.gridOf
	e.hub, e.outbox, e.venue = o.Hub, o.Outbox, newVenue(o.Venue)
	e.kept = o.kept
	files := o.files
	if o.Recover != nil {
		files.Recover = func(r journal.Recovery) error {
			sum, err := recovery(d, e.shown, r)
			if err == nil {
				err = o.Recover(sum)
			}
			return err
		}
	}
	e.recover = files.Recover != nil
	var from journal.Log = o.Shared
	if o.Shared == nil {
		from = journal.NewFiles(d, files, o.Log)
	}
	// A replica begins its work when it leads, not here.
	if err := e.book.read(d, from, o.Shared != nil, o.Log); err != nil || o.Shared != nil {
		return e, err
	}
	err = e.checkStamp()
	if err == nil {
		err = e.begin()
	}
	if err != nil {
		e.journal.Close()
		e.archive.Close()
		return nil, err
	}
	e.rememberArrivals()
	return e, nil
}

// begin writes that a process has started, which begins an epoch and also ends
// what has had its hour. Ages across a restart are by the wall clock: one that was set back
// keeps an entry for at most one more hour, one set forward drops it early.
// Nobody can know which, so what looks like it is logged.
func (e *Engine) begin() error {
	at := now()
	e.mu.Lock()
	e.began = at
	ahead, dropped := 0, 0
	e.ahead.subs.Snapshot(func(entry *delivery.Entry) {
		switch age := at.Sub(entry.At); {
		case age < 0:
			ahead++
		case age >= delivery.QueueTTL:
			dropped++
		}
	})
	seq, err := e.propose(kindStarted, &event{At: at, Epoch: e.options.epoch()})
	if err == nil { // before the first order, or what that loses would not count as lost today
		var noted uint64
		noted, err = e.noteDay(at)
		seq = max(seq, noted)
	}
	e.mu.Unlock()
	if ahead+dropped > 0 {
		e.log.Info("queues at the start", "expired", dropped, "future", ahead)
	}
	if err != nil {
		return err
	}
	return e.finish(seq)
}

// Run watches the symbols and works until ctx ends; it returns nil then. The
// engine answers before and after, but only Run brings prices, fires alerts and
// fills resting orders.
func (e *Engine) Run(ctx context.Context) error {
	if e.options.Shared != nil {
		return e.runShared(ctx)
	}
	return e.work(ctx)
}

// work is Run for a process that has its role.
func (e *Engine) work(ctx context.Context) error {
	e.watchNeeded(ctx)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return e.options.Feed.Run(ctx, func(u market.Update) { e.deliver(ctx, u) })
	})
	g.Go(func() error { return e.housekeep(ctx) })
	g.Go(func() error { return (*onDisk)(&e.book).thin(ctx) })
	if e.venue != nil {
		g.Go(func() error { return e.runVenue(ctx) })
	}
	if err := g.Wait(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

const (
	markPeriod  = time.Second      // delivery marks are written this often
	watchPeriod = 30 * time.Second // symbols that could not be loaded are tried again
)

// housekeep does what comes back regularly.
func (e *Engine) housekeep(ctx context.Context) error {
	mark, watch := time.NewTicker(markPeriod), time.NewTicker(watchPeriod)
	defer mark.Stop()
	defer watch.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-mark.C:
			if e.follows() {
				e.passOn(ctx)
				e.watchNeeded(ctx) // what the leader has made somebody wait for
				continue
			}
			e.journal.Check()
			e.tidy() // fails only when the journal is broken, which is logged once
			e.expireAll()
			e.refreshTrading() // the same, or HALT cannot be read: the next order says so
		case <-watch.C:
			e.forgetUnneeded()
			e.watchNeeded(ctx)
		}
	}
}

// watchNeeded loads what the watch list lacks. What fails is logged and tried
// again by the next call.
func (e *Engine) watchNeeded(ctx context.Context) {
	e.mu.Lock()
	needed, resting := e.needed(), make(map[string]bool)
	for symbol, open := range e.ahead.open {
		resting[symbol] = len(open) > 0 && e.venue == nil
	}
	e.mu.Unlock()
	var loads errgroup.Group
	loads.SetLimit(8) // a slow source must not hold up the others for minutes
	for _, symbol := range sorted(needed) {
		loads.Go(func() error {
			if err := e.ensure(ctx, symbol, needed[symbol]...); err != nil && ctx.Err() == nil {
				e.log.Warn("symbol cannot be watched yet", "symbol", symbol, "error", err)
			} else if resting[symbol] {
				e.learnGrid(ctx, symbol) // what they are filled at is rounded to it
			}
			return nil
		})
	}
	loads.Wait()
}

// Close writes a snapshot and gives the directory back. An error means that the
// journal was broken; the process should then not exit with success.
func (e *Engine) Close() error {
	var err error
	if e.options.Shared != nil && e.journal.Broken() != nil { // it follows, or has led
		err = errors.Join(e.options.Shared.Close(), e.closeArchive())
	} else {
		e.tidy()
		e.writeSeen() // like tidy, it fails only when the journal is broken
		err = errors.Join(e.journal.Close(), e.closeArchive())
	}
	if e.dir != nil {
		err = errors.Join(err, e.dir.Close())
	}
	return err
}

// Broken returns why nothing more can be written, or nil, and whether a new start
// would help: the data directory is where it was, and its disk takes writes.
func (e *Engine) Broken() (reason error, restart bool) {
	if e.follows() {
		return nil, false
	}
	reason = e.journal.Broken()
	return reason, reason != nil && e.options.Shared == nil && e.dir != nil && !errors.Is(reason, journal.ErrMoved) && e.dir.Probe() == nil
}

// Health is how the engine is doing.
type Health struct {
	Trading       TradingState  `json:"trading"`
	Journal       string        `json:"journal"`          // "ok" or "broken"
	Reason        string        `json:"reason,omitempty"` // why it is broken
	FeedAge       time.Duration `json:"-"`                // since the source last answered, the slowest if there are several; negative if nothing is watched
	Symbols       int           `json:"symbols"`
	Orders        int           `json:"orders"`
	OpenOrders    int           `json:"open_orders"`
	Positions     int           `json:"positions"`
	Alerts        int           `json:"alerts"`
	Subscriptions int           `json:"subscriptions"`
	Notifications int           `json:"notifications"` // waiting to be polled
	Records       uint64        `json:"records"`       // on disk since the store was made
	Syncs         uint64        `json:"syncs"`         // since the start: records by syncs is the gain of grouping
	SyncTime      time.Duration `json:"-"`             // spent in them
}

// Status returns how the engine is doing.
func (e *Engine) Status() Health {
	stats := e.journal.Stats()
	subscriptions, _, _ := e.hub.Stats()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Health{
		Trading: e.venue.state(e.shown.trading), Journal: "ok", FeedAge: -1, Symbols: len(e.watch.symbols()),
		Orders: len(e.shown.orders), OpenOrders: e.shown.openCount, Alerts: len(e.shown.alerts),
		Subscriptions: subscriptions, Notifications: len(e.shown.polling),
		Records: stats.Records, Syncs: stats.Syncs, SyncTime: stats.SyncTime,
	}
	if err := e.journal.Broken(); err != nil && !e.following {
		s.Journal, s.Reason = "broken", err.Error()
	}
	// The feed knows each source's age and the oldest counts; other feeds are judged by
	// when they last brought a price.
	switch feed, ok := e.options.Feed.(interface {
		Ages() map[string]time.Duration
	}); {
	case ok:
		for _, age := range feed.Ages() {
			s.FeedAge = max(s.FeedAge, age)
		}
	case !e.fedAt.IsZero():
		s.FeedAge = e.fedAt.age(now())
	}
	for _, h := range e.shown.holdings {
		if h.Quantity != 0 {
			s.Positions++
		}
	}
	return s
}

// Symbols returns the watched symbols.
func (e *Engine) Symbols() []string { return e.watch.symbols() }

// Period returns how much time passes between two prices of a symbol, zero if the
// feed does not say.
func (e *Engine) Period(symbol string) time.Duration {
	if feed, ok := e.options.Feed.(interface {
		Period(symbol string) time.Duration
	}); ok {
		return feed.Period(symbol)
	}
	return 0
}

// Window returns a copy of the bars the engine keeps, the forming one last and
// marked. They are the source's; it returns false if the engine does not watch
// that series or knows its forming bar by prices alone, without the volume.
func (e *Engine) Window(symbol string, iv market.Interval) (*market.Series, bool) {
	s, whole := e.watch.window(seriesKey{symbol, iv})
	if !whole {
		return nil, false
	}
	return s, true
}
