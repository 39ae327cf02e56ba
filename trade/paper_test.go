package trade

import (
	"strings"
	"testing"

	"wick/exact"
)

// TestSpread: with bid and ask one percent from the price, what takes pays it, a
// limit waits until the bid or ask has come to it, and a stop is set off by the
// price itself.
func TestSpread(t *testing.T) {
	inBubble(t, func(o *Options) { o.HalfSpread, o.Slippage = exact.One/100, exact.One/100 }, func(t *testing.T, e *Engine) {
		if got := show(place(t, e, Buy, Market, "1", "").AveragePrice); got != "102" {
			t.Errorf("bought at %s, want 100 and one percent twice", got)
		}
		if got := show(place(t, e, Sell, Limit, "1", "99").AveragePrice); got != "99" {
			t.Errorf("sold at %s, want the bid", got)
		}
		if o := place(t, e, Buy, Limit, "1", "100.99"); o.Status != StatusOpen {
			t.Errorf("a buy below the ask of 101 is %s", o.Status)
		}
		waits := ask(t, e, func(r *OrderRequest) { r.Type, r.Price, r.PostOnly = Limit, 90*exact.One, true }).ID
		stop := ask(t, e, stopping(Sell, 90)).ID
		walk(e, 100, minute(0, 100, 100, 89.5, 95))
		if got := found(t, e, waits) + ", " + found(t, e, stop); got != "open, filled 88.2" {
			t.Errorf("at 89.5, asked 90.395, they are %s", got)
		}
		walk(e, 95, minute(0, 95, 95, 89.1, 95))
		if got := found(t, e, waits); got != "filled 90" {
			t.Errorf("at 89.1, asked 89.991, it is %s", got)
		}
	})
}

// TestGrid: a market that counts prices in 0.5, quantities in 0.1 and takes no order
// below 20.
func TestGrid(t *testing.T) {
	grid := func(string) Grid { return Grid{exact.One / 2, exact.One / 10, 20 * exact.One} }
	inBubble(t, func(o *Options) { o.Grid, o.Slippage = grid, exact.One/1000 }, func(t *testing.T, e *Engine) {
		for want, change := range map[string]func(*OrderRequest){
			"off_tick: price 90.2: this market counts in steps of 0.5; 90 or 90.5 would do": func(r *OrderRequest) { r.Type, r.Price = Limit, 90*exact.One+exact.One/5 },
			"off_tick: stop_loss 90.1":               func(r *OrderRequest) { r.StopLoss.Price = 90*exact.One + exact.One/10 },
			"off_tick: oco stop_price":               func(r *OrderRequest) { r.Type, r.Price, r.OCO.StopPrice = Limit, 90*exact.One, 110*exact.One+1 },
			"off_lot: quantity 1.23: ":               func(r *OrderRequest) { r.Quantity = exact.One + 23*exact.One/100 },
			"min_notional: the order is worth 10.05": func(r *OrderRequest) { r.Quantity = exact.One / 10 },
		} {
			if _, err := try(t, e, change); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		o := ask(t, e, func(r *OrderRequest) { r.Quantity, r.Notional = 0, 555*exact.One })
		if o.Quantity.String() != "5.5" || show(o.AveragePrice) != "100.5" { // 100.1 is on no tick
			t.Errorf("555 of it: %+v", o)
		}
		entry := ask(t, e, func(r *OrderRequest) {
			r.StopLoss, r.TakeProfit = Exit{Percent: 3 * exact.One}, Exit{Percent: 3 * exact.One}
		})
		for _, leg := range e.Group(entry.ID) { // 3 percent of 100.5 are 3.015
			if got := leg.next().String(); got != "97" && got != "104" {
				t.Errorf("an exit is at %s", got)
			}
		}
		trailing := ask(t, e, func(r *OrderRequest) { r.Side, r.Type, r.TrailPercent = Sell, TrailingStop, exact.One/10 })
		if show(trailing.StopPrice) != "99.5" {
			t.Errorf("a trailing stop is at %s", show(trailing.StopPrice))
		}
		ask(t, e, func(r *OrderRequest) { r.Side, r.Quantity = Sell, exact.One/10 }) // reducing may be small
	})
}
