package trade

import (
	"fmt"

	"wick/exact"
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

// newGrid makes the numbers of g exact. One that is no number, is below zero or has more
// than eight decimals counts as zero: no such rule.
func newGrid(g market.Grid) Grid {
	number := func(text string) exact.Decimal {
		d, err := exact.Parse([]byte(text))
		if err != nil {
			return 0
		}
		return max(d, 0)
	}
	return Grid{number(g.Tick), number(g.Lot), number(g.Minimum), number(g.Least)}
}

// advice says which quantity an order could have instead of its own at a price, if it may
// be worth most: at least the smallest that the market takes if raise is true, else at
// most the largest, or that none fits. One that shrinks a position may be as small as a lot.
// By is the price by which a notional became the quantity: the advice is then about the
// notional. It is zero for an order by quantity.
func (g Grid) advice(price, by, most exact.Decimal, shrinks, raise bool) string {
	least, _ := g.least(price)
	if shrinks {
		least = max(g.Lot, 1)
	}
	largest, bounded := most.Over(price, exact.Down) // not bounded where even the largest number is worth less
	largest, _ = largest.Step(g.Lot, exact.Down)
	switch {
	case bounded && largest < least:
		return fmt.Sprintf("no quantity fits: the smallest that this market takes is %s, worth %s, and an order may be worth at most %s", least, exact.Product(least, price), most)
	case raise && by != 0:
		value, _ := least.Times(by, exact.Up)
		return "raise the notional to at least " + value.String()
	case raise:
		return "raise the quantity to at least " + least.String()
	case by == price:
		return "lower the notional to at most " + most.String()
	case by != 0:
		value, _ := largest.Times(by, exact.Down)
		return "lower the notional to at most " + value.String()
	}
	return "lower the quantity to at most " + largest.String()
}

// least returns the smallest quantity of an order that the market takes at a price, and
// false if it is out of range.
func (g Grid) least(price exact.Decimal) (exact.Decimal, bool) {
	worth, ok := g.Minimum.Over(price, exact.Up)
	if !ok {
		return 0, false
	}
	return max(worth, g.Least, g.Lot, 1).Step(g.Lot, exact.Up)
}
