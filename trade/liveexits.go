package trade

import (
	"context"
	"slices"

	"wick/exact"
	"wick/limit"
)

// itself is who asks for what wick does at the broker of its own accord.
var itself = Who{Name: "wick"}

// trimExits keeps the exits that wait at the broker to what is left of their positions, since
// the broker would fill all of them: those of a position that is gone are cancelled, and one
// that is larger than its position is replaced by one for what is left. It does nothing as long
// as it is not known what the account holds. What fails is tried again after the next report.
func (e *Engine) trimExits(ctx context.Context) {
	var gone []string
	var cuts []OrderRequest
	e.mu.Lock()
	if e.venue.closed != "" {
		e.mu.Unlock()
		return
	}
	for _, o := range e.ahead.openOrders() {
		switch closes := o.closes(e.closable(o.Symbol)); {
		case !e.overlarge(o):
		case closes == 0:
			gone = append(gone, o.ID)
			e.venue.idle[o.ID] = true
		default:
			cuts = append(cuts, o.again(closes))
		}
	}
	e.mu.Unlock()
	_, _ = e.cancelAllLive(itself, gone)
	for _, r := range cuts {
		if _, err := e.Place(ctx, r); err != nil {
			e.log.Warn("an exit at the broker is larger than its position", "order", r.Replaces, "left", r.Quantity.String(), "error", limit.Line(err.Error(), 200))
		}
	}
}

// overlarge reports whether o is an exit that waits at the broker and is for more than is
// left of its position by all that is known. Called with mu held.
func (e *Engine) overlarge(o *Order) bool {
	if !o.ReduceOnly || o.cut() || o.Unknown() || e.unsettled(o.Symbol) {
		return false
	}
	replaced := slices.ContainsFunc(e.ahead.open[o.Symbol], func(id string) bool { return e.ahead.order(id).Replaces == o.ID })
	return !replaced && o.closes(e.closable(o.Symbol)) < o.remaining().Abs()
}

// again returns a request for the same order with another quantity, in its place.
func (o *Order) again(quantity exact.Decimal) OrderRequest {
	r := OrderRequest{Who: itself, Symbol: o.Symbol, Side: o.Side, Type: o.Type, Quantity: quantity, TrailAmount: o.TrailAmount, TrailPercent: o.TrailPercent,
		TimeInForce: o.TimeInForce, Replaces: o.ID}
	if o.Price != nil {
		r.Price = *o.Price
	}
	if o.StopPrice != nil && o.Type != TrailingStop {
		r.StopPrice = *o.StopPrice
	}
	return r
}
