package tools

import (
	"context"

	"wick/mcp"
	"wick/trade"
)

func (h *house) subscribe() mcp.Tool {
	return mcp.Tool{
		Name:  "subscribe_notifications",
		Title: "Subscribe to alerts",
		Description: "Have fired alerts pushed to this client as notifications/alert_triggered, over the SSE stream or stdio. " +
			"Filters narrow what is pushed; calling again replaces them. While the client is away up to 1000 notifications wait for an hour.",
		Annotations: mcp.Annotations{Idempotent: true},
		Schema: object(nil,
			property{"symbols", `{"type":"array","items":{"type":"string"},"description":"Only alerts of these symbols. Omitted: all."}`},
			property{"alert_types", `{"type":"array","items":{"type":"string","enum":["price_above","price_below","indicator_signal"]},"description":"Only alerts of these kinds. Omitted: all."}`},
		),
		Handle: func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
			f, err := parseFilter(c)
			if err != nil {
				return nil, err
			}
			s, err := h.Engine.Subscribe(c.Caller.ID, c.Caller.Client, f)
			if err != nil {
				return nil, err
			}
			h.Mail.own(s)
			return h.reply(c, struct {
				Status string `json:"status"`
				trade.Filter
			}{"subscribed", s.Filter})
		},
	}
}

func parseFilter(c mcp.Call) (f trade.Filter, err error) {
	a, err := parseArgs(c.Arguments)
	if err != nil {
		return f, err
	}
	if f.Symbols, err = a.texts("symbols"); err != nil {
		return f, err
	}
	types, err := a.texts("alert_types")
	for _, t := range types {
		f.AlertTypes = append(f.AlertTypes, trade.ConditionType(t))
	}
	return f, err
}

func (h *house) unsubscribe() mcp.Tool {
	return mcp.Tool{
		Name:        "unsubscribe_notifications",
		Title:       "Unsubscribe from alerts",
		Description: "End this client's subscription and drop what waits for it. Alerts stay active and can still be read with get_notifications.",
		Annotations: mcp.Annotations{Destructive: true, Idempotent: true},
		Schema:      object(nil),
		Handle: func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
			had, err := h.Engine.Unsubscribe(c.Caller.ID)
			if err != nil {
				return nil, err
			}
			status := "not_found"
			if had {
				h.Mail.disown(c.Caller.ID)
				status = "unsubscribed"
			}
			return h.reply(c, struct {
				Status string `json:"status"`
			}{status})
		},
	}
}

func (h *house) listSubscriptions() mcp.Tool {
	return mcp.Tool{
		Name:        "list_subscriptions",
		Title:       "This client's subscription",
		Description: "Show whether this client is subscribed to pushed alerts, its filters, how many notifications wait for it and whether a stream is open.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Schema:      object(nil),
		Cost:        mcp.Cheap,
		Handle: func(_ context.Context, c mcp.Call) (*mcp.Result, error) {
			s, ok := h.Engine.Subscription(c.Caller.ID)
			if !ok {
				s.Filter = trade.Filter{Symbols: []string{}, AlertTypes: []trade.ConditionType{}}
			}
			return h.reply(c, struct {
				Subscribed bool `json:"subscribed"`
				trade.Filter
				Waiting   int  `json:"offline_queue_size"`
				Connected bool `json:"connected"`
			}{ok, s.Filter, h.Mail.Hub.Pending(c.Caller.ID), h.Mail.Hub.Connected(c.Caller.ID)})
		},
	}
}
