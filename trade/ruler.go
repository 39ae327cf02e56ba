package trade

import (
	"cmp"
	"context"
	"time"

	"wick/market"
	"wick/trade/book"
)

// Ruler is a Feed that can be asked for the rules of an exchange. market.Feed is
// one.
type Ruler interface {
	Grid(ctx context.Context, symbol string) (market.Grid, error)
}

// How long the rules of a market are used before they are asked for again, and how long
// after a failure or while the market is halted. An exchange changes steps days after it
// has said so, but halts a market without notice.
const (
	rulesAge   = 10 * time.Minute
	rulesRetry = time.Minute
)

// learnGrid asks the feed for the rules of a watched market, and whether it is halted, if
// it is time to. Rules that the operator has set come before them, but no setting opens a
// market. If it fails, the rules that were known before stay in use, or none: an order is
// not refused for lack of them.
func (e *Engine) learnGrid(ctx context.Context, symbol string) {
	feed, ok := e.watch.feed.(Ruler)
	in := e.watch.of(symbol)
	if !ok || in.windows == nil || time.Now().Before(in.gridDue) {
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
	age := rulesAge
	if told.Halted != "" {
		age = rulesRetry
	}
	e.watch.change(symbol, func(in *instrument) {
		in.grid, in.halted, in.gridDue = book.NewGrid(told), told.Halted, time.Now().Add(age)
	})
}

// checkHalted refuses an order in a market in which its exchange trades nothing. Its last
// price says nothing about what the order would cost.
func (w *watchlist) checkHalted(symbol string) error {
	in := w.of(symbol)
	if in.halted == "" {
		return nil
	}
	return book.Refuse("market_halted", "%s does not trade %s now: it calls that market %q; open orders stay and can be cancelled", cmp.Or(in.Source, "the exchange"), symbol, in.halted)
}

// gridOf returns the tick, lot and minimum of a market: those that the operator has set,
// or else those of the exchange as far as they are known.
func (d *desk) gridOf(symbol string) book.Grid {
	if g, ok := d.options.Grid(symbol); ok {
		return g
	}
	return d.watch.of(symbol).grid
}
