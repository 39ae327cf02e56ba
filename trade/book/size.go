package book

import (
	"cmp"

	"wick/internal/exact"
)

// Sizing says how the quantity of an order was computed from what its client gave in place of
// one: a percentage, or a risk. Sums are in the quote currency.
type Sizing struct {
	Percent exact.Decimal `json:"percent,omitempty"`
	Of      string        `json:"of,omitempty"`     // what it is a percentage of: position, buying_power or equity
	Amount  exact.Decimal `json:"amount,omitempty"` // how much there was of that

	// Of a risk: the quantity is the risk divided by the sum of the next three fields, which are
	// for one unit, rounded down to the step of the market. The slippage of the entry is in its
	// price, that of the stop is told apart.
	Risk     exact.Decimal `json:"risk,omitempty"`
	Distance exact.Decimal `json:"distance,omitempty"` // from the entry to the stop
	Slippage exact.Decimal `json:"slippage,omitempty"` // of the stop
	Fees     exact.Money   `json:"fees,omitzero"`      // in and out
	Entry    exact.Decimal `json:"entry,omitempty"`    // the price at which the order is likely to be filled
	Stop     exact.Decimal `json:"stop,omitempty"`
}

// unit returns what is lost on one unit if the stop is filled.
func (s *Sizing) unit() exact.Money { return plus((s.Distance + s.Slippage).Money(), s.Fees) }

// size sets the quantity of o if r says how much in another way: as a value, at the price at which
// o may be filled when the market is at q; as all or a part of the position that it closes; as a
// part of the buying power; or as what may be lost at its stop. What is computed is rounded down to
// lot, the step of quantities. Fill is the price at which o is filled on arrival, zero if it waits.
func (b *Book) size(o *Order, r *OrderRequest, q Quote, fill, lot exact.Decimal) error {
	held := b.Holdings[o.Symbol].Quantity
	against := held != 0 && (held < 0) == (o.Side == Buy)
	switch {
	case r.All, r.Share != 0 && against:
		return b.sizeOfPosition(o, r, lot)
	case r.Share != 0:
		return b.sizeOfPower(o, r, Worst(*r, o, q.Price, fill), lot)
	case r.Risk != Stake{} && against:
		return Refuse("bad_risk", "the position in %s is %s, and a %s closes some of it: risk sizes an order that opens a position; close that one first, or give quantity", o.Symbol, held, o.Side)
	case r.Risk != Stake{}:
		return b.sizeOfRisk(o, r.Risk, fill, lot)
	case r.Notional == 0:
		return nil
	}
	// A market order at the price with slippage, every other at its own price; rounded down, so
	// that it never costs more.
	at := cmp.Or(o.Worst(), b.slip(o, q))
	quantity, ok := r.Notional.Over(at, exact.Down)
	quantity, _ = quantity.Step(lot, exact.Down)
	if !ok {
		return Refuse("out_of_range", "a notional of %s at %s is beyond the range of exact numbers; lower it", r.Notional, at)
	}
	if quantity == 0 {
		least, _ := b.least(o, at, lot)
		value, _ := least.Times(at, exact.Up)
		return Refuse("bad_quantity", "a notional of %s buys nothing at %s; the least is %s", r.Notional, at, value)
	}
	o.Quantity = quantity
	return nil
}

// least returns the smallest quantity of o that its market and its venue, whose step is lot, take
// at a price; and false if it is out of range.
func (b *Book) least(o *Order, price, lot exact.Decimal) (exact.Decimal, bool) {
	g := b.Grid(o.Symbol)
	g.Lot = lot
	return g.minQuantity(price)
}

// sizeOfPosition sets the quantity of o to all or a part of the position that it closes.
func (b *Book) sizeOfPosition(o *Order, r *OrderRequest, lot exact.Decimal) error {
	held := b.Closable(o.Symbol)
	switch {
	case held != b.Holdings[o.Symbol].Quantity && b.Unsettled(o.Symbol):
		return Later.Refuse("reduce_only", "this book's position in %s is being compared with the account at %s; try again in a few seconds, or close at most %s by reduce_only",
			o.Symbol, b.Remote.Name, held.Abs())
	case held == 0 && b.Excess(o.Symbol) != 0:
		return b.notHeld(o.Symbol)
	case held == 0:
		return Refuse("no_position", "there is no position in %s to close", o.Symbol)
	case (held < 0) == (o.Side == Sell):
		return Refuse("bad_side", "the position in %s is %s: the other side closes it", o.Symbol, held)
	case r.All:
		o.Quantity = held.Abs()
		return nil
	}
	o.Sizing = &Sizing{Percent: r.Share, Of: "position", Amount: held.Abs()}
	if o.Quantity = held.Abs(); r.Share != 100*exact.One {
		o.Quantity, _ = held.Abs().Percent(r.Share, exact.Down) // no more than is held, so in range
		o.Quantity, _ = o.Quantity.Step(lot, exact.Down)
	}
	if o.Quantity == 0 {
		return Refuse("bad_quantity", `%s%% of the position of %s is less than the smallest step, %s; quantity "all" closes it`, r.Share, held.Abs(), max(lot, 1))
	}
	return nil
}

// sizeOfPower sets the quantity of o, which opens or grows a position, to the most that a part of
// the buying power pays for, its fee included, if it is filled at its highest price.
func (b *Book) sizeOfPower(o *Order, r *OrderRequest, price, lot exact.Decimal) error {
	power, err := b.spendable(o)
	if err != nil {
		return err
	}
	o.Sizing = &Sizing{Percent: r.Share, Of: "buying_power", Amount: power}
	part, _ := power.Percent(r.Share, exact.Down)
	if most, ok := part.Over(price, exact.Down); ok {
		o.Quantity, _ = most.Step(lot, exact.Down)
	} else {
		return Refuse("out_of_range", "%s at %s is beyond the range of exact numbers; lower the quantity", part, price)
	}
	if o.Account == "" { // the fee of a broker is not known
		o.Quantity = b.affords(o, spending{quantity: o.Quantity, price: price}, part, lot)
	}
	if o.Quantity == 0 {
		least, _ := b.least(o, price, lot)
		return Refuse("bad_quantity", "%s%% of the buying power, %s, is %s, which buys nothing at %s; the least is a quantity of %s", r.Share, power, part, price, least)
	}
	return nil
}

// spendable returns the buying power that there is for o, beside all open orders but the one that it
// replaces.
func (b *Book) spendable(o *Order) (exact.Decimal, error) {
	switch {
	case b.Remote.Name != "":
		return max(b.Remote.Statement.BuyingPower, 0), nil
	case b.Rules.Account.Cash == 0:
		return 0, Refuse("bad_quantity", "there is no account whose buying power a percentage could be of, and no position in %s that a %s closes a part of: give a quantity in units, or notional", o.Symbol, o.Side)
	}
	l := b.ledger()
	reserved, missing := b.reservedBut(o.Symbol)
	left, ok := b.power(l)
	if !ok || len(missing) > 0 {
		return 0, Refuse("no_price", "what the account is worth is not known: %s", l.unknown(missing...))
	}
	own, _ := b.reserves(o.Symbol, o)
	return max(left-together(reserved, own), 0), nil
}

// sizeOfRisk sets the quantity of o, an entry with a stop_loss, so that what is lost if it is
// filled and then its stop is r at most, fees and slippage included.
func (b *Book) sizeOfRisk(o *Order, r Stake, fill, lot exact.Decimal) error {
	s := &Sizing{Percent: r.Percent, Risk: r.Amount}
	if r.Percent != 0 {
		equity, err := b.equity()
		if err != nil {
			return err
		}
		s.Of, s.Amount = "equity", equity
		s.Risk, _ = equity.Percent(r.Percent, exact.Down)
	}
	var rate exact.Decimal // of the entry
	s.Entry, rate = b.entry(o, fill)
	at, ok := o.StopLoss.At(s.Entry, o.above(RoleStopLoss))
	if !ok {
		return Refuse("bad_exit", "a stop_loss of %s does not go with an entry at %s; choose a smaller distance", o.StopLoss.written(), s.Entry)
	}
	out := b.slip(&Order{Symbol: o.Symbol, Side: o.Side.Other()}, Quote{Price: at})
	s.Stop, s.Distance, s.Slippage = at, (s.Entry - at).Abs(), (at - out).Abs()
	if o.Account == "" { // the fee of a broker is not known
		s.Fees = plus(exact.Product(s.Entry, rate), exact.Product(out, b.Rules.FeeRate))
	}
	quantity, fits := s.Risk.Money().Ratio(s.unit(), exact.Down)
	quantity, _ = quantity.Step(lot, exact.Down)
	if !fits {
		return Refuse("out_of_range", "a risk of %s at a distance of %s is beyond the range of exact numbers; lower it", s.Risk, s.Distance)
	}
	if least, ok := b.least(o, s.Entry, lot); !ok || quantity < least {
		unit, _ := s.unit().PerUp(exact.One)
		smallest, _ := unit.Times(least, exact.Up)
		return Refuse("bad_risk", "a risk of %s is for a quantity of %s, and this market takes none below %s: the smallest risk with this stop_loss is %s", s.Risk, quantity, least, smallest)
	}
	o.Quantity, o.Sizing = quantity, s
	return nil
}

// equity returns what the account is worth.
func (b *Book) equity() (exact.Decimal, error) {
	l := b.ledger()
	equity, ok := l.Equity.Per(exact.One)
	switch {
	case b.Remote.Name != "":
		equity = b.Remote.Statement.Equity
	case b.Rules.Account.Cash == 0:
		return 0, Refuse("bad_risk", "there is no account whose equity a percentage could be of: give the risk as an amount of money")
	case !ok || !l.whole:
		return 0, Refuse("no_price", "what the account is worth is not known: %s", l.unknown())
	}
	if equity <= 0 {
		return 0, Refuse("bad_risk", "the account is worth %s: there is nothing to risk", equity)
	}
	return equity, nil
}

// entry returns the price at which o is likely to be filled, with slippage if it takes from the
// market, and the rate of its fee. Fill is the price at which it is filled on arrival, zero if it
// waits.
func (b *Book) entry(o *Order, fill exact.Decimal) (price, rate exact.Decimal) {
	switch {
	case fill != 0:
		return fill, b.Rules.FeeRate
	case o.Waits() && (o.Type != StopLimit || b.offers(o, Quote{Price: *o.StopPrice})):
		return o.within(b.slip(o, Quote{Price: *o.StopPrice})), b.Rules.FeeRate
	}
	return o.Worst(), *b.Rules.MakerFeeRate
}

// Breakeven says how the stop price of an order was computed at which the position comes out even.
type Breakeven struct {
	Entry    exact.Decimal `json:"entry"`    // average price of the position
	Fees     exact.Money   `json:"fees"`     // for one unit: those that were paid for what is held, and that of the stop
	Slippage exact.Decimal `json:"slippage"` // of the stop, for one unit
}

// breakeven sets the stop price of o, which leaves the position, so that nothing is lost on what is
// held now if the stop is filled there: what was paid for it and the fees of that, with slippage and
// the fee of the stop, rounded to the tick against a loss. What earlier parts of the position made
// does not count. A stop that the market has passed by now is refused: there is a loss already.
func (b *Book) breakeven(o *Order, q Quote) error {
	h := b.Holdings[o.Symbol]
	switch {
	case h.Quantity == 0:
		return Refuse("no_position", "there is no position in %s that could come out even", o.Symbol)
	case (h.Quantity < 0) == (o.Side == Sell):
		return Refuse("bad_side", "the position in %s is %s: the other side leaves it, and only that has a breakeven", o.Symbol, h.Quantity)
	}
	tick, rate, slip, size := b.Grid(o.Symbol).Tick, b.Rules.FeeRate, b.Rules.HalfSpread+b.Rules.Slippage, h.Quantity.Abs()
	if o.Account != "" {
		rate = 0
	}
	// What each unit must fetch before its fee, and then where the stop stands that is filled there.
	// Both are rounded to the tick, so that the second is never filled at less than the first.
	sum, to, fee, slipped := plus(h.Cost, h.Paid), exact.Up, exact.One-rate, exact.One-slip
	if o.Side == Buy {
		sum, to, fee, slipped = Minus(h.Cost.Neg(), h.Paid), exact.Down, exact.One+rate, exact.One+slip
	}
	even, ok := exact.Decimal(0), false
	if sum.Sign() > 0 {
		even, ok = sum.Ratio(exact.Product(size, fee), to)
	}
	stop := exact.Decimal(0)
	if ok {
		even, ok = even.Step(tick, to)
	}
	if ok {
		stop, ok = even.Over(slipped, to)
	}
	if ok {
		stop, ok = stop.Step(tick, to)
	}
	entry, _ := h.Cost.Per(h.Quantity)
	switch {
	case !ok || stop <= 0:
		return Refuse("bad_price", "the fees of the position in %s are more than it is worth: there is no price at which it comes out even", o.Symbol)
	case o.Side == Sell && stop >= q.Price, o.Side == Buy && stop <= q.Price:
		return Refuse("stop_passed", "the position in %s comes out even at a stop of %s (its average price is %s), and the market at %s is not beyond that: such a stop would be triggered at once", o.Symbol, stop, entry, q.Price)
	}
	in, _ := h.Paid.Per(size)
	o.StopPrice = &stop
	o.Breakeven = &Breakeven{Entry: entry, Fees: plus(in.Money(), exact.Product(even, rate)), Slippage: (stop - even).Abs()}
	return nil
}
