package alpaca

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"wick/trade/live"
)

// Submit sends an order once, or changes the one that it replaces, and returns the state
// that Alpaca answers with. After an error that is no live.Refused nobody knows whether Alpaca
// has the order.
func (c *Client) Submit(ctx context.Context, o live.Order) (live.State, error) {
	rate, method, path := ordinary, http.MethodPost, "/v2/orders"
	if o.Reduces {
		rate = urgent
	}
	if o.Replaces != "" {
		method, path = http.MethodPatch, "/v2/orders/"+url.PathEscape(o.Replaces)
	}
	var got order
	err := c.do(ctx, rate, method, path, nil, newOrder(o), &got)
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

// newOrder returns the body that places o, or replaces another order by it: exits cannot be
// changed that way, and check has refused them. A limit with a stop beside it becomes Alpaca's
// class oco, an entry with both exits a bracket, and one with a single exit oto.
func newOrder(o live.Order) orderRequest {
	r := orderRequest{Qty: text(o.Quantity), TimeInForce: o.TimeInForce, ClientOrderID: o.ClientID, LimitPrice: text(o.Limit), StopPrice: text(o.Stop)}
	if o.Replaces != "" {
		r.Trail = text(cmp.Or(o.TrailAmount, o.TrailPercent))
		return r
	}
	r.Symbol, r.Side, r.Type, r.TrailPrice, r.TrailPercent = o.Symbol, o.Side, o.Type, text(o.TrailAmount), text(o.TrailPercent)
	switch {
	case o.OCOStop != 0: // Alpaca calls the limit of the order itself the take-profit
		r.OrderClass, r.LimitPrice = "oco", ""
		r.TakeProfit, r.StopLoss = &exit{LimitPrice: text(o.Limit)}, &exit{text(o.OCOStop), text(o.OCOLimit)}
		return r
	case o.TakeProfit != 0 && o.StopLoss != 0:
		r.OrderClass = "bracket"
	case o.TakeProfit != 0 || o.StopLoss != 0:
		r.OrderClass = "oto"
	}
	if o.TakeProfit != 0 {
		r.TakeProfit = &exit{LimitPrice: text(o.TakeProfit)}
	}
	if o.StopLoss != 0 {
		r.StopLoss = &exit{StopPrice: text(o.StopLoss)}
	}
	return r
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
