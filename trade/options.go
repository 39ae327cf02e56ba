package trade

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/market"
	"wick/sse"
	"wick/trade/book"
	"wick/trade/watch"
)

// Options configure an Engine.
type Options struct {
	Dir    string        // the state directory; made if need be
	Source market.Source // history of the symbols that are watched
	Feed   watch.Feed

	book.Rules // zero fields mean their defaults

	Symbols   []string          // watched from the start
	Intervals []market.Interval // kept for every symbol; the first is the default of alerts; nil means 4h

	// Recover, if not nil, allows a damaged directory to be repaired: its good part is
	// kept and the rest is set aside. It is called with what that would be, before
	// anything is changed. If it returns an error, nothing is changed and Open returns it.
	Recover func(Recovery) error

	Log *slog.Logger // nil discards

	files journal.FileOptions // how long one file of the journal gets; tests shorten it
	epoch func() string       // names a new epoch; nil means at random
	kept  int                 // terminal orders that stay in memory; zero means keptOrders; tests keep fewer

	// Hub delivers queued notifications to subscribers. Open loads the queues into it.
	// Nil means that nobody listens.
	Hub *sse.Hub

	// Works reports whether the token of a subscription was not revoked, also if that
	// was before the start. As long as it works and has not ended, no other token of the
	// same client can claim the subscription. Nil means that none works.
	Works func(*sse.Subscription) bool

	// Shared, if not nil, is a log that several processes use, this one among them. Dir
	// then holds nothing that the other processes need.
	Shared Shared

	// Leading, if not nil, is called when this process begins to lead, with a
	// context that ends when it no longer does.
	Leading func(term context.Context)

	// Outbox queues messages to people about what happened; nil means that nobody
	// wants any.
	Outbox Outbox

	// Venue opens where orders are carried out; nil means on paper.
	Venue book.Opener

	// Notify is told of every alert that fired, once it is on disk, with the
	// ids of the subscriptions it goes to. Those that fired together are told in the order
	// of their sequences. It may be called from several goroutines and must not block. Nil
	// means that nobody listens.
	Notify func(n book.Notification, recipients []string)
}

// withDefaults fills in what was left out, brings the symbols into their usual spelling
// and removes repeated ones. It returns an error for options that check refuses.
func (o Options) withDefaults() (Options, error) {
	o.Limits, o.Account = o.Limits.WithDefaults(), o.Account.WithDefaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Hub == nil {
		o.Hub = sse.NewHub(nil)
	}
	if o.epoch == nil {
		o.epoch = func() string {
			var b [book.EpochSize]byte
			rand.Read(b[:]) // never fails
			return hex.EncodeToString(b[:])
		}
	}
	if o.Notify == nil {
		o.Notify = func(book.Notification, []string) {}
	}
	if len(o.Intervals) == 0 {
		o.Intervals = []market.Interval{market.Hour4}
	}
	if o.MakerFeeRate == nil {
		o.MakerFeeRate = &o.FeeRate
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

// check refuses limits, rates and shares that make no sense, and more symbols than may
// be watched.
func (o Options) check() error {
	if n := len(o.Symbols); n > o.Limits.Symbols {
		return fmt.Errorf("--symbols names %d symbols, more than the %d that are watched at once: name fewer, since orders and alerts add theirs", n, o.Limits.Symbols)
	}
	for _, rate := range []struct {
		name    string
		value   exact.Decimal
		example string
	}{{"fee rate", o.FeeRate, "0.001"}, {"maker fee rate", *o.MakerFeeRate, "0.0005"}, {"slippage", o.Slippage, "0.0005"}, {"half spread", o.HalfSpread, "0.0002"}} {
		if rate.value < 0 || rate.value >= exact.One {
			return fmt.Errorf("%s %s: it must be from 0 to below 1, such as %s", rate.name, rate.value, rate.example)
		}
	}
	if o.HalfSpread+o.Slippage >= exact.One {
		return fmt.Errorf("half spread %s and slippage %s: together they must be below 1, or a sell would be filled at no price", o.HalfSpread, o.Slippage)
	}
	return o.Limits.Check()
}

// Shared is a log that several processes read and one of them, the leader, appends to.
// An engine with such a log begins as a follower: it applies what the leader appends,
// shows it, delivers it to its own streams, and refuses to write. When its process
// begins to lead, it does what an engine does at a start: it begins an epoch of its own,
// and judges what the market has done since the journal last noted how far it was judged.
type Shared interface {
	journal.Log

	// Follow applies what the leader appends to s until this process leads. It returns a
	// context that ends when this process leads no longer.
	Follow(ctx context.Context, s journal.State) (term context.Context, err error)

	// Tail returns the sequence of the last record that any process had acknowledged
	// when Tail was called, or a later one.
	Tail(ctx context.Context) (uint64, error)

	// Ask has the leader do something; what is one of the names AskMarks, AskHalt,
	// AskCancel and AskClaim. In is its argument, and out, if not nil, takes its result.
	// After an error that wraps journal.ErrUnknown it may have been done. The leader's own
	// error comes as a text that wraps nothing, and that text may say whether it was done.
	// After any other error nothing was done.
	Ask(ctx context.Context, what string, in, out any) error
}

// Outbox queues messages to people about what happened. The journal keeps it, too: an
// outbox learns of a step from the same record as the book, so that no crash comes
// between a firing and its message.
//
// Its methods are called one at a time, in the order of the records, also while a start
// reads the journal. They must not block.
type Outbox interface {
	// Restore sets the outbox to what Snapshot returned before; no text means empty.
	Restore(snapshot []byte) error

	// Apply takes a step that is on disk.
	Apply(book.Step) error

	// Snapshot returns all that the outbox holds.
	Snapshot() ([]byte, error)
}

// Recovery says what a recovery keeps of a damaged directory and what it gives
// up.
type Recovery struct {
	Orders, OpenOrders, Alerts, Subscriptions int // kept

	Journal journal.Recovery
}
