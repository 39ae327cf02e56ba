// Package trade keeps the book: orders, positions, alerts and subscriptions,
// on paper or with a real broker, and the journal that makes them last.
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
// # What the paper broker does not do
//
// It fills whole orders at prices the feed has told. What the market did while
// the process was down fills nothing afterwards: resting orders stay open and
// see only new prices.
//
// # Locks
//
// One mutex guards the engine. Disk, network and callbacks are used without it:
// see package journal.
//
// # Security considerations
//
// Callers are authenticated by whoever calls this package; it sees digests. All
// limits are the operator's and are checked in one function, check. The state
// directory has mode 0700, its files 0600, and no token in them.
package trade

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/exact"
	"wick/journal"
	"wick/market"
)

// Feed tells the engine what the market does. market.Feed is one.
type Feed interface {
	// Watch adds a symbol, or intervals to one.
	Watch(symbol string, intervals ...market.Interval)
	// Unwatch ends it.
	Unwatch(symbol string)
	// Resume, called before Watch, says which bar was the last closed one that
	// the engine knows; those after it are to be told.
	Resume(symbol string, iv market.Interval, after int64)
	// Run calls deliver, from one goroutine at a time, until ctx ends.
	Run(ctx context.Context, deliver func(market.Update)) error
}

// Options configure an Engine.
type Options struct {
	Dir    string        // the state directory; made if need be
	Source market.Source // history of the symbols that are watched
	Feed   Feed

	// Broker is a real broker; nil means paper.
	Broker Broker

	Limits   Limits        // the rails; zero fields mean their defaults
	FeeRate  exact.Decimal // of the paper broker, as a fraction of a fill's value
	Slippage exact.Decimal // of its market fills, as a fraction of the price

	Symbols   []string          // watched from the start
	Intervals []market.Interval // kept for every symbol; the first is the default of alerts; nil means 4h

	// Recover starts from the good part of a damaged directory and sets the
	// rest aside.
	Recover bool

	Log *slog.Logger // nil discards

	files journal.FileOptions // how long a generation of the journal is; tests shorten it

	// Notify is told of every alert that fired, once it is on disk, with the
	// ids of the subscriptions it goes to. It is called in the order of the
	// notifications' sequences and must not block. Nil means that nobody
	// listens.
	Notify func(n Notification, recipients []string)
}

func (o Options) withDefaults() (Options, error) {
	o.Limits = o.Limits.withDefaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Notify == nil {
		o.Notify = func(Notification, []string) {}
	}
	if len(o.Intervals) == 0 {
		o.Intervals = []market.Interval{market.Hour4}
	}
	if o.FeeRate < 0 || o.FeeRate >= exact.One || o.Slippage < 0 || o.Slippage >= exact.One {
		return o, fmt.Errorf("fee rate %s and slippage %s: both must be from 0 to below 1, such as 0.001", o.FeeRate, o.Slippage)
	}
	symbols := make([]string, 0, len(o.Symbols))
	for _, text := range o.Symbols {
		symbol, err := market.ParseSymbol(text)
		if err != nil {
			return o, err
		}
		symbols = append(symbols, symbol)
	}
	o.Symbols = symbols
	return o, nil
}

// Engine is the book. Its methods may be called from many goroutines.
type Engine struct {
	options Options
	limits  Limits
	log     *slog.Logger
	dir     *journal.Dir // nil in tests that have a disk in memory

	fileMu sync.Mutex // one writer of subscriptions.json at a time

	book // its mu guards every field below

	instruments map[string]*instrument // watched, by symbol
	fedAt       Time                   // when the feed last spoke
	recent      recent
	rate        bucket
	marks       map[string]uint64 // delivered, not yet written down
	orphans     map[string]bool   // subscriptions that the same client may claim
	answered    bool              // a real broker's open orders were looked up
	scratch     []*Alert          // memory for settle
}

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
	e, err := open(o, d)
	if err != nil {
		d.Close()
		return nil, err
	}
	e.dir = d
	return e, nil
}

// open reads the state from d.
func open(o Options, d journal.Disk) (*Engine, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{
		options: o, limits: o.Limits, log: o.Log,
		instruments: make(map[string]*instrument), recent: recent{make(map[OrderRequest]Time)},
		rate: newBucket(o.Limits.OrdersPerSecond, now()), marks: make(map[string]uint64), orphans: make(map[string]bool),
	}
	if err := openBook(&e.book, d, o); err != nil {
		return nil, err
	}
	for id := range e.ahead.subs {
		e.orphans[id] = true
	}
	if err := e.begin(); err != nil {
		e.journal.Close()
		return nil, err
	}
	return e, nil
}

// begin writes that a process has started, which also ends what has had its
// hour. Ages across a restart are by the wall clock: one that was set back
// keeps an entry for at most one more hour, one set forward drops it early.
// Nobody can know which, so what looks like it is logged.
func (e *Engine) begin() error {
	at := now()
	e.mu.Lock()
	ahead, dropped := 0, 0
	for _, queue := range e.ahead.queues {
		for _, entry := range queue {
			if entry.At.After(at.Time) {
				ahead++
			}
			if entry.At.age(at) >= QueueTTL {
				dropped++
			}
		}
	}
	seq, err := e.propose(kindStarted, &event{At: at})
	e.mu.Unlock()
	if ahead+dropped > 0 {
		e.log.Info("queues at the start", "expired", dropped, "from_the_future", ahead)
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
	if e.options.Broker != nil {
		e.inquire(ctx, true)
	}
	e.mu.Lock()
	e.answered = true
	e.mu.Unlock()
	e.watchNeeded(ctx)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return e.options.Feed.Run(ctx, func(u market.Update) { e.deliver(ctx, u) })
	})
	g.Go(func() error { return e.housekeep(ctx) })
	if err := g.Wait(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

const (
	markPeriod  = time.Second      // delivery marks are written this often
	watchPeriod = 30 * time.Second // symbols that could not be loaded are tried again
	askPeriod   = 5 * time.Second  // a real broker is asked about open orders
)

// housekeep does what comes back regularly.
func (e *Engine) housekeep(ctx context.Context) error {
	mark, watch, ask := time.NewTicker(markPeriod), time.NewTicker(watchPeriod), time.NewTicker(askPeriod)
	defer mark.Stop()
	defer watch.Stop()
	defer ask.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-mark.C:
			// Both fail only when the journal is broken, which is logged once.
			e.tidy()
			e.refreshTrading()
		case <-watch.C:
			e.forgetUnneeded()
			e.watchNeeded(ctx)
		case <-ask.C:
			if e.options.Broker != nil {
				e.inquire(ctx, false)
			}
		}
	}
}

// Close writes a snapshot and gives the directory back. An error means that the
// journal was broken; the process should then not exit with success.
func (e *Engine) Close() error {
	e.tidy()
	err := e.journal.Close()
	if e.dir != nil {
		err = errors.Join(err, e.dir.Close())
	}
	return err
}

// haltName is the file by which the owner stops trading.
const haltName = "HALT"

// refreshTrading looks for the HALT file and writes a change down. A file with
// the word reducing in it lets orders through that shrink a position; one that
// cannot be read halts, to be safe.
func (e *Engine) refreshTrading() error {
	state := Active
	text, err := os.ReadFile(filepath.Join(e.options.Dir, haltName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && strings.EqualFold(strings.TrimSpace(string(text)), string(Reducing)):
		state = Reducing
	default:
		state = Halted
	}
	e.mu.Lock()
	if e.ahead.trading == state {
		e.mu.Unlock()
		return nil
	}
	seq, err := e.propose(kindTrading, &event{At: now(), Trading: state})
	e.mu.Unlock()
	if err != nil {
		return err
	}
	e.log.Warn("trading state changed", "state", string(state))
	return e.commit(seq)
}

// Status is how the engine is doing.
type Status struct {
	Trading       TradingState  `json:"trading"`
	Journal       string        `json:"journal"`          // "ok" or "broken"
	Reason        string        `json:"reason,omitempty"` // why it is broken
	FeedAge       time.Duration `json:"-"`                // since the feed last spoke; negative if it never has
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
func (e *Engine) Status() Status {
	stats := e.journal.Stats()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Status{
		Trading: e.shown.trading, Journal: "ok", FeedAge: -1, Symbols: len(e.instruments),
		Orders: len(e.shown.orders), OpenOrders: e.shown.openCount, Alerts: len(e.shown.alerts),
		Subscriptions: len(e.shown.subs), Notifications: len(e.shown.polling),
		Records: stats.Records, Syncs: stats.Syncs, SyncTime: stats.SyncTime,
	}
	if err := e.journal.Broken(); err != nil {
		s.Journal, s.Reason = "broken", err.Error()
	}
	if !e.fedAt.IsZero() {
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
func (e *Engine) Symbols() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(sorted(e.instruments))
}
