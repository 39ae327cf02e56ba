package trade

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/journal/journaltest"
	"wick/market"
)

// fireOne sets an alert and lets it fire.
func fireOne(t *testing.T, e *Engine) string {
	t.Helper()
	a, err := setAlert(t, e, `{"price_above":1}`, "")
	if err != nil {
		t.Fatal(err)
	}
	update(e, 100, 100, 100)
	return a.ID
}

func queue(e *Engine, caller string) (ids []string) {
	for _, q := range e.Queued() {
		if q.Subscription.Caller == caller {
			for _, entry := range q.Entries {
				ids = append(ids, entry.Notification.AlertID)
			}
		}
	}
	return ids
}

// TestFilters: a firing goes to those whose filter of that moment matches.
func TestFilters(t *testing.T) {
	told := map[string][]string{}
	tell := func(n Notification, to []string) { told[n.AlertID] = to }
	inBubble(t, func(o *Options) { o.Notify = tell }, func(t *testing.T, e *Engine) {
		sub := func(caller string, f Filter) string {
			s, err := e.Subscribe(caller, "client", f)
			if err != nil {
				t.Fatal(err)
			}
			return s.ID
		}
		all := sub("all", Filter{})
		symbol := sub("symbol", Filter{Symbols: []string{"aaa", "BBB", "AAA"}})
		sub("other symbol", Filter{Symbols: []string{"CCC"}})
		above := sub("type", Filter{AlertTypes: []ConditionType{PriceAbove}})
		sub("other type", Filter{AlertTypes: []ConditionType{PriceBelow, IndicatorSignal}})
		id := fireOne(t, e)
		if want := []string{all, symbol, above}; !slices.Equal(told[id], want) {
			t.Errorf("told %v, want %v", told[id], want)
		}
		if s, ok := e.Subscription("symbol"); !ok || !slices.Equal(s.Filter.Symbols, []string{"AAA", "BBB"}) {
			t.Errorf("subscription %+v", s)
		}
		if again := sub("symbol", Filter{Symbols: []string{"CCC"}}); again != symbol {
			t.Errorf("a changed filter has the id %s, was %s", again, symbol)
		}
		if q := queue(e, "symbol"); !slices.Equal(q, []string{id}) {
			t.Errorf("a changed filter left the queue %v", q)
		}
		for _, f := range []Filter{{Symbols: []string{"a b"}}, {AlertTypes: []ConditionType{"price"}}, {Symbols: make([]string, 101)}} {
			if _, err := e.Subscribe("x", "client", f); code(err) == "" {
				t.Errorf("filter %+v was taken: %v", f, err)
			}
		}
	})
}

// TestQueueLimits: an hour, a thousand, oldest first, across a restart too.
func TestQueueLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t)
		o.Limits.Alerts = 5000
		d := journaltest.NewDisk()
		e, err := openOn(o, d)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := e.Subscribe("caller", "client", Filter{})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for range QueueCap + 5 {
			a, err := setAlert(t, e, `{"price_above":1}`, "")
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, a.ID)
		}
		update(e, 100, 100, 100)
		if got := queue(e, "caller"); !slices.Equal(got, ids[5:]) {
			t.Errorf("%d entries, the first %s; want the last 1000 in order", len(got), got[0])
		}
		if n := e.PendingNotifications(); n != QueueCap {
			t.Errorf("%d wait to be polled", n)
		}
		time.Sleep(QueueTTL - 20*time.Second)
		late := fireOne(t, e) // ten seconds before the hour is over
		if n := len(queue(e, "caller")); n != QueueCap {
			t.Errorf("%d entries within the hour", n)
		}
		e.Close()
		if e, err = openOn(o, d); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second - time.Millisecond)
		if n := len(queue(e, "caller")); n != QueueCap {
			t.Errorf("%d entries a millisecond before the hour", n)
		}
		time.Sleep(time.Millisecond)
		if got := queue(e, "caller"); !slices.Equal(got, []string{late}) {
			t.Errorf("%d entries after the hour", len(got))
		}
		if err := e.tidy(); err != nil || len(e.shown.queues[sub.ID]) != 1 {
			t.Errorf("%d entries are kept after the hour, %v", len(e.shown.queues[sub.ID]), err)
		}
	})
}

// TestDelivered: marks are batched, written by Run's tidy, and survive.
func TestDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(testOptions(t), d)
		if err != nil {
			t.Fatal(err)
		}
		sub, _ := e.Subscribe("caller", "client", Filter{})
		first, second := fireOne(t, e), fireOne(t, e)
		q := e.Queued()[0]
		if q.Entries[0].Notification.AlertID != first || q.Entries[0].Seq >= q.Entries[1].Seq || q.Entries[0].Seq != q.Entries[0].Notification.Seq {
			t.Fatalf("queue %+v", q)
		}
		records := e.Status().Records
		e.Delivered(sub.ID, q.Entries[0].Seq)
		e.Delivered("s-unknown", 1)
		if e.Status().Records != records {
			t.Error("a mark was written at once")
		}
		e.Close() // without a tidy of its own, Close would lose it
		if e, err = openOn(testOptions(t), d); err != nil {
			t.Fatal(err)
		}
		if got := queue(e, "caller"); !slices.Equal(got, []string{second}) {
			t.Errorf("queue after the restart %v, want %s", got, second)
		}
		if again := e.Queued()[0].Entries[0]; again.Seq != q.Entries[1].Seq {
			t.Errorf("sequence %d became %d", q.Entries[1].Seq, again.Seq)
		}
	})
}

// TestPolling: one shared queue, drained once, readable again for an hour.
func TestPolling(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		read := func(again bool) (ids []string) {
			n, _, err := e.Notifications(again, Page{Size: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range n {
				ids = append(ids, n.AlertID)
			}
			return ids
		}
		expect := func(got []string, want ...string) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		first := fireOne(t, e)
		time.Sleep(2 * QueueTTL) // nobody read it: it waits
		expect(read(false), first)
		expect(read(false))
		expect(read(true), first)
		second := fireOne(t, e)
		expect(read(true), first, second)
		expect(read(false))
		time.Sleep(QueueTTL - 10*time.Second)
		expect(read(true), second)
		time.Sleep(QueueTTL)
		expect(read(true))
	})
}

// TestClaim: after a restart the same client gets its subscription and queue
// back under its new caller; another client does not.
func TestClaim(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	if _, ok, _ := e.Claim("new", "client"); ok {
		t.Error("claimed what is not there")
	}
	sub, err := e.Subscribe("old", "client", Filter{Symbols: []string{"AAA"}})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := setAlert(t, e, `{"price_above":1}`, "")
	price(e, "AAA", 100)
	if _, ok, _ := e.Claim("new", "client"); ok {
		t.Error("claimed while its caller lives")
	}
	e.Close()
	e = openTest(t, o)
	defer e.Close()
	for _, c := range []struct{ caller, client string }{{"new", "other client"}, {"", "client"}, {strings.Repeat("x", 1000), "client"}} {
		if _, ok, _ := e.Claim(c.caller, c.client); ok {
			t.Errorf("%.20s of %s claimed it", c.caller, c.client)
		}
	}
	got, ok, err := e.Claim("new", "client")
	if err != nil || !ok || got.ID != sub.ID || got.Caller != "new" || !slices.Equal(got.Filter.Symbols, sub.Filter.Symbols) {
		t.Errorf("claim: %+v, %t, %v", got, ok, err)
	}
	if q := queue(e, "new"); !slices.Equal(q, []string{a.ID}) {
		t.Errorf("the queue of the claimed subscription is %v", q)
	}
	if _, ok := e.Subscription("old"); ok {
		t.Error("the old caller still has it")
	}
	if _, ok, _ := e.Claim("third", "client"); ok {
		t.Error("claimed twice")
	}
	e.Release("new") // its token has ended
	if got, ok, err := e.Claim("third", "client"); err != nil || !ok || got.ID != sub.ID {
		t.Errorf("claim after the release: %+v, %t, %v", got, ok, err)
	}
	if ok, err := e.Unsubscribe("third"); !ok || err != nil {
		t.Errorf("unsubscribe: %t, %v", ok, err)
	}
	if ok, err := e.Unsubscribe("third"); ok || err != nil {
		t.Errorf("second unsubscribe: %t, %v", ok, err)
	}
}

// TestSubscriptionBound: a store that is full gives up its oldest orphan, and
// refuses when there is none. The largest firing fits one record.
func TestSubscriptionBound(t *testing.T) {
	d := journaltest.NewDisk()
	e, err := openOn(testOptions(t), d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxSubscriptions { // without the file, which would be written a thousand times
		sub := &Subscription{ID: e.ahead.newID("s"), Caller: fmt.Sprint("caller", i), Client: "client"}
		if _, err := e.propose(kindSubscribed, &event{At: now(), Subscription: sub}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Subscribe("more", "client", Filter{}); code(err) != "max_subscriptions" {
		t.Errorf("one subscription too many: %v", err)
	}
	setAlert(t, e, `{"price_above":1}`, "")
	price(e, "AAA", 100)
	if n := e.PendingNotifications(); n != 1 {
		t.Errorf("%d fired to all subscriptions", n)
	}
	e.Close()
	if e, err = openOn(testOptions(t), d); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Subscribe("more", "client", Filter{}); err != nil {
		t.Error(err)
	}
	if _, ok := e.Subscription("caller0"); ok || e.Status().Subscriptions != maxSubscriptions {
		t.Errorf("%d subscriptions, the oldest orphan is there: %t", e.Status().Subscriptions, ok)
	}
}

// TestSubscriptionsFile: the specified file exists, is readable JSON, follows
// every change and can be lost without loss.
func TestSubscriptionsFile(t *testing.T) {
	d := journaltest.NewDisk()
	e, err := openOn(testOptions(t), d)
	if err != nil {
		t.Fatal(err)
	}
	read := func() (callers []string) {
		var file struct{ Subscriptions []Subscription }
		data, err := d.Read("subscriptions.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		for _, s := range file.Subscriptions {
			callers = append(callers, s.Caller)
		}
		return callers
	}
	if got := read(); len(got) != 0 {
		t.Errorf("a new store has %v", got)
	}
	e.Subscribe("a", "client", Filter{})
	if got := read(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("file has %v", got)
	}
	delete(d.Files, "subscriptions.json")
	if _, err = openOn(testOptions(t), d); err != nil {
		t.Fatal(err)
	}
	if got := read(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the file was rebuilt with %v", got)
	}
}

// TestNotifyOrder: listeners hear of firings in the order of their sequences,
// after the record is on disk.
func TestNotifyOrder(t *testing.T) {
	var e *Engine
	var last uint64
	notify := func(n Notification, _ []string) {
		if n.Seq <= last || e.Status().Records < n.Seq {
			t.Errorf("told of %d after %d, with %d on disk", n.Seq, last, e.Status().Records)
		}
		last = n.Seq
	}
	inBubble(t, func(o *Options) { o.Notify = notify }, func(t *testing.T, opened *Engine) {
		e = opened
		for range 100 {
			setAlert(t, e, `{"price_above":1}`, "")
		}
		update(e, 100, 100, 100)
		if last == 0 {
			t.Error("nobody was told")
		}
	})
}

// TestRun plays the engine with a feed that speaks, and ends it by its context.
func TestRun(t *testing.T) {
	inBubble(t, func(o *Options) { o.Symbols, o.Feed = []string{"aaa"}, talking{} }, func(t *testing.T, e *Engine) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := setAlert(t, e, `{"price_above":150}`, ""); err != nil {
			t.Fatal(err)
		}
		if err := e.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		if n, _, _ := e.Notifications(false, Page{Size: 1 << 20}); len(n) != 1 {
			t.Errorf("notifications %+v", n)
		}
		if !slices.Equal(e.Symbols(), []string{"AAA"}) || e.Status().FeedAge < 0 {
			t.Errorf("watched %v, status %+v", e.Symbols(), e.Status())
		}
	})
}

// talking is a feed whose price rises by one every second.
type talking struct{ quiet }

func (talking) Run(ctx context.Context, deliver func(market.Update)) error {
	for price := 100.0; ; price++ {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
			deliver(market.Update{Symbol: "AAA", Price: price, High: price, Low: price, At: time.Now().UnixMilli()})
		}
	}
}
