package tools

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/indicators"
	"wick/market"
	"wick/mcp"
	"wick/trade"
)

//go:embed guide.md
var guidePage string

// guide is the page with the language of rules at its end.
var guide = []byte(guidePage + "\n## The language of rules\n\n- " + strings.ReplaceAll(indicators.Language, "\n", "\n- ") + "\n")

// Resources returns what clients may read: a guide, charts and indicators, and with
// --trade alerts, positions and orders.
func Resources(d Deps) []mcp.Resource {
	h := newHandlers(d)
	chart := h.generateChart().Handle
	all := []mcp.Resource{{
		// A model should read it before it reads a chart of ours. It is the same for everybody,
		// so hosts may keep and share it.
		URI: "wick://guide", Name: "guide", Title: "How to read wick",
		Description: "How to read wick's charts and numbers, which tool answers which question, and what its paper trading does and does not do.",
		MIME:        "text/markdown", Cost: mcp.Cheap, Fresh: time.Hour, Public: true,
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) { return r.Text(guide), nil },
	}, h.chartResource(chart), h.indicatorResource(chart), {
		URI: "wick://symbols/{query}", Name: "symbols", Title: "Symbols",
		Description: "Symbols of the source whose symbol or name contains a text, the best match first, such as wick://symbols/bitcoin or wick://symbols/apple.",
		MIME:        "application/json", Cost: mcp.Heavy, Fresh: time.Hour,
		Read: func(ctx context.Context, r mcp.Reading) ([]mcp.Content, error) {
			found, err := market.Search(ctx, h.Source, r.Parts["query"])
			if err != nil {
				return nil, err
			}
			return r.Text(mcp.Encode(struct {
				Symbols []market.Found `json:"symbols"`
			}{append([]market.Found{}, found...)})), nil
		},
	}}
	if h.Engine != nil {
		all = append(all, h.accountResources()...)
	}
	return all
}

// chartResource defines the picture that generate_chart draws by default. Watchers are
// told when a bar closes, since within a bar the picture changes all the time.
func (h *handlers) chartResource(chart mcp.Handler) mcp.Resource {
	// interval returns the interval in the URI, or an error if there can be no such chart.
	interval := func(r mcp.Reading) (iv market.Interval, err error) {
		if _, err = market.Resolve(h.Source, r.Parts["symbol"]); err == nil {
			iv, err = market.ParseInterval(r.Parts["interval"])
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", mcp.ErrNoResource, err)
		}
		return iv, err
	}
	return mcp.Resource{
		URI: "wick://chart/{symbol}/{interval}", Name: "chart", Title: "Chart",
		Description: "A chart of a symbol with its usual indicators, as a PNG, such as wick://chart/BTCUSDT/4h. Watch it to be told when a bar closes.",
		MIME:        "image/png", Cost: mcp.Heavy, Fresh: 10 * time.Second,
		Read: func(ctx context.Context, r mcp.Reading) ([]mcp.Content, error) {
			iv, err := interval(r)
			if err != nil {
				return nil, err
			}
			drawn, err := chart(ctx, mcp.Call{Slot: r.Slot, Caller: r.Caller, Arguments: mcp.Encode(struct {
				Symbol   string          `json:"symbol"`
				Interval market.Interval `json:"interval"`
			}{r.Parts["symbol"], iv})})
			if err != nil {
				return nil, err
			}
			return drawn.Content[:1], nil // only the picture; notes about arguments follow it
		},
		// The start of the bar that is forming: it changes when the one before has closed.
		State: func(r mcp.Reading) (string, error) {
			iv, err := interval(r)
			if err != nil {
				return "", err
			}
			return strconv.FormatInt(iv.Start(time.Now().Unix()), 10), nil
		},
	}
}

// indicatorResource defines an entry of the catalogue in full, with a picture of the
// indicator on sample bars.
func (h *handlers) indicatorResource(chart mcp.Handler) mcp.Resource {
	return mcp.Resource{
		URI: "wick://indicators/{name}", Name: "indicator", Title: "Indicator",
		Description: "What an indicator is, its parameters with bounds, the signals that alerts can wait for unless it says no_alerts, and a picture of it on invented bars if it needs no other data, such as wick://indicators/rsi.",
		MIME:        "application/json", Cost: mcp.Heavy, Fresh: time.Hour, Public: true,
		Read: func(ctx context.Context, r mcp.Reading) ([]mcp.Content, error) {
			ind, err := indicators.Lookup(r.Parts["name"])
			if err != nil {
				return nil, fmt.Errorf("%w: %w", mcp.ErrNoResource, err)
			}
			content := r.Text(mcp.Encode(entryOf(ind)))
			if ind.Category == indicators.External {
				return content, nil // sample bars lack the columns that it is computed from
			}
			// With its defaults; expressions that it needs are the examples of its entry.
			example := map[string]string{"name": ind.Name}
			for _, p := range ind.Params {
				if p.Required {
					example[p.Name] = p.Text
				}
			}
			// The empty caller may not trade, so the picture shows nothing of an account.
			drawn, err := chart(ctx, mcp.Call{Arguments: mcp.Encode(struct {
				Indicators []map[string]string `json:"indicators"`
				Bars       int                 `json:"bars"`
				Width      int                 `json:"width"`
				Height     int                 `json:"height"`
			}{[]map[string]string{example}, 120, 960, 540})})
			if err != nil {
				return nil, err
			}
			return append(content, drawn.Content[0]), nil
		},
		State: func(r mcp.Reading) (string, error) {
			if !indicators.Known(r.Parts["name"]) {
				return "", mcp.ErrNoResource
			}
			return "always the same", nil
		},
	}
}

// accountResources defines what is of the account.
func (h *handlers) accountResources() []mcp.Resource {
	// read returns the Read of a resource that is what the engine returns, as JSON.
	read := func(content func() (any, error)) func(context.Context, mcp.Reading) ([]mcp.Content, error) {
		return func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) {
			v, err := content()
			if err != nil {
				return nil, err
			}
			return r.Text(mcp.Encode(v)), nil
		}
	}
	const asJSON = "application/json"
	return []mcp.Resource{{
		// Unlike get_notifications, reading it removes nothing from the queue.
		URI: "wick://alerts", Name: "alerts", Title: "Alerts", MIME: asJSON,
		Description: "Alerts that wait, and those that fired and were not read yet or fired within the last hour, newest first. Watch it to be told when one fires.",
		Read: read(func() (any, error) {
			alerts, err := h.activeAlerts("")
			notes, wrong := h.Engine.Fired()
			// Half of the reply is for each list, and what one leaves is for the other.
			waiting, _, more := cut(page{room: replySize / 2}, alerts)
			fired, _, older := cut(page{room: replySize - len(waiting)}, notes)
			if more > 0 {
				waiting, _, more = cut(page{room: replySize - len(fired)}, alerts)
			}
			return struct {
				Waiting json.RawMessage `json:"waiting"`
				More    int             `json:"more_waiting,omitempty"` // that did not fit; list_alerts has them
				Fired   json.RawMessage `json:"fired"`
				Older   int             `json:"more_fired,omitempty"`
			}{waiting, more, fired, older}, cmp.Or(err, wrong)
		}),
		State: func(mcp.Reading) (string, error) { return h.Engine.AlertsVersion(), nil },
	}, {
		URI: "wick://positions", Name: "positions", Title: "Positions", MIME: asJSON,
		Description: "Open positions with entry price, current price, unrealized and realized profit. Watch it to be told when a trade changes one.",
		Read:        read(func() (any, error) { return h.Engine.Positions(false) }),
		// Everything but the current price and what follows from it: watchers are told of
		// trades, not of prices.
		State: func(mcp.Reading) (string, error) {
			var held []any
			positions, _ := h.Engine.Positions(false) // who reads them is told the error
			for _, p := range positions {
				held = append(held, p.Symbol, p.Side, p.Quantity, p.EntryPrice, p.RealizedPnL)
			}
			return encode(held), nil
		},
	}, {
		URI: "wick://trades", Name: "trades", Title: "Trades", MIME: asJSON,
		Description: "Trades from flat to flat: those that are open, then the closed ones, the last first, with profit, R, the most each was ahead and behind, and tags. Watch it to be told when an order changes.",
		Read: func(ctx context.Context, r mcp.Reading) ([]mcp.Content, error) {
			found, err := h.Engine.FindTrades(ctx, trade.TradeFilter{}, 0, maxPage)
			if err != nil {
				return nil, err
			}
			slices.Reverse(found.Trades)
			trades, _, left := cut(page{}, found.Trades)
			return r.Text(mcp.Encode(struct {
				Trades json.RawMessage `json:"trades"`
				More   bool            `json:"more,omitempty"` // did not fit; get_orders has them
			}{trades, left > 0 || found.More})), nil
		},
		State: func(mcp.Reading) (string, error) { return strconv.FormatUint(h.Engine.OrdersVersion(), 10), nil },
	}, {
		// As many as fit into a reply. The state covers all orders in memory, so a watcher is
		// also told of a change to one that is not shown.
		URI: "wick://orders", Name: "orders", Title: "Orders", MIME: asJSON,
		Description: "Orders with their status and fills, newest first. Watch it to be told when one is placed, filled or cancelled.",
		Read: read(func() (any, error) {
			all, err := h.Engine.Orders(false)
			orders, _, more := cut(page{}, all)
			return struct {
				Orders json.RawMessage `json:"orders"`
				More   int             `json:"more,omitempty"` // that did not fit; get_orders has them
			}{orders, more}, err
		}),
		State: func(mcp.Reading) (string, error) { return strconv.FormatUint(h.Engine.OrdersVersion(), 10), nil },
	}}
}
