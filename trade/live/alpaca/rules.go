package alpaca

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"
	"wick/trade/live"
)

// rulesLife is how long the rules of a symbol are used before they are read again.
const rulesLife = time.Hour

// rules are what Alpaca says about a symbol and about the exchange.
type rules struct {
	asset asset
	clock clock
	until time.Time // they hold no longer than this
}

// asset is GET /v2/assets/{symbol}.
type asset struct {
	Symbol       string `json:"symbol"`
	Class        string `json:"class"`
	Status       string `json:"status"`
	Tradable     bool   `json:"tradable"`
	Shortable    bool   `json:"shortable"`
	EasyToBorrow bool   `json:"easy_to_borrow"`
	Fractionable bool   `json:"fractionable"`
}

// clock is GET /v2/clock. It knows the holidays and the half days: while the exchange is
// closed, NextOpen and NextClose are those of the next session.
type clock struct {
	IsOpen    bool      `json:"is_open"`
	NextOpen  time.Time `json:"next_open"`
	NextClose time.Time `json:"next_close"`
}

// Rules returns the rules for orders in a symbol, so that no order is sent that Alpaca
// would not take. The result must be used soon, since hours and assets change. An order for the
// day ends when Alpaca's clock says that the session does, or the next one if the exchange is
// closed.
func (c *Client) Rules(ctx context.Context, symbol string) (live.Rules, error) {
	c.mu.Lock()
	r := c.symbols[symbol]
	c.mu.Unlock()
	// Two callers may both ask for a symbol that is not known yet. That costs a request
	// and does no harm.
	if !time.Now().Before(r.until) {
		var err error
		if r, err = c.read(ctx, symbol); err != nil {
			return live.Rules{}, err
		}
		c.mu.Lock()
		c.symbols[symbol] = r
		c.mu.Unlock()
	}
	return live.Rules{Symbol: r.asset.Symbol, Check: r.check, Tick: tick, Lot: r.lot, DayEnd: r.clock.NextClose.UTC()}, nil
}

// read asks for the rules of a symbol, in the spellings that it may have at Alpaca until one is
// known there: BRK-B is BRK.B, and BTC-USD is BTC/USD. They hold until the exchange opens or
// closes next, and at most for rulesLife, in case they were wrong.
func (c *Client) read(ctx context.Context, symbol string) (r rules, err error) {
	for _, name := range slices.Compact([]string{symbol, strings.ReplaceAll(symbol, "-", "."), strings.ReplaceAll(symbol, "-", "/")}) {
		if err = c.do(ctx, ordinary, http.MethodGet, "/v2/assets/"+url.PathEscape(name), nil, nil, &r.asset); !errors.Is(err, live.ErrUnknown) {
			break
		}
	}
	switch {
	case errors.Is(err, live.ErrUnknown):
		return r, refusal("Alpaca has no asset %q", symbol)
	case err != nil:
		return r, err
	case book.Key(r.asset.Symbol) != book.Key(symbol):
		return r, fmt.Errorf("alpaca: asked for the asset %q and got another", symbol)
	}
	if err := c.do(ctx, ordinary, http.MethodGet, "/v2/clock", nil, nil, &r.clock); err != nil {
		return r, err
	}
	change := r.clock.NextOpen
	if r.clock.IsOpen {
		change = r.clock.NextClose
	}
	// Without these times we would have to ask for the clock before every order.
	if r.clock.NextOpen.IsZero() || r.clock.NextClose.IsZero() {
		return r, errors.New("alpaca: a clock without the times of the next session")
	}
	if r.until = time.Now().Add(rulesLife); change.Before(r.until) {
		r.until = change
	}
	return r, nil
}

// check returns a refusal that names the rule if Alpaca would not take o, or would fill it at
// the opening, at a price that nobody knows yet. Alpaca would refuse most of these orders too, but
// later, and in the words of its own interface. The most important rule comes first, since the
// caller gets only one reason.
func (r rules) check(o live.Order) error {
	a := r.asset
	whole, atOnce := o.Quantity%exact.One == 0, o.TimeInForce == "ioc" || o.TimeInForce == "fok"
	exits := o.TakeProfit != 0 || o.StopLoss != 0 || o.OCOStop != 0
	parts := r.lot(o) == 0
	switch {
	case a.Class == "crypto":
		return refusal("%s is crypto, and wick trades only stocks at Alpaca: there the fee of a purchase is taken out of the coins, so that less is held than was bought, and wick's book does not count that; use wick's own paper book for it", a.Symbol)
	case a.Class != "us_equity":
		return refusal("%s is of the class %q, and wick trades only stocks (us_equity) at Alpaca", a.Symbol, limit.Clip(a.Class))
	case !a.Tradable || a.Status != "active":
		return refusal("Alpaca does not trade %s now", a.Symbol)
	case !whole && !a.Fractionable:
		return refusal("Alpaca trades whole shares of %s only: choose a whole quantity", a.Symbol)
	case !whole && (!parts || o.Short):
		return refusal("Alpaca takes a part of a share only of what is held or bought, in an order of type market with time_in_force day and without exits")
	case o.Short && (!a.Shortable || !a.EasyToBorrow):
		return refusal("Alpaca lends no shares of %s now, so no more can be sold than is held", a.Symbol)
	case !atOnce && o.TimeInForce != "day" && o.TimeInForce != "gtc":
		return refusal("Alpaca knows time_in_force gtc, day, ioc and fok, not %s", o.TimeInForce)
	case (atOnce || o.TakeProfit != 0 || o.StopLoss != 0) && o.Type != "market" && o.Type != "limit":
		return refusal("Alpaca takes ioc, fok, stop_loss and take_profit only with orders of type market and limit")
	case atOnce && exits:
		return refusal("Alpaca takes exits with time_in_force day and gtc only")
	case o.Replaces != "" && exits:
		return refusal("Alpaca can change the prices and the quantity of an order, not give it exits: cancel it and place another")
	}
	// Each price has its own step, since steps are finer below a dollar. Prices that were
	// not given are zero, which is a multiple of any step.
	for _, p := range []exact.Decimal{o.Limit, o.Stop, o.TrailAmount, o.TakeProfit, o.StopLoss, o.OCOStop, o.OCOLimit} {
		if step := tick(p); p%step != 0 {
			return refusal("Alpaca takes prices in steps of %s here: %s or %s, not %s", step, p-p%step, p-p%step+step, p)
		}
	}
	if !r.clock.IsOpen && (o.Type == "market" || atOnce) {
		return refusal("the exchange is closed until %s, and then open until %s: a limit or a stop with time_in_force day or gtc can wait for it",
			r.clock.NextOpen.UTC().Format("2006-01-02 15:04 UTC"), r.clock.NextClose.UTC().Format("15:04 UTC"))
	}
	return nil
}

// lot returns the step of quantities: a share, but of orders that may be for a part of one.
func (r rules) lot(o live.Order) exact.Decimal {
	if r.asset.Fractionable && o.Type == "market" && o.TimeInForce == "day" && o.TakeProfit == 0 && o.StopLoss == 0 && o.OCOStop == 0 {
		return 0
	}
	return exact.One
}

// tick returns the step of prices of stocks: a cent, and below a dollar a
// hundredth of that (SEC rule 612).
func tick(price exact.Decimal) exact.Decimal {
	if price < exact.One {
		return exact.One / 10_000
	}
	return exact.One / 100
}
