package live

import (
	"context"
	"errors"
	"time"

	"wick/internal/exact"
	"wick/trade/book"
)

// Broker is a broker elsewhere, whose answers can be lost. Its methods may be called from
// many goroutines. Single fills are not told: what an order has filled in all, and at which
// average price, counts.
//
// A [Refused] says that the broker, or the code that speaks to it, has refused the request
// and nothing was done. [ErrUnknown] says that the broker does not know the order. After any
// other error nobody knows whether the request was carried out: it is never sent again, and
// the broker is asked about the order.
type Broker interface {
	// Money says which money its orders move.
	Money() book.Money
	// Rules returns the rules that orders in a symbol must keep.
	Rules(ctx context.Context, symbol string) (Rules, error)
	// Submit sends an order, once.
	Submit(ctx context.Context, o Order) (State, error)
	// Cancel asks the broker to cancel an order, by the broker's id.
	Cancel(ctx context.Context, id string) error
	// CancelAll asks the broker to cancel every order of the account, whoever placed it. It
	// returns how many of them the broker would not cancel.
	CancelAll(ctx context.Context) (left int, err error)
	// Lookup returns the state of an order, which is found by the broker's id or, if
	// that is not known, by our own.
	Lookup(ctx context.Context, o Order) (State, error)
	// Report returns the account with all its open orders and positions.
	Report(ctx context.Context) (Report, error)
	// Stream calls connected once it is connected, and then deliver with each order to which
	// something has happened, as it is then. It returns when the connection breaks, or when it
	// has told something that cannot be read: what was missed has to be asked for.
	Stream(ctx context.Context, connected func(), deliver func(State)) error
}

// Order is an order to be sent. Numbers that are zero were not given.
type Order struct {
	ClientID     string // our own id of it, which is never used twice
	ID           string // the broker's; empty until it has answered
	Symbol       string // as the broker spells it, by its Rules
	Side         string // buy or sell
	Type         string // market, limit, stop, stop_limit or trailing_stop
	TimeInForce  string // gtc, day, ioc or fok
	Quantity     exact.Decimal
	Limit, Stop  exact.Decimal
	TrailAmount  exact.Decimal
	TrailPercent exact.Decimal

	TakeProfit, StopLoss exact.Decimal // prices of the exits of an entry
	OCOStop, OCOLimit    exact.Decimal // of the stop order beside a limit order; the first that fills cancels the other

	Replaces string // the broker's id of the order that this one replaces
	Short    bool   // it sells more than is held
	Reduces  bool   // it closes a position, or a part of it: it goes before other requests, as cancels do
}

// Status is the status of an order at a broker.
type Status string

// The statuses. All but Open are final.
const (
	Open      Status = "open"
	Filled    Status = "filled"
	Cancelled Status = "cancelled" // also expired and replaced
	Rejected  Status = "rejected"
)

// State is what a broker says about an order. Filled never becomes less. So of two states
// the newer one is that with the larger Filled, or with a final status.
type State struct {
	ID, ClientID string
	Symbol       string // as the broker spells it
	Side, Type   string
	Status       Status
	Word         string // the broker's own word for the status
	Suspended    bool   // open, but the broker does not execute it
	Quantity     exact.Decimal
	Filled       exact.Decimal
	Average      exact.Decimal // average price of what was filled, rounded
	Limit, Stop  exact.Decimal
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Legs         []State // the orders that belong to this one: its exits, or the stop beside it
}

// Report is what a broker knows about an account. Its parts were read one shortly after
// the other.
type Report struct {
	Account   book.BrokerAccount
	Open      []State
	Positions []book.BrokerPosition
}

// Rules are the rules of a broker for orders in one symbol.
type Rules struct {
	Symbol string                                  // as the broker spells it
	Check  func(Order) error                       // returns a Refused if the broker would not take the order
	Tick   func(price exact.Decimal) exact.Decimal // returns the step of prices of this size
	Lot    func(Order) exact.Decimal               // returns the step of quantities for an order of this type, whatever its quantity

	DayEnd time.Time // when an order for the day that is sent now would end
}

// ErrUnknown reports an order that the broker does not know, at least not yet.
var ErrUnknown = errors.New("the broker does not know the order")

// Refused says that a request was refused for certain: nothing was done, and to send it
// again will not help unless something else changes.
type Refused struct {
	Text string
	Keys bool // because the broker does not know the keys
}

// Error returns the broker's words.
func (r *Refused) Error() string { return r.Text }
