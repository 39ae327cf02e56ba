package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"wick/indicators"
	"wick/market"
	"wick/mcp"
)

// Resources returns what clients may read: a guide, charts and indicators, and with
// --trade alerts, positions and orders. Each resource is a function below and an entry
// here.
func Resources(d Deps) []mcp.Resource {
	h := newHandlers(d)
	all := []mcp.Resource{h.guideResource(), h.chartResource(), h.indicatorResource()}
	if h.Engine == nil {
		return all
	}
	for _, r := range []mcp.Resource{h.alertsResource(), h.positionsResource(), h.ordersResource()} {
		r.MIME = "application/json"
		all = append(all, r)
	}
	return all
}

//go:embed guide.md
var guidePage string

// guide is the page with the language of rules at its end.
var guide = []byte(guidePage + "\n## The language of rules\n\n- " + strings.ReplaceAll(indicators.Language, "\n", "\n- ") + "\n")

// guideResource defines the guide, which a model should read before it reads a chart of
// ours. It is the same for everybody, so hosts may keep and share it.
func (h *handlers) guideResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://guide", Name: "guide", Title: "How to read wick",
		Description: "How to read wick's charts and numbers, which tool answers which question, and what its paper trading does and does not do.",
		MIME:        "text/markdown", Cost: mcp.Cheap, Fresh: time.Hour, Public: true,
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) { return r.Text(guide), nil },
	}
}

// chartResource defines the picture that generate_chart draws by default. Watchers are
// told when a bar closes, since within a bar the picture changes all the time.
func (h *handlers) chartResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://chart/{symbol}/{interval}", Name: "chart", Title: "Chart",
		Description: "A chart of a symbol with its usual indicators, as a PNG, such as wick://chart/BTCUSDT/4h. Watch it to be told when a bar closes.",
		MIME:        "image/png", Cost: mcp.Heavy, Fresh: charted,
		Read: func(ctx context.Context, r mcp.Reading) ([]mcp.Content, error) {
			iv, err := h.charted(r.Parts)
			if err != nil {
				return nil, err
			}
			content, err := h.picture(ctx, mcp.Call{Slot: r.Slot, Caller: r.Caller}, struct {
				Symbol   string          `json:"symbol"`
				Interval market.Interval `json:"interval"`
			}{r.Parts["symbol"], iv})
			if err != nil {
				return nil, err
			}
			return content[:1], nil // only the picture; notes about arguments follow it
		},
		Check: func(r mcp.Reading) error {
			_, err := h.charted(r.Parts)
			return err
		},
		// The start of the bar that is forming: it changes when the one before has
		// closed.
		State: func(r mcp.Reading) string {
			iv, err := h.charted(r.Parts)
			if err != nil {
				return "none"
			}
			return strconv.FormatInt(iv.Start(time.Now().Unix()), 10)
		},
	}
}

// charted returns the interval in the URI of a chart. It is an error if there can be no
// chart of that symbol or interval.
func (h *handlers) charted(parts map[string]string) (market.Interval, error) {
	if _, err := market.Resolve(h.Source, parts["symbol"]); err != nil {
		return "", fmt.Errorf("%w: %w", mcp.ErrNoResource, err)
	}
	iv, err := market.ParseInterval(parts["interval"])
	if err != nil {
		return "", fmt.Errorf("%w: %w", mcp.ErrNoResource, err)
	}
	return iv, nil
}

// indicatorResource defines an entry of the catalogue in full, with a picture of the
// indicator on sample bars.
func (h *handlers) indicatorResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://indicators/{name}", Name: "indicator", Title: "Indicator",
		Description: "What an indicator is, its parameters with bounds, the signals that alerts can wait for unless it says no_alerts, and a picture of it on invented bars if it needs no other data, such as wick://indicators/rsi.",
		MIME:        "application/json", Cost: mcp.Heavy, Fresh: time.Hour, Public: true,
		Read: func(ctx context.Context, r mcp.Reading) ([]mcp.Content, error) {
			ind, err := indicators.Lookup(r.Parts["name"])
			if err != nil {
				return nil, fmt.Errorf("%w: %w", mcp.ErrNoResource, err)
			}
			content := r.Text(listings()[ind.Name].full)
			if ind.Category == indicators.External {
				return content, nil // sample bars lack the columns that it is computed from
			}
			// The empty caller may not trade, so the picture shows nothing of an account.
			drawn, err := h.picture(ctx, mcp.Call{}, struct {
				Indicators []map[string]string `json:"indicators"`
				Bars       int                 `json:"bars"`
				Width      int                 `json:"width"`
				Height     int                 `json:"height"`
			}{[]map[string]string{example(ind)}, 120, 960, 540})
			if err != nil {
				return nil, err
			}
			return append(content, drawn[0]), nil
		},
		Check: func(r mcp.Reading) error {
			if !indicators.Known(r.Parts["name"]) {
				return mcp.ErrNoResource
			}
			return nil
		},
	}
}

// example returns a request for an indicator with its defaults. Expressions that it needs
// are the examples of its entry.
func example(ind *indicators.Indicator) map[string]string {
	request := map[string]string{"name": ind.Name}
	for _, p := range ind.Params {
		if p.Required {
			request[p.Name] = p.Text
		}
	}
	return request
}

// alertsResource defines the lists of alerts that wait and that fired. Unlike
// get_notifications, reading it removes nothing from the queue. The lists are cut to what
// fits into one reply together, and say how many more there are.
func (h *handlers) alertsResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://alerts", Name: "alerts", Title: "Alerts",
		Description: "Alerts that wait, and those that fired and were not read yet or fired within the last hour, newest first. Watch it to be told when one fires.",
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) {
			alerts, err := h.activeAlerts()
			if err != nil {
				return nil, err
			}
			notes, err := h.Engine.Fired()
			if err != nil {
				return nil, err
			}
			// Half of the reply is for each list, and what one leaves is for the other.
			waiting, _, more := cut(page{room: replySize / 2}, alerts)
			fired, _, older := cut(page{room: replySize - len(waiting)}, notes)
			if more > 0 {
				waiting, _, more = cut(page{room: replySize - len(fired)}, alerts)
			}
			return r.Text(mcp.Encode(struct {
				Waiting json.RawMessage `json:"waiting"`
				More    int             `json:"more_waiting,omitempty"` // that did not fit; list_alerts has them
				Fired   json.RawMessage `json:"fired"`
				Older   int             `json:"more_fired,omitempty"`
			}{waiting, more, fired, older})), nil
		},
		State: func(mcp.Reading) string { return h.Engine.AlertsVersion() },
	}
}

// positionsResource defines the open positions. Watchers are told when a trade changes
// one, not when only a price changes.
func (h *handlers) positionsResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://positions", Name: "positions", Title: "Positions",
		Description: "Open positions with entry price, current price, unrealized and realized profit. Watch it to be told when a trade changes one.",
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) {
			positions, err := h.Engine.Positions()
			if err != nil {
				return nil, err
			}
			return r.Text(mcp.Encode(positions)), nil
		},
		// Everything but the current price and what follows from it.
		State: func(mcp.Reading) string {
			var held []any
			positions, _ := h.Engine.Positions() // who reads them is told the error
			for _, p := range positions {
				held = append(held, p.Symbol, p.Side, p.Quantity, p.EntryPrice, p.RealizedPnL)
			}
			return encode(held)
		},
	}
}

// ordersResource defines the newest orders, as many as fit into a reply. Its state covers
// all orders in memory, so a watcher is also told of a change to one that is not shown.
func (h *handlers) ordersResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://orders", Name: "orders", Title: "Orders",
		Description: "Orders with their status and fills, newest first. Watch it to be told when one is placed, filled or cancelled.",
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) {
			all, err := h.Engine.Orders(false)
			if err != nil {
				return nil, err
			}
			orders, _, more := cut(page{}, all)
			return r.Text(mcp.Encode(struct {
				Orders json.RawMessage `json:"orders"`
				More   int             `json:"more,omitempty"` // that did not fit; get_orders has them
			}{orders, more})), nil
		},
		State: func(mcp.Reading) string { return strconv.FormatUint(h.Engine.OrdersVersion(), 10) },
	}
}

// charted is how long clients may keep a picture of the market.
const charted = 10 * time.Second

// picture returns the contents of generate_chart's result for the call c with these
// arguments.
func (h *handlers) picture(ctx context.Context, c mcp.Call, arguments any) ([]mcp.Content, error) {
	c.Arguments = mcp.Encode(arguments)
	result, err := h.generateChart().Handle(ctx, c)
	if err != nil {
		return nil, err
	}
	return result.Content, nil
}
