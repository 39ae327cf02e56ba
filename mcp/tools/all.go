package tools

import (
	"context"
	"errors"

	"wick/mcp"
)

// All returns the tools, in a fixed order.
func All(d Deps) []mcp.Tool {
	var out []mcp.Tool
	for _, t := range newHandlers(d).all() {
		t.Icons = iconOf(t.Name)
		out = append(out, t.Tool)
	}
	return out
}

// Chart returns generate_chart alone, for programs that draw one picture and need no
// server.
func Chart(d Deps) mcp.Tool { return newHandlers(d).generateChart().Tool }

// all returns the tools in the order in which clients list them. The first list has those for
// charts and indicators, which any caller may use. The second has those that read or change
// the account.
func (h *handlers) all() []tool {
	tools := []tool{h.generateChart(), h.listIndicators(), h.getIndicators()}
	for _, t := range []tool{
		h.placeOrder(), h.cancelOrder(), h.getOrders(), h.getPositions(), h.getBalance(),
		h.setAlert(), h.listAlerts(), h.cancelAlert(), h.getNotifications(),
		h.subscribe(), h.unsubscribe(), h.listSubscriptions(),
	} {
		t.Handle = h.withAccount(t.Handle)
		tools = append(tools, t)
	}
	return tools
}

// errNoTrade is what every trading tool answers without the engine.
var errNoTrade = errors.New("trading is not enabled: the operator must start wick with --trade; retrying will not help")

// withAccount wraps the handler of a trading tool. Without an engine it refuses the call. If the
// client had a subscription under an earlier token that has ended, the new token takes it
// over first. If orders go to a broker elsewhere, every reply ends with a remark that
// names it.
func (h *handlers) withAccount(handle mcp.Handler) mcp.Handler {
	return func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
		if h.Engine == nil {
			return nil, errNoTrade
		}
		if err := h.Engine.Claim(Subscriber(c.Caller)); err != nil {
			return h.withBroker(nil, err)
		}
		return h.withBroker(handle(ctx, c))
	}
}
