package trade

import (
	"encoding/json"
	"strings"
	"testing"

	"wick/sse"
	"wick/trade/book"
)

// TestRecordsThatCannotFollow: a record that does not fit the state, as one that somebody has
// edited, is refused and changes nothing.
func TestRecordsThatCannotFollow(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		open := place(t, e, book.Buy, book.Limit, "1", "90")
		done := place(t, e, book.Buy, book.Market, "1", "")
		alert, err := setAlert(t, e, `{"price_above":110}`, "")
		if err != nil {
			t.Fatal(err)
		}
		edit := func(o book.Order, change func(*book.Order)) *book.Order {
			change(&o)
			return &o
		}
		ended := edit(done, func(*book.Order) {})
		unknown := edit(open, func(o *book.Order) { o.ID = "o-none-1" })
		known := edit(open, func(*book.Order) {})
		for _, c := range []struct {
			kind book.Kind
			ev   book.Event
			want string
		}{
			{book.KindPlaced, book.Event{}, "without an order"},
			{book.KindPlaced, book.Event{Order: edit(open, func(o *book.Order) { o.ID, o.Price = "o-none-1", nil })}, "one without its price"},
			{book.KindPlaced, book.Event{Order: known}, "which is known: true"},
			{book.KindFilled, book.Event{Order: unknown}, "which is known: false"},
			{book.KindFilled, book.Event{Order: ended}, "which is filled for ever"},
			{book.KindPlaced, book.Event{Order: unknown, Begin: []*book.Order{nil}}, "without an order"},
			{book.KindPlaced, book.Event{Order: unknown, Begin: []*book.Order{known}}, "which is known: true"},
			{book.KindPlaced, book.Event{Order: unknown, Ends: []book.Cancellation{{ID: ended.ID, Code: book.NothingToReduce}}}, "cannot end"},
			{book.KindPlaced, book.Event{Order: unknown, Ends: []book.Cancellation{{ID: "o-none-2", Code: book.NothingToReduce}}}, "cannot end"},
			{book.KindPlaced, book.Event{Order: unknown, Ends: []book.Cancellation{{ID: known.ID, Code: "no such code"}}}, "cannot end"},
			{book.KindCancelled, book.Event{Order: known, Ends: []book.Cancellation{{ID: known.ID, Code: book.NothingToReduce}}}, "cannot end"},
			{book.KindAlertSet, book.Event{}, "of no alert"},
			{book.KindAlertSet, book.Event{Alert: &alert}, "or the wrong one"},
			{book.KindAlertSet, book.Event{Alert: &book.Alert{ID: "a-none-1"}}, "without a condition"},
			{book.KindAlertGone, book.Event{Alert: &book.Alert{ID: "a-none-1"}}, "or the wrong one"},
			{book.KindFired, book.Event{}, "an unknown alert fired"},
			{book.KindFired, book.Event{Notification: &book.Notification{AlertID: "a-none-1"}}, "an unknown alert fired"},
			{book.KindFired, book.Event{Notification: &book.Notification{AlertID: alert.ID}, Alert: &book.Alert{ID: "a-none-1", Condition: alert.Condition}}, "another waits on"},
			{book.KindFired, book.Event{Notification: &book.Notification{AlertID: alert.ID}, Alert: &book.Alert{ID: alert.ID}}, "another waits on"},
			{book.KindFired, book.Event{Notification: &book.Notification{AlertID: alert.ID}, To: []string{"s-none-1"}}, "unknown subscription"},
			{book.KindSubscribed, book.Event{}, "of no subscription"},
			{book.KindUnsubscribed, book.Event{Subscription: &sse.Subscription{}}, "of no subscription"},
			{book.KindStarted, book.Event{Epoch: "no hex"}, "is not one"},
			{book.KindStarted, book.Event{Epoch: "0011223344"}, "is not one"},
			{book.KindVenue, book.Event{}, "of none"},
			{book.Kind(200), book.Event{}, "unknown kind 200"},
		} {
			s := e.book.State
			before := encoded(t, s)
			if err := s.Apply(s.Seq+1, c.kind, &c.ev); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %+v: %v, want %q", c.kind, c.ev, err, c.want)
			}
			if err := s.Apply(s.Seq+2, book.KindDay, new(book.Event)); err == nil {
				t.Error("a record was taken after one that is missing")
			}
			if after := encoded(t, s); after != before {
				t.Fatalf("%s %+v changed the state from\n%s\nto\n%s", c.kind, c.ev, before, after)
			}
		}
	})
}

// TestSnapshotsThatCannotBe: a snapshot whose parts contradict each other, as one that
// somebody has edited, is an error and no panic.
func TestSnapshotsThatCannotBe(t *testing.T) {
	for _, text := range []string{
		`{`, `{"orders":[null]}`, `{"alerts":[null]}`, `{"alerts":[{"id":"a-1-1"}]}`, `{"named_alerts":[null]}`, `{"notifications":[null]}`, `{"notifications":[{"seq":7}]}`,
		`{"subscriptions":[null]}`, `{"subscriptions":[{}]}`, `{"notifications":[{"seq":7,"notification":{},"queues":["s-1-1"]}]}`,
		`{"subscriptions":[{"id":"s-1-1","caller":"c"}],"notifications":[{"seq":8,"notification":{},"queues":["s-1-1"]},{"seq":7,"notification":{},"queues":["s-1-1"]}]}`,
	} {
		if s, err := book.DecodeState("store", 9, []byte(text)); err == nil {
			t.Errorf("%s was read as %s", text, encoded(t, s))
		}
	}
}

// TestReadTwiceBound: as many notifications that were read are kept to be read again as a
// queue holds, the newest, and a day's mark that is not later than the last is ignored.
func TestReadTwiceBound(t *testing.T) {
	s := book.NewState("store")
	for i := range sse.QueueCap + 2 {
		s.Alerts["a-1-1"] = &book.Alert{ID: "a-1-1"}
		if err := s.Apply(s.Seq+1, book.KindFired, &book.Event{Notification: &book.Notification{AlertID: "a-1-1"}}); err != nil {
			t.Fatal(err)
		}
		if i == 1 { // two are read before the others
			s.Drain(&book.Event{Through: s.Seq, At: now()})
		}
	}
	s.Drain(&book.Event{Through: s.Seq, At: now()})
	if n := len(s.Drained); n != sse.QueueCap || s.Drained[0].Seq != 3 {
		t.Errorf("%d are kept from %d on, want %d from 3 on", n, s.Drained[0].Seq, sse.QueueCap)
	}
	for _, date := range []string{"2026-01-02", "2026-01-02", "2026-01-01", "2026-01-03"} {
		s.SetDay(&book.DayMark{Date: date})
	}
	s.SetDay(nil)
	if text, _ := json.Marshal(s.Days); strings.Count(string(text), `"date"`) != 2 || s.Days[1].Date != "2026-01-03" {
		t.Errorf("%s, want the marks of two days", text)
	}
}
