package tools

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"wick/chart"
	"wick/exact"
	"wick/indicators"
	"wick/market"
	"wick/mcp"
	"wick/trade"
)

// account returns what the caller has in the symbol of a chart, as far as r asks
// for it: nil for who may not trade and for invented bars without a symbol.
// Nothing of the account may leave by a login that only covers charts.
func (h *handlers) account(caller mcp.Caller, r *chartRequest, v *chart.View) *chart.Account {
	if h.Engine == nil || !caller.Has(ScopeTrade) {
		if len(r.show) > 0 {
			r.notes = append(r.notes, "Nothing of an account is drawn: show needs a server with --trade and a login that covers trading.")
		}
		return nil
	}
	if r.symbol == "" || v.Series.Len() == 0 {
		return nil
	}
	// The engine is asked for what is wanted alone: each of these takes its lock.
	a, parts := &chart.Account{}, r.parts(v)
	if slices.Contains(parts, "position") {
		a.Position = h.position(v.Series.Symbol)
	}
	if slices.Contains(parts, "alerts") {
		a.Alerts = h.waiting(v.Series, r.indicators)
	}
	wantOrders, wantFills := slices.Contains(parts, "orders"), slices.Contains(parts, "fills")
	if wantOrders || wantFills {
		h.trades(a, v.Series, wantOrders, wantFills)
	}
	return a
}

// position returns what is held of symbol, nil for nothing. The profit is NaN while
// there is no price to reckon it by.
func (h *handlers) position(symbol string) *chart.Position {
	for _, p := range h.Engine.Positions() {
		if p.Symbol != symbol {
			continue
		}
		held := &chart.Position{Quantity: float(signed(p)), Entry: float(p.EntryPrice), Profit: math.NaN()}
		if p.UnrealizedPnL != nil {
			held.Profit = profit(*p.UnrealizedPnL)
		}
		return held
	}
	return nil
}

// signed returns how much is held as one number. Positions have a side and a quantity
// above zero; a short one is negative here.
func signed(p trade.Position) exact.Decimal {
	if p.Side == "short" {
		return -p.Quantity
	}
	return p.Quantity
}

// trades adds the open orders of a symbol and the fills within its bars: a fill
// after a period would otherwise stand at its last bar.
func (h *handlers) trades(a *chart.Account, s *market.Series, orders, fills bool) {
	// Open orders alone are few; fills may be of any order that is still in memory.
	end := s.Interval.Next(s.Time[s.Len()-1])
	for _, o := range h.Engine.Orders(!fills) {
		if o.Symbol != s.Symbol {
			continue
		}
		// An order that waits for its stop stands at the stop, else at its limit; a
		// market order has no place in the picture.
		if price := cmp.Or(o.StopPrice, o.Price); orders && !o.Status.Terminal() && price != nil {
			a.Orders = append(a.Orders, chart.Order{Buy: o.Side == trade.Buy, Kind: string(o.Type), Price: float(*price), Quantity: float(o.Quantity - o.FilledQuantity)})
		}
		at := o.UpdatedAt.Unix() // of a filled order, when it was filled
		if fills && o.AveragePrice != nil && at >= s.Time[0] && at < end {
			a.Fills = append(a.Fills, chart.Fill{Buy: o.Side == trade.Buy, Time: at, Price: float(*o.AveragePrice), Quantity: float(o.FilledQuantity)})
		}
	}
}

// waiting returns the alerts that wait on a symbol, whoever set them: those for a price,
// and those for a signal that the chart shows.
func (h *handlers) waiting(s *market.Series, shown []indicators.Request) (out []chart.Alert) {
	for _, a := range h.Engine.Alerts() {
		c := a.Condition
		switch {
		case a.Symbol != s.Symbol:
		case c.Type == trade.PriceAbove:
			out = append(out, chart.Alert{Price: float(c.Threshold), Text: "above"})
		case c.Type == trade.PriceBelow:
			out = append(out, chart.Alert{Price: float(c.Threshold), Text: "below"})
		// A signal is drawn at the panel of its indicator, if that panel has the same
		// parameters.
		case c.Type == trade.IndicatorSignal && a.Interval == s.Interval:
			if key := keyOf(c, shown); key != "" {
				out = append(out, chart.Alert{Key: key, Signal: c.Signal})
			}
		}
	}
	return out
}

// keyOf returns the key of the indicator that a condition waits for, with the
// same parameters; empty if it is not shown. Labels have the parameters in them, with
// defaults filled in, so equal labels of one indicator mean equal parameters.
func keyOf(c trade.Condition, shown []indicators.Request) string {
	want, err := indicators.New(c.Indicator, c.Params)
	if err != nil {
		return ""
	}
	for _, r := range shown {
		if r.Ind == want.Ind && r.Label() == want.Label() {
			return r.Key
		}
	}
	return ""
}

// float returns a number of the account as a picture takes it: rounded to 53 bits, for
// drawing and nothing else.
func float(d exact.Decimal) float64 { return float64(d) / float64(exact.One) }

// profit is like float for a sum.
func profit(m exact.Money) float64 {
	v, err := strconv.ParseFloat(m.String(), 64)
	if err != nil {
		panic("tools: " + err.Error()) // a sum is always written as a number
	}
	return v
}
