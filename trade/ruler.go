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
	if _, set := e.options.Grid(symbol); set || !ok || !e.watch.rulesDue(symbol) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeout)
	defer cancel()
	told, err := feed.Grid(ctx, symbol)
	if err != nil {
		e.watch.setRules(symbol, e.watch.of(symbol).grid, rulesRetry)
		e.log.Warn("the rules of the exchange are not known: orders are counted in eight decimals, or as before", "symbol", symbol, "error", err)
		return
	}
	e.watch.setRules(symbol, newGrid(told), rulesAge)
}

// rulesDue reports whether it is time to ask for the rules of a watched symbol.
func (w *watchlist) rulesDue(symbol string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := w.instruments[symbol]
	return in != nil && !time.Now().Before(in.due)
}

// setRules takes over the rules of a watched symbol, and when they are asked for
// again.
func (w *watchlist) setRules(symbol string, g Grid, again time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		in.rules = rules{g, time.Now().Add(again)}
	}
}

// gridOf returns the tick, lot and minimum of a market: those that the operator has set,
// or else those of the exchange as far as they are known.
func (e *Engine) gridOf(symbol string) Grid {
	if g, ok := e.options.Grid(symbol); ok {
		return g
	}
	return e.watch.of(symbol).grid
}
