// Package broker has the types in which the book of package trade and a broker elsewhere
// exchange data: an order to be sent, what the broker says about an order, and the report
// of a whole account. It does nothing by itself. Single fills are not told: what an order
// has filled in all, and at which average price, counts.
//
// # What an error means
//
// A [Refused] says that the broker, or the code that speaks to it, has refused the
// request and nothing was done. [ErrUnknown] says that the broker does not know the
// order. After any other error nobody knows whether the request was carried out. It must
// never be sent again; the caller has to ask the broker about the order.
package broker

import (
	"errors"
	"strings"
	"time"

	"wick/internal/exact"
)

// Money is which money the orders of a broker move.
type Money string

// The kinds of money. A broker that does not say counts as one with real money.
const (
	Real Money = "real"
	None Money = "none" // a paper account
)

// Order is an order to be sent. Numbers that are zero were not given.
type Order struct {
	ClientID     string // our own id of it, which is never used twice
	ID           string // the broker's; empty until it has answered
	Symbol       string // as the book spells it
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
	Quantity     exact.Decimal
	Filled       exact.Decimal
	Average      exact.Decimal // average price of what was filled, rounded
	Limit, Stop  exact.Decimal
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Legs         []State // the orders that belong to this one: its exits, or the stop beside it
}

// Event is one message of a broker's stream.
type Event struct {
	ID    string // a stream can be resumed after it
	State State  // the order after this event; zero if it could not be read
}

// Position is how much of a symbol the account holds, as the broker says.
type Position struct {
	Symbol   string        // as the broker spells it
	Quantity exact.Decimal // negative when short
	Entry    exact.Decimal // average price
	Value    exact.Decimal // at the broker's price; zero if it does not say
	Profit   exact.Decimal // not realized, as the broker says
}

// Account is what a broker says of the account.
type Account struct {
	ID          string // the account's number
	Currency    string
	Cash        exact.Decimal
	Equity      exact.Decimal
	LastEquity  exact.Decimal // at the close of the trading day before
	BuyingPower exact.Decimal
	Blocked     string // why the broker takes no orders; empty if it takes them
}

// Report is what a broker knows about an account. Its parts were read one shortly after
// the other.
type Report struct {
	Account   Account
	Open      []State
	Positions []Position
}

// Rules are the rules of a broker for orders in one symbol.
type Rules struct {
	Check func(Order) error                       // returns a Refused if the broker would not take the order
	Tick  func(price exact.Decimal) exact.Decimal // returns the step of prices of this size

	DayEnd time.Time // when an order for the day that is sent now would end
}

// Key returns a symbol in upper case and without separators, which services write
// differently: BRK-B, BRK.B and brk/b have the same key.
func Key(symbol string) string {
	return strings.ToUpper(strings.NewReplacer("/", "", "-", "", ".", "").Replace(symbol))
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
