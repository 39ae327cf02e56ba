package tools

import (
	"context"

	"wick/mcp"
)

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
