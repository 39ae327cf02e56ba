package trade

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// repeating sets an alert that repeats, on AAA unless r names another symbol.
func repeating(t *testing.T, e *Engine, condition string, r book.AlertRequest) book.Alert {
	t.Helper()
	if err := json.Unmarshal([]byte(condition), &r.Condition); err != nil {
		t.Fatal(err)
	}
	r.Symbol = cmp.Or(r.Symbol, "AAA")
	a, err := e.SetAlert(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// firedBars returns for each firing the hour of its bar, or for prices the hour of its
// time, counted from the first hour.
func firedValues(t *testing.T, e *Engine) string {
	t.Helper()
	n, _, err := e.Notifications("", false, Page{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, one := range n {
		values = append(values, string(one.Value))
	}
	return strings.Join(values, " ")
}

// TestRepeatSignals: hourly bars close one after the other; each case says on which of
// them an alert fires.
func TestRepeatSignals(t *testing.T) {
	const rule = `{"indicator_signal":{"indicator":"rule","when":"close > 100","signal":"becomes_true"}}`
	closes := []float64{90, 101, 102, 99, 103, 104, 98, 105}
	for _, c := range []struct {
		name, condition string
		request         book.AlertRequest
		want            string
	}{
		{"once", rule, book.AlertRequest{}, "101"},
		{"each time", rule, book.AlertRequest{Repeat: book.EachTime}, "101 103 105"},
		{"each bar while it is true", rule, book.AlertRequest{Repeat: book.EachBar}, "101 102 103 104 105"},
		{"each bar while it is not", strings.Replace(rule, "becomes_true", "becomes_false", 1), book.AlertRequest{Repeat: book.EachBar}, "90 99 98"},
		{"no more often than the cooldown", rule, book.AlertRequest{Repeat: book.EachBar, Cooldown: "3h"}, "101 103 105"},
		{"until it expires", rule, book.AlertRequest{Repeat: book.EachBar, ExpiresAt: time.Date(2000, 1, 1, 3, 0, 0, 0, time.UTC)}, "101 102"},
		{"a signal of an indicator", `{"indicator_signal":{"indicator":"sma","signal":"price_cross_up","length":2}}`, book.AlertRequest{Repeat: book.EachTime}, "95.5 101 101.5"},
		{"a level", `{"indicator_signal":{"indicator":"sma","signal":"crosses_above","level":100.5,"length":1}}`, book.AlertRequest{Repeat: book.EachTime}, "101 103 105"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, e *Engine) {
				c.request.Interval = "1h"
				a := repeating(t, e, c.condition, c.request)
				closeBars(e, closes...)
				if got := firedValues(t, e); got != c.want {
					t.Errorf("fired at %s, want %s", got, c.want)
				}
				if c.name == "each time" {
					if now := must(e.Alerts("")); len(now) != 1 || now[0].Fired != 3 || now[0].ID != a.ID || now[0].FiredAt == nil {
						t.Errorf("alerts %+v, want the same one, fired 3 times", now)
					}
				}
			})
		})
	}
}

// TestRepeatPrices: prices come every ten seconds; each case says at which of them an
// alert fires.
func TestRepeatPrices(t *testing.T) {
	for _, c := range []struct {
		name    string
		request book.AlertRequest
		want    string
	}{
		{"once", book.AlertRequest{}, "106"},
		{"each time it comes back", book.AlertRequest{Repeat: book.EachTime}, "106 105 109"},
		{"with a cooldown", book.AlertRequest{Repeat: book.EachTime, Cooldown: "1m"}, "106 109"},
		{"each bar", book.AlertRequest{Repeat: book.EachBar, Interval: "1m"}, "106 105"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, e *Engine) {
				if err := e.ensure(t.Context(), "AAA"); err != nil {
					t.Fatal(err)
				}
				last := 100.0
				tell := func(price, high, low float64) {
					time.Sleep(10 * time.Second)
					e.deliver(context.Background(), market.Update{Symbol: "AAA", From: last, Price: price, High: high, Low: low, At: time.Now().UnixMilli()})
					last = price
				}
				tell(100, 100, 100)
				repeating(t, e, `{"price_above":105}`, c.request)
				for _, p := range []float64{104, 106, 107, 104, 103, 105, 106, 106, 106, 104} { // 20 to 110 seconds
					tell(p, max(p, last), min(p, last))
				}
				tell(103, 109, 103) // touched between two looks
				if got := firedValues(t, e); got != c.want {
					t.Errorf("fired at %s, want %s", got, c.want)
				}
			})
		})
	}
}

// TestRepeatRefused: what makes no sense is refused, and the refusal says what would be
// right.
func TestRepeatRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for _, c := range []struct {
			r    book.AlertRequest
			code string
		}{
			{book.AlertRequest{Repeat: "always"}, "bad_repeat"},
			{book.AlertRequest{Cooldown: "4h"}, "bad_cooldown"},
			{book.AlertRequest{Repeat: book.EachTime, Cooldown: "7x"}, "bad_cooldown"},
			{book.AlertRequest{Repeat: book.EachTime, Cooldown: fmt.Sprintf("%dh", book.MaxPause/time.Hour+1)}, "bad_cooldown"},
			{book.AlertRequest{ExpiresAt: time.Now().Add(-time.Second)}, "bad_expiry"},
		} {
			c.r.Symbol = "AAA"
			json.Unmarshal([]byte(`{"price_above":105}`), &c.r.Condition)
			if _, err := e.SetAlert(t.Context(), c.r); code(err) != c.code {
				t.Errorf("%+v: %v, want %s", c.r, err, c.code)
			}
		}
		first := repeating(t, e, `{"price_above":105}`, book.AlertRequest{ClientAlertID: "x", Repeat: book.EachTime, Cooldown: "4h"})
		again := repeating(t, e, `{"price_above":105}`, book.AlertRequest{ClientAlertID: "x", Repeat: book.EachTime, Cooldown: "4 hours"})
		if again.ID != first.ID {
			t.Errorf("a retry made %s beside %s", again.ID, first.ID)
		}
		r := book.AlertRequest{Symbol: "AAA", ClientAlertID: "x"}
		json.Unmarshal([]byte(`{"price_above":105}`), &r.Condition)
		if _, err := e.SetAlert(t.Context(), r); code(err) != "client_alert_id_reused" {
			t.Errorf("another repeat under the same id: %v", err)
		}
	})
}

// TestExpiry: an alert that has expired is not shown, and is gone some minutes
// later.
func TestExpiry(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		repeating(t, e, `{"price_above":105}`, book.AlertRequest{ExpiresAt: time.Now().Add(time.Hour)})
		time.Sleep(time.Hour - time.Second)
		if n := len(must(e.Alerts(""))); n != 1 {
			t.Fatalf("%d alerts are shown before it expires, want 1", n)
		}
		time.Sleep(2 * time.Second)
		update(e, 106, 106, 106)
		if n := len(must(e.Alerts(""))); n != 0 || firedValues(t, e) != "" || len(e.book.Alerts) != 1 {
			t.Fatalf("after it has expired %d alerts are shown, want 0, and %d kept, want 1; or it fired", n, len(e.book.Alerts))
		}
		time.Sleep(book.ExpiryGrace + book.SeenPeriod)
		if err := e.tidy(); err != nil || len(e.book.Alerts) != 0 {
			t.Errorf("%d alerts kept after some minutes, want 0 (%v)", len(e.book.Alerts), err)
		}
	})
}

// TestRepeatRestart: although the process crashes and starts again, an alert that repeats
// fires once for each bar: never twice, and no bar is missed.
func TestRepeatRestart(t *testing.T) {
	bars := 120
	if testing.Short() {
		bars = 50
	}
	for every := 1; every < 8; every += 1 + stride()/4 { // 1 and 6 with -short
		synctest.Test(t, func(t *testing.T) {
			p := newTape(800, bars+1, market.Minute5)
			o := testOptions(t)
			o.Source, o.Intervals = p, []market.Interval{market.Minute5}
			disk := journaltest.NewDisk()
			e, err := openOn(o, disk)
			if err != nil {
				t.Fatal(err)
			}
			for _, repeat := range []book.Repeat{book.EachTime, book.EachBar} {
				repeating(t, e, `{"indicator_signal":{"indicator":"rule","when":"close > sma(5)","signal":"becomes_true"}}`, book.AlertRequest{Repeat: repeat})
			}
			var fired, told []string
			for i := range bars {
				p.playBar(e)
				if i%every == 0 { // crash: the journal is closed, and what was seen is not written
					e.journal.Close()
					if e, err = openOn(o, disk); err != nil {
						t.Fatal(err)
					}
					e.watchNeeded(t.Context())
				}
			}
			n, _, err := e.Notifications("", false, Page{Size: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range n {
				fired = append(fired, fmt.Sprint(one.AlertID, one.BarTime.Unix()))
			}
			rule, _ := e.book.SortedAlerts()[0].Condition.Request()
			chart := rule.Compute(p.all)
			ids := must(e.Alerts(""))
			for i := 800; i < 800+bars; i++ {
				for _, sig := range chart.Signals {
					if sig.Bar == i && sig.Label == "becomes_true" {
						told = append(told, fmt.Sprint(ids[0].ID, p.all.Time[i]))
					}
				}
				if chart.Shaded[i] {
					told = append(told, fmt.Sprint(ids[1].ID, p.all.Time[i]))
				}
			}
			if strings.Join(fired, " ") != strings.Join(told, " ") {
				t.Errorf("a crash each %d bars: fired\n%v\nthe chart says\n%v", every, fired, told)
			}
			e.Close()
		})
	}
}

// TestHintOfRule: an alert on the end of a condition that is not true says that it fires only
// after the condition has been true, unless it fires on every bar on which it is not.
func TestHintOfRule(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		const condition = `{"indicator_signal":{"indicator":"rule","when":"close > 110","signal":"becomes_false"}}`
		for repeat, want := range map[book.Repeat][2]string{
			book.Once:    {"", "the rule is not true now: the alert fires only after it has been true and is no longer; repeat each_bar fires on every bar on which it is not true"},
			book.EachBar: {"on every bar on which the condition is not true", ""},
		} {
			a := repeating(t, e, condition, book.AlertRequest{Repeat: repeat})
			if want[0] != "" && a.Meaning() != want[0] || a.Hint(e.Standing(t.Context(), a)) != want[1] {
				t.Errorf("%s: meaning %q, hint %q; want %q", repeat, a.Meaning(), a.Hint(e.Standing(t.Context(), a)), want)
			}
		}
		closeBars(e, 100)
		if got := firedValues(t, e); got == "" || len(must(e.Alerts(""))) != 2 {
			t.Errorf("fired %q, %d alerts wait; want one firing, of each_bar, and both waiting", got, len(must(e.Alerts(""))))
		}
		if st := e.Standing(t.Context(), book.Alert{Symbol: "NONE", Condition: book.Condition{Type: book.PriceAbove, Threshold: dec(t, "1")}}); st != nil {
			t.Errorf("%+v of a symbol without a price, want nil", st)
		}
	})
}
