package modeltest

import (
	"slices"
	"time"
)

// limits returns why the operator's limits or the account refuse a request.
func (b *book) limits(r request, replaced *order) string {
	held := b.places[r.symbol].held.qty
	size := mul(r.qty, whole(int64(r.side)))
	if r.reduce { // no more than that is ever filled
		size = mul(lower(r.qty, abs(held)), whole(int64(r.side)))
	} else {
		size = add(size, b.pending(r.symbol, r.side, replaced))
	}
	price := b.worst(r)
	value := ceil(mul(r.qty, price), unit)
	shrinks := shrinks(held, size)
	switch {
	case less(value, b.minimum) && !shrinks:
		return "below the least value"
	case less(b.maxOrder, value) && !r.reduce:
		return "above the largest order"
	case !shrinks && !r.reduce && less(b.maxHeld, ceil(mul(abs(add(held, size)), price), unit)):
		return "above the largest position"
	}
	if !r.reduce {
		value = add(value, b.pendingValue(r.symbol, r.side, replaced))
	}
	return b.unpaid(r.symbol, size, value, b.reserved(r.symbol))
}

// shrinks reports whether a signed size only reduces a position.
func shrinks(held, size num) bool {
	return held.Sign()*size.Sign() < 0 && !less(abs(held), abs(size))
}

// worst is the price by which limits are judged: the highest that an order has.
func (b *book) worst(r request) num {
	price := b.ownPrice(r)
	if fill, now := b.onArrival(r); now {
		price = higher(price, fill)
	}
	switch { // the other one of a pair: a stop with a limit costs at most its limit
	case r.ocoPrice != nil:
		price = higher(price, r.ocoPrice)
	case r.ocoStop != nil:
		price = higher(price, r.ocoStop)
	}
	if r.kind == "trailing_stop" {
		price = higher(price, b.places[r.symbol].price)
	}
	return price
}

// counted reports whether an open order is counted when limits are checked for a new one,
// which may replace another. Orders that only reduce are not counted, and of the two of
// an oco one is.
func (b *book) counted(o, replaced *order) bool {
	if !o.open() || o.reduce || o.isExit || o == replaced {
		return false
	}
	if o.group == "" {
		return true
	}
	if replaced != nil && replaced.group == o.group {
		return false
	}
	for _, m := range b.waiting(o.symbol) {
		if m.group == o.group {
			return m == o
		}
	}
	return false
}

// pending is the signed quantity of the open orders of a side.
func (b *book) pending(symbol string, side int, but *order) num {
	sum := new0()
	for _, o := range b.waiting(symbol) {
		if o.side == side && b.counted(o, but) {
			sum = add(sum, mul(o.qty, whole(int64(side))))
		}
	}
	return sum
}

// pendingValue is what the open orders of a side are worth, each at its own price.
func (b *book) pendingValue(symbol string, side int, but *order) num {
	sum := new0()
	for _, o := range b.waiting(symbol) {
		if o.side == side && b.counted(o, but) {
			sum = add(sum, ceil(mul(o.qty, b.highest(o)), unit))
		}
	}
	return sum
}

// highest is the highest price that an open order may be filled at: of an oco
// the higher one, of a trailing stop at least the price of now.
func (b *book) highest(o *order) num {
	price := b.highestAlone(o)
	if o.group != "" {
		for _, m := range b.mates(o) {
			price = higher(price, b.highestAlone(m))
		}
	}
	return price
}

func (b *book) highestAlone(o *order) num {
	switch o.kind {
	case "trailing_stop":
		return higher(b.restingPrice(o), b.places[o.symbol].price)
	case "market":
		return b.slipped(o.side, b.places[o.symbol].price)
	}
	return b.restingPrice(o)
}

// reserved is what the open orders of all symbols but one need.
func (b *book) reserved(but string) num {
	sum := new0()
	for symbol := range b.places {
		if symbol == but {
			continue
		}
		most := new0()
		for _, side := range []int{1, -1} {
			most = higher(most, b.needs(symbol, b.pending(symbol, side, nil), b.pendingValue(symbol, side, nil)))
		}
		sum = add(sum, most)
	}
	return sum
}

// restingPrice is an open order's limit or else its stop.
func (b *book) restingPrice(o *order) num {
	switch {
	case o.price != nil:
		return o.price
	case o.kind == "market":
		return new0()
	}
	return o.stopNow(b)
}

// needs is how much buying power fills of a signed size for a value use up.
func (b *book) needs(symbol string, size, value num) num {
	at := b.places[symbol]
	if size.Sign() == 0 || shrinks(at.held.qty, size) {
		return new0()
	}
	need, freed := value, new0()
	if at.held.qty.Sign()*size.Sign() < 0 {
		need = ceil(mul(value, div(abs(add(at.held.qty, size)), abs(size))), unit)
		freed = floor(mul(abs(at.held.qty), at.price), unit)
	}
	if !less(freed, need) {
		return new0()
	}
	return add(sub(need, freed), ceil(mul(value, b.fee), unit))
}

// unpaid returns why the account does not allow for fills of a signed size.
func (b *book) unpaid(symbol string, size, value, reserved num) string {
	if b.cash == nil {
		return ""
	}
	after := add(b.places[symbol].held.qty, size)
	if after.Sign() < 0 && size.Sign() < 0 && !b.short {
		return "not held"
	}
	need := b.needs(symbol, size, value)
	if need.Sign() > 0 && less(sub(b.power(), reserved), need) {
		return "not enough to buy it"
	}
	return ""
}

// power is what may be bought.
func (b *book) power() num {
	most := floor(mul(higher(nearest(b.equity(), unit), new0()), b.leverage), unit)
	return sub(most, nearest(b.exposure(), unit))
}

// allowedAtFill checks the limits of a resting order once more when a quantity of it is
// to be filled at a price.
func (b *book) allowedAtFill(o *order, qty, price num) bool {
	held := b.places[o.symbol].held.qty
	size := mul(qty, whole(int64(o.side)))
	own := price
	if o.kind != "market" {
		own = b.restingPrice(o)
	}
	if !shrinks(held, size) && less(b.maxHeld, ceil(mul(abs(add(held, size)), own), unit)) {
		return false
	}
	return b.unpaid(o.symbol, size, ceil(mul(qty, price), unit), new0()) == ""
}

// cashNow, equity and exposure are what an account comes to.
func (b *book) cashNow() num { return add(b.cash, b.cashIn) }

func (b *book) equity() num {
	sum := b.cashNow()
	for _, at := range b.places {
		sum = add(sum, mul(at.held.qty, at.price))
	}
	return sum
}

func (b *book) exposure() num {
	sum := new0()
	for _, at := range b.places {
		sum = add(sum, abs(mul(at.held.qty, at.price)))
	}
	return sum
}

// risk is what is lost if the market goes against every position and its stops are filled at
// their prices, or at that of the market if it is beyond them, each closing what those before
// it have left, and what is left at the end is worth now. A stop whose time is over closes
// nothing, though it waits for the next price to end.
func (b *book) risk() (lost, left num) {
	lost, left = new0(), new0()
	for symbol, at := range b.places {
		side, open := at.held.qty.Sign(), abs(at.held.qty)
		var stops []*order
		for _, o := range b.waiting(symbol) {
			if o.side == -side && o.kind != "limit" && o.kind != "market" && !o.triggered && (o.expires == 0 || o.expires > time.Now().UnixMilli()) {
				stops = append(stops, o)
			}
		}
		// A fall comes to the highest first, a rise to the lowest.
		slices.SortStableFunc(stops, func(x, y *order) int { return y.stopNow(b).Cmp(x.stopNow(b)) * side })
		ended := make(map[string]bool) // groups of which one is filled
		for _, o := range stops {
			// The market is at the stop, or where it is if that is beyond. A stop_limit that
			// cannot be filled there waits on.
			setOff := better(-o.side, o.stopNow(b), at.price)
			if o.group != "" && ended[o.group] || o.kind == "stop_limit" && !reaches(o.side, b.quoted(o.side, setOff), o.price) {
				continue
			}
			if lower(open, o.qty).Sign() > 0 {
				ended[o.group] = true
			}
			closed := lower(open, o.qty)
			open = sub(open, closed)
			lost = add(lost, higher(mul(mul(closed, sub(at.price, o.stopNow(b))), whole(int64(side))), new0()))
		}
		left = add(left, mul(open, at.price))
	}
	return lost, left
}
