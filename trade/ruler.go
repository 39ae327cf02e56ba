package trade

import (
	"context"
	"time"

	"wick/indicators"
	"wick/internal/exact"
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

// Of returns what is known of a market.
func (w *watchlist) Of(symbol string) book.Listing {
	in := w.of(symbol)
	return book.Listing{Quote: in.Quote, Hours: in.hours, Currency: in.currency, Grid: in.grid, Halted: in.halted}
}

// ATR returns the average true range of a symbol on the closed bars of the first interval,
// and false if it is not known.
func (w *watchlist) ATR(symbol string) (exact.Decimal, bool) {
	s, _ := w.window(seriesKey{symbol, w.intervals[0]})
	request, err := indicators.New("atr", nil)
	if s == nil || err != nil || s.Closed().Len() == 0 {
		return 0, false
	}
	values := request.Compute(s.Closed()).Lines[0].Values
	return exact.FromFloat(values[len(values)-1]) // false for NaN
}
