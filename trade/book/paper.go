package book

import (
	"math"

	"wick/internal/exact"
)

// The paper broker says what a market would have done with an order. Its answers depend on
// the order, the prices and the rules alone. It uses no random numbers, so the same journal
// and prices give the same fills.

// PaperName is the broker's name on paper orders and positions.
const PaperName = "paper"

// arrive returns the price at which o is filled on arrival when the market is at
// q; zero means that it rests. A market order is filled at the bid or ask, made worse
// by the slippage. So is a limit order whose limit the bid or ask has reached already,
// but at its limit if the slippage would go beyond it. All others rest.
func (b *Book) arrive(o *Order, q Quote) exact.Decimal {
	if o.Type.HasStop() || !b.offers(o, q) {
		return 0
	}
	return o.within(b.slip(o, q))
}

// offers reports whether the bid or ask is at the limit of o or better, before slippage.
func (b *Book) offers(o *Order, q Quote) bool {
	offered := b.offered(o, q)
	return o.within(offered) == offered
}

// slip returns the price at which o takes from the market: worse for the trader than
// the bid or ask by the slippage, and rounded to the tick, again to his disadvantage. A
// sell gets at least one tick, or all of a price that is below that: nothing is no price,
// and what was bought there must not be stuck.
func (b *Book) slip(o *Order, q Quote) exact.Decimal {
	slipped, from := b.worse(o, q, b.Rules.Slippage)
	if o.Side == Sell {
		slipped = max(slipped, min(from, max(b.Grid(o.Symbol).Tick, 1)))
	}
	return slipped
}

// offered returns the ask for an order that buys and the bid for one that sells
// when the market is at q.
func (b *Book) offered(o *Order, q Quote) exact.Decimal {
	offered, _ := b.worse(o, q, 0)
	return offered
}

// worse returns a price that is worse for the trader than ask or bid by the fraction slippage,
// rounded to the tick of the market to his disadvantage, and the price that it is computed
// from. If the source has told bid and ask, that is the ask for a buy or the bid for a sell;
// otherwise it is the price of the market, and half the spread is added to the slippage. A buy
// pays at most the highest tick in the range of exact numbers, or all of a price above that:
// what was sold there must not be stuck.
func (b *Book) worse(o *Order, q Quote, slippage exact.Decimal) (moved, from exact.Decimal) {
	from, by := q.Price, b.Rules.HalfSpread+slippage
	if b.Rules.Quoted && q.Bid != 0 {
		if from, by = q.Ask, slippage; o.Side == Sell {
			from = q.Bid
		}
	}
	tick, factor, to := b.Grid(o.Symbol).Tick, exact.One+by, exact.Up
	if o.Side == Sell {
		factor, to = exact.One-by, exact.Down
	}
	moved, ok := from.Times(factor, to)
	if ok {
		moved, ok = moved.Step(tick, to)
	}
	if !ok {
		moved, _ = exact.Decimal(math.MaxInt64).Step(tick, exact.Down)
		moved = max(moved, from)
	}
	return moved, from
}

// report returns a report that all of an order, a quantity, was filled at a price because of
// the mark. The value is rounded up to the last decimal, and so is the fee, which is rate times it.
func (b *Book) report(quantity, price, rate exact.Decimal, mark Quote) (Report, error) {
	fee, ok := quantity.Times(price, exact.Up)
	if ok {
		fee, ok = fee.Times(rate, exact.Up)
	}
	if !ok {
		return Report{}, Refuse("out_of_range", "%s at %s is beyond the range of exact numbers; lower the quantity", quantity, price)
	}
	return Report{Status: StatusFilled, Size: quantity, Price: price, Fee: fee, Mark: mark}, nil
}

// Estimate is what a person wants to know of an order before it is filled. It assumes the
// price that is most likely by what is known now, without slippage for an order that
// waits. If no price is known, all fields are zero.
type Estimate struct {
	Price exact.Decimal

	// Quantity is how much would be filled: the whole order, or nothing of an ioc or a fok
	// that the market has not reached.
	Quantity exact.Decimal

	Fee                  exact.Decimal // of the paper broker
	StopLoss, TakeProfit exact.Decimal // the prices at which the exits would stand
}

// Estimate returns the estimate of o, the answer to a dry run. The fee of a broker
// elsewhere is not known here, and stays zero. An order that takes what the market offers, now
// or later like a stop, pays the taker's rate; a limit that waits pays the maker's.
func (b *Book) Estimate(o Order) Estimate {
	x, rate := Estimate{Price: o.Worst(), Quantity: o.Quantity}, b.Rules.FeeRate
	switch {
	case o.Waits() && o.StopPrice == nil: // where it stands once its rule is true is not known
		return Estimate{}
	case o.AveragePrice != nil:
		x.Price = *o.AveragePrice
	case o.Type == Market: // at a broker elsewhere, which has not answered yet
		x.Price = b.slip(&o, b.Markets.Of(o.Symbol).Quote)
	case o.Type == StopLimit && !b.offers(&o, Quote{Price: *o.StopPrice}): // triggered at its stop, it rests at its limit
		rate = *b.Rules.MakerFeeRate
	case o.Waits():
		x.Price = *o.StopPrice
	default:
		rate = *b.Rules.MakerFeeRate
	}
	if x.Price == 0 {
		return Estimate{}
	}
	if o.Status.Terminal() {
		x.Quantity = o.FilledQuantity
	}
	if o.Account == "" {
		r, _ := b.report(x.Quantity, x.Price, rate, Quote{}) // in range: the dry run has made the same checks
		x.Fee = r.Fee
	}
	if o.StopLoss != nil {
		x.StopLoss, _ = o.StopLoss.At(x.Price, o.above(RoleStopLoss))
	}
	if o.TakeProfit != nil {
		x.TakeProfit, _ = o.TakeProfit.At(x.Price, o.above(RoleTakeProfit))
	}
	return x
}

// Worth returns what is filled is worth by the estimate, and false if that is out of range.
func (x Estimate) Worth() (exact.Decimal, bool) {
	return x.Quantity.Times(x.Price, exact.Up)
}

// EstimateBeside returns the estimate of the stop beside o, a limit. Nobody knows which of
// the two will be filled, so each has an estimate of its own.
func (b *Book) EstimateBeside(o Order, with OCO) Estimate { return b.Estimate(*o.partner(with)) }

// Arrival returns the highest price at which o may be filled if it arrives now, and zero if
// the market has not reached it. That is the price on arrival, or the price of the market:
// a limit that bid or ask have not reached waits, and is filled by the next trade, without
// slippage.
func (b *Book) Arrival(o Order) exact.Decimal {
	q := b.Markets.Of(o.Symbol).Quote
	price := b.arrive(&o, q)
	if later := b.offered(&o, Quote{Price: q.Price}); o.Type == Limit && o.within(later) == later {
		price = max(price, later)
	}
	return price
}
