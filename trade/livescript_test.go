package trade

import (
	"context"
	"errors"
	"flag"
	"fmt"
	rand "math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
	"wick/trade/live/alpaca"
	"wick/trade/live/alpaca/alpacatest"
)

var firstScript = flag.Int("first-script", 0, "the seed of the first of -scripts")

var scripts = flag.Int("scripts", 0, "random scripts of faults at a broker; 0 means as many as take a few seconds")

// mortal is the network of one process: once that is dead, nothing of it arrives.
type mortal struct {
	dead atomic.Bool
	next http.RoundTripper
}

var errDead = errors.New("the process is dead")

func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.dead.Load() {
		return nil, errDead
	}
	return m.next.RoundTrip(r)
}

// faulty is an engine at a broker to which everything happens that can happen
// between the two.
type faulty struct {
	*atBroker
	r   *rand.Rand // of the steps
	net *mortal
	did []string // for the failure's text

	mu    sync.Mutex        // guards what follows, and disk
	luck  *rand.Rand        // of the faults
	in    int               // requests until the crash; zero for none
	after bool              // the request that it comes with is carried out
	image *journaltest.Disk // what the crash left
	mild  bool              // no more faults
}

func (f *faulty) note(format string, args ...any) {
	f.did = append(f.did, fmt.Sprintf(format, args...))
}

// fault decides what happens to a request, and when the process dies.
func (f *faulty) fault(r *http.Request) alpacatest.Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mild {
		return alpacatest.Fault{}
	}
	if f.in > 0 && r.URL.Path != "/v2/events/trades" {
		if f.in--; f.in == 0 {
			if !f.after {
				f.dieLocked()
				return alpacatest.Fault{Lost: true}
			}
			return alpacatest.Fault{Unread: true, Done: f.die}
		}
	}
	switch f.luck.IntN(40) {
	case 0:
		return alpacatest.Fault{Lost: true}
	case 1, 2:
		return alpacatest.Fault{Unread: true}
	case 3:
		return alpacatest.Fault{Late: time.Duration(f.luck.IntN(30_000)) * time.Millisecond}
	case 4:
		return alpacatest.Fault{Status: []int{500, 502, 503, 504, 429, 403}[f.luck.IntN(6)]}
	case 5:
		return alpacatest.Fault{HTML: true}
	}
	return alpacatest.Fault{}
}

// die is kill -9: what is not synced is lost, and nothing more is sent.
func (f *faulty) die() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dieLocked()
}

func (f *faulty) dieLocked() {
	if f.image == nil {
		f.image = f.disk.Cut(journaltest.Dropped)
		f.net.dead.Store(true)
	}
}

// open starts a process.
func (f *faulty) open() {
	f.net = &mortal{next: f.venue.Client().Transport}
	o := liveOptions(f.t, f.venue)
	keys, _ := alpaca.ParseKeys("APCA_API_KEY_ID=" + f.venue.Keys[0] + "\nAPCA_API_SECRET_KEY=" + f.venue.Keys[1])
	client, err := alpaca.New(alpaca.Options{URL: alpaca.PaperURL, Paper: true, Keys: keys, Client: &http.Client{Transport: f.net}})
	if err != nil {
		f.t.Fatal(err)
	}
	atVenue(&o).Broker = client
	if f.e, err = openOn(o, f.disk); err != nil {
		f.t.Fatal(err)
	}
	f.run()
}

// bury ends a dead process and starts the next one on what is left.
func (f *faulty) bury() {
	f.end()
	<-f.done
	f.e.Close() // writes to a disk that nobody reads again
	f.mu.Lock()
	f.disk, f.image, f.in = f.image, nil, 0
	f.mu.Unlock()
	f.open()
}

// dead reports whether the process was killed.
func (f *faulty) dead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.image != nil
}

// calm ends the faults, or lets them begin.
func (f *faulty) calm(mild bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mild = mild
}

// placeOne places a random order, sometimes in the place of another, and sometimes
// twice, as a model does that did not see the answer.
func (f *faulty) placeOne(ctx context.Context, i int, side book.Side, some, price exact.Decimal) {
	r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: side, Type: book.Market, Quantity: some, ClientOrderID: fmt.Sprint("c", i)}
	switch f.r.IntN(4) {
	case 1, 2:
		r.Type, r.Price = book.Limit, price
	case 3:
		r.StopLoss, r.TakeProfit = book.Exit{Percent: 5 * exact.One}, book.Exit{Percent: 7 * exact.One}
	}
	if mine := must(f.e.Orders(true)); len(mine) > 0 && f.r.IntN(4) == 0 {
		old := mine[f.r.IntN(len(mine))]
		r.Side, r.Type, r.Quantity, r.Replaces, r.StopLoss, r.TakeProfit = old.Side, old.Type, old.Quantity, old.ID, book.Exit{}, book.Exit{}
		if r.Price = 0; r.Type == book.Limit {
			r.Price = price
		}
	}
	o, err := f.e.Place(ctx, r)
	if f.r.IntN(3) == 0 { // the model did not see the answer
		again, err2 := f.e.Place(ctx, r)
		if err == nil && err2 == nil && again.ID != o.ID {
			f.t.Errorf("the same client_order_id gave two orders, %s and %s", o.ID, again.ID)
		}
	}
	f.note("place %s %s %s -> %s %s %v", r.Side, r.Quantity, r.Type, o.ID, o.Status, err)
}

// step does one random thing.
func (f *faulty) step(ctx context.Context, i int) {
	some := exact.Decimal(1+f.r.Int64N(5)) * exact.One
	price := exact.Decimal(95+f.r.Int64N(11)) * exact.One
	side := []book.Side{book.Buy, book.Sell}[f.r.IntN(2)]
	open := f.venue.Open()
	one := ""
	if len(open) > 0 {
		one = open[f.r.IntN(len(open))]
	}
	lag := []time.Duration{0, 0, 200 * time.Millisecond, 3 * time.Second}[f.r.IntN(4)]
	f.venue.Set(func(v *alpacatest.Venue) { v.Lag = lag })
	switch n := f.r.IntN(20); n {
	case 0, 1, 2, 3, 4, 5:
		f.placeOne(ctx, i, side, some, price)
	case 6, 7:
		if mine := must(f.e.Orders(true)); len(mine) > 0 {
			o, err := f.e.CancelOrder(anyone(), mine[f.r.IntN(len(mine))].ID)
			f.note("cancel %s %s %v", o.ID, o.Status, err)
		}
	case 8, 9, 10:
		f.venue.Fill(one, some, price)
		f.note("fill %s %s at %s", one, some, price)
	case 11:
		f.venue.End(one, []string{"expired", "canceled", "rejected"}[f.r.IntN(3)])
		f.note("end %s", one)
	case 12:
		f.venue.CutStreams()
	case 13:
		f.venue.Drop(1 + f.r.IntN(4))
	case 14:
		f.venue.Repeat(1 + f.r.IntN(4))
	case 15:
		in, after := 1+f.r.IntN(6), f.r.IntN(2) == 0
		f.mu.Lock()
		f.in, f.after = in, after
		f.mu.Unlock()
		f.note("dies in %d requests, after %t", in, after)
	case 16:
		f.note("dies now")
		f.die()
	default:
		time.Sleep(time.Duration(f.r.IntN(20_000)) * time.Millisecond)
	}
	time.Sleep(time.Duration(f.r.IntN(1000)) * time.Millisecond)
	if f.dead() {
		f.note("restart")
		f.bury()
	}
}

// playScript plays one script and checks that the venue executed each order at most
// once and that the book becomes what the venue has.
func playScript(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		f := &faulty{atBroker: &atBroker{t: t, venue: v, disk: journaltest.NewDisk()}, r: rand.New(rand.NewPCG(seed, 3)), luck: rand.New(rand.NewPCG(seed, 4)), mild: true}
		v.Deaf, v.Reuse, v.Hold = f.r.IntN(3) == 0, f.r.IntN(2) == 0, f.r.IntN(3) == 0
		v.Faults = f.fault
		f.open()
		time.Sleep(time.Second)
		f.calm(false)
		for i := range 12 + f.r.IntN(12) {
			f.step(t.Context(), i)
		}
		f.calm(true)
		v.Set(func(v *alpacatest.Venue) { v.Lag = 0 })
		if f.dead() {
			f.bury()
		}
		time.Sleep(4 * time.Minute)
		seen := map[string]bool{}
		for _, o := range v.Orders() {
			if seen[o.ClientID] {
				t.Errorf("the venue has two orders with the client id %s", o.ClientID)
			}
			seen[o.ClientID] = true
		}
		f.same("at the end")
		if s, _ := f.e.Venue(); s.State != "ready" || len(s.Unknown) > 0 {
			t.Errorf("status at the end: %+v, want ready and nothing unknown", s)
		}
		if n := v.Busiest(); n > 200 {
			t.Errorf("%d requests in a minute, want 200 at most", n)
		}
		if t.Failed() {
			t.Logf("seed %d", seed)
			for _, did := range f.did {
				t.Log(did)
			}
			for _, o := range must(f.e.Orders(false)) {
				t.Log("book", o.ID, o.BrokerID, o.Side, o.Quantity, o.Status, o.FilledQuantity, o.Reason)
			}
			for _, o := range v.Orders() {
				t.Logf("venue %+v", o)
			}
		}
		f.stop()
	})
}

// TestLiveScripts: over random scripts of orders, fills, lost answers, answers that lag, broken
// streams and processes that are killed between the intent, the request and the answer, the
// broker executes each order at most once, and the book becomes what the broker has. go test -run
// TestLiveScripts -scripts 10000 plays many.
func TestLiveScripts(t *testing.T) {
	n := *scripts
	if n == 0 {
		n = 150
		if testing.Short() {
			n = 12
		}
	}
	for i := range n {
		if playScript(t, uint64(*firstScript+i)); t.Failed() {
			return
		}
	}
}
