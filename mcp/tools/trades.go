package tools

import (
	"context"
	"fmt"
	"slices"

	"wick/mcp"
	"wick/trade"
	"wick/trade/book"
)

// trades returns a page of trades.
func (h *handlers) trades(ctx context.Context, f trade.TradeFilter, p page) (*mcp.Result, error) {
	found, err := h.Engine.FindTrades(ctx, f, p.offset, maxPage)
	if err != nil {
		return nil, err
	}
	offset := p.offset
	p.offset = 0
	slices.Reverse(found.Trades)
	text, n, left := cut(p, found.Trades)
	result := &mcp.Result{Content: []mcp.Content{{Text: text}}}
	switch {
	case left > 0 || found.More:
		result.Content = append(result.Content, further("more follow", "get_orders", offset+n))
	case !found.Before.IsZero():
		result.Content = append(result.Content, unsearched(found.Before))
	}
	return result, nil
}

// unsearched says from when on trades were not looked at.
func unsearched(before book.Time) mcp.Content {
	return mcp.Content{Text: fmt.Appendf(nil, "Trades that ended before %s were not looked at: call get_orders with until=%[1]s, and without offset, for those.", before)}
}
