package book

import (
	"fmt"
	"math"
	"time"

	"wick/internal/exact"
)

// collarPatient is the factor by which a limit that waits may be away from the price: a
// buy at a fifth of it or more, a sell at five times of it or less. On the other side of
// the market a limit may be off by half the price.
const collarPatient = 5

// Check refuses o, the order that r asks for, if it is over any limit there is. Price is
// the market's, and fill the price at which the order would be filled on arrival, zero if
// it would rest. It changes nothing. A refusal names the limit
// and what would be within it.
func (b *Book) Check(r OrderRequest, o *Order, price, fill exact.Decimal, at Time) error {
	size, fits := b.Pending(o)
	if err := b.checkTrading(o, fits && Shrinks(b.Owned(o.Symbol), size)); err != nil {
		return err
	}
	if err := b.checkTerms(r, o, price, fill); err != nil {
		return err
	}
	if err := b.checkOpen(r, o, fill); err != nil {
		return err
	}
	return b.checkPace(r, at)
}

// checkTerms is check for the limits that only a different order could meet, because
// waiting does not help. The prices of o are known to be within the collar.
func (b *Book) checkTerms(r OrderRequest, o *Order, price, fill exact.Decimal) error {
	// The order is judged together with all open ones of its side, and at the highest
	// price that it could cost.
	size, fits := b.Pending(o)
	shrinks := fits && Shrinks(b.Owned(o.Symbol), size)
	worst := Worst(r, o, price, fill)
	if err := b.checkNotional(o, worst, shrinks); err != nil {
		return err
	}
	if err := b.checkReduceOnly(o, fill); err != nil {
		return err
	}
	if !fits {
		return Refuse("out_of_range", "%v; lower the %s", ErrOverflow, o.Measure())
	}
	return b.checkWorth(o, size, worst, shrinks)
}

// Worst returns the highest price that o, the order that r asks for, could cost. The
// market is at price and would fill it on arrival at fill, zero if it would rest.
func Worst(r OrderRequest, o *Order, price, fill exact.Decimal) exact.Decimal {
	worst := max(o.Worst(), fill, r.OCO.StopPrice, r.OCO.Price)
	if o.Type == TrailingStop {
		worst = max(worst, price) // its stop follows the market
	}
	return worst
}

// checkNotional refuses an order whose value, at the highest price that it could cost, is
// over the limit for one order, or whose size is below the least that the market takes.
//
// An order that can only reduce may be over that limit, so that a trader can leave a
// position that has grown. Any other order may not, even if it would only shrink the
// position now: by the time it is filled the position may be gone.
func (b *Book) checkNotional(o *Order, worst exact.Decimal, shrinks bool) error {
	most, grid := b.Rules.Limits.OrderNotional, b.Grid(o.Symbol)
	notional, fits := o.Quantity.Times(worst, exact.Up)
	least, _ := grid.MinQuantity(worst)
	switch {
	case !fits || notional > most && !o.Cut():
		largest, _ := most.Over(worst, exact.Down) // less than the quantity, so in range
		largest, _ = largest.Step(grid.Lot, exact.Down)
		advice := o.AtMost(largest)
		if largest == 0 {
			advice = fmt.Sprintf("the smallest step of this market, %s, is worth more", max(grid.Lot, 1))
		}
		return Refuse("max_order_notional", "the order is worth %s, over the limit of %s per order; %s", exact.Product(o.Quantity, worst), most, advice)
	case shrinks || o.Cut(): // what is left of a position may be less
	case notional < grid.Minimum:
		return Refuse("min_notional", "the order is worth %s, and this market takes none below %s; %s", notional, grid.Minimum, o.AtLeast(least))
	case o.Quantity < grid.Least:
		return Refuse("min_quantity", "the order is for %s, and this market takes none below %s; %s", o.Quantity, grid.Least, o.AtLeast(least))
	}
	return nil
}

// checkWorth refuses an order if the position would be worth too much once the signed
// size is filled, or if the account cannot pay for it and the open orders of its side.
func (b *Book) checkWorth(o *Order, size, worst exact.Decimal, shrinks bool) error {
	others := exact.Decimal(0)
	if !shrinks && !o.Cut() {
		if err := b.CheckPosition(o, size, worst, b.Rules.Limits.PositionNotional); err != nil {
			return err
		}
	}
	if !o.Cut() {
		_, others = b.openValue(o.Symbol, o.Side, o)
	}
	reserved, missing := b.reservedBut(o.Symbol)
	return b.checkAccount(o, spending{o.Quantity, worst, size - o.Side.Sign(o.Quantity), others}, reserved, missing...)
}

// checkOpen refuses an order if too many would be open, itself or, once it is filled, its
// exits.
func (b *Book) checkOpen(r OrderRequest, o *Order, fill exact.Decimal) error {
	l := b.Rules.Limits
	more := o.Slots()
	if fill != 0 {
		more = o.ExitCount() // it is filled at once
	}
	if more == 0 {
		return nil
	}
	if (r.OCO != OCO{}) {
		more = 2 // the stop beside it
	}
	if old := b.Order(o.Replaces); old != nil {
		more -= old.Slots() // the replaced order ends with this one
	}
	of := 0 // open orders of the symbol
	for _, open := range b.Open[o.Symbol] {
		of += open.Slots()
	}
	const counted = "an oco counts as two, and so does an entry with stop_loss and take_profit"
	switch {
	case of+more > l.OpenPerSymbol:
		return Refuse("max_open_orders_symbol", "%d orders of %s may be open (%s) and %d are; cancel one first", l.OpenPerSymbol, o.Symbol, counted, of)
	case b.Slots+more > l.Open:
		return Refuse("max_open_orders", "%d orders may be open (%s) and %d are; cancel one first", l.Open, counted, b.Slots)
	}
	return nil
}

// checkPace refuses an order that equals one of a few seconds ago, or one whose outcome is
// unknown, and has no client_order_id, and an order that comes too soon after the others.
func (b *Book) checkPace(r OrderRequest, at Time) error {
	if r.ClientOrderID == "" {
		switch o := b.repeats(r, at); {
		case o == nil:
		case o.Unknown():
			return Refuse("duplicate_order", "whether %s has the equal order %s is not known yet: get_orders will tell; if a second one is meant, "+
				"send it with a client_order_id of its own", o.Broker, o.ID)
		default:
			return Refuse("duplicate_order", "an equal order was accepted less than %d seconds ago; if a second one is meant, "+
				"send it with a client_order_id of its own", int(duplicateWindow.Seconds()))
		}
	}
	if b.rate.Wait(at.Time, b.Rules.orderRate()) > 0 {
		return Refuse("order_rate", "more than %d orders a second, after %d at once; wait a second", b.Rules.Limits.OrdersPerSecond, int(b.Rules.orderRate().Burst))
	}
	return nil
}

// checkCollars holds the prices of o, and of the stop beside it if there is one, to the
// collar.
func (b *Book) checkCollars(o *Order, with OCO, price exact.Decimal) error {
	tick := b.Grid(o.Symbol).Tick
	if err := checkCollar(o, price, tick); err != nil || with == (OCO{}) {
		return err
	}
	limit := *o // a copy, because partner changes it
	return checkCollar(limit.Partner(with), price, tick)
}

// checkCollar refuses a price so far from the market that it must be a typing
// error, and a stop that the market has passed already. The limit of a stop_limit
// is compared with its stop. The limits that a refusal says are allowed are on the tick
// of the market.
func checkCollar(o *Order, price, tick exact.Decimal) error {
	if o.Waits() && o.Type != TrailingStop {
		stop := *o.StopPrice
		switch {
		case o.Side == Buy && stop <= price, o.Side == Sell && stop >= price:
			return Refuse("stop_passed", "a %s stop of %s would be triggered at once at the price %s: a buy stop is above the price, a sell stop below it",
				o.Side, stop, price)
		case stop < price/collarPatient, stop > min(price, math.MaxInt64/collarPatient)*collarPatient:
			return Refuse("price_collar", "a stop of %s is too far from the price %s; a fifth to five times of it is allowed", stop, price)
		}
		// Once triggered, the order is placed at its stop, so its limit is measured
		// from there.
		price = stop
	}
	if o.Price == nil {
		return nil
	}
	// A buy may wait far below the market and reach half the price above it, a sell the
	// other way round. The min keeps the results within range.
	low, high := price/collarPatient, min(price, math.MaxInt64-price/2)+price/2
	if o.Side == Sell {
		low, high = price-price/2, min(price, math.MaxInt64/collarPatient)*collarPatient
	}
	if *o.Price < low || *o.Price > high {
		if first, ok := low.Step(tick, exact.Up); ok && first <= high {
			low = first
			high, _ = high.Step(tick, exact.Down)
		}
		return Refuse("price_collar", "a %s limit of %s is too far from the price %s; %s to %s is allowed", o.Side, *o.Price, price, low, high)
	}
	return nil
}

// checkTrading refuses an order that the trading state does not allow; shrinks says
// whether it can only shrink a position.
func (b *Book) checkTrading(o *Order, shrinks bool) error {
	switch {
	case b.Trading == Halted:
		return Refuse("trading_halted", "the owner has halted trading: %s; cancels still pass",
			b.Remote.resting("resting orders stay open and none is filled"))
	case b.Trading == Reducing && !shrinks && !o.Cut() && b.Tripped != "":
		return Refuse("max_daily_loss", "the account has reached the limit of the daily loss today, %s (--max-daily-loss), and %s: until 00:00 UTC only orders that shrink a position are taken; %s; %s",
			b.Rules.Limits.DailyLoss, b.lossNow(b.Tripped), Grows, b.Remote.resting("of the resting ones only those that shrink a position are filled"))
	case b.Trading == Reducing && !shrinks && !o.Cut():
		return Refuse("trading_reducing", "only orders that shrink a position are taken now; %s; %s; cancels still pass",
			Grows, b.Remote.resting("resting orders stay open and only those that shrink a position are filled"))
	}
	return nil
}

// checkReduceOnly refuses a reduce_only order if not all of it would reduce a position.
// There is one exception, on paper: a resting order that replaces an exit may be as large
// as that one, even if the position has become smaller, since a fill takes no more than the
// position has.
func (b *Book) checkReduceOnly(o *Order, fill exact.Decimal) error {
	held := b.Closable(o.Symbol)
	if !o.ReduceOnly || o.Closes(held) == o.Quantity {
		return nil
	}
	if old := b.Order(o.Replaces); o.Account == "" && fill == 0 && old != nil && old.ReduceOnly && old.Side == o.Side && o.Quantity <= old.Remaining().Abs() {
		return nil
	}
	lot := b.Grid(o.Symbol).Lot
	most, _ := held.Abs().Step(lot, exact.Down)
	switch {
	case held != b.Holdings[o.Symbol].Quantity, held == 0 && b.Excess(o.Symbol) != 0:
		return b.NotHeld(o.Symbol)
	case held == 0:
		return Refuse("reduce_only", "there is no position in %s to reduce, and a reduce_only %s of %s would open one", o.Symbol, o.Side, o.Quantity)
	case most == 0:
		return Refuse("reduce_only", `the position in %s is %s, less than the market's step of %s, and a reduce_only %s of %s is more; quantity "all" closes it`,
			o.Symbol, held, lot, o.Side, o.Quantity)
	case (held > 0) == (o.Side == Buy):
		return Refuse("reduce_only", "the position in %s is %s, and a reduce_only %s of %s would grow it; a %s of at most %s reduces it",
			o.Symbol, held, o.Side, o.Quantity, o.Side.Other(), most)
	}
	return Refuse("reduce_only", "the position in %s is %s, and a reduce_only %s of %s would turn it around; at most %s reduces it",
		o.Symbol, held, o.Side, o.Quantity, most)
}

// checkRests refuses an order that must not be filled on arrival but would be: one that
// is post_only, and the limit of an oco, because its stop would be left with nothing to
// protect. Fill is the price at which it would be filled, zero if it would rest; price is
// the market's.
func checkRests(o *Order, with OCO, fill, price exact.Decimal) error {
	switch {
	case fill == 0:
		return nil
	case o.PostOnly:
		return Refuse("post_only", "the market at %s has reached the limit of %s, and a post_only order must not fill at once: choose a limit further away",
			price, *o.Price)
	case with != OCO{}:
		return Refuse("bad_oco", "the market at %s has reached the limit of %s, which would fill at once and leave nothing for the stop beside it: "+
			"the limit of a sell is above the market and its stop below it, of a buy the other way round", price, *o.Price)
	}
	return nil
}

// duplicateWindow is how long after an order an equal one of the same client is refused if
// it has no client_order_id: models repeat a call within seconds when they missed the
// answer, and seldom mean a second order.
const duplicateWindow = 5 * time.Second

// repeats returns an order equal to r and of the same client that was accepted within
// duplicateWindow, or whose outcome at a broker is unknown, or nil. Whether that one has an
// id does not matter: a model may leave it out when it repeats a call. It looks at the orders
// of the journal, so it also notices a call that is repeated after a restart or with a new
// login.
func (b *Book) repeats(r OrderRequest, at Time) *Order {
	by := r.Who.Short()
	equal := func(o *Order) bool { return o.Symbol == r.Symbol && o.Same(r) && o.By.SameClient(by) }
	for _, o := range b.Open[r.Symbol] {
		if o.Unknown() && equal(o) {
			return o
		}
	}
	for i := len(b.Orders) - 1; i >= 0; i-- {
		o := b.Orders[i]
		// An exit has the time of its entry, though it may have come into the book later.
		if o.Group != "" && o.Group != o.ID {
			continue
		}
		age := at.Sub(o.CreatedAt.Time)
		if age >= duplicateWindow {
			return nil // all orders before it are as old
		}
		if r.All && o.Status.Terminal() { // it has closed the position that there was: this is another one
			continue
		}
		// If an order seems to come from the future, the clock was set back after it.
		if age > -duplicateWindow && equal(o) {
			return o
		}
	}
	return nil
}
