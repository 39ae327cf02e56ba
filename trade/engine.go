package trade

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"wick/delivery"
	"wick/exact"
	"wick/journal"
	"wick/limit"
	"wick/market"
)

// Options configure an Engine.
type Options struct {
	Dir    string        // the state directory; made if need be
	Source market.Source // history of the symbols that are watched
	Feed   Feed

	Account AccountOptions
	Limits  Limits        // zero fields mean their defaults
	FeeRate exact.Decimal // of the paper broker, as a fraction of a fill's value
	// MakerFeeRate is the same for limits that rested. Nil means FeeRate.
	MakerFeeRate *exact.Decimal
	Slippage     exact.Decimal // of its fills on arrival, as a fraction of the price
	// HalfSpread is how far the bid is below the price and the ask above it, as a
	// fraction of the price. Zero means that both are the price.
	HalfSpread exact.Decimal
	// Quoted says that orders which are filled on arrival are filled at the bid and
	// ask of the source, if it tells them, and HalfSpread does not count for them.
	Quoted bool
	// Participation is the share of what a minute has traded that orders of a symbol
	// are filled with. Zero means that they fill whole, whatever was traded.
	Participation exact.Decimal
	// Grid returns what a market counts in, and false for one of which the rules of
	// its exchange count, as far as the feed can tell them. Nil means all markets.
	Grid func(symbol string) (Grid, bool)

	// MaxPriceAge is how old a price may be for an order. Zero means a minute, and at
	// an exchange with hours the last trade of the running session. Invented prices
	// never age.
	MaxPriceAge time.Duration

	Symbols   []string          // watched from the start
	Intervals []market.Interval // kept for every symbol; the first is the default of alerts; nil means 4h

	// Recover, if not nil, has the good part of a damaged directory kept and
	// the rest set aside. It is called before anything is changed; its error
	// ends the start there.
	Recover func(Recovery) error

	Log *slog.Logger // nil discards

	files journal.FileOptions // how long a generation of the journal is; tests shorten it
	epoch func() string       // names a new epoch; nil means at random
	kept  int                 // terminal orders that stay in memory; zero means keptOrders; tests keep fewer

	// Hub delivers what is queued to subscribers. Open gives it the queues. Nil
	// means that nobody listens.
	Hub *delivery.Hub

	// Shared, if not nil, is the log of several processes that this engine is one
	// of. Dir then holds nothing that another one needs.
	Shared Shared

	// Leading, if not nil, is called when this process begins to lead, with a
	// context that ends when it does so no more.
	Leading func(term context.Context)

	// Outbox queues what happened for people; nil means that nobody asked.
	Outbox Outbox

	// Venue is where orders are carried out; nil means on paper.
	Venue *VenueOptions

	// Notify is told of every alert that fired, once it is on disk, with the
	// ids of the subscriptions it goes to. It is called in the order of the
	// notifications' sequences and must not block. Nil means that nobody
	// listens.
	Notify func(n Notification, recipients []string)
}

// withDefaults fills in what was left out, settles the spelling of the symbols
// and refuses rates that are no fractions.
func (o Options) withDefaults() (Options, error) {
	o.Limits, o.Account = o.Limits.withDefaults(), o.Account.withDefaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Hub == nil {
		o.Hub = delivery.NewHub(nil)
	}
	if o.epoch == nil {
		o.epoch = newEpoch
	}
	if o.Notify == nil {
		o.Notify = func(Notification, []string) {}
	}
	if len(o.Intervals) == 0 {
		o.Intervals = []market.Interval{market.Hour4}
	}
	if o.MakerFeeRate == nil {
		o.MakerFeeRate = &o.FeeRate
	}
	if o.Grid == nil {
		o.Grid = func(string) (Grid, bool) { return Grid{}, false }
	}
	if o.Participation < 0 || o.Participation > exact.One {
		return o, fmt.Errorf("participation %s: a share from above 0 to 1, such as 0.1, or 0 for whole fills", o.Participation)
	}
	if o.HalfSpread < 0 || o.HalfSpread+o.Slippage >= exact.One {
		return o, fmt.Errorf("half spread %s: with the slippage of %s it must be from 0 to below 1, such as 0.0002", o.HalfSpread, o.Slippage)
	}
	if *o.MakerFeeRate < 0 || *o.MakerFeeRate >= exact.One || o.FeeRate < 0 || o.FeeRate >= exact.One || o.Slippage < 0 || o.Slippage >= exact.One {
		return o, fmt.Errorf("fee rate %s and slippage %s: both must be from 0 to below 1, such as 0.001", o.FeeRate, o.Slippage)
	}
	symbols := make([]string, 0, len(o.Symbols))
	for _, text := range o.Symbols {
		symbol, err := market.Resolve(o.Source, text)
		if err != nil {
			return o, err
		}
		symbols = append(symbols, symbol)
	}
	o.Symbols = symbols
	return o, nil
}

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
	near    map[string]near          // by symbol
	trails  map[string]exact.Decimal // where trailing stops stand, by order id, if the market has drawn them since the start
	rate    limit.Bucket
	scratch []*Alert // memory for settle
}

// orderRate is how often orders may be accepted.
func (e *Engine) orderRate() limit.Rate {
	n := e.options.Limits.OrdersPerSecond
	return limit.Rate{Burst: 2 * float64(n), Every: time.Second / time.Duration(n)}
}

// ensure makes symbol watched, in further intervals if any are given. If the
// list is full, symbols that nobody needs any more make room.
func (e *Engine) ensure(ctx context.Context, symbol string, needs ...need) error {
	if e.watch.full(symbol) {
		e.forgetUnneeded()
	}
	e.mu.Lock()
	from := e.ahead.seen[symbol]
	e.mu.Unlock()
	return e.watch.ensure(ctx, symbol, from, needs...)
}

// forgetUnneeded drops symbols that neither the operator nor any alert, open
// order or position asks for.
func (e *Engine) forgetUnneeded() {
	e.mu.Lock() // no order comes in for a symbol while it is being dropped
	gone := e.watch.keepOnly(e.needed())
	e.mu.Unlock()
	for _, symbol := range gone {
		e.watch.feed.Unwatch(symbol)
	}
}

// needed returns the symbols that must be watched, and which windows they need
// beyond the usual ones. Called with mu held.
func (e *Engine) needed() map[string][]need {
	needed := make(map[string][]need)
	for _, symbol := range e.options.Symbols {
		needed[symbol] = nil
	}
	for symbol := range e.ahead.index.prices {
		needed[symbol] = nil
	}
	for symbol := range e.ahead.open {
		needed[symbol] = nil
	}
	for symbol, h := range e.ahead.holdings {
		if h.Quantity != 0 {
			needed[symbol] = nil
		}
	}
	for key, waiting := range e.ahead.index.signals {
		// All alerts on the same bars share one window, as long as the longest of them
		// needs.
		longest := need{interval: key.interval}
		for _, w := range waiting {
			longest.bars = max(longest.bars, w.bars())
		}
		needed[key.symbol] = append(needed[key.symbol], longest)
	}
	return needed
}
