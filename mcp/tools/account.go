package tools

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wick/chart"
	"wick/indicators"
	"wick/internal/exact"
	"wick/market"
	"wick/mcp"
	"wick/trade/book"
)

// account returns the parts of the account in the symbol of a chart that r asks for. It
// returns nil if the caller may not trade, since a login that covers only charts must
// learn nothing of the account, and nil for a chart of sample data without a symbol.
func (h *handlers) account(ctx context.Context, caller mcp.Caller, r *chartRequest, v *chart.View) (a *chart.Account, err error) {
	if !h.mayRead(ctx, caller) {
		if len(r.show) > 0 {
			r.notes = append(r.notes, "Nothing of an account is drawn: show needs a server with --trade and a login that covers trading.")
		}
		return nil, nil
	}
	if r.symbol == "" || v.Series.Len() == 0 || r.format == "summary" { // which shows nothing of it
		return nil, nil
	}
	// Only the parts that are wanted are read from the engine: each takes its lock.
	a, parts, picture := &chart.Account{}, r.parts(v), r.format == "png" || r.format == "both"
	if slices.Contains(parts, "position") {
		if a.Position, err = h.position(v); err != nil {
			return nil, err
		}
	}
	if slices.Contains(parts, "alerts") {
		var left int
		if a.Alerts, left, err = h.waiting(v.Series, r.indicators); err != nil {
			return nil, err
		}
		if left > 0 && picture {
			r.notes = append(r.notes, fmt.Sprintf("Waiting alerts of %s without a level in the picture: %d. They are for signals, or for an indicator, parameters or an interval that it does not show; list_alerts has them.",
				v.Series.Symbol, left))
		}
	}
	wantOrders, wantFills := slices.Contains(parts, "orders"), slices.Contains(parts, "fills")
	if wantOrders || wantFills {
		unknown, err := h.marks(a, v.Series, wantOrders, wantFills)
		if err != nil {
			return nil, err
		}
		if len(unknown) > 0 && picture {
			r.notes = append(r.notes, "It is not known whether these orders are open, or were filled or refused meanwhile: "+atMostTen(unknown)+
				". The picture has a question mark at those with a price. Do not place them again; get_orders says what became of them.")
		}
	}
	return a, nil
}

// position returns the position in the symbol of v, or nil if there is none. The profit is
// that at the last close of v, which may be a little newer than the price that the engine
// knows: a picture must not show a profit that its price contradicts. It is NaN while the
// engine knows no price, and for a past period, whose last close is not the price of now.
func (h *handlers) position(v *chart.View) (*chart.Position, error) {
	p, err := positionIn(h.Engine, v.Series.Symbol)
	if p.Quantity == 0 { // there is none, or only the account at the broker has it
		return nil, err
	}
	held := &chart.Position{Quantity: float(signed(p)), Entry: float(p.EntryPrice), Profit: math.NaN()}
	if p.UnrealizedPnL != nil && !v.Past {
		// The difference to the engine's profit, which is exact, unlike the entry price.
		since := v.Series.Close[v.Series.Len()-1] - float(*p.CurrentPrice)
		unrealized, err := strconv.ParseFloat(p.UnrealizedPnL.String(), 64)
		if err != nil {
			panic("tools: " + err.Error()) // a sum is always written as a number
		}
		held.Profit = unrealized + float64(held.Quantity*since)
	}
	return held, err
}

// signed returns the quantity of a position as one number, negative if it is short. In a
// [trade.Position] the quantity is always above zero and the side stands beside it.
func signed(p book.Position) exact.Decimal {
	if p.Side == "short" {
		return -p.Quantity
	}
	return p.Quantity
}

// marks adds to a the open orders of the symbol of s, and its fills that are within the
// bars of s. A later fill would be drawn at the last bar, where it did not happen. It returns
// the ids of those orders whose outcome is unknown.
func (h *handlers) marks(a *chart.Account, s *market.Series, orders, fills bool) (unknown []string, err error) {
	// Without fills the open orders are enough, and they are few. With fills all orders in
	// memory are read.
	begin, end := s.BeganAt(0), s.DueAt(s.Len()-1)
	list, err := h.Engine.Orders(!fills)
	for _, o := range list {
		if o.Symbol != s.Symbol {
			continue
		}
		if orders && o.Unknown() {
			unknown = append(unknown, o.ID)
		}
		if price := restsAt(o); orders && !o.Status.Terminal() && price != nil {
			kind := string(o.Type)
			if o.Pending() {
				kind += ", on a rule"
			}
			a.Orders = append(a.Orders, chart.Order{Buy: o.Side == book.Buy, Kind: kind, Price: float(*price), Quantity: float(o.Quantity - o.FilledQuantity), Unknown: o.Unknown()})
		}
		if at := filledAt(o); fills && o.AveragePrice != nil && at >= begin && at < end {
			a.Fills = append(a.Fills, chart.Fill{Buy: o.Side == book.Buy, Time: at, Price: float(*o.AveragePrice), Quantity: float(o.FilledQuantity)})
		}
	}
	return unknown, err
}

// restsAt returns where an order is drawn: at its stop price if it waits for that, else at
// its limit, and a market order that waits for a rule at its worst price. Another market order
// and a stop that was set off have no such price.
func restsAt(o book.Order) *exact.Decimal {
	if o.Pending() && o.Type == book.Market {
		return &o.When.Worst
	}
	if o.TriggeredAt == nil && o.StopPrice != nil {
		return o.StopPrice
	}
	return o.Price
}

// filledAt returns the time of the last fill of an order, in unix seconds: when the market
// was at that price, or when the order came if it was filled at an older price. The time
// of the last change may be later: what is left may have been cancelled since, or news of
// the fill may have come late.
func filledAt(o book.Order) int64 {
	if o.PriceAt == nil {
		return o.UpdatedAt.Unix()
	}
	return max(o.CreatedAt.Unix(), o.PriceAt.Unix())
}

// waiting returns the alerts on the symbol of s that have not fired, of all clients:
// those for a price, and those for a level or a signal of an indicator that the chart
// shows. Left is how many alerts have no level in it.
func (h *handlers) waiting(s *market.Series, shown []indicators.Request) (out []chart.Alert, left int, err error) {
	alerts, err := h.Engine.Alerts("")
	for _, a := range alerts {
		c, key := a.Condition, ""
		if a.Symbol != s.Symbol {
			continue
		}
		if a.Interval == s.Interval {
			key = keyOf(c, shown)
		}
		level, err := c.Level.Float64() // an error if it waits for no level
		switch {
		case c.Type == book.PriceAbove:
			out = append(out, chart.Alert{Price: float(c.Threshold), Text: "above"})
		case c.Type == book.PriceBelow:
			out = append(out, chart.Alert{Price: float(c.Threshold), Text: "below"})
		case key != "" && err == nil:
			out = append(out, chart.Alert{Price: level, Text: strings.TrimPrefix(c.Signal, "crosses_"), Key: key, Line: c.Line})
		case key != "":
			out = append(out, chart.Alert{Key: key, Signal: c.Signal})
			left++
		default:
			left++
		}
	}
	return out, left, err
}

// keyOf returns the key of the shown indicator that a condition waits for, or an empty
// text if it is not shown with the same parameters.
func keyOf(c book.Condition, shown []indicators.Request) string {
	// The rule of an alert is read only beside other rules, because that takes a while.
	ind, err := indicators.Lookup(c.Indicator)
	if err != nil || !slices.ContainsFunc(shown, func(r indicators.Request) bool { return r.Ind == ind }) {
		return ""
	}
	want, err := c.Request()
	if err != nil {
		return ""
	}
	for _, r := range shown {
		if r.Identity() == want.Identity() {
			return r.Key
		}
	}
	return ""
}

// float returns a decimal as a float64, which may round it: it is only for drawing.
func float(d exact.Decimal) float64 { return float64(d) / float64(exact.One) }
