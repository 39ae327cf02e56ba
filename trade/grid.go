package trade

import "wick/exact"

// Grid is what prices and quantities of a market are counted in, and the least
// value of an order. Zero fields mean none beyond the eight decimals of numbers.
type Grid struct {
	Tick    exact.Decimal // prices are whole multiples of it
	Lot     exact.Decimal // so are quantities of it
	Minimum exact.Decimal // least value of an order, in the quote currency
}

// checkGrid refuses a request whose prices or quantity are off the grid. The
// quantity that closes a position is what it is.
func (g Grid) checkGrid(r OrderRequest) error {
	for _, p := range []struct {
		name  string
		value exact.Decimal
	}{
		{"price", r.Price}, {"stop_price", r.StopPrice}, {"trail_amount", r.TrailAmount}, {"oco stop_price", r.OCO.StopPrice}, {"oco price", r.OCO.Price},
		{"stop_loss", r.StopLoss.Price}, {"take_profit", r.TakeProfit.Price},
	} {
		if err := onStep("off_tick", p.name, p.value, g.Tick); err != nil {
			return err
		}
	}
	return onStep("off_lot", "quantity", r.Quantity, g.Lot)
}

// onStep refuses a value that is no whole multiple of step, and says which are next
// to it.
func onStep(code, name string, value, step exact.Decimal) error {
	below, _ := value.Step(step, exact.Down)
	if below == value {
		return nil
	}
	above, ok := value.Step(step, exact.Up)
	if !ok || below == 0 {
		return refuse(code, fixIt, "%s %s: this market counts in steps of %s", name, value, step)
	}
	return refuse(code, fixIt, "%s %s: this market counts in steps of %s; %s or %s would do", name, value, step, below, above)
}

// against rounds a price to the tick to the disadvantage of who trades on side.
func (g Grid) against(side Side, price exact.Decimal) (exact.Decimal, bool) {
	if side == Buy {
		return price.Step(g.Tick, exact.Up)
	}
	return price.Step(g.Tick, exact.Down)
}

// away rounds a price to the tick, away from another.
func (g Grid) away(price, from exact.Decimal) (exact.Decimal, bool) {
	if price > from {
		return price.Step(g.Tick, exact.Up)
	}
	return price.Step(g.Tick, exact.Down)
}
