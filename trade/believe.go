package trade

import (
	"cmp"
	"slices"
	"time"

	"wick/broker"
	"wick/exact"
)

// A broker tells the price of a fill twice: by itself, and in the average price of its order.
// If the two contradict each other the fill waits, like one that is missing, and the broker
// is asked. If it goes on to say both, the average decides.

// rounding returns by how much an average price is off that is not just rounded: by a cent, or
// a hundredth of a price below a dollar. As far as is known Alpaca tells averages to six
// decimals, so that less than the last of them is never too much.
func rounding(price exact.Decimal) exact.Decimal {
	return max(min(exact.One, price)/100, exact.One/1_000_000)
}

// next returns those of fills that follow what is known of o, one after the other. By its
// total a fill shows whether one before it is missing; those after that wait.
func (o *Order) next(s broker.State, fills []broker.Fill) (follow []broker.Fill) {
	known := o.FilledQuantity
	for _, f := range fills {
		if f.OrderID != s.ID || f.Total <= known {
			continue
		}
		if f.Total-f.Quantity != known {
			break
		}
		follow, known = append(follow, f), f.Total
	}
	return follow
}

// believed returns those of fills that follow what is known of o and whose prices can be
// right. None is if those that s has do not give its average together. Without an average to
// compare, as for those after s, a price that is worse than the limit of o is not believed,
// nor are those after it. Called with mu held.
func (e *Engine) believed(o *Order, s broker.State, fills []broker.Fill) []broker.Fill {
	fills = o.next(s, fills)
	compared := 1 + slices.IndexFunc(fills, func(f broker.Fill) bool { return f.Total == s.Filled && s.Average > 0 })
	if within := fills[:compared]; compared > 0 && (o.averageWith(within...)-s.Average).Abs() >= rounding(s.Average) {
		e.disbelieve(o, s, slices.MaxFunc(within, func(f, g broker.Fill) int {
			return cmp.Compare((f.Price - s.Average).Abs(), (g.Price - s.Average).Abs())
		}))
		return nil
	}
	for i, f := range fills {
		if i >= compared && o.worseThanLimit(f.Price) {
			e.disbelieve(o, s, f)
			return fills[:i]
		}
	}
	return fills
}

// disbelieve notes that the price of f cannot be right: f counts as missing until the broker
// says something else, or until its average decides. Called with mu held.
func (e *Engine) disbelieve(o *Order, s broker.State, f broker.Fill) {
	b, waiting := e.venue.behind[o.ID]
	if !waiting {
		b.since = time.Now()
	}
	if b.told != f.Price {
		e.log.Error("the price of a fill cannot be right: the broker is asked", "order", o.ID, "price", f.Price.String(), "average", s.Average.String())
	}
	b.told, b.filled = f.Price, max(b.filled, f.Total)
	e.venue.behind[o.ID] = b
}

// averageWith returns the average price of o with more fills: what was paid in all, over the
// quantity filled in all.
func (o *Order) averageWith(fills ...broker.Fill) exact.Decimal {
	paid, total := exact.Money{}, o.FilledQuantity
	if o.AveragePrice != nil {
		paid = exact.Product(o.FilledQuantity, *o.AveragePrice)
	}
	for _, f := range fills {
		paid, total = plus(paid, exact.Product(f.Quantity, f.Price)), f.Total
	}
	average, _ := paid.Per(total) // an average of prices is in the range of prices
	return average
}

// worseThanLimit reports whether o cannot have been filled at a price, because it is worse
// than its limit.
func (o *Order) worseThanLimit(price exact.Decimal) bool {
	return o.Price != nil && o.Side.sign(price-*o.Price) >= rounding(*o.Price)
}
