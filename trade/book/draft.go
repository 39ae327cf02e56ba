package book

import (
	"cmp"
	"strings"
	"time"

	"wick/internal/exact"
)

// Draft returns the order that r asks for now, the price that it is judged by, and
// the price at which it would be filled on arrival; zero means that it rests. Asked
// is what came of asking the source for the newest price just now. While the exchange is
// closed, or nothing was traded for too long, an order that would be filled now is refused;
// one that rests can wait for the next trade. While the market is halted every order is
// refused: it may never trade again.
func (b *Book) Draft(r OrderRequest, asked Inquiry, at Time) (o *Order, q Quote, fill exact.Decimal, err error) {
	listed := b.Markets.Of(r.Symbol)
	if err := listed.checkHalted(r.Symbol); err != nil {
		return nil, q, 0, err
	}
	q, closed := listed.fresh(r.Symbol, at, b.Rules.MaxPriceAge, asked)
	if closed != nil && q.Price == 0 {
		return nil, q, 0, closed
	}
	if o, fill, err = b.newOrder(r, q, at); err == nil && fill != 0 {
		err = closed
	}
	if err == nil && r.Approval != nil {
		o.Evidence, err = r.Approval.Evidence, r.Approval.Covers(o, fill, at)
	}
	return o, q, fill, err
}

// newOrder builds the order that r asks for when the market is at q, and returns it with
// the price at which it would be filled on arrival. It changes nothing: an order that a
// later check refuses leaves no trace.
func (b *Book) newOrder(r OrderRequest, q Quote, at Time) (o *Order, fill exact.Decimal, err error) {
	o = &Order{
		ID: b.NewID("o"), ClientOrderID: r.ClientOrderID, Symbol: r.Symbol, Side: r.Side, Type: r.Type,
		Quantity: r.Quantity, Status: StatusOpen, Broker: b.BrokerName(), Account: b.Remote.Account, CreatedAt: at, By: r.Who.Short(), Worth: r.Worth, Synthetic: q.Synthetic,
		TrailAmount: r.TrailAmount, TrailPercent: r.TrailPercent, TimeInForce: r.TimeInForce, PostOnly: r.PostOnly,
		Notional: r.Notional, Replaces: r.Replaces, Asked: r.Asked(), Turn: b.Seq + 1,
	}
	if r.Type.HasLimit() {
		o.Price = &r.Price
	}
	switch {
	case r.Type == TrailingStop:
		stop, ok := o.Trailing(q.Price, b.Grid(o.Symbol))
		if !ok {
			return nil, 0, Refuse("bad_trail", "the distance is larger than the price %s; choose a smaller one", q.Price)
		}
		o.StopPrice = &stop
	case r.Type.HasStop():
		o.StopPrice = &r.StopPrice
	}
	held := b.Holdings[o.Symbol].Quantity
	if r.All {
		held = b.Closable(o.Symbol)
	}
	if r.Held != nil && held != *r.Held {
		return nil, 0, Refuse("position_changed", "the position in %s changed from %s to %s while the order was on its way; place it anew", o.Symbol, r.Held, held)
	}
	// The order of these steps matters: the quantity of an order by value needs its
	// price, and the exits need the price of the entry. A price that cannot be meant is
	// refused before anything that follows from it.
	if err := b.Grid(o.Symbol).Check(&r); err != nil {
		return nil, 0, err
	}
	if err := b.checkCollars(o, r.OCO, q.Price); err != nil {
		return nil, 0, err
	}
	o.ExpiresAt = b.expiry(r, at)
	if err := b.size(o, r, q); err != nil {
		return nil, 0, err
	}
	fill = b.arrive(o, q)
	if o.ReduceOnly, err = b.isExit(o, r, fill); err != nil {
		return nil, 0, err
	}
	if err := b.exits(o, r, cmp.Or(fill, o.Worst())); err != nil {
		return nil, 0, err
	}
	return o, fill, b.replace(o, r)
}

// size sets the quantity of o if r says how much in another way: as a value, at the
// price at which o may be filled when the market is at q, or as all that closes the
// position.
func (b *Book) size(o *Order, r OrderRequest, q Quote) error {
	switch {
	case r.All:
		held := b.Closable(o.Symbol)
		if held != b.Holdings[o.Symbol].Quantity && b.Unsettled(o.Symbol) {
			return Later.Refuse("reduce_only", "this book's position in %s is being compared with the account at %s; try again in a few seconds, or close at most %s by reduce_only",
				o.Symbol, b.Remote.Name, held.Abs())
		}
		if o.Quantity = Reducible(held, o.Side.Sign(held.Abs())); o.Quantity == 0 && held == 0 && b.Excess(o.Symbol) != 0 {
			return b.NotHeld(o.Symbol)
		} else if o.Quantity == 0 && held == 0 {
			return Refuse("no_position", "there is no position in %s to close", o.Symbol)
		} else if o.Quantity == 0 {
			return Refuse("bad_side", "the position in %s is %s: the other side closes it", o.Symbol, held)
		}
	case r.Notional != 0:
		// A market order at the price with slippage, every other at its own price;
		// rounded down to a whole lot, so that it never costs more.
		at := b.slip(o, q)
		if worst := o.Worst(); worst != 0 {
			at = worst
		}
		quantity, ok := r.Notional.Over(at, exact.Down)
		if ok {
			quantity, ok = quantity.Step(b.Grid(o.Symbol).Lot, exact.Down)
		}
		if !ok {
			return Refuse("out_of_range", "a notional of %s at %s is beyond the range of exact numbers; lower it", r.Notional, at)
		}
		if quantity == 0 {
			least, _ := b.Grid(o.Symbol).MinQuantity(at)
			value, _ := least.Times(at, exact.Up)
			return Refuse("bad_quantity", "a notional of %s buys nothing at %s; the least is %s", r.Notional, at, value)
		}
		o.Quantity = quantity
	}
	return nil
}

// isExit reports whether o can only reduce a position: r says so, or o is against a position
// that is held and not larger. A stop or a limit that waits then is there to leave the
// position, which may shrink until it is filled, so no more than is left is ever filled of it.
// One for more than is held may be meant as an exit or to turn the position around, and is
// refused until r says which. Fill is the price at which o is filled on arrival, zero if it
// waits.
func (b *Book) isExit(o *Order, r OrderRequest, fill exact.Decimal) (bool, error) {
	held := b.Closable(o.Symbol)
	most := o.Closes(held)
	opens := r.MayOpen || r.StopLoss != Exit{} || r.TakeProfit != Exit{}
	switch old := b.Order(r.Replaces); {
	case r.ReduceOnly || r.All:
		return true, nil
	case old != nil && old.Role != "": // the orders of a group are exits or none of them is
		return old.ReduceOnly, nil
	case old != nil && old.ReduceOnly && old.Side == o.Side && !opens:
		return true, nil
	case opens || most == 0:
		return false, nil
	case most == o.Quantity:
		return true, nil
	case fill == 0 && o.Rests() && b.mayTurn(o.Side):
		return false, Refuse("reduce_only", "the position in %s is %s, and a %s of %s that waits would turn it around: at most %s leaves the position; if it is to turn it around, say may_open",
			o.Symbol, held, o.Side, o.Quantity, most)
	}
	return false, nil
}

// mayTurn reports whether the account may turn a position around by an order of a side.
func (b *Book) mayTurn(side Side) bool {
	a := b.Rules.Account
	return side == Buy || a.Cash == 0 || a.Short
}

// exits sets the stop_loss and the take_profit of o. Price is the one at which o would be
// filled on arrival, or its own price if it rests. It refuses an exit on the wrong side of
// price, and any exit of an order that only reduces a position, which leaves nothing to
// protect.
func (b *Book) exits(o *Order, r OrderRequest, price exact.Decimal) (err error) {
	held := b.Holdings[o.Symbol].Quantity
	if (r.StopLoss != Exit{} || r.TakeProfit != Exit{}) && Shrinks(held, o.Remaining()) {
		return Refuse("bad_exit", "the position in %s is %s, and a %s of %s only reduces it: stop_loss and take_profit belong to an order that opens a position; "+
			"to protect the position place a stop, or a limit with oco, that is reduce_only", o.Symbol, held, o.Side, o.Quantity)
	}
	if o.StopLoss, err = b.exit(o, RoleStopLoss, r.StopLoss, price); err != nil {
		return err
	}
	o.TakeProfit, err = b.exit(o, RoleTakeProfit, r.TakeProfit, price)
	return err
}

// exit returns one exit of o as it is kept with the order; nil if x is empty.
func (b *Book) exit(o *Order, role Role, x Exit, price exact.Decimal) (*Exit, error) {
	if x == (Exit{}) {
		return nil, nil
	}
	if x.Price == 0 {
		x.Tick = b.Grid(o.Symbol).Tick
	}
	// The distance by the average true range of now is kept with the order: it must not
	// change until the entry is filled.
	fits := true
	if x.ATR != 0 {
		atr, known := b.Markets.ATR(o.Symbol)
		if !known || atr == 0 {
			return nil, Refuse("no_data", "the average true range of %s is not known: give %s as a price or in percent", o.Symbol, role)
		}
		x.Distance, fits = x.ATR.Times(atr, exact.Up)
	}
	// The profit of a buy and the loss of a sell lie above the entry, the other two
	// below it.
	above, word, why := (o.Side == Buy) == (role == RoleTakeProfit), "below", "the distance is not smaller than the price"
	if above {
		word, why = "above", "the price would be out of range"
	}
	at, ok := x.At(price, above)
	switch {
	case !ok || !fits:
		return nil, Refuse("bad_exit", "a %s of %s does not go with an entry at %s: %s; choose a smaller distance", role, x.Written(), price, why)
	case at == price || (at > price) != above:
		return nil, Refuse("bad_exit", "a %s of %s does not go with an entry at %s: of a %s it is %s the entry%s", role, at, price, o.Side, word, x.InPercent(price))
	case x.Price != 0 && Far(role, at, price):
		return nil, Refuse("bad_exit", "a %s at the price %s is too far from an entry at %s: %s%s%s",
			role, at, price, Farthest(role, price, above, b.Grid(o.Symbol).Tick), SamePlace(at, price), x.InPercent(price))
	}
	return &x, nil
}

// expiry returns until when the order that r asks for may wait; nil means for ever. A
// day order ends with the session of its exchange, or with the day in UTC if the source
// knows no session.
func (b *Book) expiry(r OrderRequest, at Time) *Time {
	switch r.TimeInForce {
	case GTD:
		return &Time{Time: r.ExpiresAt.UTC().Truncate(time.Millisecond)}
	case Day:
		end := at.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
		if h := b.Markets.Of(r.Symbol).Hours; h.Close != 0 {
			for end = time.Unix(h.Close, 0).UTC(); !end.After(at.Time); { // after the close: the next one
				end = end.AddDate(0, 0, 1)
			}
		}
		return &Time{Time: end}
	}
	return nil
}

// replace checks that o may replace the order that it names; an order that does not
// replace another passes. Like a market, it gives o the old order's place in time if o is
// the same order for no more than before; see continues.
func (b *Book) replace(o *Order, r OrderRequest) error {
	if o.Replaces == "" {
		return nil
	}
	old := b.Order(o.Replaces)
	switch {
	case old == nil:
		return b.NotOrder(o.Replaces)
	case old.Status.Terminal():
		return Uncancellable(old, o.Replaces)
	case old.Symbol != o.Symbol:
		return Refuse("bad_replaces", "order %s is of %s, not of %s", old.ID, old.Symbol, o.Symbol)
	case old.Role != "" && (r.OCO != OCO{} || o.Side != old.Side || o.Quantity != old.Remaining().Abs() || !o.Rests()):
		// The other orders of its group rely on it: the new one must do what it did.
		return Refuse("bad_replaces", "order %s is one of several of which one is filled: replace it by a resting %s of %s without oco, or cancel it",
			old.ID, old.Side, old.Remaining().Abs())
	case old.ReduceOnly && o.Side != old.Side && !r.MayOpen:
		return Refuse("bad_replaces", "order %s is there to leave the position, and a %s would leave nothing in its place: cancel it, or say may_open", old.ID, o.Side)
	case old.Role != "" && old.ReduceOnly && (o.StopLoss != nil || o.TakeProfit != nil || r.MayOpen):
		return Refuse("bad_exit", "order %s can only reduce a position, and so can what replaces it: leave out stop_loss, take_profit and may_open", old.ID)
	}
	if old.Role != "" { // o takes its place in the group
		o.Group, o.Role = old.Group, old.Role
	}
	if what := b.lacks(o, old, r); what != "" {
		return Refuse("bad_replaces", "order %s has %s, which the order in its place would not have: name it again, or to be without it cancel the order and place another", old.ID, what)
	}
	if o.Continues(old) {
		o.Turn = old.Turn
	}
	return nil
}

// lacks names what old has, o could have and has not of what protects or ends an order: it
// must not be lost by a change of the price alone. A broker takes no exits with a change.
func (b *Book) lacks(o, old *Order, r OrderRequest) string {
	opens := o.Account == "" && r.OCO == OCO{} && !Shrinks(b.Holdings[o.Symbol].Quantity, o.Remaining())
	var all []string
	add := func(lacking bool, name string) {
		if lacking {
			all = append(all, name)
		}
	}
	add(opens && old.StopLoss != nil && o.StopLoss == nil, "stop_loss")
	add(opens && old.TakeProfit != nil && o.TakeProfit == nil, "take_profit")
	add(old.TimeInForce != "" && o.TimeInForce == "" && o.Type != Market, "time_in_force "+string(old.TimeInForce))
	add(old.PostOnly && !o.PostOnly && o.Type == Limit && o.Rests(), "post_only")
	return strings.Join(all, ", ")
}
