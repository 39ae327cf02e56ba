package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"wick/market"
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

// report returns closed trades, summed up: a page of the lines, and the sums of all.
func (h *handlers) report(ctx context.Context, f trade.TradeFilter, by, timezone string, p page) (*mcp.Result, error) {
	zone, err := market.ParseZone(timezone)
	if err != nil {
		return nil, fixable(err)
	}
	zone = cmp.Or(zone, time.UTC)
	groups, all, before, err := h.Engine.Report(ctx, f, by, zone)
	if err != nil {
		return nil, err
	}
	slices.Reverse(groups)
	text, n, left := cut(p, groups)
	result := mcp.JSON(struct {
		By       string          `json:"by"`
		Timezone string          `json:"timezone"`
		Groups   json.RawMessage `json:"groups"`
		All      []*book.Group   `json:"all"` // one for each currency
	}{by, zone.String(), text, append([]*book.Group{}, all...)})
	if left > 0 {
		result.Content = append(result.Content, further(fmt.Sprintf("%d more groups", left), "get_orders", p.offset+n))
	}
	if !before.IsZero() {
		result.Content = append(result.Content, unsearched(before))
	}
	return result, nil
}

// unsearched says from when on trades were not looked at.
func unsearched(before book.Time) mcp.Content {
	return mcp.Content{Text: fmt.Appendf(nil, "Trades that ended before %s were not looked at: call get_orders with until=%[1]s, and without offset, for those.", before)}
}
