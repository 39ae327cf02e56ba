package book

import (
	"wick/internal/exact"
)

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
// elsewhere is not known here, and stays zero.
func (b *Book) Estimate(o Order) Estimate {
	entry, rate := b.entry(&o)
	if entry == 0 {
		return Estimate{}
	}
	x := Estimate{Price: entry, Quantity: o.Quantity}
	if o.Status.Terminal() {
		x.Quantity = o.FilledQuantity
	}
	if o.Account == "" {
		r, _ := b.report(o.Status, x.Quantity, x.Price, rate) // in range: the dry run has made the same checks
		x.Fee = r.Fee
	}
	if o.StopLoss != nil {
		x.StopLoss, _ = o.StopLoss.At(entry, o.Side == Sell)
	}
	if o.TakeProfit != nil {
		x.TakeProfit, _ = o.TakeProfit.At(entry, o.Side == Buy)
	}
	return x
}

// Worth returns what is filled is worth by the estimate, and false if that is out of range.
func (x Estimate) Worth() (exact.Decimal, bool) {
	return x.Quantity.Times(x.Price, exact.Up)
}

// EstimateBeside returns the estimate of the stop beside o, a limit. Nobody knows which of
// the two will be filled, so each has an estimate of its own.
func (b *Book) EstimateBeside(o Order, with OCO) Estimate {
	return b.Estimate(*o.Partner(with))
}

// entry returns the price at which o would be filled, zero if it is not known, and the
// rate of its fee. An order that takes what the market offers, now or later like a stop,
// pays the taker's rate; a limit that waits pays the maker's.
func (b *Book) entry(o *Order) (price, rate exact.Decimal) {
	switch {
	case o.AveragePrice != nil:
		return *o.AveragePrice, b.Rules.FeeRate
	case o.Type == Market: // at a broker elsewhere, which has not answered yet
		return b.slip(o, b.Markets.Of(o.Symbol).Quote), b.Rules.FeeRate
	case o.Type == StopLimit:
		// Triggered at its stop, it takes what the market offers there, or rests at its
		// limit if the market is beyond that.
		if offered := b.offered(o, Quote{Price: *o.StopPrice}); o.Within(offered) != offered {
			return *o.Price, b.Rules.MakerFeeRate
		}
		return *o.StopPrice, b.Rules.FeeRate
	case o.Waits():
		return *o.StopPrice, b.Rules.FeeRate
	}
	return *o.Price, b.Rules.MakerFeeRate
}

// Arrival returns the highest price at which o may be filled if it arrives now, and zero if
// the market has not reached it. That is the price on arrival, or the price of the market:
// a limit that bid or ask have not reached waits, and is filled by the next trade, without
// slippage.
func (b *Book) Arrival(o Order) exact.Decimal {
	q := b.Markets.Of(o.Symbol).Quote
	price := b.arrive(&o, q)
	if later := b.offered(&o, Quote{Price: q.Price}); o.Type == Limit && o.Within(later) == later {
		price = max(price, later)
	}
	return price
}
