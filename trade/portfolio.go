package trade

import (
	"cmp"
	"context"
	"slices"

	"wick/internal/exact"
	"wick/trade/book"
)

// Portfolio returns what is held, with what is at stake in it, the largest position first. With
// weights, percentages by symbol, it also returns the orders that would bring the positions there;
// none is placed.
func (e *Engine) Portfolio(ctx context.Context, weights map[string]exact.Decimal) (p book.Portfolio, r *book.Rebalance, err error) {
	var targets []book.Target
	for _, written := range sorted(weights) {
		symbol, err := e.symbol(written)
		if err != nil {
			return p, nil, err
		}
		if slices.ContainsFunc(targets, func(t book.Target) bool { return t.Symbol == symbol }) {
			return p, nil, book.Refuse("bad_quantity", "%s is named twice", symbol)
		}
		// As before an order: there must be a price, and the steps are known.
		if err := e.ensure(ctx, symbol); err != nil {
			return p, nil, err
		}
		e.watch.LearnRules(ctx, symbol)
		a, err := e.venue.Prepare(ctx, symbol)
		if err != nil {
			return p, nil, err
		}
		e.watch.Ask(ctx, symbol)
		targets = append(targets, book.Target{Symbol: symbol, Percent: weights[written], Lot: a.Lot(book.OrderRequest{Symbol: symbol, Type: book.Market, TimeInForce: book.Day})})
	}
	positions, err := e.Positions(false)
	if err != nil {
		return p, nil, err
	}
	var refused error
	err = e.View(func(*book.State) {
		if p = e.book.Portfolio(positions, now()); len(targets) > 0 {
			r = new(book.Rebalance)
			*r, refused = e.book.Rebalance(p, targets)
		}
	})
	size := func(s book.Stakes) float64 {
		if s.Worth == nil {
			return 0
		}
		d, _ := s.Worth.Per(exact.One)
		return float64(d.Abs())
	}
	slices.SortStableFunc(p.Positions, func(x, y book.Stakes) int { return cmp.Compare(size(y), size(x)) })
	return p, r, cmp.Or(err, refused)
}
