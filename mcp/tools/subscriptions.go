package tools

import (
	"context"
	"slices"
	"strings"

	"wick/mcp"
	"wick/trade"
)

// maxFilter is how many items a filter of a subscription may list.
const maxFilter = 100

// filterRequest is the request of subscribe_notifications.
type filterRequest struct{ symbols, types []string }

// args declares the arguments of subscribe_notifications, the two filters. An alert must
// pass both.
func (r *filterRequest) args() []arg {
	return []arg{
		words(&r.symbols, "symbols", "Only alerts of these symbols; all in small letters is every one. Omitted: all.", maxFilter),
		words(&r.types, "alert_types", "Only alerts of these kinds. Omitted: all of them. order adds fills of resting orders, which come only if it is named.", 10,
			"price_above", "price_below", "indicator_signal", trade.OrderAlerts),
	}
}

// filter returns the engine's form of the request, in which an empty list lets
// everything through. The engine checks the items.
func (r *filterRequest) filter() (f trade.Filter) {
	// A list that contains "all" means all, whatever else is in it.
	if !slices.Contains(r.symbols, everything) { // not in capitals: ALL is a stock
		f.Symbols = r.symbols
	}
	if !slices.ContainsFunc(r.types, func(s string) bool { return strings.EqualFold(s, everything) }) {
		f.AlertTypes = r.types
	}
	return f
}

// filterReply is a subscription's filter as clients see it. Each member is a list or the
// word "all".
type filterReply struct {
	Symbols    any `json:"symbols"`
	AlertTypes any `json:"alert_types"`
}

// showFilter returns a filter as clients see it: an empty list of the engine lets
// everything through, and is shown as "all".
func showFilter(f trade.Filter) filterReply {
	reply := filterReply{everything, everything}
	if len(f.Symbols) > 0 {
		reply.Symbols = f.Symbols
	}
	if len(f.AlertTypes) > 0 {
		reply.AlertTypes = f.AlertTypes
	}
	return reply
}

// subscribe defines subscribe_notifications. It binds the subscription to the caller's
// token; a later token of the same client takes it over once this one has ended. A
// second call replaces the filters and keeps the queue.
func (h *handlers) subscribe() tool {
	return define(mcp.Tool{
		Name:  "subscribe_notifications",
		Title: "Subscribe to alerts",
		Description: "Have fired alerts pushed to this client as notifications/alert_triggered, over the SSE stream or stdio, and with the alert type order the end of resting orders as notifications/order_filled, order_cancelled or order_rejected. " +
			"Filters narrow what is pushed; calling again replaces them. While the client is away up to 1000 notifications wait for an hour.",
		Annotations: mcp.Annotations{Idempotent: true},
	}, refuses, func(_ context.Context, c mcp.Call, r *filterRequest) (*mcp.Result, error) {
		s, err := h.Engine.Subscribe(Subscriber(c.Caller), r.filter())
		if err != nil {
			return nil, err
		}
		return h.reply(c, struct {
			Status string `json:"status"`
			filterReply
		}{"subscribed", showFilter(s.Filter)})
	})
}

// unsubscribe defines unsubscribe_notifications. If there is no subscription, that is no
// error: the reply says that none was found.
func (h *handlers) unsubscribe() tool {
	return define(mcp.Tool{
		Name:        "unsubscribe_notifications",
		Title:       "Unsubscribe from alerts",
		Description: "End this client's subscription and drop what waits for it. Alerts stay active and can still be read with get_notifications.",
		Annotations: mcp.Annotations{Destructive: true, Idempotent: true},
	}, reports, func(_ context.Context, c mcp.Call, _ *none) (*mcp.Result, error) {
		had, err := h.Engine.Unsubscribe(c.Caller.ID)
		if err != nil {
			return nil, err
		}
		status := "not_found"
		if had {
			status = "unsubscribed"
		}
		return h.reply(c, struct {
			Status string `json:"status"`
		}{status})
	})
}

// listSubscriptions defines list_subscriptions. A client sees its own subscription
// only.
func (h *handlers) listSubscriptions() tool {
	return define(mcp.Tool{
		Name:        "list_subscriptions",
		Title:       "This client's subscription",
		Description: "Show whether this client is subscribed to pushed alerts, its filters, how many notifications wait for it and whether a stream is open.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Cost:        mcp.Cheap,
	}, reports, func(_ context.Context, c mcp.Call, _ *none) (*mcp.Result, error) {
		s, waiting, connected := h.Hub.Status(c.Caller.ID)
		shown := filterReply{[]string{}, []string{}} // without a subscription nothing passes
		if s != nil {
			shown = showFilter(s.Filter)
		}
		return h.reply(c, struct {
			Subscribed bool `json:"subscribed"`
			filterReply
			Waiting   int  `json:"offline_queue_size"`
			Connected bool `json:"connected"`
		}{s != nil, shown, waiting, connected})
	})
}
