package trade

import (
	"math"

	"wick/exact"
)

// collarPatient is how many times away from the price a limit may wait. On the
// other side, through the market, it may stand by half the price.
const collarPatient = 5

// check holds o, the order that r asks for, to every limit there is, in the order in
// which they are judged; price is that of the market, and fill that at which the order
// would be filled on arrival, zero if it would rest. It is called with mu held and
// changes nothing. A refusal names the limit and what would be within it.
func (e *Engine) check(r OrderRequest, o *Order, price, fill exact.Decimal, at Time) error {
	size, fits := e.ahead.pending(o)
	if err := e.checkTrading(o, fits && shrinks(e.ahead.holdings[o.Symbol].Quantity, size)); err != nil {
		return err
	}
	if err := e.checkTerms(r, o, price, fill); err != nil {
		return err
	}
	if err := e.checkOpen(r, o, fill); err != nil {
		return err
	}
	return e.checkPace(r, at)
}

// checkTerms is check for the limits that only another order can meet, whose prices are
// within the collar: waiting does not help.
func (e *Engine) checkTerms(r OrderRequest, o *Order, price, fill exact.Decimal) error {
	// The order is judged together with all open ones of its side, and at the highest
	// price that it could cost.
	size, fits := e.ahead.pending(o)
	shrinks := fits && shrinks(e.ahead.holdings[o.Symbol].Quantity, size)
	worst := r.worst(o, price, fill)
	if err := e.checkSize(o, worst, shrinks); err != nil {
		return err
	}
	if err := e.checkReduceOnly(o, fill); err != nil {
		return err
	}
	if !fits {
		return refuse("out_of_range", fixIt, "%v; lower the quantity", errOverflow)
	}
	return e.checkWorth(o, size, worst, shrinks)
}

// worst returns the highest price that o, the order that r asks for, could cost when the
// market is at price and would fill it on arrival at fill.
func (r OrderRequest) worst(o *Order, price, fill exact.Decimal) exact.Decimal {
	worst := max(o.worst(), fill, r.OCO.StopPrice, r.OCO.Price)
	if o.Type == TrailingStop {
		worst = max(worst, price) // its stop follows the market
	}
	return worst
}

// checkSize holds the value of an order, at the highest price that it could cost, to
// the limit for one order, and its size to the least that the market takes. What can only
// reduce a position passes that limit: a trader gets out of one that has grown. Only
// reduce_only says so: of any other order a part may wait, also of a market order for which
// too little was traded, and the position may be gone by then.
func (e *Engine) checkSize(o *Order, worst exact.Decimal, shrinks bool) error {
	most, grid := e.options.Limits.OrderNotional, e.paper.grid(o.Symbol)
	notional, fits := o.Quantity.Times(worst, exact.Up)
	least, _ := grid.least(worst)
	switch {
	case !fits || notional > most && !o.ReduceOnly:
		quantity, _ := most.Over(worst, exact.Down)
		quantity, _ = quantity.Step(grid.Lot, exact.Down)
		advice := ""
		if fits && shrinks {
			advice = ", or say reduce_only, which may be larger"
		}
		return refuse("max_order_notional", fixIt, "the order is worth %s, over the limit of %s per order; lower the quantity to at most %s%s",
			exact.Product(o.Quantity, worst), most, quantity, advice)
	case shrinks || o.ReduceOnly: // what is left of a position may be less
	case notional < grid.Minimum:
		return refuse("min_notional", fixIt, "the order is worth %s, and this market takes none below %s; raise the quantity to at least %s", notional, grid.Minimum, least)
	case o.Quantity < grid.Least:
		return refuse("min_quantity", fixIt, "the order is for %s, and this market takes none below %s; raise the quantity to at least %s", o.Quantity, grid.Least, least)
	}
	return nil
}

// checkWorth bounds what the position may be worth once the signed size is filled, and
// holds the order, with the open ones of its side, to what the account can pay.
func (e *Engine) checkWorth(o *Order, size, worst exact.Decimal, shrinks bool) error {
	s, value := e.ahead, worth(o.Quantity, worst)
	if !shrinks && !o.ReduceOnly {
		if err := s.checkPosition(o.Symbol, size, worst, e.options.Limits.PositionNotional); err != nil {
			return err
		}
	}
	if !o.ReduceOnly {
		_, others := e.openValue(s, o.Symbol, o.Side, o)
		value = together(value, others)
	}
	return e.checkAccount(o, size, value, e.reservedBut(s, o.Symbol))
}

// checkOpen refuses an order that would rest beside too many.
func (e *Engine) checkOpen(r OrderRequest, o *Order, fill exact.Decimal) error {
	l, s := e.options.Limits, e.ahead
	if fill != 0 && e.available(o) >= o.Quantity {
		return nil // it is filled at once
	}
	more := 0 // how many it adds to those that are open, less the new one itself
	if o.Replaces != "" {
		more = -1 // which ends with this one
	}
	if (r.OCO != OCO{}) {
		more++ // the stop beside it
	}
	switch {
	case len(s.open[o.Symbol])+more >= l.OpenPerSymbol:
		return refuse("max_open_orders_symbol", later, "%d orders of %s may be open (an oco counts as two) and %d are; cancel one first", l.OpenPerSymbol, o.Symbol, len(s.open[o.Symbol]))
	case s.openCount+more >= l.Open:
		return refuse("max_open_orders", later, "%d orders may be open (an oco counts as two) and %d are; cancel one first", l.Open, s.openCount)
	}
	return nil
}

// checkPace refuses an order that equals one of a few seconds ago and bears no id of
// its own, and one that comes too soon after the others.
func (e *Engine) checkPace(r OrderRequest, at Time) error {
	if r.ClientOrderID == "" && e.repeats(r, at) {
		return refuse("duplicate_order", later, "an equal order was accepted less than %d seconds ago; if a second one is meant, "+
			"send it with a client_order_id of its own", int(duplicateWindow.Seconds()))
	}
	if e.rate.Wait(at.Time, e.orderRate()) > 0 {
		return refuse("order_rate", later, "more than %d orders a second; wait a second", e.options.Limits.OrdersPerSecond)
	}
	return nil
}

// checkPrices holds the prices of o, and of the stop beside it if there is one, to the
// collar.
func (e *Engine) checkPrices(o *Order, with OCO, price exact.Decimal) error {
	tick := e.paper.grid(o.Symbol).Tick
	if err := checkCollar(o, price, tick); err != nil || with == (OCO{}) {
		return err
	}
	limit := *o // partner makes it one of a group
	return checkCollar(limit.partner(with), price, tick)
}

// checkCollar refuses a price so far from the market that it must be a typing
// error, and a stop that the market has passed already. The limit of a stop_limit
// is judged by its stop. What it says is allowed stands on the tick of the market.
func checkCollar(o *Order, price, tick exact.Decimal) error {
	if o.waits() && o.Type != TrailingStop {
		stop := *o.StopPrice
		switch {
		case o.Side == Buy && stop <= price, o.Side == Sell && stop >= price:
			return refuse("stop_passed", fixIt, "a %s stop of %s would be triggered at once at the price %s: a buy stop is above the price, a sell stop below it",
				o.Side, stop, price)
		case stop < price/collarPatient, stop > min(price, math.MaxInt64/collarPatient)*collarPatient:
			return refuse("price_collar", fixIt, "a stop of %s is too far from the price %s; a fifth to five times of it is allowed", stop, price)
		}
		// Once triggered, the order is placed at its stop, so its limit is measured
		// from there.
		price = stop
	}
	if o.Price == nil {
		return nil
	}
	// A buy may wait far below the market and reach half above it, a sell the other way
	// round. The min keeps the products within range.
	low, high := price/collarPatient, min(price, math.MaxInt64-price/2)+price/2
	if o.Side == Sell {
		low, high = price-price/2, min(price, math.MaxInt64/collarPatient)*collarPatient
	}
	if *o.Price < low || *o.Price > high {
		if first, ok := low.Step(tick, exact.Up); ok && first <= high {
			low = first
			high, _ = high.Step(tick, exact.Down)
		}
		return refuse("price_collar", fixIt, "a %s limit of %s is too far from the price %s; %s to %s is allowed", o.Side, *o.Price, price, low, high)
	}
	return nil
}

// checkTrading refuses an order, which shrinks a position or does not, that the
// trading state does not allow.
func (e *Engine) checkTrading(o *Order, shrinks bool) error {
	s, l := e.ahead, e.options.Limits
	switch {
	case s.trading == Halted:
		return refuse("trading_halted", later, "the owner has halted trading (file HALT in the data directory): %s; cancels still pass",
			e.venue.resting("resting orders stay open and none is filled"))
	case s.trading == Reducing && !shrinks && !o.ReduceOnly && s.tripped != "":
		return refuse("max_daily_loss", later, "the account has lost %s or more today (--max-daily-loss): until 00:00 UTC only orders that shrink a position are taken; %s; %s",
			l.DailyLoss, grows, e.venue.resting("of the resting ones only those that shrink a position are filled"))
	case s.trading == Reducing && !shrinks && !o.ReduceOnly:
		return refuse("trading_reducing", later, "only orders that shrink a position are taken now; %s; %s; cancels still pass",
			grows, e.venue.resting("resting orders stay open and only those that shrink a position are filled"))
	}
	return nil
}

// checkReduceOnly refuses an order that may only reduce a position and could not.
// On paper, one that waits in the place of another of its group may be as large as
// that was, although the position has become smaller: [Engine.replace] allows for no
// other quantity, and what is too much is cut when it is filled.
func (e *Engine) checkReduceOnly(o *Order, fill exact.Decimal) error {
	s := e.ahead
	held := s.holdings[o.Symbol].Quantity
	if !o.ReduceOnly || reducible(held, o.remaining()) == o.Quantity {
		return nil
	}
	if old := s.order(o.Replaces); e.venue == nil && fill == 0 && o.Role != "" && old != nil && old.ReduceOnly {
		return nil
	}
	most, _ := held.Abs().Step(e.paper.grid(o.Symbol).Lot, exact.Down)
	switch {
	case held == 0:
		return refuse("reduce_only", fixIt, "there is no position in %s to reduce, and a reduce_only %s of %s would open one", o.Symbol, o.Side, o.Quantity)
	case (held > 0) == (o.Side == Buy):
		return refuse("reduce_only", fixIt, "the position in %s is %s, and a reduce_only %s of %s would grow it; a %s of at most %s reduces it",
			o.Symbol, held, o.Side, o.Quantity, o.Side.other(), most)
	}
	return refuse("reduce_only", fixIt, "the position in %s is %s, and a reduce_only %s of %s would turn it around; at most %s reduces it",
		o.Symbol, held, o.Side, o.Quantity, most)
}

// pending returns the signed quantity that would be filled if o and all open
// orders of its side were, and false if it leaves the range. Limits are judged by
// it: several orders that each close a position would together turn it around.
// Which of them count, [state.counts] says. An order that can only reduce is alone,
// and never more than the position.
func (s *state) pending(o *Order) (exact.Decimal, bool) {
	sum, ok := o.remaining(), true
	if o.ReduceOnly {
		return o.Side.sign(reducible(s.holdings[o.Symbol].Quantity, sum)), true
	}
	for _, id := range s.open[o.Symbol] {
		if other := s.order(id); other.Side == o.Side && s.counts(other, o) && ok {
			sum, ok = sum.Add(other.remaining())
		}
	}
	return sum, ok
}

// checkFill holds the fill of a resting order to the limit of the position once
// more. As on acceptance its own price is the one that counts.
func (s *state) checkFill(o *Order, quantity, price, most exact.Decimal) error {
	size := o.Side.sign(quantity)
	if shrinks(s.holdings[o.Symbol].Quantity, size) {
		return nil
	}
	return s.checkPosition(o.Symbol, size, price, most)
}

// checkPosition bounds what the position would be worth at price after fills of
// the signed size.
func (s *state) checkPosition(symbol string, size, price, most exact.Decimal) error {
	after, ok := s.holdings[symbol].Quantity.Add(size)
	if notional, fits := after.Abs().Times(price, exact.Up); !ok || !fits || notional > most {
		return refuse("max_position_notional", fixIt, "the position in %s, open orders included, would be worth %s, over the limit of %s; lower the quantity",
			symbol, exact.Product(after.Abs(), price), most)
	}
	return nil
}
