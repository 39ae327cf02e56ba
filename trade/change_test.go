package trade

import (
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

// change changes an alert by what r says; a condition is given as JSON.
func change(t *testing.T, e *Engine, id, condition string, r book.AlertRequest) (book.Alert, error) {
	t.Helper()
	if r.Changes = id; condition != "" {
		if err := json.Unmarshal([]byte(condition), &r.Condition); err != nil {
			t.Fatal(err)
		}
	}
	return e.SetAlert(t.Context(), r)
}

// TestChangeAlert: an alert is changed under its id, and keeps what the change does not name. If it waits
// for something else, what the market did before the change does not fire it, nor after a kill.
func TestChangeAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, d := testOptions(t), journaltest.NewDisk()
		e := must(openOn(o, d))
		a := repeating(t, e, `{"price_above":105}`, book.AlertRequest{Note: "out", Repeat: book.EachTime, ClientAlertID: "mine"})
		last := 100.0
		step := func(what string, price float64, want string) {
			t.Helper()
			time.Sleep(10 * time.Second)
			e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: price, High: max(price, last), Low: min(price, last), From: last, At: time.Now().UnixMilli()})
			last = price
			if got := firedValues(t, e); got != want {
				t.Errorf("%s, at %g: fired at %q, want %q", what, price, got, want)
			}
		}
		step("as it was set", 106, "106")
		b, err := change(t, e, a.ID, "", book.AlertRequest{Note: "in"})
		if err != nil || b.ID != a.ID || b.Note != "in" || b.Fired != 1 || b.FiredAt == nil || b.ChangedAt != nil || b.Repeat != book.EachTime || !b.CreatedAt.Equal(a.CreatedAt.Time) {
			t.Errorf("with another note it is %+v, %v", b, err)
		}
		step("with another note, above still", 107, "")
		if b, err = change(t, e, a.ID, `{"price_above":106.5}`, book.AlertRequest{}); err != nil || b.ChangedAt == nil || b.Note != "in" || b.Fired != 1 {
			t.Errorf("with another price it is %+v, %v", b, err)
		}
		step("true already", 107.5, "107.5")
		if _, err := change(t, e, a.ID, `{"price_above":110}`, book.AlertRequest{Symbol: "aaa"}); err != nil {
			t.Fatal(err)
		}
		step("moved up", 109, "")
		e = must(openOn(o, d.Cut(journaltest.Kept))) // killed
		if all := must(e.Alerts("")); len(all) != 1 || all[0].ID != a.ID || all[0].Condition.Threshold.String() != "110" || all[0].ClientAlertID != "mine" {
			t.Errorf("after a kill the alerts are %+v", all)
		}
		if err := e.ensure(t.Context(), "AAA"); err != nil {
			t.Fatal(err)
		}
		step("after a kill", 109.5, "")
		step("after a kill", 111, "111")
		if b, err = change(t, e, a.ID, `{"indicator_signal":{"indicator":"rule","when":"close > 100"}}`, book.AlertRequest{Interval: "1h", Repeat: book.Once}); err != nil || b.Interval != "1h" || b.Repeat != "" {
			t.Errorf("as a rule that fires once it is %+v, %v", b, err)
		}
		closeBars(e, 90, 101)
		synctest.Wait()
		if got := firedValues(t, e); got != "101" || len(must(e.Alerts(""))) != 0 {
			t.Errorf("as a rule it fired at %q", got)
		}
		if _, err := change(t, e, a.ID, "", book.AlertRequest{Note: "x"}); code(err) != "unknown_alert" {
			t.Errorf("a change of one that has fired: %v", err)
		}
		e.Close()
	})
}

// TestChangeRefused: a change that cannot be changes nothing.
func TestChangeRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		a := repeating(t, e, `{"price_above":105}`, book.AlertRequest{})
		for _, c := range []struct {
			id, condition string
			request       book.AlertRequest
			code          string
		}{
			{"a-none-1", "", book.AlertRequest{Note: "x"}, "unknown_alert"},
			{a.ID, "", book.AlertRequest{Symbol: "BBB"}, "bad_symbol"},
			{a.ID, "", book.AlertRequest{ClientAlertID: "x"}, "bad_client_alert_id"},
			{a.ID, "", book.AlertRequest{Cooldown: "4h"}, "bad_cooldown"},
			{a.ID, "", book.AlertRequest{ExpiresAt: time.Now().Add(-time.Second)}, "bad_expiry"},
			{a.ID, `{"price_above":-1}`, book.AlertRequest{}, "bad_threshold"},
			{a.ID, `{"at":"1999-12-31"}`, book.AlertRequest{}, "bad_time"},
		} {
			if _, err := change(t, e, c.id, c.condition, c.request); code(err) != c.code {
				t.Errorf("%s %s %+v: %v, want %s", c.id, c.condition, c.request, err, c.code)
			}
		}
		before := e.ackedSeq()
		if b, err := change(t, e, a.ID, `{"price_above":105.0}`, book.AlertRequest{Symbol: "AAA"}); err != nil || b.ChangedAt != nil || e.ackedSeq() != before {
			t.Errorf("a change to what it is already made %+v, %v, and %d records", b, err, e.ackedSeq()-before)
		}
		if b, err := change(t, e, a.ID, `{"daily":"12:00"}`, book.AlertRequest{}); err != nil || b.Repeat != book.EachTime {
			t.Errorf("as a daily one it is %+v, %v", b, err)
		}
		if b, err := change(t, e, a.ID, `{"at":"2000-01-02"}`, book.AlertRequest{}); err != nil || b.Repeat != "" {
			t.Errorf("as one at a time it is %+v, %v", b, err)
		}
	})
}

// TestFiringSaysWhy: what fires on a bar has the prices of the bar and the value of every operand of a rule,
// or of every line of another indicator. The closes are 80, 70, 100 and 130, so the average of the last two is 85 and then 115.
func TestFiringSaysWhy(t *testing.T) {
	for condition, want := range map[string]string{
		`{"rule":"close > 1.1 * sma(2) and high > 120"}`:                                `130: {"(1.1 * sma(2))":126.5,"close":130,"high":130}`,
		`{"indicator_signal":{"indicator":"sma","signal":"price_cross_up","length":2}}`: `100: {"SMA":85}`,
	} {
		inBubble(t, nil, func(t *testing.T, e *Engine) {
			e.ensure(t.Context(), "AAA")
			closeBars(e, 90)
			if _, err := setAlert(t, e, condition, "1h"); err != nil {
				t.Fatal(err)
			}
			closeBars(e, 80, 70, 100, 130)
			synctest.Wait()
			all, _, _ := e.Notifications("", false, Page{Size: 1 << 20})
			if len(all) != 1 {
				t.Fatalf("%s fired %d times", condition, len(all))
			}
			values, _ := json.Marshal(all[0].Values)
			bar, _ := json.Marshal(all[0].Bar)
			price, want, _ := strings.Cut(want, ": ")
			if string(values) != want || string(bar) != strings.ReplaceAll(`{"open":#,"high":#,"low":#,"close":#,"volume":1}`, "#", price) {
				t.Errorf("%s fired with the values %s on the bar %s, want %s at %s", condition, values, bar, want, price)
			}
		})
	}
}

// TestChangedNote: an alert on a profit fires when that comes again, also if its note was changed while it
// was elsewhere. Ten are bought at 100.
func TestChangedNote(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		a := repeating(t, e, `{"profit_below":-50,"of":"position"}`, book.AlertRequest{Repeat: book.EachTime})
		place(t, e, book.Buy, book.Market, "10", "")
		for _, price := range []float64{94, 99, 93, 92} {
			update(e, price, price, price)
			e.pulse()
			if _, err := change(t, e, a.ID, "", book.AlertRequest{Note: fmt.Sprint("seen at ", price)}); err != nil {
				t.Fatal(err)
			}
		}
		if got := firedValues(t, e); got != "-60 -70" {
			t.Errorf("it fired at %s, want -60 -70", got)
		}
	})
}

// gated is a source that waits with bars of an interval until it may go on.
type gated struct {
	market.Source
	interval market.Interval
	on       chan struct{}
}

func (s gated) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if q.Interval == s.interval {
		<-s.on
	}
	return s.Source.Bars(ctx, q)
}

// TestChangedMeanwhile: of two changes at the same time neither takes back what the other said.
func TestChangedMeanwhile(t *testing.T) {
	source := gated{flat(100), market.Minute15, make(chan struct{})}
	inBubble(t, func(o *Options) { source.on = make(chan struct{}); o.Source = source }, func(t *testing.T, e *Engine) {
		a, err := setAlert(t, e, `{"rule":"close > 105"}`, "1h")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := change(t, e, a.ID, "", book.AlertRequest{Interval: "15m"})
			done <- err
		}()
		synctest.Wait()
		if _, err := change(t, e, a.ID, "", book.AlertRequest{Note: "sell half"}); err != nil {
			t.Fatal(err)
		}
		close(source.on)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if all := must(e.Alerts("")); len(all) != 1 || all[0].Note != "sell half" || all[0].Interval != market.Minute15 {
			t.Errorf("after both changes there are %+v", all)
		}
	})
}
