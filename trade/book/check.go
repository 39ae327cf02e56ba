package book

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"wick/internal/exact"
)

// Limits bound what clients can do. The operator sets them; no request can change them. A
// zero field means its default, and one below zero is refused at the start. A refusal of
// an order names the limit that it is for.
type Limits struct {
	OrderNotional    exact.Decimal // largest quantity times price of one order that may open or grow a position; 100,000
	PositionNotional exact.Decimal // largest position of one symbol; ten times OrderNotional
	DailyLoss        exact.Decimal // what an account may lose in a day before only orders that shrink a position are taken; zero means no limit
	OpenPerSymbol    int           // open orders of one symbol; 200, at most MaxOpenPerSymbol
	Open             int           // open orders in all; 1,000
	OrdersPerSecond  int           // accepted orders, with a burst of twice as many; 10
	Alerts           int           // active alerts; 1,000
	Symbols          int           // watched symbols; 50
}

// Limits that the operator has no flag for.
const (
	MaxAlerts  = 1000 // active alerts
	MaxSymbols = 50   // watched symbols
)

// MaxOpenPerSymbol is the most that Limits.OpenPerSymbol may be. One fill may end all open
// orders of its symbol, and the record of it, which names each of them and every subscriber
// who hears of it, has to fit into the journal.
const MaxOpenPerSymbol = 250

// WithDefaults returns l with the defaults in place of zeros.
func (l Limits) WithDefaults() Limits {
	l.OrderNotional = cmp.Or(l.OrderNotional, 100_000*exact.One)
	if l.PositionNotional == 0 {
		var fits bool
		if l.PositionNotional, fits = l.OrderNotional.Times(10*exact.One, exact.Down); !fits {
			l.PositionNotional = math.MaxInt64 // no position can be worth more
		}
	}
	l.OpenPerSymbol = cmp.Or(l.OpenPerSymbol, 200)
	l.Open = cmp.Or(l.Open, 1000)
	l.OrdersPerSecond = cmp.Or(l.OrdersPerSecond, 10)
	l.Alerts = cmp.Or(l.Alerts, MaxAlerts)
	l.Symbols = cmp.Or(l.Symbols, MaxSymbols)
	return l
}

// Check refuses limits below zero, which make no sense, and more open orders of a symbol
// than a record has room for.
func (l Limits) Check() error {
	if min(l.OrderNotional, l.PositionNotional, l.DailyLoss) < 0 || min(l.OpenPerSymbol, l.Open, l.OrdersPerSecond, l.Alerts, l.Symbols) < 0 {
		return fmt.Errorf("limits %+v: none may be below zero", l)
	}
	if l.OpenPerSymbol > MaxOpenPerSymbol {
		return fmt.Errorf("%d open orders of one symbol: at most %d", l.OpenPerSymbol, MaxOpenPerSymbol)
	}
	return nil
}

// TradingState says which orders are taken. Cancels always are.
type TradingState string

// The trading states.
const (
	Active   TradingState = "active"   // all
	Reducing TradingState = "reducing" // only those that shrink a position
	Halted   TradingState = "halted"   // none
)

// check refuses o, the order that r asks for, if it is over any limit there is. Price is
// the market's, and fill the price at which the order would be filled on arrival, zero if
// it would rest. It changes nothing. A refusal names the limit and what would be within it.
// What only a different order could meet is told before what waiting helps with.
func (b *Book) check(r OrderRequest, o *Order, price, fill exact.Decimal) error {
	size, fits, others, out := b.weigh(o)
	worst := Worst(r, o, price, fill)
	reserved, missing := b.reservedBut(o.Symbol)
	pays := func(quantity exact.Decimal) error {
		return b.checkAccount(o, spending{quantity, worst, size - o.Side.Sign(o.Quantity), others}, reserved, missing...)
	}
	if err := cmp.Or(b.checkTrading(out), b.checkNotional(o, worst, out, pays), b.checkReduceOnly(o, fill)); err != nil {
		return err
	}
	if !fits {
		return Refuse("out_of_range", "%v; lower the quantity", errOverflow)
	}
	err := cmp.Or(b.checkPosition(o, size, worst, out), pays(o.Quantity), b.checkOpen(r, o, fill))
	if err != nil || r.acts != nil { // it has kept the pace when it was placed
		return err
	}
	return b.checkPace(r, o.CreatedAt)
}

// Worst returns the highest price that o, the order that r asks for, could cost. The
// market is at price and would fill it on arrival at fill, zero if it would rest.
func Worst(r OrderRequest, o *Order, price, fill exact.Decimal) exact.Decimal {
	worst := max(o.Worst(), fill, cmp.Or(r.OCO.Price, r.OCO.StopPrice))
	if o.Type == TrailingStop {
		worst = max(worst, price) // its stop follows the market
	}
	return worst
}

// weigh returns what o, a new order, comes to with all open ones of its side: the signed size of a fill
// of all of them and whether that is in range, what the open ones are worth, each at the highest price
// that it is likely to be filled at, and whether o leaves a position and does nothing else. Limits are
// judged by that, because several orders that each close a position could together turn it around. One
// of which no more is filled than reduces the position is judged alone, and by no more than that.
func (b *Book) weigh(o *Order) (size exact.Decimal, fits bool, others exact.Decimal, out bool) {
	if o.Cut() {
		return o.Side.Sign(o.Closes(b.Holdings[o.Symbol].Quantity)), true, 0, true
	}
	size, others, _ = b.openValue(o.Symbol, o.Side, o)
	size, fits = o.Remaining().Add(size)
	return size, fits, others, fits && Shrinks(b.Owned(o.Symbol), size)
}

// Leaves reports whether o, a new order, and all open ones of its side that are not cut can only
// shrink what is held; one that is cut ([Order.Cut]) does so alone.
func (b *Book) Leaves(o *Order) bool {
	_, _, _, out := b.weigh(o)
	return out
}

// counted is an open order that limits count, and the other one of its oco: of the two one counts.
type counted struct {
	*Order
	mate *Order
}

// counted returns the open orders of a side that limits count while beside, a new order, is
// judged; beside may be nil. One of which no more is filled than reduces the position does
// not count, nor does the order that beside replaces, nor the oco in which beside takes a place.
func (s *State) counted(symbol string, side Side, beside *Order) (all []counted) {
	ocos := make(map[string]int) // where in all the first of a group is
	all = make([]counted, 0, len(s.Open[symbol]))
	for _, o := range s.Open[symbol] {
		oco := o.Role == RoleOCO
		if o.Side != side || o.Cut() || beside != nil && (o.ID == beside.Replaces || oco && beside.Role == RoleOCO && beside.Group == o.Group) {
			continue
		}
		if oco {
			if i, ok := ocos[o.Group]; ok {
				all[i].mate = o
				continue
			}
			ocos[o.Group] = len(all)
		}
		all = append(all, counted{Order: o})
	}
	return all
}

// checkPosition refuses fills of o of the signed size, which do not only shrink the position,
// if it would be worth too much at price then.
func (b *Book) checkPosition(o *Order, size, price exact.Decimal, shrinks bool) error {
	most := b.Rules.Limits.PositionNotional
	after, ok := b.Holdings[o.Symbol].Quantity.Add(size)
	if notional, fits := after.Abs().Times(price, exact.Up); !shrinks && (!ok || !fits || notional > most) {
		return Refuse("max_position_notional", "the position in %s, open orders included, would be worth %s, over the limit of %s; lower the quantity",
			o.Symbol, exact.Product(after.Abs(), price), most)
	}
	return nil
}

// checkNotional refuses an order whose value, at the highest price that it could cost, is
// over the limit for one order, or whose size is below the least that the market takes.
//
// An order that can only reduce may be over that limit, so that a trader can leave a
// position that has grown. Any other order may not, even if it would only shrink the
// position now: by the time it is filled the position may be gone.
//
// Pays refuses a quantity that the account cannot pay for. If that is less than the limit allows, it
// is what a refusal names: the quantity in it is one that would be taken.
func (b *Book) checkNotional(o *Order, worst exact.Decimal, out bool, pays func(exact.Decimal) error) error {
	most, grid := b.Rules.Limits.OrderNotional, b.Grid(o.Symbol)
	notional, fits := o.Quantity.Times(worst, exact.Up)
	least, _ := grid.minQuantity(worst)
	switch {
	case !fits || notional > most && !o.Cut():
		largest, _ := most.Over(worst, exact.Down) // less than the quantity, so in range
		largest, _ = largest.Step(grid.Lot, exact.Down)
		advice := AtMost(largest)
		if err := pays(o.Quantity); err != nil && IsRefusal(pays(largest), "buying_power") {
			return err
		}
		if largest == 0 {
			advice = fmt.Sprintf("the smallest step of this market, %s, is worth more", max(grid.Lot, 1))
		}
		return Refuse("max_order_notional", "the order is worth %s, over the limit of %s per order; %s", exact.Product(o.Quantity, worst), most, advice)
	case out: // what is left of a position may be less
	case notional < grid.Minimum:
		return Refuse("min_notional", "the order is worth %s, and this market takes none below %s; raise the quantity to at least %s", notional, grid.Minimum, least)
	case o.Quantity < grid.Least:
		return Refuse("min_quantity", "the order is for %s, and this market takes none below %s; raise the quantity to at least %s", o.Quantity, grid.Least, least)
	}
	return nil
}

// checkTrading refuses an order that the trading state, or what is known of the broker, does not allow;
// out says whether it can only shrink a position: that is allowed even if book and broker differ,
// because the owner must be able to get out.
func (b *Book) checkTrading(out bool) error {
	switch r, differs := &b.Remote, b.Remote.Differs(); {
	case r.Closed != "":
		return Refuse("broker_not_ready", "no order is sent to %s: %s", r.Name, r.Closed)
	case len(differs) > 0 && !out:
		d := differs[0]
		return Refuse("broker_differs", "%s holds %s of %s and this book's fills come to %s: until the owner has looked at it (wick accept-positions) only orders that shrink a position are sent; %s",
			r.Name, d.Broker, d.Symbol, d.Book, grows)
	case len(r.Late) > 0 && !out:
		return Refuse("broker_differs", "%s has an order that this book had given up: until the owner has looked at it only orders that shrink a position are sent; %s", r.Name, grows)
	case b.Trading == Halted:
		return Refuse("trading_halted", "the owner has halted trading: %s; cancels still pass",
			b.Remote.resting("resting orders stay open and none is filled"))
	case b.Trading == Reducing && !out && b.Tripped != "":
		return Refuse("max_daily_loss", "the account has reached the limit of the daily loss today (--max-daily-loss, which is %s now), and %s: until 00:00 UTC only orders that shrink a position are taken; %s; %s",
			b.Rules.Limits.DailyLoss, b.lossNow(b.Tripped), grows, b.Remote.resting("of the resting ones only those that shrink a position are filled"))
	case b.Trading == Reducing && !out:
		return Refuse("trading_reducing", "only orders that shrink a position are taken now; %s; %s; cancels still pass",
			grows, b.Remote.resting("resting orders stay open and only those that shrink a position are filled"))
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
		return b.notHeld(o.Symbol)
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

// checkOpen refuses an order if too many would be open, itself or, once it is filled, its
// exits.
func (b *Book) checkOpen(r OrderRequest, o *Order, fill exact.Decimal) error {
	l := b.Rules.Limits
	more := o.slots()
	if fill != 0 {
		more = o.exitCount() // it is filled at once
	}
	if more == 0 {
		return nil
	}
	if (r.OCO != OCO{}) {
		more = 2 // the stop beside it
	}
	if old := b.Order(o.Replaces); old != nil {
		more -= old.slots() // the replaced order ends with this one
	}
	if r.acts != nil {
		more -= r.acts.slots() // it had its place while it waited
	}
	of := 0 // open orders of the symbol
	for _, open := range b.OpenOf(o.Symbol) {
		of += open.slots()
	}
	const counted = "an oco counts as two, and so does an entry with stop_loss and take_profit"
	switch {
	case of+more > l.OpenPerSymbol:
		return Refuse("max_open_orders_symbol", "%d orders of %s may be open (%s) and %d are; cancel one first", l.OpenPerSymbol, o.Symbol, counted, of)
	case b.slots+more > l.Open:
		return Refuse("max_open_orders", "%d orders may be open (%s) and %d are; cancel one first", l.Open, counted, b.slots)
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

// collarPatient is the factor by which a limit that waits may be away from the price: a
// buy at a fifth of it or more, a sell at five times of it or less. On the other side of
// the market a limit may be off by half the price.
const collarPatient = 5

// collar returns the prices between which a limit may be while the market is at from: a buy may wait
// far below the market and reach half the price above it, a sell the other way round. The min keeps
// the results within range.
func collar(from exact.Decimal, side Side) (low, high exact.Decimal) {
	if side == Sell {
		return from - from/2, min(from, math.MaxInt64/collarPatient) * collarPatient
	}
	return from / collarPatient, min(from, math.MaxInt64-from/2) + from/2
}

// checkCollars refuses a price of o, or of the stop beside it if there is one, that is so far
// from the market that it must be a typing error, and a stop that the market has passed
// already. The limit of a stop_limit is compared with its stop. The limits that a refusal says
// are allowed are on the tick of the market.
func (b *Book) checkCollars(o *Order, with OCO, price exact.Decimal) error {
	tick, orders := b.Grid(o.Symbol).Tick, []*Order{o}
	if with != (OCO{}) {
		limit := *o // a copy, because partner changes it
		orders = append(orders, limit.partner(with))
	}
	for _, o := range orders {
		from := price
		if o.Waits() && o.Type != TrailingStop {
			stop := *o.StopPrice
			switch {
			case o.Side == Buy && stop <= price, o.Side == Sell && stop >= price:
				return Refuse("stop_passed", "a %s stop of %s would be triggered at once at the price %s: a buy stop is above the price, a sell stop below it",
					o.Side, stop, price)
			case stop < price/collarPatient, stop > min(price, math.MaxInt64/collarPatient)*collarPatient:
				return Refuse("price_collar", "a stop of %s is too far from the price %s; a fifth to five times of it is allowed", stop, price)
			}
			from = stop // once triggered, the order is placed there, so its limit is measured from it
		}
		low, high := collar(from, o.Side)
		if o.Price != nil && (*o.Price < low || *o.Price > high) {
			if first, ok := low.Step(tick, exact.Up); ok && first <= high {
				low = first
				high, _ = high.Step(tick, exact.Down)
			}
			return Refuse("price_collar", "a %s limit of %s is too far from the price %s; %s to %s is allowed", o.Side, *o.Price, from, low, high)
		}
	}
	return nil
}
