package book

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"wick/internal/exact"
	"wick/market"
)

// Draft returns the order that r asks for now, the price that it is judged by, and
// the price at which it would be filled on arrival; zero means that it rests. Asked
// is what came of asking the source for the newest price just now. While the exchange is
// closed, or nothing was traded for too long, an order that would be filled now is refused;
// one that rests can wait for the next trade. While the market is halted every order is
// refused: it may never trade again. An order over any limit is refused here, whatever venue it goes to.
//
// It completes r from the order that it replaces and changes nothing else: an order that a later check refuses
// leaves no trace. Lot returns the step of quantities at the venue, zero if it has none beside the
// market's. The order of the steps matters: the exits need the price of the entry, and the quantity
// of an order by value or by risk needs both. A price that cannot be meant is refused before
// anything that follows from it.
func (b *Book) Draft(r *OrderRequest, lot func(OrderRequest) exact.Decimal, asked Inquiry, at Time) (o *Order, q Quote, fill exact.Decimal, err error) {
	given := *r
	if err := cmp.Or(b.inherit(r), r.CheckExpiry(at)); err != nil {
		return nil, q, 0, err
	}
	q, closed := b.Markets.Of(r.Symbol).fresh(r.Symbol, at, b.Rules.MaxPriceAge, asked)
	if closed != nil && q.Price == 0 {
		return nil, q, 0, closed
	}
	no := func(err error) (*Order, Quote, exact.Decimal, error) { return nil, q, 0, err }
	if o, err = b.order(r, q, at); err != nil {
		return no(err)
	}
	held, grid := b.Holdings[o.Symbol].Quantity, b.Grid(r.Symbol)
	if r.All {
		held = b.Closable(o.Symbol)
	}
	if r.Held != nil && held != *r.Held {
		return no(Refuse("position_changed", "the position in %s changed from %s to %s while the order was on its way; place it anew", o.Symbol, r.Held, held))
	}
	if err := cmp.Or(grid.check(&given), b.checkCollars(o, r.OCO, q.Price)); err != nil {
		return no(err)
	}
	o.ExpiresAt, fill = b.expiry(*r, at), b.arrive(o, q)
	if err = b.exits(o, *r, cmp.Or(fill, o.Worst())); err == nil {
		err = b.size(o, r, q, fill, max(lot(*r), grid.Lot))
	}
	if err == nil {
		o.ReduceOnly, err = b.isExit(o, *r, fill)
	}
	if err != nil {
		return no(err)
	}
	held = b.Holdings[o.Symbol].Quantity
	if (given.StopLoss != Exit{} || given.TakeProfit != Exit{}) && Shrinks(held, o.Remaining()) {
		return no(Refuse("bad_exit", "the position in %s is %s, and a %s of %s only reduces it: stop_loss and take_profit belong to an order that opens a position; "+
			"to protect the position place a stop, or a limit with oco, that is reduce_only", o.Symbol, held, o.Side, o.Quantity))
	}
	if err := cmp.Or(b.replace(o, *r), o.tooFar(fill)); err != nil {
		return no(err)
	}
	if fill != 0 && closed != nil {
		return no(closed)
	}
	if r.Approval != nil {
		o.Evidence, err = r.Approval.Evidence, r.Approval.covers(o, fill, at)
	}
	if err == nil {
		err = b.check(*r, o, q.Price, fill)
	}
	return o, q, fill, err
}

// order returns the order that r asks for, while the market is at q, as far as r says it itself.
func (b *Book) order(r *OrderRequest, q Quote, at Time) (*Order, error) {
	o := &Order{
		ID: b.NewID("o"), ClientOrderID: r.ClientOrderID, Symbol: r.Symbol, Side: r.Side, Type: r.Type,
		Quantity: r.Quantity, Status: StatusOpen, Broker: b.BrokerName(), Account: b.Remote.Account, CreatedAt: at, By: r.Who.Short(), Worth: r.Worth, Synthetic: q.Synthetic,
		TrailAmount: r.TrailAmount, TrailPercent: r.TrailPercent, TimeInForce: r.TimeInForce, PostOnly: r.PostOnly,
		Notional: r.Notional, Replaces: r.Replaces, Asked: r.Asked(), Turn: b.Seq + 1, Label: r.Label,
	}
	old := b.Order(r.Replaces)
	if old != nil { // o takes its place in a group
		o.Group, o.Role = old.Group, old.Role
	}
	if r.acts != nil {
		o.ID = r.acts.ID
	}
	if r.When != nil {
		w := *r.When
		w.ActedAt, o.When = &at, &w
	}
	if r.Type.HasLimit() {
		o.Price = &r.Price
	}
	switch {
	case r.Type == TrailingStop:
		stop, ok := o.trailing(q.Price, b.Grid(r.Symbol))
		switch {
		case !ok && r.Waits():
			return o, nil
		case !ok:
			return nil, Refuse("bad_trail", "the distance is larger than the price %s; choose a smaller one", q.Price)
		}
		// One that takes the place of another at the same distance goes on from there.
		if old != nil && old.Type == r.Type && old.Side == r.Side && old.TrailAmount == r.TrailAmount && old.TrailPercent == r.TrailPercent {
			if was := b.stop(old); (was > stop) == (r.Side == Sell) {
				stop = was
			}
		}
		o.StopPrice = &stop
	case r.Breakeven:
		if err := b.breakeven(o, q); err != nil && !r.Waits() { // what waits for its rule stands where that is then
			return nil, err
		}
	case r.Type.HasStop():
		o.StopPrice = &r.StopPrice
	}
	return o, nil
}

// Arrive returns the step by which o comes into the book: filled at a price, or open, or
// cancelled at once. The order that it replaces ends in the same step.
func (b *Book) Arrive(r OrderRequest, o *Order, q Quote, fill exact.Decimal) (ev *Event, err error) {
	did := Report{Status: StatusOpen}
	switch {
	case fill != 0 && o.PostOnly:
		return nil, Refuse("post_only", "the market at %s has reached the limit of %s, and a post_only order must not fill at once: choose a limit further away",
			q.Price, *o.Price)
	case fill != 0 && r.OCO != OCO{}: // its stop would be left with nothing to protect
		return nil, Refuse("bad_oco", "the market at %s has reached the limit of %s, which would fill at once and leave nothing for the stop beside it: "+
			"the limit of a sell is above the market and its stop below it, of a buy the other way round", q.Price, *o.Price)
	case fill != 0:
		if did, err = b.report(o.Quantity, fill, b.Rules.FeeRate, q); err != nil {
			return nil, err
		}
	case o.TimeInForce == IOC || o.TimeInForce == FOK:
		did.Status, did.Reason = StatusCancelled, Because(NotReached, string(o.TimeInForce), q.Price.String())
	}
	if ev, err = b.outcome(o, did, o.CreatedAt); err != nil {
		return nil, err
	}
	if o.Replaces != "" {
		ev.Cancel(b.Order(o.Replaces), Replaced)
	}
	if r.OCO != (OCO{}) { // the stop beside the limit arrives with it
		ev.Open(ev.Order.partner(r.OCO))
	}
	return ev, nil
}

// partner returns the stop beside the limit order o, and makes the two a group. The
// client's own id stays with the limit, which is the order that was asked for.
func (o *Order) partner(with OCO) *Order {
	o.Group, o.Role = o.ID, RoleOCO
	stop := *o
	stop.ID, stop.ClientOrderID, stop.Asked, stop.When = o.ID+"-oco", "", "", nil
	stop.Type, stop.Price, stop.StopPrice, stop.PostOnly = Stop, nil, &with.StopPrice, false
	if with.Price != 0 {
		stop.Type, stop.Price = StopLimit, &with.Price
	}
	return &stop
}

// Placed is an order that was placed, and what becomes of the other orders of its symbol. Of an
// order at a broker elsewhere both lists are empty, because its fill comes later.
type Placed struct {
	Order
	Ended []string `json:"ended,omitempty"`     // ids of the exits that end with the position, closed or turned around
	Left  []string `json:"left_open,omitempty"` // ids of the orders that stay open without a position, if it closes that

	// Beside are the open orders that belong to it: its exits, or the stop beside it. For a dry
	// run they are those that would begin with it.
	Beside []Order `json:"-"`
}

// Beside returns the open orders that belong to o: its exits, or the stop beside it.
func (b *Book) Beside(o *Order) (members []Order) {
	for _, m := range b.mates(o, o.ID) {
		members = append(members, b.Shown(m))
	}
	return members
}

// Placed returns what clients see of a step by which an order was placed.
func (b *Book) Placed(ev *Event) Placed {
	p := Placed{Order: ev.Order.Public(), Beside: b.Beside(ev.Order)}
	ends := []string{ev.Order.ID}
	for _, with := range ev.Ends {
		if ends = append(ends, with.ID); with.Code != Replaced || ev.Order.Status == StatusCancelled { // then nothing takes its place
			p.Ended = append(p.Ended, with.ID)
		}
	}
	if ev.Holding == nil || ev.Holding.Quantity != 0 {
		return p
	}
	for _, o := range slices.Concat(b.Open[ev.Order.Symbol], b.Ruled[ev.Order.Symbol]) {
		if !slices.Contains(ends, o.ID) {
			p.Left = append(p.Left, o.ID)
		}
	}
	return p
}

// Preview returns what clients see of ev, the step of a dry run: a decision that is not applied.
// None of the orders has an id, or a group that is named after one, since none of them exists.
func (b *Book) Preview(r OrderRequest, ev *Event) Placed {
	id, begin, says := ev.Order.ID, ev.Begin, Because(DryRun)
	if (r.OCO != OCO{}) && len(begin) == 0 { // a broker elsewhere will make it
		begin = []*Order{ev.Order.partner(r.OCO)}
	}
	if len(ev.Order.Why) > 0 { // why it would not be filled
		says = Because(DryRunBut, ev.Order.Words())
	}
	ev.Order.Why = []Reason{says}
	p := b.Placed(ev)
	for _, leg := range begin {
		if len(leg.Why) == 0 {
			leg.Why = []Reason{says}
		}
		shown := leg.Public()
		shown.ID, shown.Group = "", ""
		p.Beside = append(p.Beside, shown)
	}
	if p.ID = ""; p.Group == id {
		p.Group = ""
	}
	return p
}

// isExit reports whether o can only reduce a position: r says so, or o is against a position
// that is held and not larger. A stop or a limit that waits then is there to leave the
// position, which may shrink until it is filled, so no more than is left is ever filled of it.
// One for more than is held may be meant as an exit or to turn the position around, and is
// refused until r says which, if the account may turn it. Fill is the price at which o is
// filled on arrival, zero if it waits.
func (b *Book) isExit(o *Order, r OrderRequest, fill exact.Decimal) (bool, error) {
	held, account := b.Closable(o.Symbol), b.Rules.Account
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
	case fill == 0 && o.rests() && (o.Side == Buy || account.Cash == 0 || account.Short):
		return false, Refuse("reduce_only", "the position in %s is %s, and a %s of %s that waits would turn it around: at most %s leaves the position; if it is to turn it around, say may_open",
			o.Symbol, held, o.Side, o.Quantity, most)
	}
	return false, nil
}

// exits sets the stop_loss and the take_profit of o. Entry is the price at which o would be
// filled on arrival, or its own price if it rests. It refuses an exit on the wrong side of that.
func (b *Book) exits(o *Order, r OrderRequest, entry exact.Decimal) error {
	for _, exit := range []struct {
		role Role
		x    Exit
		to   **Exit
	}{{RoleStopLoss, r.StopLoss, &o.StopLoss}, {RoleTakeProfit, r.TakeProfit, &o.TakeProfit}} {
		x := exit.x
		if x == (Exit{}) {
			continue
		}
		tick := b.Grid(o.Symbol).Tick
		if x.Price == 0 {
			x.Tick = tick
		}
		// The distance by the average true range of now is kept with the order: it must not
		// change until the entry is filled.
		fits := true
		if x.ATR != 0 && x.Distance == 0 { // of an order that is replaced the distance stays
			atr, known := b.Markets.ATR(o.Symbol)
			if !known || atr == 0 {
				return Refuse("no_data", "the average true range of %s is not known: give %s as a price or in percent", o.Symbol, exit.role)
			}
			x.Distance, fits = x.ATR.Times(atr, exact.Up)
		}
		above, word, why := o.above(exit.role), "below", "the distance is not smaller than the price"
		if above {
			word, why = "above", "the price would be out of range"
		}
		at, ok := x.At(entry, above)
		low, high := exit.role.reach(entry, tick)
		switch {
		case !ok || !fits:
			return Refuse("bad_exit", "a %s of %s does not go with an entry at %s: %s; choose a smaller distance", exit.role, x.written(), entry, why)
		case x.Price != 0 && (at < low || at > high):
			return Refuse("bad_exit", `a %s at the price %s is too far from an entry at %s: as a price it is from %s to %s; a number is a price; `+
				`for a distance from the entry in percent write "3%%", in average true ranges "2atr"`, exit.role, at, entry, low, high)
		case at == entry || (at > entry) != above:
			return Refuse("bad_exit", "a %s of %s does not go with an entry at %s: of a %s it is %s the entry", exit.role, at, entry, o.Side, word)
		}
		*exit.to = &x
	}
	return nil
}

// above reports whether an exit of the entry o is above its price: the profit of a buy and
// the loss of a sell are, the other two below it.
func (o *Order) above(role Role) bool { return (o.Side == Buy) == (role == RoleTakeProfit) }

// reach returns the prices between which an exit of an entry may be written as a price: a stop_loss
// at most half the entry away, a take_profit from a tenth of it to ten times. Further away a
// percentage must have been meant. They are on the tick of the market.
func (r Role) reach(entry, tick exact.Decimal) (low, high exact.Decimal) {
	low, high = entry-entry/2, min(entry, math.MaxInt64-entry/2)+entry/2
	if r == RoleTakeProfit {
		low, high = entry/10, 10*min(entry, math.MaxInt64/10)
	}
	low, _ = low.Step(tick, exact.Up)
	high, _ = high.Step(tick, exact.Down)
	return low, high
}

// written returns x, which is a distance, as a client writes it.
func (x Exit) written() string {
	if x.Percent != 0 {
		return x.Percent.String() + "%"
	}
	return x.ATR.String() + "atr"
}

// expiry returns until when the order that r asks for may wait; nil means for ever. A
// day order ends with the session of its exchange, or with the day in UTC if the source
// knows no session.
func (b *Book) expiry(r OrderRequest, at Time) *Time {
	switch {
	case !r.ExpiresAt.IsZero():
		return &Time{Time: r.ExpiresAt.UTC().Truncate(time.Millisecond)}
	case r.TimeInForce == Day:
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

// inherit gives r, if it replaces an order, what it leaves out as it is there: a change of the
// price changes the price, and nothing that protects the order or ends it is lost. A part that was
// filled stays filled. What goes only with a type stays as long as the type takes it: a price, and
// how long the order may wait. A broker keeps the exits of an order itself.
func (b *Book) inherit(r *OrderRequest) error {
	if r.Replaces == "" {
		return nil
	}
	old := b.Order(r.Replaces)
	switch {
	case old == nil:
		return b.NotOrder(r.Replaces)
	case old.Status.Terminal():
		return Uncancellable(old, r.Replaces)
	case old.Pending():
		return Refuse("bad_replaces", "order %s waits for its rule and cannot be changed: cancel it and place another", old.ID)
	case old.Symbol != r.Symbol:
		return Refuse("bad_replaces", "order %s is of %s, not of %s", old.ID, old.Symbol, r.Symbol)
	}
	r.sent = r.Asked()
	r.Side, r.Tag, r.Note = cmp.Or(r.Side, old.Side), cmp.Or(r.Tag, old.Tag), cmp.Or(r.Note, old.Note)
	if r.Type == "" {
		if r.Type = old.Type; old.TriggeredAt != nil {
			r.Type = Limit // its stop was set off
		}
	}
	if r.sizes() == 0 {
		r.Quantity = old.Remaining().Abs()
	}
	if r.Price == 0 && r.Type.HasLimit() && old.Price != nil {
		r.Price = *old.Price
	}
	if r.StopPrice == 0 && !r.Breakeven && (r.Type == Stop || r.Type == StopLimit) && (old.Type == Stop || old.Type == StopLimit) {
		r.StopPrice = *old.StopPrice
	}
	if r.TrailAmount == 0 && r.TrailPercent == 0 && r.Type == TrailingStop {
		r.TrailAmount, r.TrailPercent = old.TrailAmount, old.TrailPercent
	}
	if r.TimeInForce == "" && r.Type != Market {
		r.TimeInForce = old.TimeInForce
	}
	if r.TimeInForce == GTD && r.ExpiresAt.IsZero() && old.ExpiresAt != nil {
		r.ExpiresAt = old.ExpiresAt.Time
	}
	r.PostOnly = r.PostOnly || old.PostOnly && r.Type == Limit && r.TimeInForce != IOC && r.TimeInForce != FOK
	reduces := r.ReduceOnly || r.All || r.Share != 0
	if r.OCO == (OCO{}) && !reduces && b.Remote.Name == "" {
		for _, exit := range []struct {
			old *Exit
			to  *Exit
		}{{old.StopLoss, &r.StopLoss}, {old.TakeProfit, &r.TakeProfit}} {
			if exit.old != nil && *exit.to == (Exit{}) {
				*exit.to = *exit.old
			}
		}
	}
	r.MayOpen = r.MayOpen || !old.ReduceOnly && !reduces && r.Side == old.Side && r.Type == old.Type && r.Type != Market
	return r.check()
}

// replace checks that o may replace the order that it names, as r is completed; an order that does
// not replace another passes. Like a market, it gives o the old order's place in time if o is the
// same order for no more than before.
func (b *Book) replace(o *Order, r OrderRequest) error {
	if o.Replaces == "" {
		return nil
	}
	old := b.Order(o.Replaces)
	switch {
	case old.Role != "" && (r.OCO != OCO{} || o.Side != old.Side || o.Quantity != old.Remaining().Abs() || !o.rests()):
		// The other orders of its group rely on it: the new one must do what it did.
		return Refuse("bad_replaces", "order %s is one of several of which one is filled: replace it by a resting %s of %s without oco, or cancel it",
			old.ID, old.Side, old.Remaining().Abs())
	case old.ReduceOnly && o.Side != old.Side && !r.MayOpen:
		return Refuse("bad_replaces", "order %s is there to leave the position, and a %s would leave nothing in its place: cancel it, or say may_open", old.ID, o.Side)
	case old.Role != "" && old.ReduceOnly && (o.StopLoss != nil || o.TakeProfit != nil || r.MayOpen):
		return Refuse("bad_exit", "order %s can only reduce a position, and so can what replaces it: leave out stop_loss, take_profit and may_open", old.ID)
	}
	// What replaces a trailing stop, or a stop that was triggered, is always a new order.
	equal := func(x, y *exact.Decimal) bool { return x == y || x != nil && y != nil && *x == *y }
	if o.Type != TrailingStop && old.TriggeredAt == nil && old.Side == o.Side && old.Type == o.Type &&
		equal(old.Price, o.Price) && equal(old.StopPrice, o.StopPrice) && o.Quantity <= old.Remaining().Abs() {
		o.Turn = old.Turn
	}
	return nil
}

// Grid has the steps of prices and quantities of a market, and the least value and
// quantity of an order. A zero field means no such rule: numbers have eight decimals.
type Grid struct {
	Tick    exact.Decimal // prices are whole multiples of it
	Lot     exact.Decimal // quantities are whole multiples of it
	Minimum exact.Decimal // least value of an order, in the quote currency
	Least   exact.Decimal // least quantity of an order
}

// NewGrid makes the numbers of g exact. One that is no number, is below zero or has more
// than eight decimals counts as zero: no such rule.
func NewGrid(g market.Grid) Grid {
	number := func(text string) exact.Decimal {
		d, _ := exact.Parse([]byte(text)) // zero with an error
		return max(d, 0)
	}
	return Grid{number(g.Tick), number(g.Lot), number(g.Minimum), number(g.Least)}
}

// check refuses a request whose prices or quantity are off the grid, and names the nearest
// values that are on it. A request to close all of a position has no quantity to check.
func (g Grid) check(r *OrderRequest) error {
	least, _ := max(g.Least, g.Lot).Step(g.Lot, exact.Up)
	for _, v := range []struct {
		code               Code
		name               string
		value, step, least exact.Decimal
	}{
		{"off_tick", "price", r.Price, g.Tick, g.Tick},
		{"off_tick", "stop_price", r.StopPrice, g.Tick, g.Tick},
		{"off_tick", "trail_amount", r.TrailAmount, g.Tick, g.Tick},
		{"off_tick", "oco stop_price", r.OCO.StopPrice, g.Tick, g.Tick},
		{"off_tick", "oco price", r.OCO.Price, g.Tick, g.Tick},
		{"off_tick", "stop_loss", r.StopLoss.Price, g.Tick, g.Tick},
		{"off_tick", "take_profit", r.TakeProfit.Price, g.Tick, g.Tick},
		{"off_lot", "quantity", r.Quantity, g.Lot, least},
	} {
		below, _ := v.value.Step(v.step, exact.Down) // a step of zero leaves every value as it is
		if below == v.value {
			continue
		}
		above, ok := v.value.Step(v.step, exact.Up)
		below, above = max(below, v.least), max(above, v.least)
		nearest := fmt.Sprintf("are %s and %s", below, above)
		if !ok || below == above {
			nearest = "is " + below.String()
		}
		return Refuse(v.code, "%s %s: this market counts in steps of %s; the nearest %s", v.name, v.value, v.step, nearest)
	}
	return nil
}

// minQuantity returns the smallest quantity of an order that the market takes at a price, and
// false if it is out of range.
func (g Grid) minQuantity(price exact.Decimal) (exact.Decimal, bool) {
	worth, ok := g.Minimum.Over(price, exact.Up)
	if !ok {
		return 0, false
	}
	return max(worth, g.Least, g.Lot, 1).Step(g.Lot, exact.Up)
}
