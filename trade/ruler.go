package trade

import (
	"context"
	"time"

	"wick/market"
)

// Ruler is a Feed that can be asked for the rules of an exchange. market.Feed is
// one.
type Ruler interface {
	Grid(ctx context.Context, symbol string) (market.Grid, error)
}

// How long the rules of a market are used before they are asked for again, and how long
// after a failure.
const (
	rulesAge   = 24 * time.Hour
	rulesRetry = time.Minute
)

// learnGrid asks the feed for the rules of a watched market if it is time to, unless the
// operator has set some. If that fails, the rules that were known before stay in use, or
// none: an order is not refused for lack of them.
func (e *Engine) learnGrid(ctx context.Context, symbol string) {
	feed, ok := e.watch.feed.(Ruler)
	in := e.watch.of(symbol)
	if _, set := e.options.Grid(symbol); set || !ok || in.windows == nil || time.Now().Before(in.gridDue) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeout)
	defer cancel()
	told, err := feed.Grid(ctx, symbol)
	if err != nil {
		e.watch.change(symbol, func(in *instrument) { in.gridDue = time.Now().Add(rulesRetry) })
		e.log.Warn("the rules of the exchange are not known: orders are counted in eight decimals, or as before", "symbol", symbol, "error", err)
		return
	}
	e.watch.change(symbol, func(in *instrument) { in.grid, in.gridDue = newGrid(told), time.Now().Add(rulesAge) })
}

// gridOf returns the tick, lot and minimum of a market: those that the operator has set,
// or else those of the exchange as far as they are known.
func (e *Engine) gridOf(symbol string) Grid {
	if g, ok := e.options.Grid(symbol); ok {
		return g
	}
	return e.watch.of(symbol).grid
}
