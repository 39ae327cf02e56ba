package tools

import (
	"context"
	"crypto/sha256"
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

// Resources returns what clients may read: a guide, charts and indicators, and
// under --trade alerts, positions and orders. A resource is a function below, and a
// line here.
func Resources(d Deps) []mcp.Resource {
	h := newHandlers(d)
	all := []mcp.Resource{h.guideResource(), h.chartResource(), h.indicatorResource()}
	if h.Engine == nil {
		return all
	}
	for _, r := range []mcp.Resource{h.alertsResource(), h.positionsResource(), h.ordersResource()} {
		r.Scope, r.MIME, r.Cost = ScopeTrade, "application/json", mcp.Cheap
		all = append(all, r)
	}
	return all
}

//go:embed guide.md
var guidePage string

// guide is the page with the language of rules at its end.
var guide = []byte(guidePage + "\n## The language of rules\n\n- " + strings.ReplaceAll(indicators.Language, "\n", "\n- ") + "\n")

// guideResource is what a model should know before it reads a chart of ours. It is the
// same for everybody, so hosts may keep and share it.
func (h *handlers) guideResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://guide", Name: "guide", Title: "How to read wick",
		Description: "How to read wick's charts and numbers, which tool answers which question, and what its paper trading does and does not do.",
		MIME:        "text/markdown", Cost: mcp.Cheap, Fresh: time.Hour, Public: true,
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) { return r.Text(guide), nil },
	}
}

// chartResource is the picture that generate_chart draws by default. It counts as
// changed when a bar closes: within a bar it changes all the time.
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
			content, err := h.picture(ctx, r.Caller, struct {
				Symbol   string          `json:"symbol"`
				Interval market.Interval `json:"interval"`
			}{r.Parts["symbol"], iv})
			if err != nil {
				return nil, err
			}
			return content[:1], nil // what follows the picture are remarks on arguments
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

// charted returns the interval of a chart's URI, if that and the symbol are such
// as charts have.
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

// indicatorResource is an entry of the catalogue in full, and a picture of it on
// invented bars.
func (h *handlers) indicatorResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://indicators/{name}", Name: "indicator", Title: "Indicator",
		Description: "What an indicator is, its parameters with bounds, the signals that alerts can wait for, and a picture of it on invented bars, such as wick://indicators/rsi.",
		MIME:        "application/json", Cost: mcp.Heavy, Fresh: time.Hour, Public: true,
		Read: func(ctx context.Context, r mcp.Reading) ([]mcp.Content, error) {
			ind, err := indicators.Lookup(r.Parts["name"])
			if err != nil {
				return nil, fmt.Errorf("%w: %w", mcp.ErrNoResource, err)
			}
			content := r.Text(listings()[ind.Name].full)
			if ind.Category == indicators.External {
				return content, nil // invented bars have nothing of what it is computed from
			}
			// Drawn for nobody: a picture on invented bars shows nothing of an account.
			drawn, err := h.picture(ctx, mcp.Caller{}, struct {
				Indicators []string `json:"indicators"`
				Bars       int      `json:"bars"`
				Width      int      `json:"width"`
				Height     int      `json:"height"`
			}{[]string{ind.Name}, 120, 960, 540})
			if err != nil {
				return nil, err
			}
			return append(content, drawn[0]), nil
		},
	}
}

// alertsResource is what waits and what fired. Reading it takes nothing out of
// the queue that get_notifications empties. Both lists are cut to what a reply holds,
// and say how many are left.
func (h *handlers) alertsResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://alerts", Name: "alerts", Title: "Alerts",
		Description: "Alerts that wait, and those that fired within the last hour, newest first. Watch it to be told when one fires.",
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) {
			waiting, _, more := cut(page{}, h.Engine.Alerts())
			fired, _, older := cut(page{}, h.Engine.Fired())
			return r.Text(mcp.Encode(struct {
				Waiting json.RawMessage `json:"waiting"`
				More    int             `json:"more_waiting,omitempty"` // that did not fit; list_alerts has them
				Fired   json.RawMessage `json:"fired"`
				Older   int             `json:"more_fired,omitempty"`
			}{waiting, more, fired, older})), nil
		},
		State: func(mcp.Reading) string { return digest([]any{h.Engine.Alerts(), h.Engine.Fired()}) },
	}
}

// positionsResource is what is held. Its prices move with every update, which
// is not worth telling: its state is what trades change.
func (h *handlers) positionsResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://positions", Name: "positions", Title: "Positions",
		Description: "Open positions with entry price, current price, unrealized and realized profit. Watch it to be told when a trade changes one.",
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) {
			return r.Text(mcp.Encode(h.Engine.Positions())), nil
		},
		// Everything but the current price and what follows from it.
		State: func(mcp.Reading) string {
			var held []any
			for _, p := range h.Engine.Positions() {
				held = append(held, p.Symbol, p.Side, p.Quantity, p.EntryPrice, p.RealizedPnL)
			}
			return digest(held)
		},
	}
}

// ordersResource is the newest orders, as many as a reply holds. Its state is all of
// them, so a client is told also of one that is not shown.
func (h *handlers) ordersResource() mcp.Resource {
	return mcp.Resource{
		URI: "wick://orders", Name: "orders", Title: "Orders",
		Description: "Orders with their status and fills, newest first. Watch it to be told when one is placed, filled or cancelled.",
		Read: func(_ context.Context, r mcp.Reading) ([]mcp.Content, error) {
			orders, _, more := cut(page{}, h.Engine.Orders(false))
			return r.Text(mcp.Encode(struct {
				Orders json.RawMessage `json:"orders"`
				More   int             `json:"more,omitempty"` // that did not fit; get_orders has them
			}{orders, more})), nil
		},
		State: func(mcp.Reading) string { return digest(h.Engine.Orders(false)) },
	}
}

// charted is how long a picture of the market may be kept.
const charted = 10 * time.Second

// picture returns what generate_chart draws for arguments, which are ours.
func (h *handlers) picture(ctx context.Context, caller mcp.Caller, arguments any) ([]mcp.Content, error) {
	result, err := h.generateChart().Handle(ctx, mcp.Call{Caller: caller, Arguments: mcp.Encode(arguments)})
	if err != nil {
		return nil, err
	}
	return result.Content, nil
}

// digest returns a text that differs for different values: the state of a
// resource whose content is v. Watchers compare states and never look into them, so the
// digest keeps what is held for each watcher short.
func digest(v any) string {
	sum := sha256.Sum256(mcp.Encode(v))
	return string(sum[:])
}
