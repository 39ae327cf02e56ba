package trade

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"wick/exact"
)

// size sets the quantity of o if r says how much in another way: as a value, at the
// price at which o may be filled when the market is at q, or as all that closes the
// position. Called with mu held.
func (e *Engine) size(o *Order, r OrderRequest, q quote) error {
	switch {
	case r.All:
		held := e.ahead.holdings[o.Symbol].Quantity
		if o.Quantity = reducible(held, o.Side.sign(held.Abs())); o.Quantity == 0 && held == 0 {
			return refuse("no_position", never, "there is no position in %s to close", o.Symbol)
		} else if o.Quantity == 0 {
			return refuse("bad_side", fixIt, "the position in %s is %s: the other side closes it", o.Symbol, held)
		}
	case r.Notional != 0:
		// A market order at the price with slippage, every other at its own price;
		// rounded down to a whole lot, so that it never costs more.
		at, err := e.paper.slip(o, q)
		if err != nil {
			return err
		}
		if worst := o.worst(); worst != 0 {
			at = worst
		}
		quantity, ok := r.Notional.Over(at, exact.Down)
		if ok {
			quantity, ok = quantity.Step(e.paper.grid(o.Symbol).Lot, exact.Down)
		}
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
	case old.Role != "" && old.ReduceOnly && (o.StopLoss != nil || o.TakeProfit != nil):
		return refuse("bad_exit", fixIt, "order %s can only reduce a position, and so can what replaces it: leave out stop_loss and take_profit", old.ID)
	}
	if old.Role != "" { // it goes on as one of its group
		o.Group, o.Role, o.ReduceOnly = old.Group, old.Role, o.ReduceOnly || old.ReduceOnly
	}
	if o.continues(old) {
		o.Turn = old.Turn
	}
	return nil
}

// continues reports whether o is the same order as old for no more than is left of
// that: on the same side, at the same prices. A trailing stop, and a stop that was
// set off, begin anew.
func (o *Order) continues(old *Order) bool {
	equal := func(x, y *exact.Decimal) bool { return x == y || x != nil && y != nil && *x == *y }
	return o.Type != TrailingStop && old.TriggeredAt == nil && old.Side == o.Side && old.Type == o.Type &&
		equal(old.Price, o.Price) && equal(old.StopPrice, o.StopPrice) && o.Quantity <= old.remaining().Abs()
}

// Closed is what became of one position of [Engine.CloseAll].
type Closed struct {
	Order
	Error string `json:"error,omitempty"` // why the position stays
}

// MarshalJSON writes the order or, of a position that stays, its symbol and why.
func (c Closed) MarshalJSON() ([]byte, error) {
	if c.Error == "" {
		return json.Marshal(c.Order)
	}
	return json.Marshal(struct {
		Symbol string `json:"symbol"`
		Error  string `json:"error"`
	}{c.Symbol, c.Error})
}

// CloseAll places r, which is of type market, for every open position: the side
// that closes it, and all of it. If its ClientOrderID was used before, the orders
// of then are returned and none is placed.
func (e *Engine) CloseAll(ctx context.Context, r OrderRequest) ([]Closed, error) {
	if err := r.checkCloseAll(); err != nil {
		return nil, err
	}
	out, err := e.closedBefore(r)
	if err != nil {
		return nil, err
	}
	// A retry returns the orders of then, and says which positions have come since.
	again, id := len(out) > 0, r.ClientOrderID
	for _, p := range e.Positions() {
		if again {
			if !slices.ContainsFunc(out, func(c Closed) bool { return c.Symbol == p.Symbol }) {
				out = append(out, Closed{Order: Order{Symbol: p.Symbol}, Error: "client_order_id was used before and did not close this position: choose another id"})
			}
			continue
		}
		r.Symbol, r.Side, r.ClientOrderID = p.Symbol, Sell, closingID(id, p.Symbol)
		if p.Side == "short" {
			r.Side = Buy
		}
		o, err := e.Place(ctx, r)
		c := Closed{Order: o}
		if err != nil {
			c.Symbol, c.Error = p.Symbol, err.Error()
		}
		out = append(out, c)
	}
	return out, nil
}

// checkCloseAll settles the spelling of r and refuses what cannot be asked of all
// positions at once, also if there are none. The side is that of each position.
func (r *OrderRequest) checkCloseAll() error {
	if r.Type != Market || !r.All || r.Replaces != "" {
		return refuse("bad_symbol", fixIt, "symbol all goes with type market and quantity all, and without replaces: it closes every position")
	}
	r.Side = Sell
	if err := r.normalize(); err != nil {
		return err
	}
	return r.checkExpiry()
}

// closedBefore returns the orders that the ClientOrderID of r has closed positions
// by before; none if it is empty or new. It refuses a request that is another one.
func (e *Engine) closedBefore(r OrderRequest) ([]Closed, error) {
	out := []Closed{}
	if r.ClientOrderID == "" {
		return out, nil
	}
	for _, p := range e.AllPositions() {
		o, err := e.Order(closingID(r.ClientOrderID, p.Symbol))
		if isRefusal(err, "unknown_order") {
			continue
		} else if err != nil {
			return nil, err
		}
		// The same check as for a single order: another request under the same id is
		// refused.
		full, err := e.earlier(&OrderRequest{ClientOrderID: o.ClientOrderID, Symbol: o.Symbol, Side: o.Side, Type: r.Type, All: r.All,
			TimeInForce: r.TimeInForce, ExpiresAt: r.ExpiresAt, ReduceOnly: r.ReduceOnly})
		if err != nil {
			return nil, err
		}
		out = append(out, Closed{Order: full.answer(r)})
	}
	return out, nil
}

// closingID returns the client_order_id of the order that closes the position of
// a symbol when all are closed under id: the two joined, or a digest of them if
// that is no client_order_id. Empty stays empty.
func closingID(id, symbol string) string {
	joined := id + ":" + symbol
	switch {
	case id == "":
		return ""
	case clientIDShape.MatchString(joined):
		return joined
	}
	digest := sha256.Sum256([]byte(joined))
	return "all:" + hex.EncodeToString(digest[:16])
}
