package trade

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// TestHistory: what an alert told is found long after it was read and the alert was gone, and after
// a kill, by its symbol and its time.
func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, d := testOptions(t), journaltest.NewDisk()
		e := must(openOn(o, d))
		for _, level := range []string{"101", "102"} {
			if _, err := setAlert(t, e, `{"price_above":`+level+`}`, ""); err != nil {
				t.Fatal(err)
			}
			update(e, 103, 103, 103)
			time.Sleep(24 * time.Hour)
		}
		e.Notifications("", false, Page{Size: 1 << 20})
		time.Sleep(48 * time.Hour)
		values := func(symbol string, from time.Time) (out []string) {
			for _, n := range must(e.History(symbol, from)) {
				out = append(out, n.Condition.Threshold.String())
			}
			return out
		}
		check := func() {
			t.Helper()
			second := must(e.History("", time.Time{}))[1].TriggeredAt.Time
			for _, c := range []struct {
				symbol string
				from   time.Time
				want   string
			}{{"", time.Time{}, "[101 102]"}, {"aaa", time.Time{}, "[101 102]"}, {"BBB", time.Time{}, "[]"}, {"AAA", second, "[102]"}, {"AAA", second.Add(time.Millisecond), "[]"}} {
				if got := fmt.Sprint(values(c.symbol, c.from)); got != c.want {
					t.Errorf("fired on %q since %s: %s, want %s", c.symbol, c.from, got, c.want)
				}
			}
		}
		check()
		e = must(openOn(o, d.Cut(journaltest.Kept))) // killed
		check()
		e.Close()
	})
}

// TestHistoryIsBounded: the newest 10,000 firings are remembered, over a snapshot too.
func TestHistoryIsBounded(t *testing.T) {
	s := book.NewState("0123456789abcdef")
	at := book.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	a := &book.Alert{ID: "a-1", Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: 1}, Repeat: book.EachTime}
	if err := s.Apply(1, book.KindAlertSet, &book.Event{At: at, Alert: a}); err != nil {
		t.Fatal(err)
	}
	for seq := uint64(2); seq < 10_006; seq++ {
		if err := s.Apply(seq, book.KindFired, &book.Event{At: at, Alert: a, Notification: a.Notification(book.Trigger{Value: "1"}, at)}); err != nil {
			t.Fatal(err)
		}
	}
	text := must(s.Snapshot().Encode())
	for name, s := range map[string]*book.State{"before": s, "after": must(book.DecodeState(s.Store, s.Seq, text))} {
		if n := len(s.Fired); n != 10_000 || s.Fired[0].Seq != 6 || s.Fired[n-1].Seq != 10_005 {
			t.Errorf("%s the snapshot: %d firings from record %d to %d, want %d from 6 to 10,005", name, n, s.Fired[0].Seq, s.Fired[n-1].Seq, book.MaxFired)
		}
	}
}

// TestRuleNeedsNoSignal: a rule without a signal waits to become true.
func TestRuleNeedsNoSignal(t *testing.T) {
	for _, text := range []string{`{"indicator_signal":{"indicator":"rule","when":"close > 1"}}`, `{"indicator_signal":{"indicator":"condition","when":"close > 1","signal":null}}`, `{"rule":"close > 1"}`} {
		var c book.Condition
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.Signal != "becomes_true" {
			t.Errorf("%s waits for %q, %v, want becomes_true", text, c.Signal, err)
		}
	}
}

// TestCancelAlerts: alerts are cancelled by their symbol, by ids or all, in one step; ids that no
// alert has are named, and the others are cancelled all the same.
func TestCancelAlerts(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		set := func(symbol string) string {
			a, err := e.SetAlert(context.Background(), book.AlertRequest{Symbol: symbol, Condition: book.Condition{Type: book.PriceAbove, Threshold: 1e12}})
			if err != nil {
				t.Fatal(err)
			}
			return a.ID
		}
		a, b, c, d := set("AAA"), set("BBB"), set("AAA"), set("BBB")
		for _, step := range []struct {
			symbol                string
			ids, cancelled, wrong []string
		}{
			{"", []string{c, "a-none-1", c}, []string{c}, []string{"a-none-1"}},
			{"aaa", nil, []string{a}, nil},
			{"AAA", nil, nil, nil},
			{"", nil, []string{b, d}, nil},
			{"", []string{b}, nil, []string{b}},
		} {
			got, wrong, err := e.CancelAlerts(anyone(), step.symbol, step.ids)
			if err != nil || !slices.Equal(got, step.cancelled) || !slices.Equal(wrong, step.wrong) {
				t.Errorf("symbol %q, ids %v: cancelled %v, unknown %v, %v; want %v and %v", step.symbol, step.ids, got, wrong, err, step.cancelled, step.wrong)
			}
		}
	})
}
