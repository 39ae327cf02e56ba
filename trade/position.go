package trade

import "errors"

// Position is the net holding of one symbol as a client sees it. Prices and
// profit are in the quote currency; the profit is exact.
type Position struct {
	Symbol        string   `json:"symbol"`
	Side          string   `json:"side"` // "long" or "short"
	Quantity      Decimal  `json:"quantity"`
	EntryPrice    Decimal  `json:"entry_price"`    // cost by quantity, fees not counted
	CurrentPrice  *Decimal `json:"current_price"`  // null until a price is known
	UnrealizedPnL *Money   `json:"unrealized_pnl"` // null until a price is known
	RealizedPnL   Money    `json:"realized_pnl"`   // since the first fill, fees taken off
	Broker        string   `json:"broker"`
}

// holding is a position as it is kept: the signed quantity and what was paid
// for it. The entry price is cost by quantity and is worked out when shown; an
// average that is stored is rounded at every fill and drifts. A holding of
// quantity zero stays, for its realized profit.
type holding struct {
	Quantity Decimal `json:"quantity"` // negative when short
	Cost     Money   `json:"cost"`     // signed like the quantity
	Realized Money   `json:"realized"` // fees taken off
	Fees     Money   `json:"fees"`
}

var errOverflow = errors.New("the position would leave the range of exact numbers")

// fill returns the holding after a fill of signed size at price with a fee.
//
// In the same direction size and cost grow. Against it, the closed part gives
// back its share of the cost and the difference is realized; what is left of
// the fill opens the other way at its own price. The share is rounded once and
// leaves the cost by the same amount as it enters the profit, hence after any
// fills, exactly: realized + fees + (quantity*mark - cost) = quantity*mark -
// the sum of all size*price.
func (h holding) fill(size, price, fee Decimal) (holding, error) {
	ok := true
	sum := func(a, b Money) Money {
		s, fits := a.add(b)
		ok = ok && fits
		return s
	}
	if closed := min(size.abs(), h.Quantity.abs()); closed > 0 && (size < 0) != (h.Quantity < 0) {
		part := h.Cost.share(closed, h.Quantity.abs())
		if h.Quantity < 0 {
			closed = -closed
		}
		h.Realized = sum(h.Realized, sum(product(closed, price), part.neg()))
		h.Cost = sum(h.Cost, part.neg())
		h.Quantity -= closed
		size += closed
	}
	quantity, fits := h.Quantity.add(size)
	h.Quantity = quantity
	h.Cost = sum(h.Cost, product(size, price))
	h.Realized = sum(h.Realized, money(fee).neg())
	h.Fees = sum(h.Fees, money(fee))
	if !ok || !fits {
		return holding{}, errOverflow
	}
	return h, nil
}

// show returns the holding as clients see it; a mark of zero means no price.
func (h holding) show(symbol, broker string, mark Decimal) Position {
	p := Position{Symbol: symbol, Side: "long", Quantity: h.Quantity.abs(), RealizedPnL: h.Realized, Broker: broker}
	if h.Quantity < 0 {
		p.Side = "short"
	}
	p.EntryPrice, _ = h.Cost.per(h.Quantity) // an average of prices is in the range of prices
	if mark > 0 {
		p.CurrentPrice = &mark
		if pnl, ok := product(h.Quantity, mark).sub(h.Cost); ok {
			p.UnrealizedPnL = &pnl
		}
	}
	return p
}
