package trade

import (
	"context"
	"fmt"
	"math/big"
	rand "math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// model is the book written as simply as possible, with lists, loops and big.Rat. It
// shares names with the engine, but no code.
type model struct {
	price    *big.Rat
	orders   []modelOrder
	paid     *big.Rat // sum of size*price of all fills
	quantity *big.Rat
	fees     *big.Rat
	alerts   []modelAlert
	fired    []string // not drained
	spoken   int      // updates so far
}

type modelOrder struct {
	id, status string
	buy        bool
	quantity   *big.Rat
	limit      *big.Rat // nil for market
	fill       *big.Rat
	seen       int // updates before it was accepted
}

type modelAlert struct {
	id        string
	above     bool
	threshold *big.Rat
	seen      int
}

func rat(d exact.Decimal) *big.Rat { return new(big.Rat).SetFrac64(int64(d), 1e8) }

// sum returns m, from its text.
func sum(t *testing.T, m exact.Money) *big.Rat {
	t.Helper()
	x, ok := new(big.Rat).SetString(m.String())
	if !ok {
		t.Fatalf("%q is no number", m)
	}
	return x
}

// cut rounds x up or down to eight decimals.
func cut(x *big.Rat, up bool) *big.Rat {
	n := new(big.Int).Mul(x.Num(), big.NewInt(1e8))
	q, m := new(big.Int).DivMod(n, x.Denom(), new(big.Int))
	if up && m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(q, big.NewInt(1e8))
}

var modelFee, modelSlip = big.NewRat(1, 1000), big.NewRat(1, 2000)

func (m *model) fill(o *modelOrder, price *big.Rat) {
	o.status, o.fill = "filled", price
	value := new(big.Rat).Mul(o.quantity, price)
	fee := cut(new(big.Rat).Mul(cut(value, true), modelFee), true)
	m.fees.Add(m.fees, fee)
	if o.buy {
		m.quantity.Add(m.quantity, o.quantity)
		m.paid.Add(m.paid, value)
	} else {
		m.quantity.Sub(m.quantity, o.quantity)
		m.paid.Sub(m.paid, value)
	}
}

func (m *model) place(o modelOrder) {
	o.status, o.seen = "open", m.spoken
	slip := new(big.Rat).Mul(m.price, modelSlip)
	if o.buy {
		slip = cut(slip.Add(m.price, slip), true)
	} else {
		slip = cut(slip.Sub(m.price, slip), false)
	}
	reached := o.limit == nil || (o.buy && o.limit.Cmp(m.price) >= 0) || (!o.buy && o.limit.Cmp(m.price) <= 0)
	if reached {
		if o.limit != nil && (o.buy == (o.limit.Cmp(slip) < 0)) && o.limit.Cmp(slip) != 0 {
			slip = o.limit
		}
		m.fill(&o, slip)
	}
	m.orders = append(m.orders, o)
}

// update takes one price, with the extremes since the update before. For orders and
// alerts that came after that update only the price counts.
func (m *model) update(price, high, low *big.Rat) {
	for i := range m.orders {
		o := &m.orders[i]
		if o.status != "open" {
			continue
		}
		h, l := high, low
		if o.seen == m.spoken {
			h, l = price, price
		}
		switch {
		case o.buy && l.Cmp(o.limit) <= 0:
			m.fill(o, o.limit)
		case !o.buy && h.Cmp(o.limit) >= 0:
			m.fill(o, o.limit)
		}
	}
	m.alerts = slices.DeleteFunc(m.alerts, func(a modelAlert) bool {
		h, l := high, low
		if a.seen == m.spoken {
			h, l = price, price
		}
		if a.above && h.Cmp(a.threshold) >= 0 || !a.above && l.Cmp(a.threshold) <= 0 {
			m.fired = append(m.fired, a.id)
			return true
		}
		return false
	})
	m.price = price
	m.spoken++
}

// compare fails the test if anything that the engine shows differs from the model.
func (m *model) compare(t *testing.T, e *Engine, step int) {
	t.Helper()
	orders := must(e.Orders(false))
	if len(orders) != len(m.orders) {
		t.Fatalf("step %d: %d orders, model has %d", step, len(orders), len(m.orders))
	}
	for i, o := range orders {
		want := m.orders[i]
		same := o.ID == want.id && string(o.Status) == want.status && (o.AveragePrice == nil) == (want.fill == nil)
		if !same || want.fill != nil && rat(*o.AveragePrice).Cmp(want.fill) != 0 {
			t.Fatalf("step %d: order %s %s %s, model has %s %s at %v", step, o.ID, o.Status, show(o.AveragePrice), want.id, want.status, want.fill)
		}
	}
	e.mu.Lock()
	h := e.book.Holdings["AAA"]
	e.mu.Unlock()
	// What is conserved: realized + fees - cost = -paid.
	left := new(big.Rat).Add(sum(t, h.Realized), sum(t, h.Fees))
	left.Sub(left, sum(t, h.Cost))
	fees := sum(t, h.Fees)
	if rat(h.Quantity).Cmp(m.quantity) != 0 || left.Cmp(new(big.Rat).Neg(m.paid)) != 0 || fees.Cmp(m.fees) != 0 {
		t.Fatalf("step %d: holding %+v, model has %s for %s, fees %s", step, h, m.quantity, m.paid, m.fees)
	}
	alerts := must(e.Alerts(""))
	if !slices.EqualFunc(alerts, m.alerts, func(a book.Alert, b modelAlert) bool { return a.ID == b.id }) {
		t.Fatalf("step %d: alerts %v, model has %v", step, alerts, m.alerts)
	}
	if e.PendingNotifications("") != len(m.fired) {
		t.Fatalf("step %d: %d notifications, model has %v", step, e.PendingNotifications(""), m.fired)
	}
}

// TestModel plays random operations and prices on the engine and on the model,
// compares after every step, and at the end replays the journal to the same
// bytes.
func TestModel(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playModel(t, seed, 400) })
		})
	}
}

func playModel(t *testing.T, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 12))
	d := journaltest.NewDisk()
	o := scriptOptions()
	o.Limits.PositionNotional, o.Limits.Alerts = 1<<62, 1<<30
	e, err := openOn(o, d)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{price: rat(100 * exact.One), paid: new(big.Rat), quantity: new(big.Rat), fees: new(big.Rat)}
	for step := range steps {
		time.Sleep(time.Duration(1+r.IntN(5000)) * time.Millisecond)
		m.step(t, e, r)
		m.compare(t, e, step)
	}
	want := encoded(t, e.book.State)
	s, err := tryLoad(d.Cut(journaltest.Dropped), false)
	if err != nil || encoded(t, s) != want {
		t.Errorf("replayed %v\n%s\nwant\n%s", err, encoded(t, s), want)
	}
}

// step does one random thing to both.
func (m *model) step(t *testing.T, e *Engine, r *rand.Rand) {
	ctx := context.Background()
	near := exact.Decimal(60e8 + r.Int64N(80e8)) // 60 to 140
	quantity := exact.Decimal(1 + r.Int64N(5e8))
	buy := r.IntN(2) == 0
	switch op := r.IntN(10); {
	case op < 4:
		request := book.OrderRequest{Symbol: "AAA", Side: book.Sell, Type: book.Market, Quantity: quantity, MayOpen: true}
		order := modelOrder{buy: buy, quantity: rat(quantity)}
		if buy {
			request.Side = book.Buy
		}
		if op > 0 {
			request.Type, request.Price, order.limit = book.Limit, near, rat(near)
		}
		placed, err := e.Place(ctx, request)
		if code(err) == "price_collar" {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		order.id = placed.ID
		m.place(order)
	case op == 4 && len(m.orders) > 0:
		i := r.IntN(len(m.orders))
		_, err := e.CancelOrder(book.Who{}, m.orders[i].id)
		if open := m.orders[i].status == "open"; open != (err == nil) {
			t.Fatalf("cancel of %+v: %v", m.orders[i], err)
		} else if open {
			m.orders[i].status = "cancelled"
		}
	case op == 5 || op == 6:
		c := book.Condition{Type: book.PriceBelow, Threshold: near}
		if buy {
			c.Type = book.PriceAbove
		}
		a, err := e.SetAlert(ctx, book.AlertRequest{Symbol: "AAA", Condition: c})
		if err != nil {
			t.Fatal(err)
		}
		m.alerts = append(m.alerts, modelAlert{a.ID, buy, rat(near), m.spoken})
	case op == 7:
		got, _, err := e.Notifications("", false, Page{Size: 1 << 20})
		if err != nil || !slices.EqualFunc(got, m.fired, func(n book.Notification, id string) bool { return n.AlertID == id }) {
			t.Fatalf("drained %v, %v; model has %v", got, err, m.fired)
		}
		m.fired = nil
	default:
		// Cents, so that floats name them exactly.
		price := 6000 + r.IntN(8000)
		high, low := price+r.IntN(500), price-r.IntN(500)
		if m.spoken == 0 {
			high, low = price, price // as a feed's first update
		}
		e.deliver(ctx, market.Update{Symbol: "AAA", Synthetic: true, Price: float64(price) / 100, High: float64(high) / 100, Low: float64(low) / 100, At: time.Now().UnixMilli()})
		if e.watch.Of("AAA").Price != exact.Decimal(price)*1e6 {
			return // nothing is watched yet
		}
		m.update(big.NewRat(int64(price), 100), big.NewRat(int64(high), 100), big.NewRat(int64(low), 100))
	}
}
