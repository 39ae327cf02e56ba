package trade

import (
	"context"
	"fmt"
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

// scene is a market in cents, one price a second from the start of the test's
// time, and what a client does in it, by minute.
type scene struct {
	start  int64 // unix seconds
	prices []int64
	does   map[int][]action
	down   map[int]int // minute after whose actions the process stops, and how many minutes for
}

// action is an order, or the cancel of the n-th order.
type action struct {
	cancel int // -1 for an order
	side   book.Side
	limit  int64 // in cents; 0 for a market order
	size   int64
}

// newScene returns a random script: a walk that jumps now and then, most of
// all between two minutes.
func newScene(seed uint64, minutes int) *scene {
	r := rand.New(rand.NewPCG(seed, 18))
	s := &scene{start: time.Now().Unix(), does: make(map[int][]action), down: make(map[int]int)}
	price := int64(10000)
	for i := range 60 * minutes {
		step := r.Int64N(21) - 10
		if r.IntN(120) == 0 || i%60 == 0 && r.IntN(4) == 0 {
			step = r.Int64N(601) - 300
		}
		price = min(max(price+step, 8000), 12000)
		s.prices = append(s.prices, price)
	}
	orders := 0
	for m := 1; m < minutes-1; m++ {
		for range r.IntN(4) {
			if orders > 0 && r.IntN(6) == 0 {
				s.does[m] = append(s.does[m], action{cancel: r.IntN(orders)})
				continue
			}
			a := action{cancel: -1, side: []book.Side{book.Buy, book.Sell}[r.IntN(2)], size: 1 + r.Int64N(5)}
			if r.IntN(5) > 0 {
				a.limit = s.prices[60*m] + r.Int64N(601) - 300
			}
			s.does[m] = append(s.does[m], a)
			orders++
		}
		if r.IntN(12) == 0 {
			s.down[m] = 1 + r.IntN(5)
			m += s.down[m] - 1
		}
	}
	return s
}

// Bars has the bars of the script until now.
func (s *scene) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	now := min(time.Now().Unix()-s.start, int64(len(s.prices)-1))
	out := &market.Series{Symbol: q.Symbol, Interval: q.Interval, Source: "test", Forming: true,
		AsOf: time.Now().UnixMilli(), PriceAt: (s.start + now) * 1000}
	first := max(0, now/q.Interval.Seconds()-int64(q.Limit)+1) * q.Interval.Seconds()
	for from := first; from <= now; from += q.Interval.Seconds() {
		part := s.prices[from:min(from+q.Interval.Seconds(), now+1)]
		cents := func(v int64) float64 { return float64(v) / 100 }
		out.Append(market.Bar{Time: s.start + from, Open: cents(part[0]), High: cents(slices.Max(part)), Low: cents(slices.Min(part)), Close: cents(part[len(part)-1])})
	}
	return out, nil
}

// every is a script that answers for minutes only at whole multiples of a
// cadence, so that a feed polls no oftener.
type every struct {
	*scene
	cadence time.Duration
}

func (s every) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if now := time.Now(); q.Interval == market.Minute1 && !now.Truncate(s.cadence).Equal(now) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(now.Truncate(s.cadence).Add(s.cadence).Sub(now)):
		}
	}
	return s.scene.Bars(ctx, q)
}

// slowFeed is a feed over every that answers an order's question at once.
type slowFeed struct {
	*market.Feed
	now *market.Feed
}

func (f slowFeed) Quote(ctx context.Context, symbol string) (market.Quote, error) {
	return f.now.Quote(ctx, symbol)
}

// play runs the script on an engine and returns what became of its orders.
func (s *scene) play(t *testing.T, cadence time.Duration, interval market.Interval) (orders []string, held string) {
	disk, ids := journaltest.NewDisk(), []string{}
	at := func(minute int, offset time.Duration) {
		time.Sleep(time.Until(time.Unix(s.start+int64(60*minute), 0).Add(offset)))
	}
	o := testOptions(t)
	o.Source, o.Symbols, o.Intervals = s, []string{"AAA"}, []market.Interval{interval}
	o.Limits.OrderNotional, o.Limits.PositionNotional, o.Limits.Open, o.Limits.OpenPerSymbol = 1<<60, 1<<60, 1<<20, book.MaxOpenPerSymbol
	var e *Engine
	var stop func()
	begin := func() {
		o.Feed = slowFeed{market.NewFeed(every{s, cadence}, nil), market.NewFeed(s, nil)}
		var err error
		if e, err = openOn(o, disk); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- e.Run(ctx) }()
		stop = func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	begin()
	for m := 1; m < len(s.prices)/60-1; m++ {
		at(m, 500*time.Millisecond)
		for _, a := range s.does[m] {
			if a.cancel >= 0 {
				e.CancelOrder(book.Who{}, ids[a.cancel]) // refused if it was filled
				continue
			}
			r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: a.side, Type: book.Market, Quantity: exact.Decimal(a.size) * exact.One, MayOpen: true}
			if a.limit > 0 {
				r.Type, r.Price = book.Limit, exact.Decimal(a.limit)*exact.One/100
			}
			placed, err := e.Place(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, placed.ID)
		}
		if minutes, ok := s.down[m]; ok {
			stop()
			m += minutes - 1
			at(m+1, -500*time.Millisecond)
			begin()
		}
	}
	at(len(s.prices)/60-1, 500*time.Millisecond)
	for _, o := range must(e.Orders(false)) {
		orders = append(orders, fmt.Sprint(o.Side, " ", o.Quantity, " ", show(o.Price), ": ", o.Status, " ", show(o.AveragePrice)))
	}
	held = heldOf(e)
	stop()
	return orders, held
}

func heldOf(e *Engine) string {
	h := must(e.Positions(true))
	if len(h) == 0 {
		return "0"
	}
	return h[0].Side + " " + h[0].Quantity.String()
}

// expect judges the script second by second, as docs/trading.md says, without
// any code of the engine. It stops right after the first trade of a minute, so all
// that was traded meanwhile came after its last look.
func (s *scene) expect() (orders []string, held string) {
	type order struct {
		action
		status string
		fill   int64
	}
	var known []*order
	var sum int64
	fill := func(o *order, price int64) {
		o.status, o.fill = "filled", price
		if o.side == book.Sell {
			sum -= o.size
		} else {
			sum += o.size
		}
	}
	running := true
	resume := -1
	last := 60 * (len(s.prices)/60 - 1)
	for second := 1; second <= last; second++ {
		price, minute := s.prices[second], second/60
		if second%60 == 0 && minute == resume {
			running = true
		}
		for _, o := range known {
			beyond := o.side == book.Buy && price <= o.limit || o.side == book.Sell && price >= o.limit
			switch {
			case o.status != "open" || !beyond:
			case second%60 == 0 && running: // a minute that opened beyond gives its open
				fill(o, price)
			default:
				fill(o, o.limit)
			}
		}
		if !running || second%60 != 0 || minute >= len(s.prices)/60-1 {
			continue
		}
		for _, a := range s.does[minute] {
			if a.cancel >= 0 {
				if o := known[a.cancel]; o.status == "open" {
					o.status = "cancelled"
				}
				continue
			}
			o := &order{action: a, status: "open"}
			if a.limit == 0 || a.side == book.Buy && a.limit >= price || a.side == book.Sell && a.limit <= price {
				fill(o, price)
			}
			known = append(known, o)
		}
		if minutes, ok := s.down[minute]; ok {
			running, resume = false, minute+minutes
		}
	}
	cents := func(v int64) string {
		if v == 0 {
			return "null"
		}
		return (exact.Decimal(v) * exact.One / 100).String()
	}
	for _, o := range known {
		orders = append(orders, fmt.Sprint(o.side, " ", o.size, " ", cents(o.limit), ": ", o.status, " ", cents(o.fill)))
	}
	held = "long " + fmt.Sprint(sum)
	if sum < 0 {
		held = "short " + fmt.Sprint(-sum)
	} else if sum == 0 {
		held = "flat 0"
	}
	return orders, held
}

// TestCadences plays random scripts of orders, cancels, prices and restarts on
// a feed that polls every 1, 10 and 60 seconds, with other intervals each, and
// wants the fills of the model from all of them.
func TestCadences(t *testing.T) {
	t.Parallel()
	minutes, seeds := 90, uint64(8)
	if testing.Short() {
		minutes, seeds = 30, 1
	}
	for seed := range seeds {
		for cadence, interval := range map[time.Duration]market.Interval{time.Second: market.Hour1, 10 * time.Second: market.Hour4, time.Minute: market.Minute1} {
			t.Run(fmt.Sprint("seed ", seed, " every ", cadence), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newScene(seed, minutes)
					want, wantHeld := s.expect()
					got, held := s.play(t, cadence, interval)
					if len(got) != len(want) {
						t.Fatalf("%d orders, want %d", len(got), len(want))
					}
					for i := range got {
						if got[i] != want[i] {
							t.Errorf("order %d is %s, want %s", i, got[i], want[i])
						}
					}
					if held != wantHeld {
						t.Errorf("held %s, want %s", held, wantHeld)
					}
				})
			})
		}
	}
}
