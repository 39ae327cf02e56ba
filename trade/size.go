package trade

import (
	"context"

	"wick/exact"
	"wick/limit"
)

// size sets the quantity of o if r says how much in another way: as a value, at
// the price at which o may be filled, or as all that closes the position. Called
// with mu held.
func (e *Engine) size(o *Order, r OrderRequest, price exact.Decimal) error {
	switch {
	case r.All:
		held := e.ahead.holdings[o.Symbol].Quantity
		if o.Quantity = reducible(held, o.Side.sign(held.Abs())); o.Quantity == 0 && held == 0 {
			return refuse("no_position", never, "there is no position in %s to close", o.Symbol)
		} else if o.Quantity == 0 {
			return refuse("bad_side", fixIt, "the position in %s is %s: the other side closes it", o.Symbol, held)
		}
	case r.Notional != 0:
		at, err := e.paper.slip(o.Side, price)
		if err != nil {
			return err
		}
		if worst := o.worst(); worst != 0 {
			at = worst
		}
		quantity, ok := r.Notional.Over(at, exact.Down)
		if !ok || quantity == 0 {
			return refuse("bad_quantity", fixIt, "a notional of %s buys nothing at %s", r.Notional, at)
		}
		o.Quantity = quantity
	}
	return nil
}

// replace checks that the order which o replaces can be, and gives o its place in
// time if a market would: if it is the same order for no more than before.
// Called with mu held.
func (e *Engine) replace(o *Order, r OrderRequest) error {
	if o.Replaces == "" {
		return nil
	}
	old := e.ahead.order(o.Replaces)
	switch {
	case old == nil || old.Status.Terminal():
		return uncancellable(old, o.Replaces)
	case old.Symbol != o.Symbol:
		return refuse("bad_replaces", fixIt, "order %s is of %s, not of %s", old.ID, old.Symbol, o.Symbol)
	case old.Role != "" && (r.OCO != OCO{} || o.Side != old.Side || o.Quantity != old.remaining().Abs() || !o.rests()):
		// Its mates rely on it: it must do for them what the old one did.
		return refuse("bad_replaces", fixIt, "order %s is one of several of which one is filled: replace it by a resting %s of %s without oco, or cancel it",
			old.ID, old.Side, old.remaining().Abs())
	}
	if old.Role != "" { // it goes on as one of its group
		o.Group, o.Role, o.ReduceOnly = old.Group, old.Role, o.ReduceOnly || old.ReduceOnly
	}
	if old.Side == o.Side && old.Type == o.Type && old.worst() == o.worst() && o.Quantity <= old.remaining().Abs() {
		o.Turn = old.Turn
	}
	return nil
}

// Closed is what became of one position of [Engine.CloseAll].
type Closed struct {
	Order
	Error string `json:"error,omitempty"` // why the position stays
}

// CloseAll places r, which is of type market, for every open position: the side
// that closes it, and all of it.
func (e *Engine) CloseAll(ctx context.Context, r OrderRequest) ([]Closed, error) {
	if r.Type != Market || !r.All {
		return nil, refuse("bad_symbol", fixIt, "symbol all goes with type market and quantity all: it closes every position")
	}
	id := r.ClientOrderID
	out := []Closed{}
	for _, p := range e.Positions() {
		r.Symbol, r.Side = p.Symbol, Sell
		if p.Side == "short" {
			r.Side = Buy
		}
		if id != "" {
			r.ClientOrderID = id + ":" + p.Symbol
		}
		o, err := e.Place(ctx, r)
		c := Closed{Order: o}
		if err != nil {
			c.Symbol, c.Error = p.Symbol, limit.Clip(err.Error())
		}
		out = append(out, c)
	}
	return out, nil
}
