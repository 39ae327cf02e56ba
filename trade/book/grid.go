package book

import (
	"fmt"

	"wick/internal/exact"
	"wick/market"
)

// Grid has the steps of prices and quantities of a market, and the least value and
// quantity of an order. A zero field means no such rule: numbers have eight decimals.
type Grid struct {
	Tick    exact.Decimal // prices are whole multiples of it
	Lot     exact.Decimal // quantities are whole multiples of it
	Minimum exact.Decimal // least value of an order, in the quote currency
	Least   exact.Decimal // least quantity of an order
}

// NewGrid makes the numbers of g exact. One that is no number, is below zero or has more
// than eight decimals counts as zero: no such rule.
func NewGrid(g market.Grid) Grid {
	number := func(text string) exact.Decimal {
		d, err := exact.Parse([]byte(text))
		if err != nil {
			return 0
		}
		return max(d, 0)
	}
	return Grid{number(g.Tick), number(g.Lot), number(g.Minimum), number(g.Least)}
}

// Check refuses a request whose prices or quantity are off the grid, and names the nearest
// values that are on it. A request to close all of a position has no quantity to check.
func (g Grid) Check(r *OrderRequest) error {
	least, _ := max(g.Least, g.Lot).Step(g.Lot, exact.Up)
	for _, v := range []struct {
		code               Code
		name               string
		value, step, least exact.Decimal
	}{
		{"off_tick", "price", r.Price, g.Tick, g.Tick},
		{"off_tick", "stop_price", r.StopPrice, g.Tick, g.Tick},
		{"off_tick", "trail_amount", r.TrailAmount, g.Tick, g.Tick},
		{"off_tick", "oco stop_price", r.OCO.StopPrice, g.Tick, g.Tick},
		{"off_tick", "oco price", r.OCO.Price, g.Tick, g.Tick},
		{"off_tick", "stop_loss", r.StopLoss.Price, g.Tick, g.Tick},
		{"off_tick", "take_profit", r.TakeProfit.Price, g.Tick, g.Tick},
		{"off_lot", "quantity", r.Quantity, g.Lot, least},
	} {
		below, _ := v.value.Step(v.step, exact.Down) // a step of zero leaves every value as it is
		if below == v.value {
			continue
		}
		above, ok := v.value.Step(v.step, exact.Up)
		below, above = max(below, v.least), max(above, v.least)
		nearest := fmt.Sprintf("are %s and %s", below, above)
		if !ok || below == above {
			nearest = "is " + below.String()
		}
		return Refuse(v.code, "%s %s: this market counts in steps of %s; the nearest %s", v.name, v.value, v.step, nearest)
	}
	return nil
}

// MinQuantity returns the smallest quantity of an order that the market takes at a price, and
// false if it is out of range.
func (g Grid) MinQuantity(price exact.Decimal) (exact.Decimal, bool) {
	worth, ok := g.Minimum.Over(price, exact.Up)
	if !ok {
		return 0, false
	}
	return max(worth, g.Least, g.Lot, 1).Step(g.Lot, exact.Up)
}
