package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"wick/mcp"
	"wick/trade"
)

const conditionSchema = `{"type":"object","description":"What to wait for: exactly one of the three.","properties":{` +
	`"price_above":{"type":"number","description":"Fires when the price is at or above this."},` +
	`"price_below":{"type":"number","description":"Fires when the price is at or below this."},` +
	`"indicator_signal":{"type":"object","description":"Fires when a bar closes with this signal of this indicator; further members are the indicator's parameters.",` +
	`"properties":{"indicator":{"type":"string"},"signal":{"type":"string"}},"required":["indicator","signal"]}}}`

func (h *house) setAlert() mcp.Tool {
	return mcp.Tool{
		Name:  "set_alert",
		Title: "Set an alert",
		Description: "Set a one-shot alert on a price, or on an indicator's signal when a bar closes, such as " +
			`{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold"}}. It fires once and is then gone. ` +
			"list_indicators shows each indicator's signals. Read fired alerts with get_notifications, or subscribe_notifications to have them pushed.",
		Annotations: mcp.Annotations{},
		Schema: object([]string{"symbol", "condition"},
			text("symbol", "Symbol such as BTCUSDT.", ""),
			property{"condition", conditionSchema},
			oneOf("interval", "Bars for indicator_signal; default: the engine's first interval.", "", intervalWords...),
		),
		Handle: func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
			r, err := parseAlert(c.Arguments)
			if err != nil {
				return nil, err
			}
			r.Who = who(c)
			alert, err := h.Engine.SetAlert(ctx, r)
			if err != nil {
				return nil, err
			}
			return h.reply(c, alert)
		},
	}
}

func parseAlert(raw json.RawMessage) (r trade.AlertRequest, err error) {
	a, err := parseArgs(raw)
	if err != nil {
		return r, err
	}
	if r.Symbol, err = a.symbol(); err != nil {
		return r, err
	}
	if r.Symbol == "" {
		return r, errors.New("symbol is required, such as BTCUSDT")
	}
	if r.Interval, err = a.text("interval", "timeframe"); err != nil {
		return r, err
	}
	condition, ok := a.raw("condition")
	if !ok {
		return r, errors.New(`condition is required, such as {"price_above":65000} or {"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold"}}`)
	}
	if condition[0] == '"' { // models sometimes send the object as a string
		var s string
		if err := json.Unmarshal(condition, &s); err != nil {
			return r, errors.New("condition is not an object")
		}
		condition = json.RawMessage(s)
	}
	if err := json.Unmarshal(condition, &r.Condition); err != nil {
		return r, conditionError(err)
	}
	return r, nil
}

// conditionError passes a refusal on and replaces the decoder's own words for
// broken JSON.
func conditionError(err error) error {
	var refusal *trade.Refusal
	if errors.As(err, &refusal) {
		return refusal
	}
	return errors.New(`condition is not an object such as {"price_above":65000}`)
}

func (h *house) listAlerts() mcp.Tool {
	return mcp.Tool{
		Name:        "list_alerts",
		Title:       "Active alerts",
		Description: "List the alerts that have not fired yet, oldest first.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		Schema:      object(nil),
		Cost:        mcp.Cheap,
		Handle: func(_ context.Context, c mcp.Call) (*mcp.Result, error) {
			return h.reply(c, h.Engine.Alerts())
		},
	}
}

func (h *house) cancelAlert() mcp.Tool {
	return mcp.Tool{
		Name:        "cancel_alert",
		Title:       "Cancel an alert",
		Description: "Remove an alert before it fires, by its alert_id.",
		Annotations: mcp.Annotations{Destructive: true, Idempotent: true},
		Schema:      object([]string{"alert_id"}, text("alert_id", "The alert_id that set_alert returned.", "")),
		Handle: func(_ context.Context, c mcp.Call) (*mcp.Result, error) {
			id, err := requiredID(c, "alert_id")
			if err != nil {
				return nil, err
			}
			alert, err := h.Engine.CancelAlert(who(c), id)
			if err != nil {
				return nil, err
			}
			return h.reply(c, struct {
				OK bool `json:"ok"`
				trade.Alert
			}{true, alert})
		},
	}
}

func (h *house) getNotifications() mcp.Tool {
	return mcp.Tool{
		Name:  "get_notifications",
		Title: "Fired alerts",
		Description: "Read the alerts that fired since the last call, oldest first. Reading removes them from the queue; " +
			"again=true also returns what was read within the last hour, should an answer have been lost.",
		Annotations: mcp.Annotations{},
		Schema:      object(nil, flag("again", "Also return what was read within the last hour.")),
		Handle: func(_ context.Context, c mcp.Call) (*mcp.Result, error) {
			a, err := parseArgs(c.Arguments)
			if err != nil {
				return nil, err
			}
			again, err := a.bool("again")
			if err != nil {
				return nil, err
			}
			fired, _, err := h.Engine.Notifications(again, trade.Page{Size: 1 << 30})
			if err != nil {
				return nil, fmt.Errorf("the queue could not be read, nothing is lost: %w", err)
			}
			return mcp.JSON(fired), nil
		},
	}
}
