package tools

import (
	"context"
	"crypto/sha256"
	"time"

	"wick/mcp"
)

// resources is the table of what clients may read. A resource is a function in a
// file of its own, and a line here.
func (h *handlers) resources() []mcp.Resource {
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

// Resources returns what clients may read: a guide, charts and indicators, and
// under --trade alerts, positions and orders.
func Resources(d Deps) []mcp.Resource { return newHandlers(d).resources() }

// digest returns a text that differs for different values: the state of a
// resource whose content is v.
func digest(v any) string {
	sum := sha256.Sum256(mcp.Encode(v))
	return string(sum[:])
}

// picture returns what generate_chart draws for arguments, which are ours.
func (h *handlers) picture(ctx context.Context, caller mcp.Caller, arguments any) ([]mcp.Content, error) {
	result, err := h.generateChart().Handle(ctx, mcp.Call{Caller: caller, Arguments: mcp.Encode(arguments)})
	if err != nil {
		return nil, err
	}
	return result.Content, nil
}

// charted is how long a picture of the market may be kept.
const charted = 10 * time.Second
