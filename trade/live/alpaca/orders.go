package alpaca

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"
	"wick/trade/live"
)

// Submit sends an order once, or changes the one that it replaces, and returns the state
// that Alpaca answers with. Rules must have been called for the symbol before, because it
// finds out how Alpaca spells it. After an error that is no live.Refused nobody knows
// whether Alpaca has the order.
func (c *Client) Submit(ctx context.Context, o live.Order) (live.State, error) {
	c.mu.Lock()
	symbol := c.assets[o.Symbol].Symbol
	c.mu.Unlock()
	if symbol == "" {
		return live.State{}, refusal("nothing was sent: the rules of the symbol are not known")
	}
	var got order
	var err error
	rate := ordinary
	if o.Reduces {
		rate = urgent
	}
	if o.Replaces != "" {
		err = c.do(ctx, rate, http.MethodPatch, "/v2/orders/"+url.PathEscape(o.Replaces), nil, replacement(o), &got)
	} else {
		err = c.do(ctx, rate, http.MethodPost, "/v2/orders", nil, newOrder(o, symbol), &got)
	}
	// What Alpaca does not know is the order to be replaced, or the symbol. Then it has
	// placed nothing for certain.
	if errors.Is(err, live.ErrUnknown) {
		return live.State{}, refusal("Alpaca refused it: %v", err)
	}
	if err != nil {
		return live.State{}, err
	}
	return mine(got, o)
}

// newOrder returns the body that places o. A limit with a stop beside it becomes
// Alpaca's class oco, an entry with both exits a bracket, and one with a single exit
// oto.
func newOrder(o live.Order, symbol string) orderRequest {
	r := orderRequest{
		Symbol: symbol, Qty: o.Quantity.String(), Side: o.Side, Type: o.Type, TimeInForce: o.TimeInForce, ClientOrderID: o.ClientID,
		LimitPrice: text(o.Limit), StopPrice: text(o.Stop), TrailPrice: text(o.TrailAmount), TrailPercent: text(o.TrailPercent),
	}
	switch {
	case o.OCOStop != 0: // Alpaca calls the limit of the order itself the take-profit
		r.OrderClass, r.TakeProfit, r.LimitPrice = "oco", &exit{LimitPrice: o.Limit.String()}, ""
		r.StopLoss = &exit{o.OCOStop.String(), text(o.OCOLimit)}
		return r
	case o.TakeProfit != 0 && o.StopLoss != 0:
		r.OrderClass = "bracket"
	case o.TakeProfit != 0 || o.StopLoss != 0:
		r.OrderClass = "oto"
	}
	if o.TakeProfit != 0 {
		r.TakeProfit = &exit{LimitPrice: o.TakeProfit.String()}
	}
	if o.StopLoss != 0 {
		r.StopLoss = &exit{StopPrice: o.StopLoss.String()}
	}
	return r
}

// replacement returns the body that replaces another order by o. Exits cannot be changed
// this way; checkShape has refused them.
func replacement(o live.Order) replaceRequest {
	return replaceRequest{
		Qty: o.Quantity.String(), TimeInForce: o.TimeInForce, LimitPrice: text(o.Limit), StopPrice: text(o.Stop),
		Trail: text(cmp.Or(o.TrailAmount, o.TrailPercent)), ClientOrderID: o.ClientID,
	}
}

// mine returns the state of got, or an error if got is not the order o. A reply to
// another request, mixed up by a cache on the way, must not fill our order.
func mine(got order, o live.Order) (live.State, error) {
	s, err := got.state()
	if err == nil && s.ClientID != o.ClientID && (o.ID == "" || s.ID != o.ID) {
		err = fmt.Errorf("alpaca: asked for order %s and got another", o.ClientID)
	}
	return s, err
}

// Lookup asks for an order, by Alpaca's id if that is known and otherwise by our own. The
// answer by our own id has no legs, so Lookup asks once more by Alpaca's id if the order
// may have some. live.ErrUnknown means that Alpaca does not have the order.
func (c *Client) Lookup(ctx context.Context, o live.Order) (live.State, error) {
	var got order
	if o.ID == "" {
		if err := c.do(ctx, ordinary, http.MethodGet, "/v2/orders:by_client_order_id", url.Values{"client_order_id": {o.ClientID}}, nil, &got); err != nil {
			return live.State{}, err
		}
		if got.OrderClass == "" || got.OrderClass == "simple" {
			return mine(got, o)
		}
		if !isID(got.ID) {
			return live.State{}, fmt.Errorf("alpaca: an order without an id")
		}
		o.ID = got.ID
	}
	if err := c.do(ctx, ordinary, http.MethodGet, "/v2/orders/"+url.PathEscape(o.ID), url.Values{"nested": {"true"}}, nil, &got); err != nil {
		return live.State{}, err
	}
	return mine(got, o)
}

// Cancel asks Alpaca to cancel an order by its id. If it returns nil, Alpaca will try;
// a later state of the order shows whether it was in time. Cancels are still sent when
// the budget for other requests is used up.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return c.do(ctx, urgent, http.MethodDelete, "/v2/orders/"+url.PathEscape(id), nil, nil, nil)
}

// CancelAll asks Alpaca to cancel every open order of the account, no matter who placed
// it. It returns how many of them Alpaca would not cancel.
func (c *Client) CancelAll(ctx context.Context) (left int, err error) {
	var each []struct {
		Status int `json:"status"`
	}
	if err := c.do(ctx, urgent, http.MethodDelete, "/v2/orders", nil, nil, &each); err != nil {
		return 0, err
	}
	for _, one := range each {
		if one.Status >= 300 {
			left++
		}
	}
	return left, nil
}

// assetLife is how long the rules of a symbol are used before they are read again.
const assetLife = time.Hour

// Rules returns the rules for orders in a symbol, so that no order is sent that Alpaca
// would not take. The result must be used soon, since hours and assets change.
func (c *Client) Rules(ctx context.Context, symbol string) (live.Rules, error) {
	c.mu.Lock()
	a, ok := c.assets[symbol]
	c.mu.Unlock()
	// Two callers may both ask for a symbol that is not known yet. That costs a request
	// and does no harm.
	if !ok || time.Since(a.at) > assetLife {
		found, err := c.asset(ctx, symbol)
		if err != nil {
			return live.Rules{}, err
		}
		a = known{found, time.Now()}
		c.mu.Lock()
		c.assets[symbol] = a
		c.mu.Unlock()
	}
	hours, err := c.hours(ctx)
	if err != nil {
		return live.Rules{}, err
	}
	check := func(o live.Order) error {
		if err := a.check(o); err != nil {
			return err
		}
		return hours.check(o)
	}
	return live.Rules{Check: check, Tick: tick, DayEnd: hours.NextClose.UTC()}, nil
}

// asset asks for a symbol in the spellings that it may have at Alpaca, until Alpaca knows
// one. It returns an error if the answer is about another symbol.
func (c *Client) asset(ctx context.Context, symbol string) (a asset, err error) {
	for _, name := range spellings(symbol) {
		err = c.do(ctx, ordinary, http.MethodGet, "/v2/assets/"+url.PathEscape(name), nil, nil, &a)
		if err == nil && book.Key(a.Symbol) != book.Key(symbol) {
			return a, fmt.Errorf("alpaca: asked for the asset %q and got another", name)
		}
		if !errors.Is(err, live.ErrUnknown) {
			return a, err
		}
	}
	return a, refusal("Alpaca has no asset %q", symbol)
}

// spellings returns how Alpaca may write a symbol: BRK-B is BRK.B there, and
// BTC-USD is BTC/USD.
func spellings(symbol string) []string {
	names := []string{symbol}
	if strings.Contains(symbol, "-") {
		names = append(names, strings.ReplaceAll(symbol, "-", "."), strings.ReplaceAll(symbol, "-", "/"))
	}
	return names
}

// check returns a refusal that names the rule if Alpaca would not take o. The most
// important rule comes first, since the caller gets only one reason.
func (a known) check(o live.Order) error {
	whole := o.Quantity%exact.One == 0
	switch {
	case a.Class == "crypto":
		return refusal("%s is crypto, and wick trades only stocks at Alpaca: there the fee of a purchase is taken out of the coins, so that less is held than was bought, and wick's book does not count that; use wick's own paper book for it", a.Symbol)
	case a.Class != "us_equity":
		return refusal("%s is of the class %q, and wick trades only stocks (us_equity) at Alpaca", a.Symbol, limit.Clip(a.Class))
	case !a.Tradable || a.Status != "active":
		return refusal("Alpaca does not trade %s now", a.Symbol)
	case !whole && !a.Fractionable:
		return refusal("Alpaca trades whole shares of %s only: choose a whole quantity", a.Symbol)
	case !whole && (o.Type != "market" || o.TimeInForce != "day"):
		return refusal("Alpaca takes a part of a share only in an order of type market with time_in_force day")
	case o.Short && (!a.Shortable || !a.EasyToBorrow):
		return refusal("Alpaca lends no shares of %s now, so no more can be sold than is held", a.Symbol)
	case o.Short && !whole:
		return refusal("Alpaca takes a part of a share only of what is held: sell whole shares, or no more than is held")
	case !whole && (o.TakeProfit|o.StopLoss|o.OCOStop) != 0:
		return refusal("Alpaca takes no exits with a part of a share")
	}
	return checkShape(o)
}

// checkShape is check for the rules that do not depend on the asset. Alpaca would refuse
// the same orders, but later, and in the words of its own interface.
func checkShape(o live.Order) error {
	exits, waits := o.TakeProfit != 0 || o.StopLoss != 0, o.TimeInForce == "day" || o.TimeInForce == "gtc"
	switch {
	case !waits && o.TimeInForce != "ioc" && o.TimeInForce != "fok":
		return refusal("Alpaca knows time_in_force gtc, day, ioc and fok, not %s", o.TimeInForce)
	case !waits && o.Type != "market" && o.Type != "limit":
		return refusal("Alpaca takes %s only with orders of type market and limit", o.TimeInForce)
	case exits && o.Type != "market" && o.Type != "limit":
		return refusal("Alpaca takes stop_loss and take_profit with an entry of type market or limit only")
	case (exits || o.OCOStop != 0) && !waits:
		return refusal("Alpaca takes exits with time_in_force day and gtc only")
	case o.Replaces != "" && (exits || o.OCOStop != 0):
		return refusal("Alpaca can change the prices and the quantity of an order, not give it exits: cancel it and place another")
	}
	// Each price has its own step, since steps are finer below a dollar. Prices that were
	// not given are zero, which is a multiple of any step.
	for _, p := range []exact.Decimal{o.Limit, o.Stop, o.TrailAmount, o.TakeProfit, o.StopLoss, o.OCOStop, o.OCOLimit} {
		if step := tick(p); p%step != 0 {
			return refusal("Alpaca takes prices in steps of %s here: %s or %s, not %s", step, p-p%step, p-p%step+step, p)
		}
	}
	return nil
}

// tick returns the step of prices of stocks: a cent, and below a dollar a
// hundredth of that (SEC rule 612).
func tick(price exact.Decimal) exact.Decimal {
	if price < exact.One {
		return exact.One / 10_000
	}
	return exact.One / 100
}
