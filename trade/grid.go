package trade

import (
	"context"
	"time"

	"wick/exact"
	"wick/market"
)

// Grid is what prices and quantities of a market are counted in, and the least value
// and quantity of an order. Zero fields mean none beyond the eight decimals of numbers.
type Grid struct {
	Tick    exact.Decimal // prices are whole multiples of it
	Lot     exact.Decimal // so are quantities of it
	Minimum exact.Decimal // least value of an order, in the quote currency
	Least   exact.Decimal // least quantity of an order
}

// Ruler is a Feed that can be asked for the rules of an exchange. market.Feed is
// one.
type Ruler interface {
	Grid(ctx context.Context, symbol string) (market.Grid, error)
}

// rules is what is known of the rules of a market.
type rules struct {
	grid Grid
	due  time.Time // from when on they are asked for, again
}

// How long the rules of a market are used, and when they are asked for again after
// a failure.
const (
	rulesAge   = 24 * time.Hour
	rulesRetry = time.Minute
)

// learnGrid asks for the rules of a watched market if it is time to, unless the
// operator has set some. If they cannot be had, those of before stay, or none: the
// price is known, and eight decimals do no harm.
func (e *Engine) learnGrid(ctx context.Context, symbol string) {
	feed, ok := e.watch.feed.(Ruler)
	if _, set := e.options.Grid(symbol); set || !ok || !e.watch.rulesDue(symbol) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeout)
	defer cancel()
	told, err := feed.Grid(ctx, symbol)
	if err != nil {
		e.watch.setRules(symbol, e.watch.grid(symbol), rulesRetry)
		e.log.Warn("the rules of the exchange are not known: orders are counted in eight decimals, or as before", "symbol", symbol, "error", err)
		return
	}
	e.watch.setRules(symbol, newGrid(told), rulesAge)
}

// newGrid makes the numbers of g exact. A step that is finer than the numbers of
// orders, or no number, is none.
func newGrid(g market.Grid) Grid {
	number := func(text string) exact.Decimal {
		d, err := exact.Parse([]byte(text))
		if err != nil {
			return 0
		}
		return max(d, 0)
	}
	return Grid{number(g.Tick), number(g.Lot), number(g.Minimum), number(g.Least)}
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

// grid returns the rules of a symbol as far as they are known.
func (w *watchlist) grid(symbol string) Grid {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		return in.grid
	}
	return Grid{}
}

// gridOf returns what a market counts in.
func (e *Engine) gridOf(symbol string) Grid {
	if g, ok := e.options.Grid(symbol); ok {
		return g
	}
	return e.watch.grid(symbol)
}

// checkGrid refuses a request whose prices or quantity are off the grid. The
// quantity that closes a position is what it is.
func (g Grid) checkGrid(r OrderRequest) error {
	for _, p := range []struct {
		name  string
		value exact.Decimal
	}{
		{"price", r.Price}, {"stop_price", r.StopPrice}, {"trail_amount", r.TrailAmount}, {"oco stop_price", r.OCO.StopPrice}, {"oco price", r.OCO.Price},
		{"stop_loss", r.StopLoss.Price}, {"take_profit", r.TakeProfit.Price},
	} {
		if err := onStep("off_tick", p.name, p.value, g.Tick); err != nil {
			return err
		}
	}
	return onStep("off_lot", "quantity", r.Quantity, g.Lot)
}

// onStep refuses a value that is no whole multiple of step, and says which are next
// to it.
func onStep(code, name string, value, step exact.Decimal) error {
	// A step of zero leaves every value as it is.
	below, _ := value.Step(step, exact.Down)
	if below == value {
		return nil
	}
	above, ok := value.Step(step, exact.Up)
	if !ok || below == 0 {
		return refuse(code, fixIt, "%s %s: this market counts in steps of %s", name, value, step)
	}
	return refuse(code, fixIt, "%s %s: this market counts in steps of %s; %s or %s would do", name, value, step, below, above)
}

// against rounds a price to the tick to the disadvantage of who trades on side.
func (g Grid) against(side Side, price exact.Decimal) (exact.Decimal, bool) {
	if side == Buy {
		return price.Step(g.Tick, exact.Up)
	}
	return price.Step(g.Tick, exact.Down)
}

// away rounds a price to the tick, away from another.
func (g Grid) away(price, from exact.Decimal) (exact.Decimal, bool) {
	if price > from {
		return price.Step(g.Tick, exact.Up)
	}
	return price.Step(g.Tick, exact.Down)
}
