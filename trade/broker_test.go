package trade

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"wick/exact"
	"wick/journal/journaltest"
)

// fakeBroker is a real broker in small: it keeps what reached it and loses
// answers on demand.
type fakeBroker struct {
	mu       sync.Mutex
	reports  map[string]Report
	sent     map[string]int
	lose     bool // the order arrives, the answer does not
	down     bool // nothing arrives
	intended func(id string)
}

func newFakeBroker() *fakeBroker {
	return &fakeBroker{reports: map[string]Report{}, sent: map[string]int{}}
}

func (b *fakeBroker) Name() string { return "fake" }

func (b *fakeBroker) Submit(_ context.Context, o Order) (Report, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.intended != nil {
		b.intended(o.ID)
	}
	if b.down {
		return Report{}, errors.New("connection refused")
	}
	b.sent[o.ID]++
	b.reports[o.ID] = Report{Status: StatusOpen}
	if b.lose {
		return Report{}, errors.New("timeout")
	}
	return b.reports[o.ID], nil
}

func (b *fakeBroker) Cancel(_ context.Context, id string) (Report, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.reports[id]
	r.Status = StatusCancelled
	b.reports[id] = r
	return r, nil
}

func (b *fakeBroker) Lookup(_ context.Context, id string) (Report, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return Report{}, errors.New("connection refused")
	}
	r, ok := b.reports[id]
	if !ok {
		return Report{}, ErrUnknownOrder
	}
	return r, nil
}

func (b *fakeBroker) report(id string, r Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reports[id] = r
}

// TestBroker follows an order through partial fills to its end.
func TestBroker(t *testing.T) {
	b := newFakeBroker()
	inBubble(t, func(o *Options) { o.Broker = b }, func(t *testing.T, e *Engine) {
		if _, err := e.Place(t.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One}); code(err) != "starting" {
			t.Errorf("order before the start: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- e.Run(ctx) }()
		time.Sleep(time.Second)
		b.intended = func(id string) {
			e.mu.Lock()
			defer e.mu.Unlock()
			if o := e.shown.order(id); o == nil || o.Reason != outcomeUnknown {
				t.Errorf("order %s was sent before its intent was on disk", id)
			}
		}
		o := place(t, e, Buy, Limit, "3", "100")
		if o.Status != StatusOpen || o.Reason != "" || o.Broker != "fake" {
			t.Errorf("order %+v", o)
		}
		b.report(o.ID, Report{Status: StatusPartiallyFilled, FilledQuantity: exact.One, AveragePrice: 100 * exact.One, Fee: 10})
		time.Sleep(askPeriod)
		if p := e.Positions(); len(p) != 1 || p[0].Quantity != exact.One || p[0].EntryPrice != 100*exact.One {
			t.Errorf("positions after the first fill %+v", p)
		}
		b.report(o.ID, Report{Status: StatusFilled, FilledQuantity: 3 * exact.One, AveragePrice: 98 * exact.One, Fee: 30})
		time.Sleep(askPeriod)
		p := e.Positions() // 3 at 98 in all: the second fill was 2 at 97
		if len(p) != 1 || p[0].Quantity != 3*exact.One || p[0].EntryPrice != 98*exact.One || p[0].RealizedPnL.String() != "-0.0000003" {
			t.Errorf("positions after the second fill %+v", p)
		}
		resting := place(t, e, Buy, Limit, "1", "90")
		if c, err := e.CancelOrder(t.Context(), "", resting.ID); err != nil || c.Status != StatusCancelled {
			t.Errorf("cancel: %+v, %v", c, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestLostAnswer: an order whose answer was lost is looked up, not sent again.
func TestLostAnswer(t *testing.T) {
	b := newFakeBroker()
	inBubble(t, func(o *Options) { o.Broker = b }, func(t *testing.T, e *Engine) {
		e.answered = true
		b.lose = true
		if o := place(t, e, Buy, Limit, "1", "100"); o.Reason != "" || b.sent[o.ID] != 1 {
			t.Errorf("order %+v was sent %d times", o, b.sent[o.ID])
		}
		b.down = true
		o := place(t, e, Buy, Limit, "1", "99")
		if o.Status != StatusOpen || o.Reason != outcomeUnknown {
			t.Errorf("order to a broker that is down: %+v", o)
		}
		b.down, b.lose = false, false
		e.inquire(t.Context(), false) // may be on its way still
		if o := e.Orders(false)[1]; o.Status != StatusOpen {
			t.Errorf("given up too early: %+v", o)
		}
	})
}

// TestIntentAfterCrash: a start asks about every intent before anything else.
// One that arrived is found; one that did not is given up, never sent.
func TestIntentAfterCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, d := newFakeBroker(), journaltest.NewDisk()
		o := testOptions(t)
		o.Broker = b
		e, err := open(o, d)
		if err != nil {
			t.Fatal(err)
		}
		e.answered = true
		b.lose, b.down = true, true
		lost := place(t, e, Buy, Limit, "1", "100")
		arrived := place(t, e, Buy, Limit, "2", "100")
		b.reports[arrived.ID] = Report{Status: StatusFilled, FilledQuantity: 2 * exact.One, AveragePrice: 100 * exact.One}
		b.lose, b.down = false, false
		if e, err = open(o, d.Cut(journaltest.Dropped)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := e.Run(ctx); err != nil {
			t.Fatal(err)
		}
		orders := e.Orders(false)
		if orders[0].ID != lost.ID || orders[0].Status != StatusRejected || orders[0].Reason == "" {
			t.Errorf("the lost order %+v", orders[0])
		}
		if orders[1].Status != StatusFilled || e.Positions()[0].Quantity != 2*exact.One {
			t.Errorf("the order that arrived %+v", orders[1])
		}
		if len(b.sent) != 0 {
			t.Errorf("sent %v", b.sent)
		}
	})
}
