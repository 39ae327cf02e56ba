package trade

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"wick/broker"
	"wick/delivery"
	"wick/exact"
	"wick/journal"
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

// withDefaults fills in what was left out, settles the spelling of the symbols, each of
// which it keeps once, and refuses what check does. Calling it again changes nothing.
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
	symbols := make([]string, 0, len(o.Symbols))
	for _, text := range o.Symbols {
		symbol, err := market.Resolve(o.Source, text)
		if err != nil {
			return o, err
		}
		if !slices.Contains(symbols, symbol) {
			symbols = append(symbols, symbol)
		}
	}
	o.Symbols = symbols
	return o, o.check()
}

// check refuses limits, rates and shares that cannot be, and more symbols than are
// watched.
func (o Options) check() error {
	if n := len(o.Symbols); n > o.Limits.Symbols {
		return fmt.Errorf("--symbols names %d symbols, more than the %d that are watched at once: name fewer, since orders and alerts add theirs", n, o.Limits.Symbols)
	}
	if o.Participation < 0 || o.Participation > exact.One {
		return fmt.Errorf("participation %s: a share from above 0 to 1, such as 0.1, or 0 for whole fills", o.Participation)
	}
	if o.HalfSpread < 0 || o.HalfSpread+o.Slippage >= exact.One {
		return fmt.Errorf("half spread %s: with the slippage of %s it must be from 0 to below 1, such as 0.0002", o.HalfSpread, o.Slippage)
	}
	if *o.MakerFeeRate < 0 || *o.MakerFeeRate >= exact.One || o.FeeRate < 0 || o.FeeRate >= exact.One || o.Slippage < 0 || o.Slippage >= exact.One {
		return fmt.Errorf("fee rate %s, maker fee rate %s and slippage %s: each must be from 0 to below 1, such as 0.001", o.FeeRate, *o.MakerFeeRate, o.Slippage)
	}
	return o.Limits.check()
}

// AccountOptions describe the account that orders are paid from. Without Cash
// there is none, and orders are bounded by the other limits alone.
type AccountOptions struct {
	Cash     exact.Decimal // what it was opened with
	Currency string        // of the cash; empty means USD
	Short    bool          // positions below zero are allowed
	Leverage exact.Decimal // how many times the equity positions may be worth; zero means once
	// Stablecoins has USDT and USDC counted as USD.
	Stablecoins bool
}

// withDefaults fills in what was left out.
func (a AccountOptions) withDefaults() AccountOptions {
	if a.Currency = strings.ToUpper(a.Currency); a.Currency == "" {
		a.Currency = "USD"
	}
	if a.Leverage == 0 {
		a.Leverage = exact.One
	}
	return a
}

// counts reports whether money in a currency is that of the account. An empty
// currency, which neither source nor symbol names, counts. Nothing is converted: what
// is priced in another currency is left out of all sums.
func (a AccountOptions) counts(currency string) bool {
	stable := a.Stablecoins && a.Currency == "USD" && (currency == "USDT" || currency == "USDC")
	return currency == "" || currency == a.Currency || stable
}

// note says in a reply what was added up.
func (a AccountOptions) note() string {
	if a.Stablecoins && a.Currency == "USD" {
		return "USDT and USDC are counted as USD"
	}
	return fmt.Sprintf("only what is priced in %s is counted", a.Currency)
}

// VenueOptions say where orders are carried out in place of the paper broker. A data
// directory belongs to one of them for ever, see checkStamp.
type VenueOptions struct {
	Broker  Broker
	Name    string // such as alpaca-paper; on every order
	Account string // the account's number there; empty if it could not be asked for
	// DeadMan is how long the broker's stream may be away before the resting orders
	// of this book are cancelled. Zero means for ever.
	DeadMan time.Duration
}

// Broker is a broker elsewhere, whose answers can be lost. What its errors mean is
// said in package broker. Its methods may be called from many goroutines.
type Broker interface {
	// Rules returns what orders in a symbol must keep to.
	Rules(ctx context.Context, symbol string) (broker.Rules, error)
	// Submit sends an order, once.
	Submit(ctx context.Context, o broker.Order) (broker.State, error)
	// Cancel asks for the end of the order with the broker's id.
	Cancel(ctx context.Context, id string) error
	// CancelAll asks for the end of every order of the account, whoever placed it.
	CancelAll(ctx context.Context) error
	// Lookup asks for an order, by the broker's id or else by our own.
	Lookup(ctx context.Context, o broker.Order) (broker.State, error)
	// Report asks for all that is open and held.
	Report(ctx context.Context) (broker.Report, error)
	// Fills asks for the fills since a time, in their order; of very many it returns
	// the newest.
	Fills(ctx context.Context, since time.Time) ([]broker.Fill, error)
	// Stream tells what happens after the event with an id, until it breaks.
	Stream(ctx context.Context, after string, connected func(), deliver func(broker.Event)) error
}

// Shared is a log that several processes follow and one of them, the leader,
// appends to. The engine on it is a follower first: it applies what the leader
// appends, shows it, delivers it to its own streams, and refuses to write. When
// its process leads, it goes on from there as after a start: with an epoch of its
// own, and with the market since what was judged last.
type Shared interface {
	journal.Log

	// Follow applies what others append to s until this process leads, and
	// returns a context that ends when it does so no more.
	Follow(ctx context.Context, s journal.State) (term context.Context, err error)

	// Tail returns the sequence of the last record that was acknowledged by any
	// process when it was called, or a later one.
	Tail(ctx context.Context) (uint64, error)

	// Ask has the leader do something, which its process looks up by its name.
	Ask(ctx context.Context, what string, in, out any) error
}

// Outbox queues what happened for people. It is part of what the journal keeps:
// the record of a step is also the one by which the outbox learns of it, so that
// no crash comes between a firing and its message.
//
// Its methods are called in the order of the records, without another call at the
// same time, also while a start reads the journal. They must not block.
type Outbox interface {
	// Restore begins with what Snapshot returned, or with nothing.
	Restore(snapshot []byte) error

	// Apply takes a step that is on disk.
	Apply(Step) error

	// Snapshot returns the outbox as it is.
	Snapshot() ([]byte, error)
}

// Step is what the outbox is told of a record of the journal. Besides the first
// three fields one part is set. A record that ends several orders is several
// steps.
type Step struct {
	ID  string // unique among all stores, the same after a restart
	Seq uint64 // rising from step to step
	At  Time

	Order        *Order        // filled, cancelled or rejected
	Notification *Notification // an alert fired
	Price        string        // of the alert's symbol then; may be empty
	Trading      TradingState  // it became this
	Why          string        // who or what made it so; may be empty
	Lost         bool          // because the account has lost as much as it may in a day
	Record       []byte        // what Engine.WriteOutbox was given

	By *Who // whose order or alert it is; nil if that is not known
}

// Recovery says what a recovery keeps of a damaged directory and what it gives
// up.
type Recovery struct {
	Orders, OpenOrders, Alerts, Subscriptions int // kept

	LostOrders, LostAlerts int  // placed and set in records that cannot be kept
	LostRecords            int  // all such records
	LostSince              Time // the time of the first of them

	Archive      error  // what is wrong with the archive, which is made anew; nil if nothing is
	LostArchived int    // finished orders of the archive that no file has any more
	LostWhen     string // when they ended, as far as it is known

	Journal journal.Recovery
}

// Feed tells the engine what the market does. market.Feed is one.
type Feed interface {
	// Watch adds a symbol, or intervals to one.
	Watch(symbol string, intervals ...market.Interval)
	// Unwatch ends it.
	Unwatch(symbol string)
	// Resume, called before Watch, says which bar was the last closed one that
	// the engine knows; those after it are to be told.
	Resume(symbol string, iv market.Interval, last int64)
	// ResumePrice, called before Watch, says which price was the last that the
	// engine knows, and its time in unix milliseconds; the first update begins there.
	ResumePrice(symbol string, price float64, at int64)
	// Run calls deliver, from one goroutine at a time, until ctx ends.
	Run(ctx context.Context, deliver func(market.Update)) error
}
