package tools

import (
	"context"
	"errors"
	"fmt"

	"wick/mcp"
	"wick/trade"
)

// orderRequest is the request of place_order. Its schema says in prose what the
// specification leaves open and a model would guess wrong: that there are no stop
// orders, what a limit on the wrong side does, in which unit the quantity is.
type orderRequest struct{ trade.OrderRequest }

func (r *orderRequest) args() []arg {
	return []arg{
		symbol(&r.Symbol, "Symbol such as BTCUSDT.").required("such as BTCUSDT"),
		word(&r.Side, "side", "Direction. Selling more than is held opens a short position.", "", trade.Buy, trade.Sell).required("buy or sell"),
		word(&r.Type, "type", "market fills at once; limit waits for its price. There are no stop orders: set_alert watches a price.", "",
			trade.Market, trade.Limit).required("market or limit"),
		decimal(&r.Quantity, "quantity", "How much, in units of the base (0.5 of BTCUSDT is half a bitcoin), above 0, at most 8 decimals.").required("in units of the base, above 0"),
		decimal(&r.Price, "price", "Limit price, for limit orders only, at most 8 decimals. A limit on the wrong side of the market (a buy above the price, "+
			"a sell below it) does not wait: it fills at once at the market's price, never worse than the limit."),
		text(&r.ClientOrderID, "client_order_id", "Your own id for this order, which makes a retry safe: 1 to 48 of A-Z a-z 0-9 . _ : -", 48),
		boolean(&r.DryRun, "dry_run", "Check everything and say what would happen, without placing an order."),
	}
}

func (h *handlers) placeOrder() tool {
	return define(mcp.Tool{
		Name:  "place_order",
		Title: "Place an order",
		Description: "Place a market or limit order with the paper broker: no real money moves. Market orders fill at once, limit orders when the price reaches them. " +
			"Give client_order_id to make retries safe: the same id and arguments return the first order and place nothing new. " +
			"dry_run checks everything and places nothing. There is no stop loss, take profit or time in force: unknown arguments are refused and nothing is placed.",
		Annotations: mcp.Annotations{Destructive: true},
	}, refuses, func(ctx context.Context, c mcp.Call, r *orderRequest) (*mcp.Result, error) {
		r.Who = who(c)
		o, err := h.Engine.Place(ctx, r.OrderRequest)
		if err != nil {
			return nil, err
		}
		return h.reply(replyTo(r, o))
	})
}

// who names the caller for the journal.
func who(c mcp.Call) trade.Who {
	return trade.Who{Name: c.Caller.Name, Client: c.Caller.Client, ID: c.Caller.ID}
}

// orderReply is an order, marked when it was only tried.
type orderReply struct {
	trade.Order
	DryRun bool   `json:"dry_run,omitempty"`
	Exists bool   `json:"exists,omitempty"` // a dry run found the order that its client_order_id names
	Note   string `json:"note,omitempty"`
}

// replyTo returns what place_order answers. A dry run that names an order by
// its client_order_id returns that order, which only a remark tells from a new
// one.
func replyTo(r *orderRequest, o trade.Order) orderReply {
	reply := orderReply{Order: o, DryRun: r.DryRun}
	if r.DryRun && o.ID != "" {
		reply.Exists = true
		reply.Note = fmt.Sprintf("client_order_id %q exists: placing this order would return %s as it stands and place nothing new", o.ClientOrderID, o.ID)
	}
	return reply
}

// maxID bounds the ids that clients give back to us, in bytes; ours are shorter.
const maxID = 64

// orderID is the request of cancel_order.
type orderID struct{ id string }

func (r *orderID) args() []arg {
	return []arg{text(&r.id, "order_id", "The order_id that place_order returned; get_orders lists them.", maxID).required("as place_order returned it")}
}

func (h *handlers) cancelOrder() tool {
	return define(mcp.Tool{
		Name:        "cancel_order",
		Title:       "Cancel an order",
		Description: "Cancel an open order by its order_id. An order that is already filled, cancelled or rejected stays as it is.",
		Annotations: mcp.Annotations{Destructive: true, Idempotent: true},
	}, refuses, func(_ context.Context, c mcp.Call, r *orderID) (*mcp.Result, error) {
		o, err := h.Engine.CancelOrder(who(c), r.id)
		if err != nil {
			return nil, err
		}
		return h.reply(struct {
			OK bool `json:"ok"`
			trade.Order
		}{true, o})
	})
}

// orderList is the request of get_orders. Models send the filter as status, too,
// because that is its name in an order.
type orderList struct {
	filter string
	id     string
	page
}

func (r *orderList) args() []arg {
	return append([]arg{
		word(&r.filter, "filter", "Which orders to list: open ones can still fill.", "all", "open", "all").also("status"),
		text(&r.id, "order_id", "Return this order alone, by its order_id or client_order_id, however old it is. The list has the newest 10,000 and all open ones.", maxID).also("client_order_id"),
	}, r.page.args()...)
}

func (h *handlers) getOrders() tool {
	return define(mcp.Tool{
		Name:        "get_orders",
		Title:       "Orders",
		Description: "List orders with their status and fills, newest first. filter=open lists only those that can still fill.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Cost:        mcp.Cheap,
	}, reports, func(_ context.Context, _ mcp.Call, r *orderList) (*mcp.Result, error) {
		if r.id != "" {
			o, err := h.Engine.Order(r.id)
			if err != nil {
				return nil, err
			}
			return h.reply([]trade.Order{o})
		}
		return h.remind(list(r.page, "get_orders", h.Engine.Orders(r.filter == "open"))), nil
	})
}

// positionList is the request of get_positions.
type positionList struct{ flat bool }

func (r *positionList) args() []arg {
	return []arg{boolean(&r.flat, "include_flat", "List closed positions too, with what they realized, and add the totals over all symbols.")}
}

func (h *handlers) getPositions() tool {
	return define(mcp.Tool{
		Name:  "get_positions",
		Title: "Positions",
		Description: "List open positions with entry price, current price, unrealized and realized profit. Quantity is always positive; side says long or short. " +
			"include_flat lists closed ones too, and adds totals.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Cost:        mcp.Cheap,
	}, reports, func(_ context.Context, _ mcp.Call, r *positionList) (*mcp.Result, error) {
		if !r.flat {
			return h.reply(h.Engine.Positions())
		}
		all := h.Engine.AllPositions()
		result := mcp.JSON(all)
		if totals, ok := trade.Sum(all); ok {
			result.Content = append(result.Content, mcp.Content{Text: append([]byte(`totals over all symbols, each in its own currency: `), mcp.Encode(totals)...)})
		}
		return h.remind(result), nil
	})
}

// getBalance refuses always, as the specification says, and says what to call in
// its place: models ask for the balance before they trade.
func (h *handlers) getBalance() tool {
	return define(mcp.Tool{
		Name:        "get_balance",
		Title:       "Balance (not available)",
		Description: "Always fails: there is no cash balance. Use get_positions for holdings with their profit and loss.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Cost:        mcp.Cheap,
	}, reports, func(context.Context, mcp.Call, *none) (*mcp.Result, error) {
		return nil, errors.New("get_balance is not available: there is no cash account; use get_positions for holdings with profit and loss; retrying will not help")
	})
}
