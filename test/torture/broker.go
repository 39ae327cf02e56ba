//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wick/internal/exact"
	"wick/test/harness"
	"wick/trade/live/alpaca/alpacatest"
)

// brokerRun kills a process whose orders go to a fake of Alpaca, which goes on running.
// The fake accepts the same client_order_id any number of times: an order that is sent
// twice is executed twice, and that is noticed.
type brokerRun struct {
	wick, dir string
	flags     []string
	venue     *alpacatest.Venue
	rng       *rand.Rand // of the rounds

	victim atomic.Pointer[os.Process] // killed by a request; nil for none

	mu    sync.Mutex
	luck  *rand.Rand // of the faults; guarded by mu, like all below
	calm  bool       // no faults
	in    int        // requests that change something until the kill; zero for none
	after bool       // the request is carried out before the kill
	bids  []*bid
	cuts  [3]int // kills at a random moment, before a request was carried out, and after it
}

// bid is an order that a client wants to place, under an id of its own. Every life of the
// process is asked for it again until one has answered.
type bid struct {
	arguments map[string]any
	answered  bool
}

// bookOrder is an order as get_orders shows it.
type bookOrder struct {
	ID       string         `json:"order_id"`
	ClientID string         `json:"client_order_id"`
	BrokerID string         `json:"broker_order_id"`
	Side     string         `json:"side"`
	Status   string         `json:"status"`
	Filled   exact.Decimal  `json:"filled_quantity"`
	Average  *exact.Decimal `json:"average_price"`
	Reason   string         `json:"reason"`
}

// tortureBroker runs the rounds and prints the figures.
func tortureBroker(wick, dir string, kills, clients int, seed uint64) error {
	r := &brokerRun{wick: wick, dir: filepath.Join(dir, "state"), venue: alpacatest.New(), rng: rand.New(rand.NewPCG(seed, 1)), luck: rand.New(rand.NewPCG(seed, 2)), calm: true}
	r.venue.Reuse, r.venue.Minute, r.venue.Faults = true, 1<<30, r.fault
	r.venue.Price("AAPL", 50*exact.One)
	fake := httptest.NewServer(r.venue)
	defer fake.Close()
	defer r.venue.CutStreams()
	if err := r.prepare(dir, fake.URL); err != nil {
		return err
	}
	began := time.Now()
	for round := range kills + 1 {
		p, err := start(wick, r.dir, r.flags...)
		if err != nil {
			return fmt.Errorf("start %d: %w", round, err)
		}
		if err = r.live(p, round, round == kills, clients); err != nil {
			p.Kill()
			return fmt.Errorf("after kill %d: %w", round, err)
		}
		p.Kill()
		if round > 0 && round%20 == 0 {
			fmt.Printf("%d kills: %s\n", round, r)
		}
	}
	if err := verifyHistory(wick, r.dir); err != nil {
		return err
	}
	fmt.Printf("%d kills in %s: %s\nevery order was executed at most once, and the book is what the venue has\n", kills, time.Since(began).Round(time.Second), r)
	return nil
}

// String returns the figures.
func (r *brokerRun) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	filled := 0
	orders := r.venue.Orders()
	for _, o := range orders {
		if o.Filled > 0 {
			filled++
		}
	}
	return fmt.Sprintf("%d orders wanted, %d at the venue, %d filled; killed at a random moment %d times, before a request %d, after it %d",
		len(r.bids), len(orders), filled, r.cuts[0], r.cuts[1], r.cuts[2])
}

// prepare writes the prices and the keys, and the flags that name them.
func (r *brokerRun) prepare(dir, fake string) error {
	var bars strings.Builder
	bars.WriteString("time,open,high,low,close,volume\n")
	for at := time.Now().Truncate(time.Hour).Add(-100 * time.Hour); at.Before(time.Now()); at = at.Add(time.Hour) {
		fmt.Fprintf(&bars, "%d,50,50,50,50,1\n", at.Unix())
	}
	keys := filepath.Join(dir, "keys")
	err := errors.Join(
		os.WriteFile(filepath.Join(dir, "AAPL-1h.csv"), []byte(bars.String()), 0o600),
		os.WriteFile(keys, []byte("APCA_API_KEY_ID="+r.venue.Keys[0]+"\nAPCA_API_SECRET_KEY="+r.venue.Keys[1]+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "rules"), []byte(harness.Rules+"max-price-age 1000h\n"), 0o600),
		os.Setenv("WICK_ALPACA_URL", fake),
	)
	r.flags = []string{"--broker", "alpaca-paper", "--broker-key-file", keys, "--source", "csv:" + dir, "--symbols", "AAPL", "--intervals", "1h", "--paper-file", filepath.Join(dir, "rules"),
		"--confirm-above", "1000000", "--max-order-notional", "1000"}
	return err
}

// fault decides what happens to a request, and whether the process is killed during it.
func (r *brokerRun) fault(q *http.Request) alpacatest.Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.in > 0 && q.Method != http.MethodGet {
		if r.in--; r.in == 0 {
			kill := func() {
				if p := r.victim.Load(); p != nil {
					p.Kill() // it may be dead already
				}
			}
			if r.after {
				return alpacatest.Fault{Unread: true, Done: kill}
			}
			kill()
			return alpacatest.Fault{Lost: true}
		}
	}
	if r.calm {
		return alpacatest.Fault{}
	}
	switch r.luck.IntN(100) {
	case 0:
		return alpacatest.Fault{Lost: true}
	case 1, 2:
		return alpacatest.Fault{Unread: true}
	case 3:
		return alpacatest.Fault{Late: time.Duration(r.luck.IntN(3000)) * time.Millisecond}
	case 4:
		return alpacatest.Fault{Status: []int{500, 502, 503, 504, 403}[r.luck.IntN(5)]}
	case 5:
		return alpacatest.Fault{HTML: true}
	}
	return alpacatest.Fault{}
}

// live is one life of the process: it waits until the process has read the account, asks
// again for what was not answered, compares the book with the venue, and then sends orders
// until the process is killed. The last life is not killed: live waits until no outcome is
// unknown.
func (r *brokerRun) live(p *harness.Process, round int, last bool, clients int) error {
	if err := ready(p.Base); err != nil {
		return err
	}
	c, err := login(p.Base, "looker")
	if err != nil {
		return fmt.Errorf("login: %w", err)
	}
	if err := r.repeat(c); err != nil {
		return err
	}
	if err := r.agree(c, last); err != nil || last {
		return err
	}
	traders := make([]*client, clients)
	for i := range traders {
		if traders[i], err = login(p.Base, fmt.Sprint("trader", i)); err != nil {
			return fmt.Errorf("login: %w", err)
		}
	}
	stop := make(chan struct{})
	var work sync.WaitGroup
	for i, t := range traders {
		rng := rand.New(rand.NewPCG(r.rng.Uint64(), uint64(i)))
		work.Go(func() {
			for n := 0; r.trade(t, rng, fmt.Sprintf("r%d-c%d-%d", round, i, n)); n++ {
			}
		})
	}
	rng := rand.New(rand.NewPCG(r.rng.Uint64(), 9))
	work.Go(func() { r.market(rng, stop) })
	r.kill(p)
	close(stop)
	work.Wait()
	return nil
}

// ready waits until the process says that it takes orders.
func ready(base string) error {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		answer, err := http.Get(base)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			return err
		}
		if strings.Contains(string(text), `"trading":"active"`) {
			return nil
		}
	}
	return errors.New("the process does not begin to trade")
}

// kill ends the process at a random moment, or during one of its requests.
func (r *brokerRun) kill(p *harness.Process) {
	how := r.rng.IntN(3)
	wait := time.Duration(r.rng.IntN(800)) * time.Millisecond
	r.mu.Lock()
	r.calm = false
	r.cuts[how]++
	if how > 0 {
		r.in, r.after, wait = 1+r.rng.IntN(6), how == 2, 3*time.Second
	}
	r.mu.Unlock()
	r.victim.Store(p.Process)
	gone := make(chan struct{})
	go func() {
		p.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(wait):
		p.Kill()
	}
	r.victim.Store(nil)
	r.mu.Lock()
	r.calm, r.in = true, 0
	r.mu.Unlock()
}

// trade does one random thing as a client. It reports whether the process still runs.
func (r *brokerRun) trade(c *client, rng *rand.Rand, id string) bool {
	time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
	if rng.IntN(4) == 0 {
		return r.cancelOne(c, rng)
	}
	b := &bid{arguments: map[string]any{"symbol": "AAPL", "side": []string{"buy", "sell"}[rng.IntN(2)], "type": "market", "quantity": 1 + rng.IntN(3), "client_order_id": id}}
	switch rng.IntN(4) {
	case 0, 1:
		b.arguments["type"], b.arguments["price"] = "limit", 45+rng.IntN(11)
	case 2:
		b.arguments["stop_loss"], b.arguments["take_profit"] = "5%", "7%"
	}
	r.mu.Lock()
	r.bids = append(r.bids, b)
	r.mu.Unlock()
	return r.ask(c, b) == nil
}

// ask places a bid. An error means that nobody answered.
func (r *brokerRun) ask(c *client, b *bid) error {
	var o bookOrder
	err := c.call("place_order", b.arguments, &o)
	if err != nil && !errors.Is(err, errTool) {
		return err
	}
	r.mu.Lock()
	b.answered = true
	r.mu.Unlock()
	return nil
}

// cancelOne cancels an open order.
func (r *brokerRun) cancelOne(c *client, rng *rand.Rand) bool {
	var open []bookOrder
	if err := c.call("get_orders", map[string]any{"filter": "open"}, &open); err != nil || len(open) == 0 {
		return err == nil || errors.Is(err, errTool)
	}
	var o bookOrder
	err := c.call("cancel_order", map[string]any{"order_id": open[rng.IntN(len(open))].ID}, &o)
	return err == nil || errors.Is(err, errTool) || strings.Contains(err.Error(), unknown)
}

// market fills and ends orders at the venue and disturbs its stream.
func (r *brokerRun) market(rng *rand.Rand, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(rng.IntN(30)) * time.Millisecond):
		}
		one := ""
		if open := r.venue.Open(); len(open) > 0 {
			one = open[rng.IntN(len(open))]
		}
		switch rng.IntN(12) {
		case 0:
			r.venue.End(one, []string{"expired", "canceled", "rejected"}[rng.IntN(3)])
		case 1:
			r.venue.CutStreams()
		case 2:
			r.venue.Drop(1 + rng.IntN(4))
		case 3:
			r.venue.Repeat(1 + rng.IntN(4))
		default:
			r.venue.Fill(one, exact.Decimal(1+rng.Int64N(2))*exact.One, exact.Decimal(45+rng.Int64N(11))*exact.One)
		}
	}
}

// repeat asks once more for the bids that no life has answered.
func (r *brokerRun) repeat(c *client) error {
	r.mu.Lock()
	var waiting []*bid
	for _, b := range r.bids {
		if !b.answered {
			waiting = append(waiting, b)
		}
	}
	r.mu.Unlock()
	for _, b := range waiting {
		if err := r.ask(c, b); err != nil {
			return fmt.Errorf("bid %s again: %w", b.arguments["client_order_id"], err)
		}
	}
	return nil
}

// agree waits until the book agrees with the venue. With whole set no outcome may be
// unknown any more.
func (r *brokerRun) agree(c *client, whole bool) error {
	var err error
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		book, failed := list[bookOrder](c, "get_orders", nil, 0, allOrders)
		if failed != nil {
			return failed
		}
		if err = compareBook(book, r.venue.Orders(), r.venue.Position("AAPL"), whole); err == nil || errors.Is(err, errTwice) {
			return err
		}
	}
	return err
}

// errTwice reports what must never happen, not even for a moment.
var errTwice = errors.New("executed twice")

// bookStatus is the book's word for a status of the venue's.
var bookStatus = map[string]string{"filled": "filled", "canceled": "cancelled", "expired": "cancelled", "replaced": "cancelled", "rejected": "rejected", "partially_filled": "partially_filled"}

// compareBook returns an error that says where the book differs from the venue. Unless
// whole is set, orders whose outcome is unknown and that the venue does not have are left
// out.
func compareBook(book []bookOrder, venue []alpacatest.Order, position exact.Decimal, whole bool) error {
	there, ids, known := map[string]alpacatest.Order{}, map[string]bool{}, map[string]bool{}
	for _, o := range venue {
		if ids[o.ClientID] || o.Filled > o.Quantity {
			return fmt.Errorf("%w: the venue has %+v", errTwice, o)
		}
		there[o.ID], ids[o.ClientID] = o, true
	}
	bids, sum := map[string]bool{}, exact.Decimal(0)
	for _, o := range book {
		if o.ClientID != "" && bids[o.ClientID] {
			return fmt.Errorf("%w: two orders of the book have the client_order_id %s", errTwice, o.ClientID)
		}
		bids[o.ClientID] = true
		v, found := there[o.BrokerID]
		want := bookStatus[v.Status]
		if want == "" {
			want = "open"
		}
		switch {
		case o.BrokerID == "" && !ids[o.ID] && (o.Status == "rejected" || !whole):
			continue
		case !found:
			return fmt.Errorf("the venue does not have %+v", o)
		case o.Status != want || o.Filled != v.Filled || v.Filled > 0 && (o.Average == nil || *o.Average != v.Average):
			return fmt.Errorf("the book has %+v, the venue %+v", o, v)
		}
		known[v.ID] = true
		if o.Side == "sell" {
			sum -= o.Filled
		} else {
			sum += o.Filled
		}
	}
	for id, o := range there {
		if !known[id] {
			return fmt.Errorf("the book does not have %+v", o)
		}
	}
	if sum != position {
		return fmt.Errorf("the book's fills come to %s and the venue holds %s", sum, position)
	}
	return nil
}
