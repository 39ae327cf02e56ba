package tools

import (
	"context"
	"fmt"
	"time"

	"wick/indicators"
	"wick/mcp"
)

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
