package tools

import (
	"context"
	"encoding/json"

	"wick/mcp"
)

// ordersResource is the newest orders, as many as a reply holds.
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
