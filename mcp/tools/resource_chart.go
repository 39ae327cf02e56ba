package tools

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"wick/market"
	"wick/mcp"
)

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
