package book

import (
	"cmp"
	"fmt"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
)

// Order is an order and what became of it.
type Order struct {
	ID             string         `json:"order_id"`
	ClientOrderID  string         `json:"client_order_id"`
	Symbol         string         `json:"symbol"`
	Side           Side           `json:"side"`
	Type           OrderType      `json:"type"`
	Quantity       exact.Decimal  `json:"quantity"`
	Price          *exact.Decimal `json:"price"` // the limit; null for orders that have none
	Status         OrderStatus    `json:"status"`
	FilledQuantity exact.Decimal  `json:"filled_quantity"`
	AveragePrice   *exact.Decimal `json:"average_price"` // null before a fill
	Fee            exact.Decimal  `json:"fee"`           // in the quote currency
	Broker         string         `json:"broker"`
	CreatedAt      Time           `json:"created_at"`
	UpdatedAt      Time           `json:"updated_at"`
	Reason         string         `json:"reason"`
	ReasonCode     Code           `json:"reason_code,omitempty"`

	// Where the price of the last fill came from. PriceAt and Source are left out before
	// a fill, and in orders of versions that did not write them. Before a fill Synthetic
	// is about the price that the order was checked against.
	PriceAt   *Time  `json:"price_at,omitempty"` // when the market was at that price
	Source    string `json:"source,omitempty"`
	Synthetic bool   `json:"synthetic,omitempty"` // the price was invented

	// Of an order at a broker elsewhere: the account, and the broker's id of the order
	// once it has answered.
	Account  string `json:"account,omitempty"`
	BrokerID string `json:"broker_order_id,omitempty"`

	// What follows is left out of orders that were placed without it.

	StopPrice    *exact.Decimal `json:"stop_price,omitempty"`   // of a trailing stop, where it stands now
	TriggeredAt  *Time          `json:"triggered_at,omitempty"` // when a stop_limit became a limit
	TrailAmount  exact.Decimal  `json:"trail_amount,omitempty"`
	TrailPercent exact.Decimal  `json:"trail_percent,omitempty"`
	TimeInForce  TimeInForce    `json:"time_in_force,omitempty"`
	ExpiresAt    *Time          `json:"expires_at,omitempty"`
	PostOnly     bool           `json:"post_only,omitempty"`
	ReduceOnly   bool           `json:"reduce_only,omitempty"` // it may only reduce, see [Order.Cut]: as the client said, or since it is for no more than the position against it
	Notional     exact.Decimal  `json:"notional,omitempty"`    // what the quantity was computed from
	Sizing       *Sizing        `json:"sizing,omitempty"`      // how it was computed from a percentage or a risk
	Breakeven    *Breakeven     `json:"breakeven,omitempty"`   // what the stop price was computed from
	Replaces     string         `json:"replaces,omitempty"`    // the order_id of the one that it took the place of
	When         *When          `json:"when,omitempty"`        // the rule that it waits for, or waited for

	// Of a bracket, of its exits and of an oco: the package comment says what they are.
	StopLoss   *Exit  `json:"stop_loss,omitempty"`
	TakeProfit *Exit  `json:"take_profit,omitempty"`
	Group      string `json:"group,omitempty"`
	Role       Role   `json:"role,omitempty"`

	// Asked is what the request had beyond side, type, quantity and price; see
	// OrderRequest.Asked. Turn decides which of two orders is judged first: it is the
	// sequence under which the order was accepted, or the Turn of the order that it
	// replaced, if it keeps that one's place. After is the last look at the market before the
	// order, in unix milliseconds: what was traded later counts for it. Clients see none of them.
	Asked string `json:"asked,omitempty"`
	Turn  uint64 `json:"turn,omitempty"`
	After int64  `json:"after,omitempty"`

	// Why is why the order is as it is. Clients see it as Reason and ReasonCode, which are
	// written for them; see [Order.Public].
	Why []Reason `json:"why,omitempty"`

	// Label is what the trader calls it.
	Label

	// By is who placed the order. The journal and its audit have it. Clients do not see
	// it, so they do not learn of one another.
	By *Who `json:"by,omitempty"`

	// Worth is what the order counts against what its client may place within an hour;
	// zero if nothing is counted. Clients do not see it.
	Worth exact.Money `json:"worth,omitzero"`

	// Evidence names the record of a person's yes, in the journal before the order.
	Evidence string `json:"evidence,omitempty"`
}

// Public returns the order as a client sees it; for nil, an empty one.
func (o *Order) Public() Order {
	if o == nil {
		return Order{}
	}
	c := *o
	if len(o.Why) > 0 {
		c.Reason, c.ReasonCode, c.Why = o.Words(), o.Why[0].Code, nil
	}
	if c.When != nil {
		w := *c.When
		w.From, w.Request, c.When = nil, nil, &w
	}
	c.By, c.Worth, c.Asked, c.Turn, c.After, c.Evidence = nil, exact.Money{}, "", 0, 0, ""
	return c
}

// Answer returns the order as the answer to r. If r is a dry run, the order existed
// before under its client_order_id, and a remark says so: otherwise it would look like
// what a new order would become.
func (o *Order) Answer(r OrderRequest) Order {
	if !r.DryRun {
		return o.Public()
	}
	shown := *o
	shown.Why = []Reason{Because(DryRunKnown, o.ClientOrderID)}
	return shown.Public()
}

// Same reports whether o was made by a request equal to r. It compares neither the
// symbols nor who asked: a client_order_id is unique in the whole book.
func (o *Order) Same(r OrderRequest) bool {
	var price exact.Decimal
	if o.Price != nil {
		price = *o.Price
	}
	return o.Asked == r.Asked() && o.Side == cmp.Or(r.Side, o.Side) && o.Type == cmp.Or(r.Type, o.Type) &&
		price == cmp.Or(r.Price, price) && o.Quantity == cmp.Or(r.Quantity, o.Quantity) // what r leaves out is in Asked
}

// within returns price, or the limit of o if that is better for the trader.
func (o *Order) within(price exact.Decimal) exact.Decimal {
	switch {
	case o.Price == nil:
		return price
	case o.Side == Buy:
		return min(price, *o.Price)
	}
	return max(price, *o.Price)
}

// LateWithin is how long after the end of an order what the broker says of it can still
// change it, which is longer than a session of an exchange. An hour later it may leave
// memory, and nothing changes it any more.
const LateWithin = 8 * time.Hour

// EndedWithin reports whether o is at a broker elsewhere and has ended less than d before at.
func (o *Order) EndedWithin(d time.Duration, at Time) bool {
	return o.Account != "" && at.Sub(o.UpdatedAt.Time) < d
}

// Counts reports whether o counts at an instant against what its client may place within an hour.
func (o *Order) Counts(at Time) bool {
	return o.Worth.Sign() > 0 && at.Sub(o.CreatedAt.Time) < time.Hour
}

// Unknown reports whether o was given to a broker that has not answered yet.
func (o *Order) Unknown() bool { return o.Account != "" && o.BrokerID == "" && !o.Status.Terminal() }

// Remaining returns the quantity that may still be filled, negative for a sell.
func (o *Order) Remaining() exact.Decimal { return o.Side.Sign(o.Quantity - o.FilledQuantity) }

// rests reports whether o may wait for a price: it is no market order, and not for
// immediate execution only.
func (o *Order) rests() bool {
	return o.Type != Market && o.TimeInForce != IOC && o.TimeInForce != FOK
}

// Waits reports whether o is a stop that the market has not reached yet.
func (o *Order) Waits() bool { return o.Type.HasStop() && o.TriggeredAt == nil }

// Cut reports whether no more of o is filled than reduces the position: it is reduce_only, and
// its venue keeps to that. A broker elsewhere is trusted to do so for its legs, the orders with
// a Role, and fills a market order before the position can change; of another order that waits
// there it fills all. That is trust and no fact: if a position is closed by hand, a leg that is
// filled then opens one of the other side, and the limits have not counted it.
func (o *Order) Cut() bool {
	return o.ReduceOnly && (o.Account == "" || o.Role != "" || o.Type == Market)
}

// Closes returns how much of a position of held the rest of o would close, without a sign.
// Of an exit no more than that is filled, see [Order.Cut], and of any other order the limits
// refuse no part of it. So fills, limits and what the account calls protected go by it alone.
func (o *Order) Closes(held exact.Decimal) exact.Decimal { return Reducible(held, o.Remaining()) }

// before reports whether o is judged before other at the same price. Orders are judged
// in the order of their acceptance, and an entry before its exits. Of two orders that
// were accepted together the stop comes first, which is worse for the trader.
func (o *Order) before(other *Order) bool {
	if o.Turn != other.Turn {
		return o.Turn < other.Turn
	}
	if o.exits() != other.exits() {
		return !o.exits()
	}
	return o.Type.HasStop() && !other.Type.HasStop()
}

// exits reports whether o is the exit of an entry.
func (o *Order) exits() bool { return o.Role == RoleStopLoss || o.Role == RoleTakeProfit }

// exitCount returns how many exits o has once it is filled.
func (o *Order) exitCount() (n int) {
	for _, x := range []*Exit{o.StopLoss, o.TakeProfit} {
		if x != nil {
			n++
		}
	}
	return n
}

// slots returns how many open orders come of o, which is open: itself or, once it is filled,
// its exits, for which room is kept from the beginning; legs at a broker count beside that. The
// two orders of an oco have one each, because only one of them is filled.
func (o *Order) slots() int {
	if o.Role == RoleOCO {
		return 1
	}
	return max(1, o.exitCount())
}

// Since returns from when on prices count for o, in unix milliseconds: since the last look at
// the market before it, or since its stop was set off.
func (o *Order) Since() int64 {
	if o.TriggeredAt != nil {
		return o.TriggeredAt.UnixMilli()
	}
	return o.After
}

// Expired reports whether the time of o is over at an instant, in unix milliseconds: from
// then on no price fills it.
func (o *Order) Expired(instant int64) bool {
	return o.ExpiresAt != nil && instant >= o.ExpiresAt.UnixMilli()
}

// Worst returns the price at which o is held to the operator's limits: its limit or else
// its stop price, and zero for a market order.
func (o *Order) Worst() exact.Decimal {
	if o.Price != nil {
		return *o.Price
	}
	if o.StopPrice != nil {
		return *o.StopPrice
	}
	return 0
}

// WithStop returns o with another stop price, if it is a trailing stop that is open.
func (o *Order) WithStop(stop exact.Decimal) *Order {
	if o.Type != TrailingStop || o.Status.Terminal() {
		return o
	}
	after := *o
	after.StopPrice = &stop
	return &after
}

// trailing returns where a trailing stop stands when the market is at price: a sell stop
// below the market, a buy stop above it. It is rounded to the grid, away from the market.
// It reports false if that is no price.
func (o *Order) trailing(price exact.Decimal, g Grid) (exact.Decimal, bool) {
	return Exit{Distance: o.TrailAmount, Percent: o.TrailPercent, Tick: g.Tick}.At(price, o.Side == Buy)
}

// Side is the direction of an order.
type Side string

// The sides.
const (
	Buy  Side = "buy"
	Sell Side = "sell"
)

// Sign returns the quantity by which a fill of this side changes a position: negative
// for a sell.
func (s Side) Sign(quantity exact.Decimal) exact.Decimal {
	if s == Sell {
		return -quantity
	}
	return quantity
}

// Other returns the opposite side.
func (s Side) Other() Side {
	if s == Buy {
		return Sell
	}
	return Buy
}

// OrderType says at which price an order may be filled.
type OrderType string

// The order types.
const (
	Market       OrderType = "market"        // at once, at the market's price
	Limit        OrderType = "limit"         // at the given price or a better one, now or later
	Stop         OrderType = "stop"          // at the market's price, once it has come to the stop price
	StopLimit    OrderType = "stop_limit"    // like a limit, once the market has come to the stop price
	TrailingStop OrderType = "trailing_stop" // like a stop whose price follows the market at a distance
)

// OrderTypes lists the types.
var OrderTypes = []OrderType{Market, Limit, Stop, StopLimit, TrailingStop}

// HasLimit reports whether orders of the type have a limit price.
func (t OrderType) HasLimit() bool { return t == Limit || t == StopLimit }

// HasStop reports whether orders of the type have a stop price.
func (t OrderType) HasStop() bool { return t == Stop || t == StopLimit || t == TrailingStop }

// TimeInForce says how long an order may wait.
type TimeInForce string

// The times in force.
const (
	GTC TimeInForce = "gtc" // until it is cancelled; an empty time in force means the same
	Day TimeInForce = "day" // until the session of the exchange ends, or the day in UTC
	IOC TimeInForce = "ioc" // what cannot be filled at once is cancelled
	FOK TimeInForce = "fok" // all of it at once or nothing
	GTD TimeInForce = "gtd" // until ExpiresAt
)

// TimesInForce lists them.
var TimesInForce = []TimeInForce{GTC, Day, IOC, FOK, GTD}

// OrderStatus is where an order stands.
type OrderStatus string

// The statuses. The last three are final.
const (
	StatusOpen            OrderStatus = "open"
	StatusPartiallyFilled OrderStatus = "partially_filled" // the rest waits
	StatusFilled          OrderStatus = "filled"
	StatusCancelled       OrderStatus = "cancelled"
	StatusRejected        OrderStatus = "rejected" // it could not be filled, or its broker refused it
)

// Terminal reports whether s is final: it changes only if a broker elsewhere has an order
// that was given up.
func (s OrderStatus) Terminal() bool {
	return s == StatusFilled || s == StatusCancelled || s == StatusRejected
}

// Who names the client behind a request, for the journal and its audit. Every
// field may be empty.
type Who struct {
	Name   string `json:"name,omitempty"`   // what the program calls itself: not to be trusted
	Client string `json:"client,omitempty"` // which program, as a digest that stays the same over logins
	ID     string `json:"id,omitempty"`     // which login of the program, as a digest
}

// shortID is how many characters of the login's digest are written down, as
// many as --clients and the log show.
const shortID = 8

// Short returns w as it is written down, or nil if all its fields are empty.
func (w Who) Short() *Who {
	if w == (Who{}) {
		return nil
	}
	w.Name, w.Client = limit.Clip(w.Name), limit.Clip(w.Client)
	w.ID = limit.Clip(w.ID[:min(len(w.ID), shortID)])
	return &w
}

// SameClient reports whether two requests came from the same program. They are compared
// by Client if one of them has it, and otherwise by ID.
func (w *Who) SameClient(other *Who) bool {
	switch {
	case w == nil || other == nil:
		return w == other
	case w.Client != "" || other.Client != "":
		return w.Client == other.Client
	}
	return w.ID == other.ID
}

// Time is an instant as clients and the journal see it: UTC with milliseconds.
type Time struct{ time.Time }

// TimeLayout always has three decimals, so that texts of times sort like the times.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Age returns how old t is at the instant at. A stored time may lie in the future because
// the clock was set back; its age is zero.
func (t Time) Age(at Time) time.Duration { return max(0, at.Sub(t.Time)) }

// String returns t as clients and the journal see it.
func (t Time) String() string { return t.UTC().Format(TimeLayout) }

// MarshalJSON writes t with exactly three decimals.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(text []byte) error {
	v, err := time.Parse(`"`+TimeLayout+`"`, string(text))
	if err != nil {
		return fmt.Errorf("bad time %s: write it as %s", limit.Clip(string(text)), TimeLayout)
	}
	t.Time = v
	return nil
}
