package tools

import (
	"context"
	"errors"
	"fmt"

	"wick/exact"
	"wick/mcp"
	"wick/trade"
)

// trading returns the twelve tools that need the engine.
func (h *house) trading() []mcp.Tool {
	return []mcp.Tool{
		h.placeOrder(), h.cancelOrder(), h.getOrders(), h.getPositions(), h.getBalance(),
		h.setAlert(), h.listAlerts(), h.cancelAlert(), h.getNotifications(),
		h.subscribe(), h.unsubscribe(), h.listSubscriptions(),
	}
}

func (h *house) placeOrder() mcp.Tool {
	return mcp.Tool{
		Name:  "place_order",
		Title: "Place an order",
		Description: "Place a market or limit order with the paper broker: no real money moves. Market orders fill at once, limit orders when the price reaches them. " +
			"Give client_order_id to make retries safe: the same id and arguments return the first order and place nothing new. dry_run checks everything and places nothing.",
		Annotations: mcp.Annotations{Destructive: true},
		Schema: object([]string{"symbol", "side", "type", "quantity"},
			text("symbol", "Symbol such as BTCUSDT.", ""),
			oneOf("side", "Direction.", "", "buy", "sell"),
			oneOf("type", "market fills at once; limit waits for its price.", "", "market", "limit"),
			decimal("quantity", "How much, in units of the base, above 0, at most 8 decimals."),
			decimal("price", "Limit price, for limit orders only, above 0, at most 8 decimals."),
			text("client_order_id", "Your own id for this order: 1 to 48 of A-Z a-z 0-9 . _ : -", `"maxLength":48`),
			flag("dry_run", "Check everything and say what would happen, without placing an order."),
		),
		Handle: func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
			r, err := parseOrder(c)
			if err != nil {
				return nil, err
			}
			o, err := h.Engine.Place(ctx, r)
			if err != nil {
				return nil, err
			}
			return h.reply(c, orderReply{o, r.DryRun})
		},
	}
}

// decimal is a number argument that is read digit by digit, never as a float.
func decimal(name, description string) property {
	return property{name, `{"type":"number","exclusiveMinimum":0,"description":` + encode(description) + `}`}
}

// orderReply is an order, marked when it was only tried.
type orderReply struct {
	trade.Order
	DryRun bool `json:"dry_run,omitempty"`
}

// who names the caller for the journal.
func who(c mcp.Call) trade.Who { return trade.Who{Client: c.Caller.Client, ID: c.Caller.ID} }

func parseOrder(c mcp.Call) (r trade.OrderRequest, err error) {
	a, err := parseArgs(c.Arguments)
	if err != nil {
		return r, err
	}
	r.Who = who(c)
	if r.Symbol, err = a.symbol(); err != nil {
		return r, err
	}
	if r.Symbol == "" {
		return r, errors.New("symbol is required, such as BTCUSDT")
	}
	side, err := a.choice("side", "", "buy", "sell")
	if err != nil {
		return r, err
	}
	kind, err := a.choice("type", "", "market", "limit")
	if err != nil {
		return r, err
	}
	if side == "" || kind == "" {
		return r, errors.New("side (buy or sell) and type (market or limit) are required")
	}
	r.Side, r.Type = trade.Side(side), trade.OrderType(kind)
	if r.Quantity, err = a.decimal("quantity"); err != nil {
		return r, err
	}
	if r.Quantity == 0 {
		return r, errors.New("quantity is required, above 0")
	}
	if r.Price, err = a.decimal("price"); err != nil {
		return r, err
	}
	if r.ClientOrderID, err = a.text("client_order_id"); err != nil {
		return r, err
	}
	r.DryRun, err = a.bool("dry_run")
	return r, err
}

// decimal reads an exact number from a JSON number or a string; zero when it
// is absent, and never a zero that was sent.
func (a args) decimal(name string) (exact.Decimal, error) {
	s, err := a.text(name)
	if err != nil || s == "" {
		return 0, err
	}
	v, err := exact.Parse([]byte(s))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if v <= 0 {
		return 0, fmt.Errorf("%s %s must be above 0", name, v)
	}
	return v, nil
}

func (h *house) cancelOrder() mcp.Tool {
	return mcp.Tool{
		Name:        "cancel_order",
		Title:       "Cancel an order",
		Description: "Cancel an open order by its order_id. An order that is already filled, cancelled or rejected stays as it is.",
		Annotations: mcp.Annotations{Destructive: true, Idempotent: true},
		Schema:      object([]string{"order_id"}, text("order_id", "The order_id that place_order returned.", "")),
		Handle: func(_ context.Context, c mcp.Call) (*mcp.Result, error) {
			id, err := requiredID(c, "order_id")
			if err != nil {
				return nil, err
			}
			o, err := h.Engine.CancelOrder(who(c), id)
			if err != nil {
				return nil, err
			}
			return h.reply(c, struct {
				OK bool `json:"ok"`
				trade.Order
			}{true, o})
		},
	}
}

// requiredID reads the one argument of the cancelling tools.
func requiredID(c mcp.Call, name string) (string, error) {
	a, err := parseArgs(c.Arguments)
	if err != nil {
		return "", err
	}
	return a.required(name)
}

func (h *house) getOrders() mcp.Tool {
	return mcp.Tool{
		Name:        "get_orders",
		Title:       "Orders",
		Description: "List orders with their status and fills, oldest first. filter=open lists only those that can still fill.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Schema:      object(nil, oneOf("filter", "Which orders to list.", "all", "open", "all")),
		Cost:        mcp.Cheap,
		Handle: func(_ context.Context, c mcp.Call) (*mcp.Result, error) {
			a, err := parseArgs(c.Arguments)
			if err != nil {
				return nil, err
			}
			filter, err := a.choice("filter", "all", "open", "all")
			if err != nil {
				return nil, err
			}
			return h.reply(c, h.Engine.Orders(filter == "open"))
		},
	}
}

func (h *house) getPositions() mcp.Tool {
	return mcp.Tool{
		Name:        "get_positions",
		Title:       "Positions",
		Description: "List open positions with entry price, current price, unrealized and realized profit.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Schema:      object(nil),
		Cost:        mcp.Cheap,
		Handle: func(_ context.Context, c mcp.Call) (*mcp.Result, error) {
			return h.reply(c, h.Engine.Positions())
		},
	}
}

func (h *house) getBalance() mcp.Tool {
	return mcp.Tool{
		Name:        "get_balance",
		Title:       "Balance (not available)",
		Description: "Always fails: there is no cash balance. Use get_positions for holdings with their profit and loss.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Schema:      object(nil),
		Cost:        mcp.Cheap,
		Handle: func(context.Context, mcp.Call) (*mcp.Result, error) {
			return nil, errors.New("get_balance is not available: there is no cash account; use get_positions for holdings with profit and loss; retrying will not help")
		},
	}
}

// reply returns v as JSON, and mentions notifications that nobody has read:
// many clients never show a push to their model.
func (h *house) reply(c mcp.Call, v any) (*mcp.Result, error) {
	r := mcp.JSON(v)
	if n := h.Engine.PendingNotifications(); n > 0 {
		noun := "notifications are"
		if n == 1 {
			noun = "notification is"
		}
		r.Content = append(r.Content, mcp.Content{Text: fmt.Appendf(nil, "%d alert %s waiting: call get_notifications to read them.", n, noun)})
	}
	return r, nil
}
