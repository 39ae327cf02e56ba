package trade

import (
	"regexp"
	"strings"

	"wick/exact"
	"wick/limit"
)

// Side is the direction of an order.
type Side string

// The sides.
const (
	Buy  Side = "buy"
	Sell Side = "sell"
)

// sign returns a quantity with the sign that it has in a position.
func (s Side) sign(quantity exact.Decimal) exact.Decimal {
	if s == Sell {
		return -quantity
	}
	return quantity
}

// OrderType says at which price an order may be filled.
type OrderType string

// The order types.
const (
	Market OrderType = "market" // at once, at the market's price
	Limit  OrderType = "limit"  // at the given price or a better one, now or later
)

// OrderStatus is where an order stands.
type OrderStatus string

// The statuses. The last three are for ever.
const (
	StatusOpen            OrderStatus = "open"
	StatusPartiallyFilled OrderStatus = "partially_filled" // the paper broker fills whole orders only
	StatusFilled          OrderStatus = "filled"
	StatusCancelled       OrderStatus = "cancelled"
	StatusRejected        OrderStatus = "rejected" // the broker would not have it
)

// Terminal reports whether s never changes again.
func (s OrderStatus) Terminal() bool {
	return s == StatusFilled || s == StatusCancelled || s == StatusRejected
}

// Order is an order and what became of it.
type Order struct {
	ID             string         `json:"order_id"`
	ClientOrderID  string         `json:"client_order_id"`
	Symbol         string         `json:"symbol"`
	Side           Side           `json:"side"`
	Type           OrderType      `json:"type"`
	Quantity       exact.Decimal  `json:"quantity"`
	Price          *exact.Decimal `json:"price"` // the limit; null for market orders
	Status         OrderStatus    `json:"status"`
	FilledQuantity exact.Decimal  `json:"filled_quantity"`
	AveragePrice   *exact.Decimal `json:"average_price"` // null before a fill
	Fee            exact.Decimal  `json:"fee"`           // in the quote currency
	Broker         string         `json:"broker"`
	CreatedAt      Time           `json:"created_at"`
	UpdatedAt      Time           `json:"updated_at"`
	Reason         string         `json:"reason"`

	// Where the price of the last fill came from. They are left out before a fill,
	// and in orders of versions that did not write them.
	PriceAt   *Time  `json:"price_at,omitempty"` // when the market was there
	Source    string `json:"source,omitempty"`
	Synthetic bool   `json:"synthetic,omitempty"` // the price was invented

	// By is who placed it. It is written down and audited; clients do not get
	// to see it, nor one another.
	By *Who `json:"by,omitempty"`
}

// public returns the order as a client sees it; nil gives an empty one.
func (o *Order) public() Order {
	if o == nil {
		return Order{}
	}
	c := *o
	c.By = nil
	return c
}

// remaining returns the signed quantity that may still be filled.
func (o *Order) remaining() exact.Decimal { return o.Side.sign(o.Quantity - o.FilledQuantity) }

// same reports whether o was made by a request equal to r, but for the symbol.
func (o *Order) same(r OrderRequest) bool {
	var price exact.Decimal
	if o.Price != nil {
		price = *o.Price
	}
	return o.Side == r.Side && o.Type == r.Type && o.Quantity == r.Quantity && price == r.Price
}

// OrderRequest asks for an order.
type OrderRequest struct {
	Who           Who // who asks; two equal orders in a row are refused per client
	Symbol        string
	Side          Side
	Type          OrderType
	Quantity      exact.Decimal
	Price         exact.Decimal // of limit orders; zero means none
	ClientOrderID string        // may be empty
	DryRun        bool          // check and say what would happen, but do nothing
}

// shrinks reports whether a fill of the signed size can only bring a position of
// q closer to zero.
func shrinks(q, size exact.Decimal) bool {
	return q != 0 && size != 0 && (q > 0) != (size > 0) && size.Abs() <= q.Abs()
}

// clientIDShape is what a client_order_id looks like. It comes back in error
// texts and logs, so it holds nothing that could be taken for anything else.
var clientIDShape = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,48}$`)

// normalize settles the spelling of the request, but for its symbol, and refuses
// what no state of the book could make right.
func (r *OrderRequest) normalize() error {
	r.Side = Side(strings.ToLower(strings.TrimSpace(string(r.Side))))
	r.Type = OrderType(strings.ToLower(strings.TrimSpace(string(r.Type))))
	switch {
	case r.Side != Buy && r.Side != Sell:
		return refuse("bad_side", fixIt, "side %q: write buy or sell", limit.Clip(string(r.Side)))
	case r.Type != Market && r.Type != Limit:
		return refuse("bad_type", fixIt, "type %q: write market or limit", limit.Clip(string(r.Type)))
	case r.Quantity <= 0:
		return refuse("bad_quantity", fixIt, "quantity %s: it must be above zero", r.Quantity)
	case r.Price < 0:
		return refuse("bad_price", fixIt, "price %s: it must be above zero", r.Price)
	case r.Type == Limit && r.Price == 0:
		return refuse("price_required", fixIt, "a limit order needs a price")
	case r.Type == Market && r.Price != 0:
		return refuse("price_not_allowed", fixIt, "a market order takes no price: leave it out, or send type limit")
	case r.ClientOrderID != "" && !clientIDShape.MatchString(r.ClientOrderID):
		return refuse("bad_client_order_id", fixIt, "client_order_id %q: 1 to 48 of A-Z a-z 0-9 . _ : -", limit.Clip(r.ClientOrderID))
	}
	return nil
}
