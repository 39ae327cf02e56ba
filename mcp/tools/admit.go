package tools

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"wick/exact"
	"wick/mcp"
	"wick/trade"
)

// admit says whether an order may be placed now. If so it counts it, and returns
// a function that must be told whether it was placed; if not, the error asks the
// person, or says where to ask. Nil approvals admit everything.
func (a *Approvals) admit(ctx context.Context, c mcp.Call, r trade.OrderRequest, engine *trade.Engine) (settle func(placed bool), err error) {
	settle = func(bool) {}
	if a == nil || r.DryRun {
		return settle, nil
	}
	// A dry run says what the order would be and cost, and whether it would be refused
	// anyway. What it says is what the person approves.
	dry := r
	dry.DryRun = true
	preview, err := engine.Place(ctx, dry)
	if err != nil || preview.ID != "" { // refused as it would be, or placed before under this id
		return settle, err
	}
	worth, known := worthOf(r, preview)
	client, lines, digest := c.Caller.Client, describe(c.Caller, r, preview, engine), orderDigest(c.Caller, r, preview)
	if more := r.Asked(); more != "" {
		lines = append(lines, "with: "+more)
	}
	// Under the lock from the judgement to the count.
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	// An order of unknown worth always needs a yes.
	if !known || !a.within(client, worth, now) {
		if err := a.approved(c, digest, now); err != nil {
			if errors.Is(err, errNotAsked) {
				err = a.ask(c, digest, lines, now)
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
	price := max(r.OCO.StopPrice, r.OCO.Price)
	for _, p := range []*exact.Decimal{o.Price, o.StopPrice, o.AveragePrice} {
		if p != nil {
			price = max(price, *p)
		}
	}
	return exact.Product(o.Quantity, price), price > 0
}

// orderDigest names an order of a caller, what a yes is for: by all that was asked
// for, and not by a size that follows from the price of the moment.
func orderDigest(c mcp.Caller, r trade.OrderRequest, o trade.Order) [sha256.Size]byte {
	return sha256.Sum256(mcp.Encode([]any{c.Client, c.ID, o.Symbol, o.Side, o.Type, r.Quantity, o.Price, r.Asked(), o.ClientOrderID}))
}

// describe returns the preview of an order, one fact a line: what a person has to know
// to say yes or no. The name of the client is a stranger's text, cleaned by the login.
func describe(c mcp.Caller, r trade.OrderRequest, o trade.Order, engine *trade.Engine) []string {
	worth, known := worthOf(r, o)
	lines := []string{
		fmt.Sprintf("%s %s %s, %s order", o.Side, o.Quantity, o.Symbol, o.Type),
		"price: " + priceOf(o),
		"client: " + c.Name,
		"broker: " + where(o),
	}
	if known {
		lines = append(lines, "worth: "+worth.String())
	}
	if o.AveragePrice != nil {
		lines = append(lines, "fee: "+o.Fee.String())
	}
	if o.ClientOrderID != "" {
		lines = append(lines, "client_order_id: "+o.ClientOrderID)
	}
	return append(lines, "position after: "+positionAfter(o, engine).String()+" "+o.Symbol)
}

// priceOf says for a person at which price the order would be filled. A stop has no
// price of its own: it takes that of the market when it comes to it.
func priceOf(o trade.Order) string {
	switch {
	case o.AveragePrice != nil:
		return "about " + o.AveragePrice.String() + ", now"
	case o.Price != nil:
		return o.Price.String() + ", when the market is there"
	}
	return "that of the market"
}

// positionAfter returns what would be held if the order were filled whole, less than zero
// for a short position. Other orders that are open are not counted.
func positionAfter(o trade.Order, engine *trade.Engine) exact.Decimal {
	var held exact.Decimal
	for _, p := range engine.Positions() {
		if p.Symbol == o.Symbol {
			held = signed(p)
		}
	}
	change := o.Quantity
	if o.Side == trade.Sell {
		change = -change
	}
	after, _ := held.Add(change) // it fits: the preview was checked
	return after
}
