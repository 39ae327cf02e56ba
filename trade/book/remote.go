package book

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
)

// Remote is what is known of the account at a broker elsewhere. Of it the journal has the
// number, and what the owner has accepted; the rest is read from the broker by each process,
// before it sends anything. It is empty on paper, where nothing is held but what the book has.
type Remote struct {
	Name      string           // of the broker
	Account   string           // the account's number there
	Closed    string           // why no order is taken; empty if orders are taken
	Judged    bool             // what the account has was compared since the start, or could not be read for minutes
	Gaps      map[string]Gap   // positions that are not what the book expects by the newest report, by Key of the symbol
	Late      map[string]int   // orders that the book had given up and the broker has, and how often it was said
	External  []Order          // open orders of the account that are not in this book
	Stream    bool             // the stream is connected: what happens is known at once
	ReadAt    Time             // when the newest report was asked for; zero for never
	Statement BrokerAccount    // by the newest report
	Held      []BrokerPosition // by the newest report
}

// Gap is a difference that the newest report shows.
type Gap struct {
	Difference
	Settled *Difference // the one that counts: this one or, until it does, another before it; nil for none
	Since   time.Time   // since when this one does not count; zero if it does
}

// BrokerAccount is what a broker elsewhere says of the account.
type BrokerAccount struct {
	ID          string // the account's number
	Currency    string
	Cash        exact.Decimal
	Equity      exact.Decimal
	LastEquity  exact.Decimal // at the close of the trading day before
	BuyingPower exact.Decimal
	Blocked     string // why the broker takes no orders; empty if it takes them
}

// lost returns what the account has lost since the day before, by its newest report, and
// false if that is not known.
func (r *Remote) lost() (exact.Decimal, bool) {
	return r.Statement.LastEquity - r.Statement.Equity, r.Judged && r.Closed == ""
}

// Unlike reports whether the broker has something else than the book, which the owner has to
// look at.
func (r *Remote) Unlike() bool { return len(r.Differs())+len(r.Late) > 0 }

// Differs returns the positions that differ from the book for certain, by symbol.
func (r *Remote) Differs() (all []Difference) {
	for _, key := range sorted(r.Gaps) {
		if d := r.Gaps[key].Settled; d != nil {
			all = append(all, *d)
		}
	}
	return all
}

// BrokerName returns what orders and positions carry as their broker.
func (b *Book) BrokerName() string { return cmp.Or(b.Remote.Name, PaperName) }

// State returns the trading state that counts: the one that was written down, or Halted
// as long as no order is taken because of the broker.
func (r *Remote) State(written TradingState) TradingState {
	if r.Closed != "" {
		return Halted
	}
	return written
}

// resting says what becomes of resting orders while trading is halted or reducing: on
// paper what onPaper says. At a broker elsewhere nothing keeps them from being filled.
func (r *Remote) resting(onPaper string) string {
	if r.Name != "" {
		return "orders that rest at " + r.Name + " stay there and can be filled"
	}
	return onPaper
}

// Excess returns how much more of a symbol the account at the broker holds than the book's
// fills come to, negative if it is less: by the newest report if that shows a difference,
// else as the owner has accepted it.
func (b *Book) Excess(symbol string) exact.Decimal {
	if g, found := b.Remote.Gaps[Key(symbol)]; found {
		return g.Broker - g.Book
	}
	return b.Venue.accepted(Key(symbol))
}

// settled is Excess by what counts.
func (b *Book) settled(symbol string) exact.Decimal {
	if d := b.Remote.Gaps[Key(symbol)].Settled; d != nil {
		return d.Broker - d.Book
	}
	return b.Venue.accepted(Key(symbol))
}

// Unsettled reports whether the newest report shows another difference in a symbol than the
// settled one: it may be of a fill that the book does not know yet.
func (b *Book) Unsettled(symbol string) bool { return b.Excess(symbol) != b.settled(symbol) }

// Owned returns how much of a symbol the account holds, negative when short. A difference
// counts once it is settled: shares that a report has before the book knows of their fill
// would count twice when that comes.
func (b *Book) Owned(symbol string) exact.Decimal {
	return b.Holdings[symbol].Quantity + b.settled(symbol)
}

// Closable returns the part of the book's position in a symbol that the account holds,
// negative when short. No more than that may be closed: the rest would open a position.
func (b *Book) Closable(symbol string) exact.Decimal {
	held := b.Holdings[symbol].Quantity
	part := Reducible(held, -held-b.Excess(symbol))
	if held < 0 {
		return -part
	}
	return part
}

// notHeld refuses to close more of a position than the account holds.
func (b *Book) notHeld(symbol string) error {
	held := b.Holdings[symbol].Quantity
	return Later.Refuse("reduce_only", "this book's position in %s is %s and the account at %s holds %s: at most %s can be closed by reduce_only or quantity all",
		symbol, held, b.Remote.Name, held+b.Excess(symbol), b.Closable(symbol).Abs())
}

// Key returns a symbol in upper case and without separators, which services write
// differently: BRK-B, BRK.B and brk/b have the same key.
func Key(symbol string) string { return strings.ToUpper(separators.Replace(symbol)) }

var separators = strings.NewReplacer("/", "", "-", "", ".", "")

// Difference is a position at the broker that is not what the book expects.
type Difference struct {
	Symbol string        `json:"symbol"`
	Book   exact.Decimal `json:"book"`   // what wick's fills come to
	Broker exact.Decimal `json:"broker"` // what the broker says is held
}

// NotOrder returns why id, which is no order_id of this book, names nothing to cancel or
// replace.
func (b *Book) NotOrder(id string) *Refusal {
	if own := b.ClientIDs[id]; own != "" {
		return FixIt.Refuse("unknown_order", "%q is the client_order_id of order %s: name it by that order_id", limit.Clip(id), own)
	}
	if slices.ContainsFunc(b.Remote.External, func(o Order) bool { return o.ID == id }) {
		return Refuse("unknown_order", "order %s was not placed by wick, which does not touch it: it can only be changed or cancelled at %s itself", id, b.Remote.Name)
	}
	return Uncancellable(nil, id)
}

// Uncancellable returns the reason why the order called id cannot be cancelled: it has
// ended as o says, or is not known if o is nil.
func Uncancellable(o *Order, id string) *Refusal {
	if o == nil {
		return Refuse("unknown_order", "no order has the id %q; get_orders lists them", limit.Clip(id))
	}
	return Refuse(Code("order_"+o.Status), "order %s is already %s", id, o.Status)
}
