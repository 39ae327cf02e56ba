package trade

import (
	"encoding/json"
	"fmt"
	"math/big"
	rand "math/rand/v2"
	"testing"
	"testing/synctest"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// trader does random things to an engine and checks after each what must hold.
type trader struct {
	t     *testing.T
	r     *rand.Rand
	disk  *journaltest.Disk
	e     *Engine
	price int64 // whole units
	held  exact.Decimal
	seen  map[string]exact.Decimal // filled quantity by order, after the last step
	did   string
}

func (w *trader) open() {
	o := testOptions(w.t)
	o.FeeRate, o.Slippage = exact.One/1000, exact.One/2000
	o.Limits.OrderNotional, o.Limits.PositionNotional = 1<<60, 1<<60
	var err error
	if w.e, err = openOn(o, w.disk); err != nil {
		w.t.Fatal(err)
	}
	w.e.watchNeeded(w.t.Context())
	if err := w.e.ensure(w.t.Context(), "AAA"); err != nil {
		w.t.Fatal(err)
	}
}

// near returns a price up to so many units from that of the market.
func (w *trader) near(most int64) exact.Decimal {
	return exact.Decimal(w.price+w.r.Int64N(2*most+1)-most) * exact.One
}

// request returns a random order, often one that is refused.
func (w *trader) request() book.OrderRequest {
	r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: []book.Side{book.Buy, book.Sell}[w.r.IntN(2)], Type: book.OrderTypes[w.r.IntN(len(book.OrderTypes))], Quantity: exact.Decimal(1+w.r.Int64N(900)) * 1e6}
	if r.Type.HasLimit() {
		r.Price = w.near(6)
	}
	switch {
	case r.Type == book.TrailingStop && w.r.IntN(2) == 0:
		r.TrailAmount = exact.Decimal(1+w.r.Int64N(5)) * exact.One
	case r.Type == book.TrailingStop:
		r.TrailPercent = exact.Decimal(1+w.r.Int64N(500)) * 1e6
	case r.Type.HasStop():
		r.StopPrice = w.near(6)
	}
	switch w.r.IntN(8) {
	case 0, 1, 2:
		r.StopLoss, r.TakeProfit = book.Exit{Percent: exact.Decimal(1+w.r.Int64N(5)) * exact.One}, book.Exit{Price: w.near(8)}
	case 3:
		r.ReduceOnly = true
	case 4:
		r.Type, r.Price, r.StopPrice, r.TrailAmount, r.TrailPercent = book.Limit, w.near(6), 0, 0, 0
		r.OCO.StopPrice = w.near(6)
	case 5:
		r.Quantity, r.All = 0, true
	case 6:
		r.Quantity, r.Notional = 0, exact.Decimal(1+w.r.Int64N(500))*exact.One
	}
	if open := must(w.e.Orders(true)); len(open) > 0 && w.r.IntN(5) == 0 {
		old := open[w.r.IntN(len(open))]
		r.Replaces = old.ID
		if old.StopLoss != nil && w.r.IntN(4) > 0 { // otherwise it is refused
			r.StopLoss, r.TakeProfit, r.ReduceOnly, r.OCO = *old.StopLoss, *old.TakeProfit, false, book.OCO{}
		}
	}
	return r
}

// step does one thing.
func (w *trader) step() {
	switch n := w.r.IntN(100); {
	case n < 45:
		r := w.request()
		o, err := w.e.Place(w.t.Context(), r)
		w.did = fmt.Sprintf("%+v: %+v, %v", r, o, err)
	case n < 52:
		if open := must(w.e.Orders(true)); len(open) > 0 {
			id := open[w.r.IntN(len(open))].ID
			_, err := w.e.CancelOrder(book.Who{}, id)
			w.did = fmt.Sprintf("cancel %s: %v", id, err)
		}
	case n < 53:
		w.e.CancelOrders(book.Who{}, "")
		w.did = "cancel all"
	case n < 55:
		w.crash()
	default:
		from := float64(w.price)
		gap := max(50, w.price+w.r.Int64N(7)-3)
		w.price = max(50, gap+w.r.Int64N(5)-2)
		high, low := float64(max(gap, w.price)+w.r.Int64N(3)), float64(min(gap, w.price)-w.r.Int64N(3))
		walk(w.e, from, minute(0, from, from, from, from), minute(1, float64(gap), high, low, float64(w.price)))
		w.did = fmt.Sprintf("from %v to %d, opened at %d, %v to %v", from, w.price, gap, low, high)
	}
}

// crash cuts the power and wants the same book after the next start.
func (w *trader) crash() {
	w.did = "crash"
	if err := w.e.writeSeen(); err != nil {
		w.t.Fatal(err)
	}
	before := w.book()
	w.disk = w.disk.Cut(journaltest.Dropped)
	w.open()
	if after := w.book(); before != after {
		w.t.Fatalf("the book before the crash\n%s\nand after\n%s", before, after)
	}
}

func (w *trader) book() string {
	text, err := json.Marshal([]any{must(w.e.Orders(false)), w.e.book.Holdings, w.e.book.Open})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// check wants what must hold after every step: no two exits of a group are filled,
// they live and die together, an order that may only reduce never opens or turns a
// position around, none of them outlives it, and the money adds up.
func (w *trader) check() {
	held := w.e.book.Holdings["AAA"]
	paid, fees, quantity := new(big.Int), new(big.Int), exact.Decimal(0)
	filled, open := map[string]int{}, map[string]int{}
	onlyReducing, any := true, false
	for _, o := range must(w.e.Orders(false)) {
		if o.Role != "" {
			if o.FilledQuantity > 0 {
				filled[o.Group]++
			}
			if !o.Status.Terminal() {
				open[o.Group]++
			}
		}
		if o.ReduceOnly && !o.Status.Terminal() && book.Reducible(held.Quantity, o.Remaining()) == 0 {
			w.t.Fatalf("after %s: the reduce_only order %+v is open at a position of %s", w.did, o, held.Quantity)
		}
		if o.FilledQuantity != w.seen[o.ID] {
			any, onlyReducing = true, onlyReducing && o.ReduceOnly
			w.seen[o.ID] = o.FilledQuantity
		}
		if o.AveragePrice != nil {
			size := o.Side.Sign(o.FilledQuantity)
			quantity += size
			paid.Add(paid, product(size, *o.AveragePrice))
			fees.Add(fees, product(o.Fee, exact.One))
		}
	}
	for group, n := range filled {
		if n > 1 || open[group] > 0 {
			w.t.Fatalf("after %s: of group %s %d are filled and %d open", w.did, group, n, open[group])
		}
	}
	if any && onlyReducing && (held.Quantity.Abs() >= w.held.Abs() || held.Quantity != 0 && (held.Quantity > 0) != (w.held > 0)) {
		w.t.Fatalf("after %s: reduce_only orders changed the position from %s to %s", w.did, w.held, held.Quantity)
	}
	w.held = held.Quantity
	// realized + fees - cost = -paid, whatever the price is
	left := new(big.Int).Add(units(held.Realized), units(held.Fees))
	left.Sub(left, units(held.Cost))
	if quantity != held.Quantity || fees.Cmp(units(held.Fees)) != 0 || left.Add(left, paid).Sign() != 0 {
		w.t.Fatalf("after %s: held %+v, but the fills are %s for %s with fees %s, in units of 10^-16", w.did, held, quantity, paid, fees)
	}
}

// TestInvariants does random things to a book with every kind of order, crashes
// among them, and checks it after each.
func TestInvariants(t *testing.T) {
	t.Parallel()
	roles := make(map[book.Role]int)
	seeds, filled := uint64(4), 5
	if testing.Short() {
		seeds, filled = 1, 1
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			w := &trader{t: t, r: rand.New(rand.NewPCG(seed, 25)), disk: journaltest.NewDisk(), price: 100, seen: map[string]exact.Decimal{}}
			w.open()
			for range 1000 {
				w.step()
				w.check()
			}
			for _, o := range must(w.e.Orders(false)) {
				if o.FilledQuantity > 0 {
					roles[o.Role]++
				}
			}
			w.e.Close()
		})
	}
	for _, role := range []book.Role{"", book.RoleStopLoss, book.RoleTakeProfit, book.RoleOCO} {
		if roles[role] < filled {
			t.Errorf("only %d orders of role %q were filled: the test shows too little", roles[role], role)
		}
	}
}
