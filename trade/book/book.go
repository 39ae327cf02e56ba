// Package book has the rules of the paper account: what an order is, what becomes of it and
// of the others with it, and what is held after that. It computes and nothing else: it has
// no clock, no lock, no disk, no network and no goroutine. The time of a step is given to
// it, and what a step did is in the [Event] that package trade writes to its journal.
//
// The rules as stories that a trader can read, a line for each command and price and what the
// book says after it, are in testdata/stories.txt.
//
// # Nouns
//
//   - An [Order] is what a client asked for and what has become of it. It is open, at a
//     broker elsewhere perhaps partially_filled, and ends as filled, cancelled or rejected:
//     for ever, but for one that was given up and that the broker has after all.
//   - A [Holding] is the one net position of a symbol: its quantity, below zero if it is
//     short, what it cost, what was realized by it, and the fees.
//   - An [Event] is one step with its outcome: the order after it, the orders that begin
//     with it, the ids of those that end, and the holding. Applying it computes nothing
//     anew, so a replay gives the same state on every machine, for ever.
//   - A [State] is what the events add up to. It changes in one place, [State.Apply].
//     Values behind its pointers are replaced and never changed, so a copy of its lists
//     stays as it is.
//
// # Fills
//
// On paper an order is filled once, at a price that the source told. It is filled whole, but for
// what is cut: see Groups. The fill moves the position: what is of its side adds to it at that
// price; what is of the other side reduces it, and realizes the difference between the average
// cost and the price; what is more than the position closes it and opens one of the other side
// with the rest. Fees count as realized. At a broker elsewhere an order may be filled in parts, of
// which the broker tells the total and the average price; each moves the position in the same way.
//
// # Groups
//
// An entry with stop_loss or take_profit is a bracket. These become orders of their own, its
// exits: a stop ID-sl and a limit ID-tp of the other side. Their Group is the id of the entry,
// and their Role says which of the two an exit is; the entry itself has neither. An oco is such
// a pair from the beginning: a limit and the stop beside it, both with the Role oco, and with
// the id of the limit as their Group.
//
// On paper a bracket has no exits until it is filled. With the fill they begin, in the same
// event, for what the fill has opened; what closed a position of the other side needs no
// protection. A distance is counted from the price of the fill; if that leads to no price, the
// exit is missing, and the entry says [NoExit]. Both can only reduce. When one of them is filled,
// or is cancelled or has expired, the other ends in the same event.
//
// An order against a position and for no more than that can only reduce, also if nobody said
// so, unless the request says may_open. On paper it never opens a position and never turns one
// around: of what is more than the position at its fill the rest is cut off, and the order is
// cancelled with what was filled. So is the rest of any order that closes a position while
// trading is reducing, or if limits refuse more. When a fill leaves it nothing to reduce, an
// order that can only reduce ends in the event of that fill, whoever caused it. What of this a
// broker keeps to [Order.Cut] says.
//
// # A bracket on paper
//
// Buy 10 at 100 with a stop_loss of 97 and a take_profit of 106: the fill begins both exits, for
// 10. Sell 4 by hand: both stay for 10, and share the 6 that are left. If the market falls to 97,
// the stop sells 6, its rest is cut with [RestTooLarge], and the limit ends in that event with
// [OtherFilled]. Had all 10 been sold by hand, both would have ended with that fill, with
// [NothingToReduce]. An oco does the same without an entry: a limit of 106 and a stop of 97 share
// a position, and if one minute reaches both the stop counts, and says [StopCounts].
//
// # A bracket at a broker
//
// Buy 10 with both. The intent is an event before anything is sent: the entry is open, with the
// reason [Sending]. The broker has the bracket as one order with two legs, as it calls the exits,
// and its stop_loss and take_profit as prices, worked out when it was sent. The first answer that
// names the legs brings them into the book, as open orders ID-sl and ID-tp for 10. A leg says what
// the broker says of it, such as held. Until the legs are named nothing is learnt of the entry,
// not even a fill, for a minute; then its reason says [NoLegs].
//
// When 4 of 10 are filled, that is an event: the entry is partially_filled, the position is 4 at
// their price, and nobody is told. The legs are not worked until all of the entry is filled, as
// Alpaca has it, so [Book.Portfolio] calls the 4 unprotected. If they are sold before the other 6
// come, the legs stay and the entry still fills: cancel the entry first. With the other 6 it is
// filled with 10 at the average that the broker names, which subscribers of orders are told. The
// price of the second part is what was paid in all less what the first cost. No fee is counted: it
// shows in the broker's account. From now on the stop counts as protection. When 4 of ID-tp are
// filled, it is partially_filled and the position 6; ID-sl stays as it is until the broker says
// otherwise. When the rest is filled, the broker ends ID-sl, and does not say why.
//
// If the position is sold by hand beside its legs, nothing ends with that fill. Once the account
// agrees with the book and the entry has ended, package live cancels both legs, with
// [NothingToReduce]; it does not shrink them before. A leg that is filled sooner opens a position
// of the other side, and a broker may refuse the sale. To close by hand: cancel one leg,
// wait until both have ended, then sell.
//
// An exit at a broker that is no leg, a stop or a limit of its own, is kept to its position by
// package live: it is replaced by one for what is left, but not while trading is halted, nor once
// a part of it was filled, and cancelled with [NothingToReduce] once nothing is. Each takes a
// moment after the fill.
//
// # Alerts, notifications and the rest
//
// The same events carry alerts, the notifications that they fire, who is subscribed and how
// far each has read, the trading state, and how far the market of each symbol was judged:
// one record changes all that changes together, so no crash comes in between.
package book

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/market"
)

// Book is all that a decision is made from: the state, the rules of the operator, what is
// known of the markets, and what is known of an account elsewhere. Its methods decide; those
// that take the steps that they decide on say so. None waits for anything. The caller sees to
// it that one of them runs at a time.
type Book struct {
	*State
	Rules   Rules
	Markets Markets
	Remote  Remote

	// Write is given each step before it is taken, with a function that takes it. A step that
	// cannot be written down must not be taken. Nil means that steps are not written down.
	Write func(k Kind, ev *Event, take func() error) error

	Tells bool // there is an outbox, which is told of steps

	// arrived has the resting orders that came since the last update of their symbol, and
	// when they came, in unix milliseconds: what the market did before that does not fill
	// them. An order that is not in it was there before. The clock is believed until the
	// next update only, so that setting the clock back delays no fill.
	arrived map[string]int64
	trails  map[string]exact.Decimal // where trailing stops stand, by order id, if the market has moved them since the start
	ranges  map[string]Range         // where prices have been since the last fills of held symbols, if beyond what the journal knows
	rate    limit.Bucket

	// passing is where a market is while an order is judged that it reaches on its way to the
	// newest price: what the account is worth then does not depend on what comes after.
	passing struct {
		symbol string
		price  exact.Decimal
	}
}

// NewBook returns a book without a state.
func NewBook(rules Rules, markets Markets) *Book {
	return &Book{Rules: rules, Markets: markets, arrived: make(map[string]int64), trails: make(map[string]exact.Decimal), ranges: make(map[string]Range)}
}

// Propose takes a step, once it is written down.
func (b *Book) Propose(k Kind, ev *Event) error {
	b.complete(ev)
	take := func() error {
		if err := b.Take(b.Seq+1, k, ev); err != nil {
			return fmt.Errorf("trade: decided on an impossible step: %w", err)
		}
		if ev.Holding != nil { // prices count from this fill on
			delete(b.ranges, ev.Order.Symbol)
		}
		return nil
	}
	if b.Write == nil {
		return take()
	}
	return b.Write(k, ev, take)
}

// Take takes a step in the state, after it has noted in ev what the owner may want to know
// of it: that depends on what the step changes.
func (b *Book) Take(seq uint64, k Kind, ev *Event) error {
	if b.Tells {
		ev.Steps = b.outboxSteps(seq, k, ev)
	}
	return b.Apply(seq, k, ev)
}

// Markets is what is known of the markets.
type Markets interface {
	Of(symbol string) Listing
	// ATR returns the average true range of a symbol, and false if it is not known.
	ATR(symbol string) (exact.Decimal, bool)
}

// Listing is what is known of a market. Its Quote is the newest; the price of that is zero
// before there is any.
type Listing struct {
	Quote
	Hours    market.Hours // of its exchange; zero if they are not known
	Currency string       // of its prices, as the source says; may be empty
	Grid     Grid         // the rules of its exchange, as far as they are known
	Halted   string       // the exchange's word for a market in which nothing is traded now; or empty
}

// Grid returns the tick, lot and minimum of a market: those that the operator has set,
// or else those of the exchange as far as they are known.
func (b *Book) Grid(symbol string) Grid {
	if b.Rules.Grid != nil {
		if g, ok := b.Rules.Grid(symbol); ok {
			return g
		}
	}
	return b.Markets.Of(symbol).Grid
}

// Currency returns the currency of a symbol's prices: the one that the source
// reported, else the one that the symbol's name implies, else an empty text.
func (b *Book) Currency(symbol string) string {
	return cmp.Or(b.Markets.Of(symbol).Currency, market.Currency(symbol))
}

// Sums reports whether prices of a symbol are in the currency in which the account adds up,
// see AccountRules. What has no currency is paid from the account, here or at a broker, like
// everything else; without an account nobody knows what it is worth.
func (b *Book) Sums(symbol string) bool {
	currency := b.Currency(symbol)
	if currency == "" {
		return b.Rules.Account.Cash != 0 || b.Remote.Name != ""
	}
	return b.Rules.Account.counts(currency)
}

// price returns the newest price of symbol, or zero; while an order is judged that the market
// reaches, where that is by then.
func (b *Book) price(symbol string) exact.Decimal {
	if b.passing.symbol == symbol {
		return b.passing.price
	}
	return b.Markets.Of(symbol).Price
}

// Rules are what the operator has set for the account. No request can change them.
type Rules struct {
	Limits       Limits
	Account      AccountRules
	FeeRate      exact.Decimal  // of fills on arrival and of stops, as a fraction of their value
	MakerFeeRate *exact.Decimal // the same of limits that rested; an engine takes nil for FeeRate
	Slippage     exact.Decimal  // of fills on arrival and of stops, as a fraction of the price
	HalfSpread   exact.Decimal  // how far bid and ask are from the price, as a fraction of it; zero means that both are the price
	Quoted       bool           // use the source's bid and ask in place of HalfSpread, if it tells them

	// MaxPriceAge is how old a price may be for an order. Zero means a minute; at an
	// exchange with hours it means any age, if the price is of the running session.
	// Invented prices are never too old.
	MaxPriceAge time.Duration

	// Grid returns the tick and lot that the operator has set for a market. For any
	// other market it returns false, and those of the exchange are used if the feed
	// knows them. Nil means that the operator has set none.
	Grid func(symbol string) (Grid, bool)
}

// orderRate returns how often orders may be accepted: OrdersPerSecond, and twice as many
// at once.
func (r Rules) orderRate() limit.Rate {
	n := r.Limits.OrdersPerSecond
	return limit.Rate{Burst: 2 * float64(n), Every: time.Second / time.Duration(n)}
}

// Count counts an order that was accepted towards the rate of orders.
func (b *Book) Count(at Time) { b.rate.Take(at.Time, b.Rules.orderRate()) }

// sorted returns the keys of m in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
