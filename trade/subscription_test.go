package trade

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/sse"
	"wick/trade/book"
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

// from returns a caller of the usual client.
func from(caller string) sse.Caller { return sse.Caller{ID: caller, Client: "client"} }

// held returns what the journal holds for a caller and is not too old, and up
// to where it is delivered.
func held(e *Engine, caller string) (entries []*sse.Entry, mark uint64) {
	book := e.hub.Clone()
	queues, marks := book.Queues()
	sub := book.Of(caller)
	if sub == nil {
		return nil, 0
	}
	for _, entry := range queues[sub.ID] {
		if time.Since(entry.At) < sse.QueueTTL {
			entries = append(entries, entry)
		}
	}
	return entries, marks[sub.ID]
}

// queued returns how many entries the queue of a subscription has, also those that are too old.
func queued(e *Engine, id string) int {
	queues, _ := e.hub.Clone().Queues()
	return len(queues[id])
}

// queue returns the alerts that a caller is still to get.
func queue(e *Engine, caller string) (ids []string) {
	entries, mark := held(e, caller)
	for _, entry := range entries {
		if entry.Seq > mark {
			ids = append(ids, entry.Note.(*book.Notification).AlertID)
		}
	}
	return ids
}

// deliverSome notes for every queue that part of it was delivered.
func deliverSome(e *Engine, pick int) error {
	marks := make(map[string]uint64)
	queues, _ := e.hub.Clone().Queues()
	for id, entries := range queues {
		marks[id] = entries[pick%len(entries)].Seq
	}
	return e.Do(func(*book.State) error {
		return e.book.Propose(book.KindDelivered, &book.Event{At: now(), Marks: marks})
	})
}

// TestFilters: a firing goes to the subscriptions whose filter matches at that moment.
func TestFilters(t *testing.T) {
	told := map[string][]string{}
	tell := func(n book.Notification, to []string) { told[n.AlertID] = to }
	inBubble(t, func(o *Options) { o.Notify = tell }, func(t *testing.T, e *Engine) {
		sub := func(caller string, f Filter) string {
			t.Helper()
			s, err := e.Subscribe(from(caller), f)
			if err != nil {
				t.Fatal(err)
			}
			return s.ID
		}
		all := sub("all", Filter{})
		symbol := sub("symbol", Filter{Symbols: []string{"aaa", "BBB", "AAA"}})
		sub("other symbol", Filter{Symbols: []string{"CCC"}})
		above := sub("type", Filter{AlertTypes: []string{"price_above"}})
		sub("other type", Filter{AlertTypes: []string{"price_below", "indicator_signal"}})
		id := fireOne(t, e)
		if want := []string{all, symbol, above}; !slices.Equal(told[id], want) {
			t.Errorf("told %v, want %v", told[id], want)
		}
		if s, _, _ := e.hub.Status("symbol"); s == nil || !slices.Equal(s.Filter.Symbols, []string{"AAA", "BBB"}) {
			t.Errorf("subscription %+v, want the symbols sorted, in one spelling, and once each", s)
		}
		if again := sub("symbol", Filter{Symbols: []string{"CCC"}}); again != symbol {
			t.Errorf("a changed filter has the id %s, was %s", again, symbol)
		}
		if q := queue(e, "symbol"); !slices.Equal(q, []string{id}) {
			t.Errorf("a changed filter left the queue %v", q)
		}
		many := slices.Repeat([]string{"AAA"}, 101)
		for _, c := range []struct {
			f    Filter
			want string
		}{{Filter{Symbols: []string{"a b"}}, "bad_symbol"}, {Filter{AlertTypes: []string{"price"}}, "bad_filter"}, {Filter{Symbols: many}, "bad_filter"}, {Filter{Symbols: many[1:]}, ""}} {
			if _, err := e.Subscribe(from("x"), c.f); code(err) != c.want {
				t.Errorf("filter %+v: %v, want %q", c.f, err, c.want)
			}
		}
	})
}

// TestQueueLimits: a queue keeps entries for an hour and a thousand of them, and drops the
// oldest first, also across a restart.
func TestQueueLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t)
		o.Limits.Alerts = 5000
		d := journaltest.NewDisk()
		e, err := openOn(o, d)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := e.Subscribe(from("caller"), Filter{})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for range sse.QueueCap + 5 {
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
		if n := e.PendingNotifications(""); n != sse.QueueCap {
			t.Errorf("%d wait to be polled, want %d", n, sse.QueueCap)
		}
		time.Sleep(sse.QueueTTL - 20*time.Second)
		late := fireOne(t, e) // ten seconds before the hour is over
		if n := len(queue(e, "caller")); n != sse.QueueCap {
			t.Errorf("%d entries within the hour, want %d", n, sse.QueueCap)
		}
		e.Close()
		if e, err = openOn(o, d); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second - time.Millisecond)
		if n := len(queue(e, "caller")); n != sse.QueueCap {
			t.Errorf("%d entries a millisecond before the hour is over, want %d", n, sse.QueueCap)
		}
		time.Sleep(time.Millisecond)
		if got := queue(e, "caller"); !slices.Equal(got, []string{late}) {
			t.Errorf("%d entries after the hour, want the late one", len(got))
		}
		if err := e.tidy(); err != nil || queued(e, sub.ID) != sse.QueueCap {
			t.Errorf("old entries are dropped at once, %v; want one record a minute", err)
		}
		time.Sleep(time.Minute)
		if err := e.tidy(); err != nil || queued(e, sub.ID) != 1 {
			t.Errorf("old entries are kept, %v", err)
		}
	})
}

// TestDelivered: an event counts as delivered if its stream stayed open for a second after
// it. tidy writes that down once, and the event is not sent again after a restart. It is
// still in the queue.
func TestDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, o := journaltest.NewDisk(), testOptions(t)
		o.Hub = sse.NewHub(func(note any) []byte { return []byte(note.(*book.Notification).AlertID) })
		e, err := openOn(o, d)
		if err != nil {
			t.Fatal(err)
		}
		e.Subscribe(from("caller"), Filter{})
		var pushed []string
		ctx, cancel := context.WithCancel(t.Context())
		push := func(e sse.Event) error { pushed = append(pushed, e.ID+" "+string(e.Data)); return nil }
		go o.Hub.Push(ctx, "caller", push)
		first, second := fireOne(t, e), fireOne(t, e)
		synctest.Wait()
		e.tidy() // the first has had its second, the second has not
		if got := queue(e, "caller"); !slices.Equal(got, []string{second}) {
			t.Errorf("still to get: %v, want %s", got, second)
		}
		records := e.Status().Records
		if e.tidy(); e.Status().Records != records {
			t.Error("a mark was written at once")
		}
		time.Sleep(time.Second)
		e.tidy()
		if e.tidy(); e.Status().Records != records+1 {
			t.Errorf("%d records for the marks, want 1", e.Status().Records-records)
		}
		cancel()
		synctest.Wait()
		third := fireOne(t, e)
		entries, mark := held(e, "caller")
		if want := []string{eventID(e, entries[0]) + " " + first, eventID(e, entries[1]) + " " + second}; !slices.Equal(pushed, want) || mark != entries[1].Seq {
			t.Errorf("pushed %v, marked %d; want %v, %d", pushed, mark, want, entries[1].Seq)
		}
		e.Close()
		if e, err = openOn(testOptions(t), d); err != nil {
			t.Fatal(err)
		}
		if got := queue(e, "caller"); !slices.Equal(got, []string{third}) {
			t.Errorf("queue after the restart %v, want %s", got, third)
		}
		if again, _ := held(e, "caller"); len(again) != 3 || again[0].Seq != entries[0].Seq {
			t.Errorf("%d entries are held after the restart, want 3 under their old sequences", len(again))
		}
	})
}

// eventID returns the id of an entry's event for the only subscription.
func eventID(e *Engine, entry *sse.Entry) string {
	return fmt.Sprintf("%s-%s-%d", e.hub.Clone().Select(nil)[0].ID, entry.Epoch, entry.Seq)
}

// TestPolling: all callers share one queue. Each notification is read once, and can be read
// again for an hour.
func TestPolling(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		read := func(again bool) (ids []string) {
			n, _, err := e.Notifications("", again, Page{Size: 1 << 20})
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
		time.Sleep(2 * sse.QueueTTL) // nobody read it: it waits
		expect(read(false), first)
		expect(read(false))
		expect(read(true), first)
		second := fireOne(t, e)
		fired := func() (ids []string) {
			for _, n := range must(e.Fired()) {
				ids = append(ids, n.AlertID)
			}
			return ids
		}
		expect(fired(), second) // the first was read, and is more than an hour old
		expect(read(true), first, second)
		expect(fired(), second)
		expect(read(false))
		time.Sleep(sse.QueueTTL - 10*time.Second)
		expect(read(true), second)
		expect(fired(), second)
		time.Sleep(sse.QueueTTL)
		expect(read(true))
		expect(fired())
	})
}

// TestClaim: after a restart a client gets its subscription and queue back under its new
// token; another client does not.
func TestClaim(t *testing.T) {
	o := testOptions(t)
	ended := make(map[string]bool) // callers whose tokens were revoked
	o.Works = func(s *sse.Subscription) bool { return !ended[s.Caller] }
	e := openTest(t, o)
	claim := func(caller, client string) string {
		t.Helper()
		if err := e.Claim(sse.Caller{ID: caller, Client: client}); err != nil {
			t.Fatal(err)
		}
		if s, _, _ := e.hub.Status(caller); s != nil {
			return s.ID
		}
		return ""
	}
	if claim("new", "client") != "" {
		t.Error("claimed a subscription although there is none")
	}
	sub, err := e.Subscribe(from("old"), Filter{Symbols: []string{"AAA"}})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := setAlert(t, e, `{"price_above":1}`, "")
	price(e, "AAA", 100)
	if claim("new", "client") != "" {
		t.Error("claimed a subscription that another caller still holds")
	}
	e.Close()
	o.Hub = nil
	e = openTest(t, o)
	defer e.Close()
	if claim("new", "client") != "" {
		t.Error("claimed after a restart a subscription whose token works")
	}
	ended["old"] = true
	for _, c := range []struct{ caller, client string }{{"new", "other client"}, {"", "client"}, {strings.Repeat("x", 1000), "client"}} {
		if claim(c.caller, c.client) != "" {
			t.Errorf("caller %.20q of %q claimed the subscription, want nothing", c.caller, c.client)
		}
	}
	if got := claim("new", "client"); got != sub.ID {
		t.Errorf("claimed %q, want %s", got, sub.ID)
	}
	if q := queue(e, "new"); !slices.Equal(q, []string{a.ID}) {
		t.Errorf("the queue of the claimed subscription is %v, want %s", q, a.ID)
	}
	if s, _, _ := e.hub.Status("old"); s != nil {
		t.Error("the old caller still has the subscription")
	}
	if claim("third", "client") != "" {
		t.Error("a third caller claimed the subscription that the second holds")
	}
	ended["new"] = true
	if got := claim("third", "client"); got != sub.ID {
		t.Errorf("claimed %q after the revocation, want %s", got, sub.ID)
	}
	if ok, err := e.Unsubscribe("third"); !ok || err != nil {
		t.Errorf("unsubscribe: %t, %v; want true", ok, err)
	}
	if ok, err := e.Unsubscribe("third"); ok || err != nil {
		t.Errorf("second unsubscribe: %t, %v; want false", ok, err)
	}
}

// TestClaimAtOnce: if many calls with one new token come at once, none returns before the
// caller has the subscription. Of several new tokens one gets it.
func TestClaimAtOnce(t *testing.T) {
	o := testOptions(t)
	o.Works = func(s *sse.Subscription) bool { return s.Caller != "old" }
	e := openTest(t, o)
	e.Subscribe(from("old"), Filter{})
	e.Close()
	e = openTest(t, o)
	defer e.Close()
	var calls sync.WaitGroup
	for i := range 40 {
		c := from(fmt.Sprint("new", i%4))
		calls.Go(func() {
			if err := e.Claim(c); err != nil {
				t.Error(err)
			}
			e.mu.Lock()
			claimed := e.book.Subs.Of(c.ID) != nil
			e.mu.Unlock()
			if claimed && !e.hub.Subscribed(c.ID) {
				t.Errorf("%s has claimed the subscription and does not have it", c.ID)
			}
		})
	}
	calls.Wait()
	owners := 0
	for i := range 4 {
		if s, _, _ := e.hub.Status(fmt.Sprint("new", i)); s != nil {
			owners++
		}
	}
	if owners != 1 {
		t.Errorf("%d callers have the subscription, want 1", owners)
	}
}

// TestSubscriptionBound: if there are as many subscriptions as allowed, the oldest that
// nobody holds is dropped for a new one, which is refused if all are held. A firing to all
// of them fits into one record.
func TestSubscriptionBound(t *testing.T) {
	d := journaltest.NewDisk()
	o := testOptions(t)
	o.Works = func(*sse.Subscription) bool { return true }
	e, err := openOn(o, d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxSubscriptions { // without the file, which would be written a thousand times
		sub := &sse.Subscription{ID: e.book.NewID("s"), Caller: fmt.Sprint("caller", i), Client: "client"}
		if err := e.book.Propose(book.KindSubscribed, &book.Event{At: now(), Subscription: sub}); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("x", maxName+1)
	for _, c := range []sse.Caller{{Client: "client"}, {ID: long, Client: "client"}, {ID: "caller", Client: long}} {
		if _, err := e.Subscribe(c, Filter{}); code(err) != "bad_caller" {
			t.Errorf("a caller %.10q of %.10q: %v, want bad_caller", c.ID, c.Client, err)
		}
	}
	if _, err := e.Subscribe(from("more"), Filter{}); code(err) != "max_subscriptions" {
		t.Errorf("one subscription too many: %v, want max_subscriptions", err)
	}
	setAlert(t, e, `{"price_above":1}`, "")
	price(e, "AAA", 100)
	if n := e.PendingNotifications(""); n != 1 {
		t.Errorf("%d notifications after an alert fired to all subscriptions, want 1", n)
	}
	e.Close()
	var log bytes.Buffer
	o = testOptions(t)
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	if e, err = openOn(o, d); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Subscribe(from("more"), Filter{}); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "the oldest subscription that nobody holds is dropped") {
		t.Errorf("the log says nothing of the one that was dropped: %s", &log)
	}
	if s, _, _ := e.hub.Status("caller0"); s != nil || e.Status().Subscriptions != maxSubscriptions {
		t.Errorf("%d subscriptions, the oldest that nobody holds is there: %v", e.Status().Subscriptions, s)
	}
}

// TestSubscriptionsFile: the file that the specification names exists, is JSON, and follows
// every change. If it is lost, the next start writes it again.
func TestSubscriptionsFile(t *testing.T) {
	d := journaltest.NewDisk()
	e, err := openOn(testOptions(t), d)
	if err != nil {
		t.Fatal(err)
	}
	read := func() (callers []string) {
		var file struct{ Subscriptions []sse.Subscription }
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
		t.Errorf("the file of a new store has %v, want nothing", got)
	}
	e.Subscribe(from("a"), Filter{})
	if got := read(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the file has %v, want a", got)
	}
	delete(d.Files, "subscriptions.json")
	if _, err = openOn(testOptions(t), d); err != nil {
		t.Fatal(err)
	}
	if got := read(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the file was written again with %v, want a", got)
	}
}

// TestNotifyOrder: listeners hear of firings in the order of their sequences,
// after the record is on disk.
func TestNotifyOrder(t *testing.T) {
	var e *Engine
	var last uint64
	notify := func(n book.Notification, _ []string) {
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

// TestRun runs the engine with a feed that tells prices, and ends it by its context.
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
		if n, _, _ := e.Notifications("", false, Page{Size: 1 << 20}); len(n) != 1 {
			t.Errorf("notifications %+v, want one", n)
		}
		if !slices.Equal(e.Symbols(), []string{"AAA"}) || e.Status().FeedAge != time.Second {
			t.Errorf("watched %v, status %+v", e.Symbols(), e.Status())
		}
	})
}

// talking is a feed whose price rises by one every second.
type talking struct{ quiet }

func (talking) Ages() map[string]time.Duration {
	return map[string]time.Duration{"one": time.Second, "another": 0}
}

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
