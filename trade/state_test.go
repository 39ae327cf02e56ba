package trade

import (
	"encoding/json"
	"strings"
	"testing"

	"wick/delivery"
)

// TestRecordsThatCannotFollow: a record that does not fit the state, as one that somebody has
// edited, is refused and changes nothing.
func TestRecordsThatCannotFollow(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		open := place(t, e, Buy, Limit, "1", "90")
		done := place(t, e, Buy, Market, "1", "")
		alert, err := setAlert(t, e, `{"price_above":110}`, "")
		if err != nil {
			t.Fatal(err)
		}
		edit := func(o Order, change func(*Order)) *Order {
			change(&o)
			return &o
		}
		ended := edit(done, func(*Order) {})
		unknown := edit(open, func(o *Order) { o.ID = "o-none-1" })
		known := edit(open, func(*Order) {})
		for _, c := range []struct {
			kind kind
			ev   event
			want string
		}{
			{kindPlaced, event{}, "without an order"},
			{kindPlaced, event{Order: edit(open, func(o *Order) { o.ID, o.Price = "o-none-1", nil })}, "one without its price"},
			{kindPlaced, event{Order: known}, "which is known: true"},
			{kindFilled, event{Order: unknown}, "which is known: false"},
			{kindFilled, event{Order: ended}, "which is filled for ever"},
			{kindPlaced, event{Order: unknown, Begin: []*Order{nil}}, "without an order"},
			{kindPlaced, event{Order: unknown, Begin: []*Order{known}}, "which is known: true"},
			{kindPlaced, event{Order: unknown, Ends: []ending{{ID: ended.ID, Code: nothingLeft}}}, "cannot end"},
			{kindPlaced, event{Order: unknown, Ends: []ending{{ID: "o-none-2", Code: nothingLeft}}}, "cannot end"},
			{kindPlaced, event{Order: unknown, Ends: []ending{{ID: known.ID, Code: "no such code"}}}, "cannot end"},
			{kindCancelled, event{Order: known, Ends: []ending{{ID: known.ID, Code: nothingLeft}}}, "cannot end"},
			{kindAlertSet, event{}, "of no alert"},
			{kindAlertSet, event{Alert: &alert}, "or the wrong one"},
			{kindAlertSet, event{Alert: &Alert{ID: "a-none-1"}}, "without a condition"},
			{kindAlertGone, event{Alert: &Alert{ID: "a-none-1"}}, "or the wrong one"},
			{kindFired, event{}, "an unknown alert fired"},
			{kindFired, event{Notification: &Notification{AlertID: "a-none-1"}}, "an unknown alert fired"},
			{kindFired, event{Notification: &Notification{AlertID: alert.ID}, Alert: &Alert{ID: "a-none-1", Condition: alert.Condition}}, "another waits on"},
			{kindFired, event{Notification: &Notification{AlertID: alert.ID}, Alert: &Alert{ID: alert.ID}}, "another waits on"},
			{kindFired, event{Notification: &Notification{AlertID: alert.ID}, To: []string{"s-none-1"}}, "unknown subscription"},
			{kindSubscribed, event{}, "of no subscription"},
			{kindUnsubscribed, event{Subscription: &delivery.Subscription{}}, "of no subscription"},
			{kindStarted, event{Epoch: "no hex"}, "is not one"},
			{kindStarted, event{Epoch: "0011223344"}, "is not one"},
			{kindVenue, event{}, "of none"},
			{kind(200), event{}, "unknown kind 200"},
		} {
			s := e.ahead
			before := encoded(t, s)
			if err := s.apply(s.seq+1, c.kind, &c.ev); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %+v: %v, want %q", c.kind, c.ev, err, c.want)
			}
			if err := s.apply(s.seq+2, kindDay, new(event)); err == nil {
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
		`{`, `{"orders":[null]}`, `{"alerts":[null]}`, `{"alerts":[{"id":"a-1-1"}]}`, `{"named_alerts":[null]}`, `{"polling":[7]}`, `{"drained":[{"seq":7}]}`,
		`{"notifications":[null],"polling":[0]}`, `{"subscriptions":[null]}`, `{"subscriptions":[{"id":"s-1-1","caller":"c"}],"queues":{"s-1-1":[7]}}`,
	} {
		if s, err := decodeState("store", 9, []byte(text)); err == nil {
			t.Errorf("%s was read as %s", text, encoded(t, s))
		}
	}
}

// TestReadTwiceBound: as many notifications that were read are kept to be read again as a
// queue holds, the newest, and a day's mark that is not later than the last is ignored.
func TestReadTwiceBound(t *testing.T) {
	s := newState("store")
	for i := range delivery.QueueCap + 2 {
		s.alerts["a-1-1"] = &Alert{ID: "a-1-1"}
		if err := s.apply(s.seq+1, kindFired, &event{Notification: &Notification{AlertID: "a-1-1"}}); err != nil {
			t.Fatal(err)
		}
		if i == 1 { // two are read before the others
			s.drain(&event{Through: s.seq, At: now()})
		}
	}
	s.drain(&event{Through: s.seq, At: now()})
	if n := len(s.drained); n != delivery.QueueCap || s.drained[0].Seq != 3 {
		t.Errorf("%d are kept from %d on, want %d from 3 on", n, s.drained[0].Seq, delivery.QueueCap)
	}
	for _, date := range []string{"2026-01-02", "2026-01-02", "2026-01-01", "2026-01-03"} {
		s.setDay(&dayMark{Date: date})
	}
	s.setDay(nil)
	if text, _ := json.Marshal(s.days); strings.Count(string(text), `"date"`) != 2 || s.days[1].Date != "2026-01-03" {
		t.Errorf("%s, want the marks of two days", text)
	}
}
