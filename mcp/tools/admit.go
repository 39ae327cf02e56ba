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

// admit decides whether an order may be placed now. If it may, admit counts it against
// its client and returns a function that the caller must call with whether the order was
// placed. If it may not, the error is a question to a person, or says where a person can
// answer. Nil approvals admit everything. If a person approved the order, or
// if it closes a whole position, admit sets r.Held.
func (a *Approvals) admit(ctx context.Context, c mcp.Call, r *trade.OrderRequest, engine *trade.Engine) (settle func(placed bool), err error) {
	settle = func(bool) {}
	answer, err := answerOf(c)
	if err != nil || a == nil || r.DryRun {
		return settle, err
	}
	// A dry run tells what the order would be and cost, and whether the engine would refuse
	// it anyway. The person approves what the dry run tells.
	dry := *r
	dry.DryRun = true
	preview, err := engine.Place(ctx, dry)
	if err != nil || preview.ID != "" { // the engine refuses it, or an order with its client_order_id exists already
		return settle, err
	}
	worth, known := worthOf(engine, *r, preview)
	held := heldOf(engine, preview.Symbol)
	client, lines, digest := c.Caller.Client, describe(c.Caller, *r, preview, held, engine), orderDigest(c.Caller, *r, preview)
	shown := held // the engine refuses the order if it is not so any more
	if r.All {
		shown -= positionAfter(preview, held) // the account at a broker may have a part of it only
		r.Held = &shown
	}
	// The lock is held from the decision until the order is counted.
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	// A no, on the page or in a form, counts also if the order would need no yes any more.
	if a.refused(digest, now) {
		return nil, errRefused
	}
	if answer == saidNo {
		delete(a.waiting, a.formOf(c, digest, now))
		return nil, errRefused
	}
	// A yes is used up also if the order needs none any more. An order of unknown worth always
	// needs one.
	switch err := a.approved(c, digest, shown, now); {
	case err == nil:
		r.Held = &shown
	case !errors.Is(err, errNotAsked):
		return nil, err
	case !known || !a.within(client, worth, now):
		return nil, a.ask(c, digest, shown, lines, now)
	}
	return a.reserve(client, worth, now), nil
}

// reserve counts orders before they are placed, so that two calls at the same time cannot
// both use the same room. The function that it returns takes the count back if they were
// not placed. The caller of reserve holds mu, the caller of the function does not.
func (a *Approvals) reserve(client string, worth exact.Money, now time.Time) (settle func(placed bool)) {
	a.count(client, worth, now)
	return func(placed bool) {
		if !placed {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.count(client, worth.Neg(), now)
		}
	}
}

// needs reports whether an order, by its dry run, needs a person's yes if its client
// places it now. It counts nothing.
func (a *Approvals) needs(c mcp.Caller, r trade.OrderRequest, preview trade.Order, engine *trade.Engine) bool {
	if a == nil {
		return false
	}
	worth, known := worthOf(engine, r, preview)
	a.mu.Lock()
	defer a.mu.Unlock()
	return !known || !a.within(c.Client, worth, time.Now())
}

// admitAll is admit for orders that close every position, by their dry run. A person
// approves one order at a time, from its preview, so all of them together must need no
// yes. Settle must be told whether any was placed.
func (a *Approvals) admitAll(c mcp.Caller, r trade.OrderRequest, previews []trade.Closed, engine *trade.Engine) (settle func(placed bool), err error) {
	sum, known := exact.Money{}, true
	for _, p := range previews {
		if p.Error == "" && p.ID == "" { // neither refused nor placed before under this id
			worth, ok := worthOf(engine, r, p.Order)
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
	return a.reserve(c.Client, sum, now), nil
}

// worthOf returns what an order is worth at the price that highest returns, and whether
// that is known. It is not if there is no price, nor for a trailing stop, whose price
// follows the market. A sell limit that the market has passed counts at the price of the market,
// which it may get.
func worthOf(engine *trade.Engine, r trade.OrderRequest, o trade.Order) (exact.Money, bool) {
	if o.Type == trade.TrailingStop {
		return exact.Money{}, false
	}
	price := max(highest(r, o), engine.Arrival(o))
	return exact.Product(o.Quantity, price), price > 0
}

// highest returns the highest of the prices at which an order, or its OCO stop, waits or
// would be filled now; zero if none is known.
func highest(r trade.OrderRequest, o trade.Order) exact.Decimal {
	price := max(r.OCO.StopPrice, r.OCO.Price)
	for _, p := range []*exact.Decimal{o.Price, o.StopPrice, o.AveragePrice} {
		if p != nil {
			price = max(price, *p)
		}
	}
	return price
}

// orderDigest returns a digest of a caller and an order. An approval is for the order
// with this digest only. The digest covers everything that the caller asked for, and when a
// day order ends, but not a size that follows from the current price, which would differ in
// the next call.
func orderDigest(c mcp.Caller, r trade.OrderRequest, o trade.Order) [sha256.Size]byte {
	return sha256.Sum256(mcp.Encode([]any{c.Client, c.ID, o.Symbol, o.Side, o.Type, r.Quantity, o.Price, r.Asked(), o.ClientOrderID, o.ExpiresAt}))
}
