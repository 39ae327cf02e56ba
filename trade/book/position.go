package book

import (
	"errors"

	"wick/internal/exact"
)

// Position is the net holding of one symbol as a client sees it. Prices and
// profit are in the quote currency; the profit is exact.
type Position struct {
	Symbol        string         `json:"symbol"`
	Side          string         `json:"side"` // "long" or "short"; "flat" if nothing is held
	Quantity      exact.Decimal  `json:"quantity"`
	EntryPrice    exact.Decimal  `json:"entry_price"`    // cost divided by quantity, without fees
	CurrentPrice  *exact.Decimal `json:"current_price"`  // null until a price is known
	UnrealizedPnL *exact.Money   `json:"unrealized_pnl"` // null until a price is known
	RealizedPnL   exact.Money    `json:"realized_pnl"`   // since the first fill, less fees
	Fees          exact.Money    `json:"fees"`           // since the first fill
	Broker        string         `json:"broker"`
	PriceAt       *Time          `json:"price_at"`  // when the market was at the current price; null until one is known
	Source        string         `json:"source"`    // of the current price
	Synthetic     bool           `json:"synthetic"` // the current price is invented, or that of a fill was

	Account  string          `json:"account,omitempty"`
	AtBroker *BrokerPosition `json:"at_broker,omitempty"` // what the broker says of the position; left out on paper
}

// BrokerPosition is a position as a broker elsewhere values it.
type BrokerPosition struct {
	Symbol        string        `json:"-"`        // as the broker spells it
	Quantity      exact.Decimal `json:"quantity"` // negative when short
	EntryPrice    exact.Decimal `json:"entry_price"`
	Value         exact.Decimal `json:"value"`
	UnrealizedPnL exact.Decimal `json:"unrealized_pnl"`
	AsOf          Time          `json:"as_of"`
}

// Holding is a position as it is kept: the signed quantity and what was paid for it.
// The entry price, cost divided by quantity, is computed when it is shown: if an average
// were stored, every fill would round it and it would drift. A holding of quantity zero is
// kept for its realized profit. A fill replaces a holding and never changes it in place.
type Holding struct {
	Quantity exact.Decimal `json:"quantity"` // negative when short
	Cost     exact.Money   `json:"cost"`     // signed like the quantity
	Realized exact.Money   `json:"realized"` // less fees
	Fees     exact.Money   `json:"fees"`

	Paid exact.Money `json:"paid,omitzero"` // the part of the fees that opened what is held

	Synthetic bool `json:"synthetic,omitempty"` // the price of a fill was invented, so the cost and the profit are
}

var errOverflow = errors.New("the position would leave the range of exact numbers")

// Fill returns the holding after a fill of signed size at price with a fee.
//
// A fill in the direction of the position adds to quantity and cost. A fill against it
// closes a part: that part's share of the cost leaves the holding, and the difference to
// what was got for it is realized. If the fill is larger than the position, the rest opens
// one in the other direction. The share of the cost is rounded once, and the same amount
// leaves the cost and enters the profit. The fees of what is held are shared out in the same
// way. So after any number of fills this holds exactly: realized + fees + (quantity*mark - cost) = quantity*mark - the sum of all size*price.
func (h Holding) Fill(size, price, fee exact.Decimal) (Holding, error) {
	ok := true
	sum := func(a, b exact.Money) exact.Money {
		s, fits := a.Add(b)
		ok = ok && fits
		return s
	}
	whole := size.Abs()
	if closed := min(whole, h.Quantity.Abs()); closed > 0 && (size < 0) != (h.Quantity < 0) {
		// Closing: the part of the cost that belongs to the closed quantity leaves, and
		// what was got for it less that part is realized.
		part := h.Cost.Share(closed, h.Quantity.Abs())
		h.Paid = sum(h.Paid, h.Paid.Share(closed, h.Quantity.Abs()).Neg())
		if h.Quantity < 0 {
			closed = -closed
		}
		h.Realized = sum(h.Realized, sum(exact.Product(closed, price), part.Neg()))
		h.Cost = sum(h.Cost, part.Neg())
		h.Quantity -= closed
		size += closed
	}
	// What is left of the fill opens or grows a position at its own price.
	if size != 0 {
		h.Paid = sum(h.Paid, fee.Money().Share(size.Abs(), whole))
	}
	quantity, fits := h.Quantity.Add(size)
	h.Quantity = quantity
	h.Cost = sum(h.Cost, exact.Product(size, price))
	h.Realized = sum(h.Realized, fee.Money().Neg())
	h.Fees = sum(h.Fees, fee.Money())
	if !ok || !fits {
		return Holding{}, errOverflow
	}
	return h, nil
}

// Without returns the holding without a part of its quantity, of which nobody knows what was
// got for it. The part's share of the cost leaves too, and nothing is realized.
func (h Holding) Without(part exact.Decimal) Holding {
	h.Cost, h.Paid = Minus(h.Cost, h.Cost.Share(part, h.Quantity.Abs())), Minus(h.Paid, h.Paid.Share(part, h.Quantity.Abs()))
	if h.Quantity < 0 {
		part = -part
	}
	h.Quantity -= part
	return h
}

// Show returns the holding as clients see it, valued at q. If q has no price, the
// current price and the unrealized profit are nil.
func (h Holding) Show(symbol, broker string, q Quote) Position {
	p := Position{
		Symbol: symbol, Side: "long", Quantity: h.Quantity.Abs(), RealizedPnL: h.Realized, Fees: h.Fees, Broker: broker,
		Source: q.Source, Synthetic: q.Synthetic || h.Synthetic,
	}
	switch {
	case h.Quantity == 0:
		p.Side = "flat"
	case h.Quantity < 0:
		p.Side = "short"
	}
	p.EntryPrice, _ = h.Cost.Per(h.Quantity) // an average of prices is in the range of prices
	if q.Price > 0 {
		at := q.Time()
		p.CurrentPrice, p.PriceAt = &q.Price, &at
		if pnl, ok := exact.Product(h.Quantity, q.Price).Sub(h.Cost); ok {
			p.UnrealizedPnL = &pnl
		}
	}
	return p
}

// Totals are the sums over positions. They mean something if all are priced in
// one currency.
type Totals struct {
	Realized   exact.Money  `json:"realized_pnl"` // less fees
	Fees       exact.Money  `json:"fees"`
	Unrealized *exact.Money `json:"unrealized_pnl"` // null if a price is missing
}

// Sum adds positions up. It reports false if a sum leaves the range of exact
// numbers.
func Sum(positions []Position) (s Totals, ok bool) {
	ok = true
	add := func(to *exact.Money, x exact.Money) {
		sum, fits := to.Add(x)
		*to, ok = sum, ok && fits
	}
	open, known := exact.Money{}, true
	for _, p := range positions {
		add(&s.Realized, p.RealizedPnL)
		add(&s.Fees, p.Fees)
		switch {
		case p.Quantity == 0:
		case p.UnrealizedPnL == nil:
			known = false
		default:
			add(&open, *p.UnrealizedPnL)
		}
	}
	if known {
		s.Unrealized = &open
	}
	return s, ok
}
