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
// person, or says where to ask. Nil approvals admit everything. Of an order for all
// that is held it notes in r how much that was.
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
	client, lines, digest := c.Caller.Client, describe(c.Caller, *r, preview, engine), orderDigest(c.Caller, *r, preview)
	if r.All { // another position by the time it is placed is another order
		r.Closes = preview.Quantity
	}
	// Under the lock from the judgement to the count.
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	// An order of unknown worth always needs a yes.
	if !known || !a.within(client, worth, now) {
		if err := a.approved(c, digest, r.Closes, now); err != nil {
			if errors.Is(err, errNotAsked) {
				err = a.ask(c, digest, r.Closes, lines, now)
			}
			return nil, err
		}
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
