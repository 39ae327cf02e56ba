// Package broker has the words in which the book of package trade and a broker
// elsewhere speak to each other: an order to be sent, what the broker says of one,
// a fill, and the report of a whole account. It does nothing by itself.
//
// # What an error means
//
// A [Refused] says that the broker, or the code that speaks to it, has said no and
// nothing was done. [ErrUnknown] says that the broker does not know the order. After
// any other error nobody knows whether the request was carried out: it must never
// be sent again, and only asking settles it.
package broker

import (
	"errors"
	"strings"
	"time"

	"wick/exact"
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
	OCOStop, OCOLimit    exact.Decimal // the stop beside a limit

	Replaces string // the broker's id of the order whose place it takes
	Short    bool   // it sells more than is held
}

// Status is where an order stands at a broker.
type Status string

// The statuses. All but the first are for ever.
const (
	Open      Status = "open"
	Filled    Status = "filled"
	Cancelled Status = "cancelled" // also expired and replaced
	Rejected  Status = "rejected"
)

// State is what a broker says of an order. Filled never shrinks: of two states the
// one with more in it, or the one that is for ever, is the newer one.
type State struct {
	ID, ClientID string
	Symbol       string // as the broker spells it
	Side, Type   string
	Status       Status
	Word         string // the broker's own word for it
	Quantity     exact.Decimal
	Filled       exact.Decimal
	Average      exact.Decimal // price of what was filled, rounded
	Limit, Stop  exact.Decimal
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Legs         []State // the orders that wait on this one, or beside it
}

// Fill is one execution of an order. Total is what the order has filled with it,
// which tells apart fills of one order whatever way they come by: a fill whose
// total is not above what is known is known, and one that begins above it says
// that another is missing.
type Fill struct {
	OrderID   string // the broker's
	Execution string // the broker's id of the execution
	Quantity  exact.Decimal
	Price     exact.Decimal
	Total     exact.Decimal
	At        time.Time
}

// Event is one message of a broker's stream.
type Event struct {
	ID    string // a stream can be taken up after it
	State State  // the order after it
	Fill  *Fill  // nil if nothing was filled
}

// Position is what a broker says is held of a symbol.
type Position struct {
	Symbol   string        // as the broker spells it
	Quantity exact.Decimal // negative when short
	Entry    exact.Decimal // average price
	Value    exact.Decimal // at the broker's price; zero if it does not say
	Profit   exact.Decimal // not realized, by the broker
}

// Account is what a broker says of the account.
type Account struct {
	ID          string // the account's number
	Currency    string
	Cash        exact.Decimal
	Equity      exact.Decimal
	LastEquity  exact.Decimal // at the close of the trading day before
	BuyingPower exact.Decimal
	Blocked     string // why the broker takes no orders; empty if it does
}

// Report is what a broker knows of an account at about one time.
type Report struct {
	Account   Account
	Open      []State
	Positions []Position
}

// Rules are what orders in one symbol must keep to.
type Rules struct {
	Check func(Order) error                       // says, as a Refused, what the broker would not take
	Tick  func(price exact.Decimal) exact.Decimal // the step that prices of this size come in

	DayEnd time.Time // when an order for the day ends that is sent now; zero if that is not known
}

// Key returns a symbol without the marks that are written differently from place
// to place: BRK-B, BRK.B and brk/b have the same one.
func Key(symbol string) string {
	return strings.ToUpper(strings.NewReplacer("/", "", "-", "", ".", "").Replace(symbol))
}

// ErrUnknown reports an order that the broker does not know, at least not yet.
var ErrUnknown = errors.New("the broker does not know the order")

// Refused is a definite no: nothing was done, and asking again will not help
// unless something else changes.
type Refused struct{ Text string }

// Error returns the broker's words.
func (r *Refused) Error() string { return r.Text }
