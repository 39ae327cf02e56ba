package tools

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"wick/exact"
	"wick/mcp"
	"wick/trade"
)

// admit says whether an order may be placed now. If so it counts it, and returns
// a function that must be told whether it was placed; if not, the error asks the
// person, or says where to ask. Nil approvals admit everything. What a person approved,
// and what closes a position, is for the position of now, which is noted in r.
func (a *Approvals) admit(ctx context.Context, c mcp.Call, r *trade.OrderRequest, engine *trade.Engine) (settle func(placed bool), err error) {
	settle = func(bool) {}
	if a == nil || r.DryRun {
		return settle, nil
	}
	// A dry run says what the order would be and cost, and whether it would be refused
	// anyway. What it says is what the person approves.
	dry := *r
	dry.DryRun = true
	preview, err := engine.Place(ctx, dry)
	if err != nil || preview.ID != "" { // refused as it would be, or placed before under this id
		return settle, err
	}
	worth, known := worthOf(*r, preview)
	held := heldOf(engine, preview.Symbol)
	client, lines, digest := c.Caller.Client, describe(c.Caller, *r, preview, held, engine), orderDigest(c.Caller, *r, preview)
	if r.All { // another position by the time it is placed is another order
		r.Held = &held
	}
	// Under the lock from the judgement to the count.
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	// An order of unknown worth always needs a yes.
	if !known || !a.within(client, worth, now) {
		if err := a.approved(c, digest, held, now); err != nil {
			if errors.Is(err, errNotAsked) {
				err = a.ask(c, digest, held, lines, now)
			}
			return nil, err
		}
		r.Held = &held
	}
	// Counted before it is placed, so that two calls at once cannot both fit; taken
	// back if it is not.
	a.count(client, worth, now)
	return func(placed bool) {
		if !placed {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.count(client, worth.Neg(), now)
		}
	}, nil
}

// needs reports whether an order, by its dry run, needs a person's yes if its client
// places it now. It counts nothing.
func (a *Approvals) needs(c mcp.Caller, r trade.OrderRequest, preview trade.Order) bool {
	if a == nil {
		return false
	}
	worth, known := worthOf(r, preview)
	a.mu.Lock()
	defer a.mu.Unlock()
	return !known || !a.within(c.Client, worth, time.Now())
}

// admitAll is admit for orders that close every position, by their dry run. A person
// approves one order at a time, from its preview, so all of them together must need no
// yes. Settle must be told whether any was placed.
func (a *Approvals) admitAll(c mcp.Caller, r trade.OrderRequest, previews []trade.Closed) (settle func(placed bool), err error) {
	sum, known := exact.Money{}, true
	for _, p := range previews {
		if p.Error == "" && p.ID == "" { // neither refused nor placed before under this id
			worth, ok := worthOf(r, p.Order)
			total, fits := sum.Add(worth)
			sum, known = total, known && ok && fits
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if !known || !a.within(c.Client, sum, now) {
		return nil, errors.New("closing every position needs a person's yes (--confirm-above), and a person approves one order at a time: name a symbol; nothing was placed")
	}
	a.count(c.Client, sum, now)
	return func(placed bool) {
		if !placed {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.count(c.Client, sum.Neg(), now)
		}
	}, nil
}

// worthOf returns what an order is worth at the highest price at which it, or the
// stop beside it, would be filled or wait. It reports false where there is none,
// and for a trailing stop, whose price follows the market.
func worthOf(r trade.OrderRequest, o trade.Order) (exact.Money, bool) {
	if o.Type == trade.TrailingStop {
		return exact.Money{}, false
	}
	price := highest(r, o)
	return exact.Product(o.Quantity, price), price > 0
}

// highest returns the highest price at which an order, or the stop beside it, would be
// filled or wait now, zero if none is known.
func highest(r trade.OrderRequest, o trade.Order) exact.Decimal {
	price := max(r.OCO.StopPrice, r.OCO.Price)
	for _, p := range []*exact.Decimal{o.Price, o.StopPrice, o.AveragePrice} {
		if p != nil {
			price = max(price, *p)
		}
	}
	return price
}

// orderDigest names an order of a caller, what a yes is for: by all that was asked
// for, and not by a size that follows from the price of the moment.
func orderDigest(c mcp.Caller, r trade.OrderRequest, o trade.Order) [sha256.Size]byte {
	return sha256.Sum256(mcp.Encode([]any{c.Client, c.ID, o.Symbol, o.Side, o.Type, r.Quantity, o.Price, r.Asked(), o.ClientOrderID}))
}
