package trade

import "wick/exact"

// Estimate is what a person wants to know of an order before it is filled. Each is as
// if the order were filled whole at the price it would have now, and zero where that
// is not known.
type Estimate struct {
	Fee                  exact.Decimal // of the paper broker
	StopLoss, TakeProfit exact.Decimal // the prices at which the exits would stand
}

// Estimate returns the estimate of o, the answer to a dry run. An order that takes from
// the market, also later as a stop does, pays the fee for that, and a limit that waits
// the maker's. What a broker elsewhere takes is not known here.
func (e *Engine) Estimate(o Order) Estimate {
	entry, rate := o.worst(), e.paper.makerRate
	if o.AveragePrice != nil {
		entry = *o.AveragePrice
	}
	if o.AveragePrice != nil || o.waits() || o.takes() {
		rate = e.paper.feeRate
	}
	var x Estimate
	if entry == 0 { // a market order for which too little was traded: where it ends up is not known
		return x
	}
	// Nothing here is out of range: the checks of the dry run were the same.
	if r, err := e.paper.report(o.Status, o.Quantity, entry, rate); err == nil && o.Account == "" {
		x.Fee = r.fee
	}
	if o.StopLoss != nil {
		x.StopLoss, _ = o.StopLoss.at(entry, o.Side == Sell)
	}
	if o.TakeProfit != nil {
		x.TakeProfit, _ = o.TakeProfit.at(entry, o.Side == Buy)
	}
	return x
}
