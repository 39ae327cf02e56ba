package trade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/alert"
	"wick/trade/book"
	"wick/trade/watch"
)

// setAlert sets an alert from the JSON of its condition.
func setAlert(t *testing.T, e *Engine, condition, interval string) (book.Alert, error) {
	t.Helper()
	var c book.Condition
	if err := json.Unmarshal([]byte(condition), &c); err != nil {
		return book.Alert{}, err
	}
	return e.SetAlert(context.Background(), book.AlertRequest{Symbol: "AAA", Interval: interval, Condition: c})
}

// TestAcceptedEarlier: a rule with a signal that never comes is refused now. An earlier
// version took it, and with "not" or "or" in it the rule can fire all the same, so an alert
// that is in the journal goes on.
func TestAcceptedEarlier(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		const condition = `{"indicator_signal":{"indicator":"rule","when":"close > 1 and not signal(rsi(14), \"hidden_bull_div\")","signal":"becomes_true"}}`
		if _, err := setAlert(t, e, condition, "1h"); code(err) != "bad_indicator" {
			t.Errorf("a rule with a signal that never comes: %v, want bad_indicator", err)
		}
		var c book.Condition
		if err := json.Unmarshal([]byte(condition), &c); err != nil {
			t.Fatal(err)
		}
		if w := alert.NewWaiting(&book.Alert{Symbol: "AAA", Interval: market.Hour1, Condition: c}); w.Err != nil {
			t.Errorf("an alert that an earlier version took cannot be judged any more: %v", w.Err)
		}
	})
}

func TestConditionRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for _, c := range []struct{ condition, code, says string }{
			{`5`, "bad_condition", "not an object"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","length":7,"params":{"length":9}}}`, "bad_indicator", "different values"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","length":7,"period":9}}`, "bad_indicator", "are one parameter"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","params":"x"}}`, "bad_indicator", "an object is right"},
			{`{}`, "bad_condition", "exactly one"},
			{`{"price_above":1,"price_below":2}`, "bad_condition", "exactly one"},
			{`{"price_over":1}`, "bad_condition", "price_above"},
			{`{"price_above":"high"}`, "bad_threshold", "plain number"},
			{`{"price_above":0}`, "bad_threshold", "above zero"},
			{`{"price_above":-5}`, "bad_threshold", "above zero"},
			{`{"price_below":0.000000001}`, "bad_threshold", "8 decimals"},
			{`{"indicator_signal":"rsi"}`, "bad_condition", "both strings"},
			{`{"indicator_signal":{"indicator":"rsi"}}`, "bad_condition", "both strings"},
			{`{"indicator_signal":{"indicator":"rsii","signal":"rsi_oversold"}}`, "bad_indicator", `did you mean "rsi"`},
			{`{"indicator_signal":{"indicator":"rsi","signal":"hidden_bull_div"}}`, "bad_signal", `with these parameters rsi never emits "hidden_bull_div": set divergence to all`},
			{`{"indicator_signal":{"indicator":"cvd","signal":"hidden_bull_div"}}`, "bad_indicator", "no alert can wait for them"},
			{`{"indicator_signal":{"indicator":"cvd","signal":"x"}}`, "bad_indicator", "no alert can wait for them"},
			{`{"indicator_signal":{"indicator":"cvd","signal":"crosses_above","level":5,"line":"Sgnal"}}`, "bad_indicator", "no alert can wait for them"},
			{`{"indicator_signal":{"indicator":"rule","when":"obv > 0","signal":"becomes_true"}}`, "bad_indicator", "obv(20) > avg(obv(20), 20)"},
			{`{"indicator_signal":{"indicator":"rule","when":"signal(rsi(14), \"hidden_bull_div\")","signal":"becomes_true"}}`, "bad_indicator", `never emits "hidden_bull_div": set divergence to all`},
			{`{"indicator_signal":{"indicator":"backtest","enter":"close > open","from":1790000000,"signal":"take_profit"}}`, "bad_signal", `never emits "take_profit": set take_profit to more than 0`},
			{`{"indicator_signal":{"indicator":"backtest","enter":"close > open","from":1790000000,"signal":"stop_loss"}}`, "bad_signal", `never emits "stop_loss": set stop_loss to more than 0`},
			{`{"indicator_signal":{"indicator":"backtest","enter":"close > open","from":1790000000,"take_profit":5,"signal":"exit"}}`, "bad_signal", `never emits "exit": set exit to a condition, or hold to a number of bars`},
			{`{"indicator_signal":{"indicator":"candles","pattern":"engulfing","signal":"doji"}}`, "bad_signal", `never emits "doji": set pattern to all`},
			{`{"indicator_signal":{"indicator":"rsi","signal":"crosses","level":30}}`, "bad_indicator", `a "level" goes with the signals crosses_above and crosses_below`},
			{`{"indicator_signal":{"indicator":"rsi","oversold":0,"signal":"enters_oversold"}}`, "bad_signal", `set oversold to more than 0`},
			{`{"indicator_signal":{"indicator":"rsi","signal":"crosses_above","level":500}}`, "bad_level", "rsi never reaches 500: it lies between 0 and 100"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"crosses_below","level":-5}}`, "bad_level", "rsi never reaches -5: it lies between 0 and 100"},
			{`{"indicator_signal":{"indicator":"willr","signal":"crosses_above","level":50}}`, "bad_level", "willr never reaches 50: it lies between -100 and 0"},
			// A line crosses a level by going beyond it, and no line leaves its range.
			{`{"indicator_signal":{"indicator":"rsi","signal":"crosses_below","level":0}}`, "bad_level", "rsi never crosses below 0: it lies between 0 and 100"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"crosses_above","level":100}}`, "bad_level", "rsi never crosses above 100: it lies between 0 and 100"},
			{`{"indicator_signal":{"indicator":"willr","signal":"crosses_above","level":0.0}}`, "bad_level", "willr never crosses above 0.0: it lies between -100 and 0"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"golden_cross"}}`, "bad_signal", "its signals are rsi_oversold, rsi_overbought"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","lenght":5}}`, "bad_indicator", "length"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","length":1e9}}`, "bad_indicator", "bounds"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"` + strings.Repeat("x", 2000) + `"}}`, "bad_condition", "1024"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"crosses_above"}}`, "bad_level", `such as {"indicator": "rsi"`},
			{`{"indicator_signal":{"indicator":"rsi","signal":"crosses_above","level":"high"}}`, "bad_level", `"high"`},
			{`{"indicator_signal":{"indicator":"macd","signal":"crosses_below","level":0,"line":"Sgnal"}}`, "bad_line", `did you mean "Signal"`},
			{`{"indicator_signal":{"indicator":"obv","signal":"crosses_above","level":1000}}`, "bad_level", "its level means nothing"},
			{`{"indicator_signal":{"indicator":"formula","expr":"close; since(close > 1)","line":"since(close > 1)","signal":"crosses_above","level":600}}`, "bad_level", "formula never reaches 600: it lies between 0 and 501"},
			{`{"indicator_signal":{"indicator":"rule","when":"since(close > 1) > 600","signal":"becomes_true"}}`, "bad_indicator", "since counts to 500 bars"},
			{`{"indicator_signal":{"indicator":"chikou","signal":"zero_up"}}`, "bad_signal", `chikou never emits "zero_up"; its signals are price_cross_up, price_cross_down, and with a "level" crosses_above, crosses_below`},
			{`{"indicator_signal":{"indicator":"rsi","signal":"x"}}`, "bad_signal", `, and with a "level" crosses_above, crosses_below`},
			{`{"indicator_signal":{"indicator":"rule","when":"close > 1","signal":"x"}}`, "bad_signal", "its signals are becomes_true, becomes_false (fix"},
			{`{"indicator_signal":{"indicator":"obv","signal":"x"}}`, "bad_signal", "hidden_bear_div (fix"},
			{`{"indicator_signal":{"indicator":"candles","signal":"x"}}`, "bad_signal", "hikkakemod_confirmed_bear (fix"},
			{`{"indicator_signal":{"indicator":"rule","when":"close > 1","signal":"crosses_above","level":1}}`, "bad_line", "no lines to watch; its signals are becomes_true, becomes_false"},
			{`{"indicator_signal":{"indicator":"macd","signal":"crosses_above","level":0,"params":5}}`, "bad_indicator", "an object is right"},
			{`{"indicator_signal":{"indicator":"funding","signal":"zero_up"}}`, "no_data", "funding"},
		} {
			_, err := setAlert(t, e, c.condition, "")
			if code(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%.80s: %v; want %s with %q", c.condition, err, c.code, c.says)
			}
		}
		if _, err := setAlert(t, e, `{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold"}}`, "5x"); code(err) != "bad_interval" {
			t.Errorf("interval 5x: %v, want bad_interval", err)
		}
		if n := len(must(e.Alerts(""))); n != 0 {
			t.Errorf("%d alerts after refusals, want none", n)
		}
	})
}

// TestConditionShape: a condition comes back as it was set.
func TestConditionShape(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for _, c := range []struct{ in, out, interval string }{
			{`{"price_above":65000.50}`, `{"price_above":65000.5}`, ""},
			{`{"price_below":"60000","price_above":null}`, `{"price_below":60000}`, ""},
			{`{"indicator_signal":{"indicator":"RSI","signal":"RSI oversold","length":21}}`, `{"indicator_signal":{"indicator":"RSI","length":21,"signal":"rsi_oversold"}}`, "1h"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"crosses above","level":"70","length":21}}`, `{"indicator_signal":{"indicator":"rsi","length":21,"level":70,"signal":"crosses_above"}}`, "1h"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"crosses_above","level":0}}`, `{"indicator_signal":{"indicator":"rsi","level":0,"signal":"crosses_above"}}`, "1h"},
			{`{"indicator_signal":{"indicator":"rsi","signal":"crosses_below","level":100}}`, `{"indicator_signal":{"indicator":"rsi","level":100,"signal":"crosses_below"}}`, "1h"},
			{`{"indicator_signal":{"indicator":"macd","signal":"crosses_below","level":-1.50,"line":"signal","params":{"signal":5}}}`, `{"indicator_signal":{"indicator":"macd","level":-1.50,"line":"signal","params":{"signal":5},"signal":"crosses_below"}}`, "1h"},
			{`{"indicator_signal":{"indicator":"chop_zone","signal":"breakout_up","level":7}}`, `{"indicator_signal":{"indicator":"chop_zone","level":7,"signal":"breakout_up"}}`, "1h"},
		} {
			a, err := setAlert(t, e, c.in, "")
			if err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal(a)
			want := fmt.Sprintf(`{"alert_id":%q,"symbol":"AAA","interval":%q,"condition":%s,"created_at":"2000-01-01T00:00:00.000Z"}`, a.ID, c.interval, c.out)
			if string(text) != want {
				t.Errorf("alert\n%s\nwant\n%s", text, want)
			}
		}
	})
}

// update hands over an update some seconds after the last.
func update(e *Engine, price, high, low float64) {
	time.Sleep(10 * time.Second)
	e.deliver(context.Background(), market.Update{Symbol: "AAA", Price: price, High: high, Low: low, At: time.Now().UnixMilli()})
}

func TestPriceAlerts(t *testing.T) {
	for _, c := range []struct {
		name, condition string
		before, then    func(e *Engine)
		value           string // of the notification; empty: does not fire
	}{
		{"above, equal counts", `{"price_above":105}`, nil, func(e *Engine) { update(e, 105, 105, 105) }, "105"},
		{"above, not reached", `{"price_above":105}`, nil, func(e *Engine) { update(e, 104.9, 104.9, 104) }, ""},
		{"below, equal counts", `{"price_below":95}`, nil, func(e *Engine) { update(e, 95, 95, 95) }, "95"},
		{"true already, fires at the next update", `{"price_above":50}`, nil, func(e *Engine) { update(e, 100, 100, 100) }, "100"},
		{"true already, and a bar closes without a new price", `{"price_above":50}`, func(e *Engine) { update(e, 100, 100, 100) }, func(e *Engine) {
			e.deliver(context.Background(), market.Update{Symbol: "AAA", Price: 100, High: 100, Low: 100, From: 100, At: time.Now().Add(-time.Second).UnixMilli(),
				Closed: []market.ClosedBar{{Interval: market.Hour1, Bar: market.Bar{Time: time.Now().Unix() - 3600, Open: 100, High: 100, Low: 100, Close: 100}}}})
		}, ""},
		{"high between updates", `{"price_above":105}`, func(e *Engine) { update(e, 100, 100, 100) }, func(e *Engine) { update(e, 101, 110, 100); update(e, 101, 110, 99) }, "110"},
		{"low between updates", `{"price_below":95}`, func(e *Engine) { update(e, 100, 100, 100) }, func(e *Engine) { update(e, 99, 101, 90); update(e, 99, 101, 90) }, "90"},
		{"high from before it was set", `{"price_above":105}`, func(e *Engine) { update(e, 100, 100, 100) }, func(e *Engine) { update(e, 101, 110, 100) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, e *Engine) {
				if err := e.ensure(t.Context(), "AAA"); err != nil {
					t.Fatal(err)
				}
				if c.before != nil {
					c.before(e)
					time.Sleep(time.Second)
				}
				a, err := setAlert(t, e, c.condition, "")
				if err != nil {
					t.Fatal(err)
				}
				c.then(e)
				n, _, err := e.Notifications("", false, Page{Size: 1 << 20})
				switch {
				case err != nil:
					t.Error(err)
				case c.value == "" && (len(n) != 0 || len(must(e.Alerts(""))) != 1):
					t.Errorf("fired %+v, want nothing", n)
				case c.value != "" && (len(n) != 1 || n[0].AlertID != a.ID || string(n[0].Value) != c.value || len(must(e.Alerts(""))) != 0):
					t.Errorf("notifications %+v, want one of %s", n, c.value)
				}
			})
		})
	}
}

// TestNotificationShape holds the JSON to the specification's events table.
func TestNotificationShape(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		price, _ := setAlert(t, e, `{"price_above":100}`, "")
		signal, _ := setAlert(t, e, `{"indicator_signal":{"indicator":"sma","signal":"price_cross_up","length":2}}`, "1h")
		closeBars(e, 90, 120)
		n, _, _ := e.Notifications("", false, Page{Size: 1 << 20})
		text, _ := json.Marshal(n)
		want := `[{"alert_id":"` + price.ID + `","symbol":"AAA","interval":"","condition":{"type":"price_above","threshold":100},"value":120,"triggered_at":"2000-01-01T02:00:00.500Z","synthetic":true,"message":"AAA is at 120, at or above 100. The data is invented."},` +
			`{"alert_id":"` + signal.ID + `","symbol":"AAA","interval":"1h","condition":{"type":"indicator_signal","indicator":"sma","signal":"price_cross_up","params":{"length":2}},"value":105,"triggered_at":"2000-01-01T02:00:00.500Z",` +
			`"bar_time":"2000-01-01T01:00:00.000Z","bar":{"open":120,"high":120,"low":120,"close":120,"volume":1},"synthetic":true,"values":{"SMA":105},"message":"AAA 1h bar of 2000-01-01 01:00 UTC: SMA(2), the close crosses the line from below (price_cross_up at 105). The data is invented."}]`
		if string(text) != want {
			t.Errorf("notifications\n%s\nwant\n%s", text, want)
		}
	})
}

// TestLevelAlert: a line of an indicator can be watched for a value, beside parameters of the
// same names, and the notification says all of it.
func TestLevelAlert(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for _, c := range []string{
			`{"indicator":"sma","signal":"crosses_above","level":104.5,"length":2}`,
			`{"indicator":"bbands","signal":"crosses_above","level":104.5,"line":"middle","params":{"length":2}}`,
			`{"indicator":"sma","signal":"crosses_above","level":105.5,"params":{"length":2}}`,
			`{"indicator":"sma","signal":"crosses_below","level":104.5,"length":2}`,
		} {
			if _, err := setAlert(t, e, `{"indicator_signal":`+c+`}`, ""); err != nil {
				t.Fatal(err)
			}
		}
		closeBars(e, 90, 120) // means of two: 95, 105
		n, _, _ := e.Notifications("", false, Page{Size: 1 << 20})
		text, _ := json.Marshal(n)
		for _, want := range []string{
			`"condition":{"type":"indicator_signal","indicator":"sma","signal":"crosses_above","level":104.5,"params":{"length":2}},"value":105,`,
			`"message":"AAA 1h bar of 2000-01-01 01:00 UTC: SMA(2) crosses above 104.5 (at 105). The data is invented."`,
			`"signal":"crosses_above","level":104.5,"line":"middle","params":{"length":2}},"value":105,`,
		} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %s", text, want)
			}
		}
		if len(n) != 2 {
			t.Errorf("%d fired, want 2", len(n))
		}
		closeBars(e, 80) // 100
		if n, _, _ := e.Notifications("", false, Page{Size: 1 << 20}); len(n) != 1 || n[0].Condition.Signal != "crosses_below" {
			t.Errorf("after the fall: %+v, want crosses_below alone", n)
		}
	})
}

// closeBars lets hours pass, each closing at one of closes, and tells the
// engine half a second after each.
func closeBars(e *Engine, closes ...float64) {
	for _, c := range closes {
		start := market.Hour1.Start(time.Now().Unix())
		time.Sleep(time.Until(time.Unix(start+3600, 5e8)))
		bar := market.Bar{Time: start, Open: c, High: c, Low: c, Close: c, Volume: 1}
		e.deliver(context.Background(), market.Update{Symbol: "AAA", Price: c, High: c, Low: c, At: time.Now().UnixMilli(), Synthetic: true,
			Closed: []market.ClosedBar{{Interval: market.Hour1, Bar: bar}}})
	}
}

// TestSignalAlerts: a signal counts on a bar that closes after the alert was
// set, once, and never on an old one.
func TestSignalAlerts(t *testing.T) {
	const crossUp = `{"indicator_signal":{"indicator":"sma","signal":"price_cross_up","length":2}}`
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		closeBars(e, 90, 120) // the cross is on the last bar
		if _, err := setAlert(t, e, crossUp, ""); err != nil {
			t.Fatal(err)
		}
		update(e, 120, 120, 120)
		closeBars(e, 121) // above still, no new cross
		if n := e.PendingNotifications(""); n != 0 {
			t.Errorf("%d fired on an old bar, want none", n)
		}
		closeBars(e, 80)
		update(e, 150, 150, 150) // the forming bar crosses; it is not closed
		if n := e.PendingNotifications(""); n != 0 {
			t.Errorf("%d fired on a forming bar, want none", n)
		}
		closeBars(e, 130)
		n, _, _ := e.Notifications("", false, Page{Size: 1 << 20})
		if len(n) != 1 || n[0].Value != "105" || n[0].Interval != "1h" { // mean of 80 and 130
			t.Errorf("notifications %+v, want one of 1h with the value 105", n)
		}
		closeBars(e, 70, 140)
		if e.PendingNotifications("") != 0 || len(must(e.Alerts(""))) != 0 {
			t.Error("it fired twice")
		}
	})
}

// TestClosesEarly: a bar whose time is later than its beginning, as that of a day in Sydney,
// closes as much before its end. An alert that was set after that is not judged on it, and one
// that was set before it is. Whoever gets the window learns when the forming bar closes.
func TestClosesEarly(t *testing.T) {
	const crossUp = `{"indicator_signal":{"indicator":"sma","signal":"price_cross_up","length":2}}`
	for set, want := range map[int64]int{3000 - 60: 1, 3000 + 60: 0} { // seconds after the bar's time; it closes 3000 after it
		inBubble(t, nil, func(t *testing.T, e *Engine) {
			e.ensure(t.Context(), "AAA")
			closeBars(e, 90)
			start := market.Hour1.Start(time.Now().Unix())
			time.Sleep(time.Until(time.Unix(start+set, 0)))
			if _, err := setAlert(t, e, crossUp, ""); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
			bar := market.Bar{Time: start, Open: 120, High: 120, Low: 120, Close: 120, Volume: 1}
			next := market.FormingBar{Bar: bar, Delay: market.Delay{Start: start + 3600, Offset: -600}}
			next.Time += 3600
			e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 120, High: 120, Low: 120, At: time.Now().UnixMilli(), Synthetic: true,
				Closed:  []market.ClosedBar{{Interval: market.Hour1, Bar: bar, Delay: market.Delay{Start: start, Offset: -600}}},
				Forming: map[market.Interval]market.FormingBar{market.Hour1: next}})
			if n := e.PendingNotifications(""); n != want {
				t.Errorf("set %d s after the bar's time, %d fired, want %d", set, n, want)
			}
			s, ok := e.Window("AAA", market.Hour1)
			if n := s.Len(); !ok || s.ClosedAt(n-2) != start+3000 || s.ClosedAt(n-1) != start+3600+3000 {
				t.Errorf("the last bars of the window close at %d and %d, want %d and an hour later", s.ClosedAt(n-2), s.ClosedAt(n-1), start+3000)
			}
		})
	}
}

// TestCompleteBar: an alert fires when the session of a bar is over, hours before the bar
// closes, and once. One that reads other bars waits for the close, because theirs may close
// until then. One that was set after the session is not judged on that bar, and one that
// expires before the close is.
func TestCompleteBar(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		closeBars(e, 90)
		rule := func(when string) string {
			return `{"indicator_signal":{"indicator":"rule","when":"` + when + `","signal":"becomes_true"}}`
		}
		start := market.Hour1.Start(time.Now().Unix())
		at := func(seconds int64) time.Time { return time.Unix(start+seconds, 0) }
		each := repeating(t, e, rule("close > 110"), book.AlertRequest{Repeat: book.EachBar, Interval: "1h"}).ID
		soon := repeating(t, e, rule("close > 111"), book.AlertRequest{Repeat: book.EachBar, Interval: "1h", ExpiresAt: at(2000)}).ID
		other := repeating(t, e, rule("close > 112 and close@4h > 1"), book.AlertRequest{Repeat: book.EachBar, Interval: "1h"}).ID
		bar := market.ClosedBar{Interval: market.Hour1, Bar: market.Bar{Time: start, Open: 120, High: 120, Low: 120, Close: 120, Volume: 1}}
		tell := func(after int64, complete []market.CompleteBar, closed []market.ClosedBar, want ...string) {
			t.Helper()
			time.Sleep(time.Until(at(after)))
			e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 120, High: 120, Low: 120, At: at(1800).UnixMilli(), Synthetic: true, Complete: complete, Closed: closed})
			notes, _, err := e.Notifications("", false, Page{Size: 1 << 20})
			var got []string
			for _, n := range notes {
				got = append(got, n.AlertID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d s after the bar began %q fired, want %q (%v)", after, got, want, err)
			}
		}
		complete := []market.CompleteBar{{ClosedBar: bar, Ended: start + 1800}}
		tell(2100, complete, nil, each, soon)
		for _, a := range must(e.Alerts("")) {
			if a.ID == each && a.FiredAt.Unix() != start+1800 {
				t.Errorf("fired at %s, the session was over at %s", a.FiredAt, at(1800).UTC())
			}
		}
		repeating(t, e, rule("close > 113"), book.AlertRequest{Repeat: book.EachBar, Interval: "1h"}) // after the session
		tell(2400, complete, nil)
		tell(3600, nil, []market.ClosedBar{bar}, other)
		if s, ok := e.Window("AAA", market.Hour1); !ok || s.Forming || s.Time[s.Len()-1] != start || s.Check() != nil {
			t.Errorf("the window ends with a bar of %d, forming: %t; %v", s.Time[s.Len()-1], s.Forming, s.Check())
		}
	})
}

// TestCompleteWithClosed: after a pause a bar is told as closed and the next one as complete
// in one update. A cooldown holds between the two.
func TestCompleteWithClosed(t *testing.T) {
	for cooldown, want := range map[string]int{"4h": 1, "": 2} {
		inBubble(t, nil, func(t *testing.T, e *Engine) {
			e.ensure(t.Context(), "AAA")
			closeBars(e, 90)
			start := market.Hour1.Start(time.Now().Unix())
			repeating(t, e, `{"indicator_signal":{"indicator":"rule","when":"close > 110","signal":"becomes_true"}}`, book.AlertRequest{Repeat: book.EachBar, Interval: "1h", Cooldown: cooldown})
			bar := func(start int64) market.ClosedBar {
				return market.ClosedBar{Interval: market.Hour1, Bar: market.Bar{Time: start, Open: 120, High: 120, Low: 120, Close: 120, Volume: 1}}
			}
			time.Sleep(time.Until(time.Unix(start+3600+1900, 0)))
			e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 120, High: 120, Low: 120, At: time.Now().UnixMilli(), Synthetic: true,
				Closed: []market.ClosedBar{bar(start)}, Complete: []market.CompleteBar{{ClosedBar: bar(start + 3600), Ended: start + 3600 + 1800}}})
			if n := e.PendingNotifications(""); n != want {
				t.Errorf("with a cooldown of %s %d fired, want %d", cooldown, n, want)
			}
		})
	}
}

// TestCorrectedBar: the exchange corrects a bar between its session and its close. It is
// judged again, and fires once in any case.
func TestCorrectedBar(t *testing.T) {
	for early, late := range map[float64]float64{109: 120, 120: 109, 120.5: 121} {
		inBubble(t, nil, func(t *testing.T, e *Engine) {
			e.ensure(t.Context(), "AAA")
			closeBars(e, 90)
			start := market.Hour1.Start(time.Now().Unix())
			repeating(t, e, `{"indicator_signal":{"indicator":"rule","when":"close > 110","signal":"becomes_true"}}`, book.AlertRequest{Repeat: book.EachBar, Interval: "1h"})
			bar := func(c float64) market.ClosedBar {
				return market.ClosedBar{Interval: market.Hour1, Bar: market.Bar{Time: start, Open: c, High: c, Low: c, Close: c, Volume: 1}}
			}
			tell := func(after int64, u market.Update) {
				time.Sleep(time.Until(time.Unix(start+after, 0)))
				u.Symbol, u.Synthetic, u.At, u.High, u.Low = "AAA", true, time.Now().UnixMilli(), u.Price, u.Price
				e.deliver(t.Context(), u)
			}
			tell(1900, market.Update{Price: early, Complete: []market.CompleteBar{{ClosedBar: bar(early), Ended: start + 1800}}})
			tell(3601, market.Update{Price: late, Closed: []market.ClosedBar{bar(late)}})
			if n := e.PendingNotifications(""); n != 1 {
				t.Errorf("complete at %v and closed at %v, it fired %d times, want once", early, late, n)
			}
			if s, _ := e.Window("AAA", market.Hour1); s.Close[s.Len()-1] != late {
				t.Errorf("the window has %v, the bar closed at %v", s.Close[s.Len()-1], late)
			}
		})
	}
}

// fundingSource has a funding rate that turns positive, and counts who asks.
type fundingSource struct {
	flat
	asked *int
}

func (s fundingSource) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	series, err := s.flat.Bars(ctx, q)
	if slices.Contains(q.Extra, market.ExtraFunding) {
		*s.asked++
		column := make([]float64, series.Len())
		for i := range column {
			column[i] = -0.0001
		}
		column[len(column)-2] = 0.0003 // the newest closed bar
		series.Extra = map[string][]float64{market.ExtraFunding: column}
	}
	return series, err
}

// TestComputedOnce: a thousand alerts on one request cost one computation,
// counted by what the source is asked for.
func TestComputedOnce(t *testing.T) {
	asked := 0
	inBubble(t, func(o *Options) { o.Source = fundingSource{100, &asked} }, func(t *testing.T, e *Engine) {
		for range 1000 {
			if _, err := setAlert(t, e, `{"indicator_signal":{"indicator":"funding","signal":"zero_up"}}`, ""); err != nil {
				t.Fatal(err)
			}
		}
		asked = 0
		closeBars(e, 100)
		if asked != 1 {
			t.Errorf("the source was asked %d times, want once", asked)
		}
		if n := e.PendingNotifications(""); n != 1000 {
			t.Errorf("%d fired, want 1000", n)
		}
	})
}

// brokenFunding has too short a column once it is broken, on which an indicator panics.
type brokenFunding struct {
	fundingSource
	broken *bool
}

func (s brokenFunding) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	series, err := s.fundingSource.Bars(ctx, q)
	if *s.broken && slices.Contains(q.Extra, market.ExtraFunding) {
		series.Extra[market.ExtraFunding] = []float64{0}
	}
	return series, err
}

// TestPanicWhileJudging: an alert that panics while it is judged is left waiting, and the
// others are judged. If the process ended instead, the same bar would end the next one.
func TestPanicWhileJudging(t *testing.T) {
	broken := false
	inBubble(t, func(o *Options) { o.Source = brokenFunding{fundingSource{100, new(int)}, &broken} }, func(t *testing.T, e *Engine) {
		for _, condition := range []string{`{"indicator_signal":{"indicator":"funding","signal":"zero_up"}}`, `{"indicator_signal":{"indicator":"rule","when":"close > 105","signal":"becomes_true"}}`} {
			if _, err := setAlert(t, e, condition, ""); err != nil {
				t.Fatal(err)
			}
		}
		broken = true
		closeBars(e, 110)
		if n := e.PendingNotifications(""); n != 1 {
			t.Errorf("%d fired, want the rule alone", n)
		}
		broken = false
		closeBars(e, 110)
		if n := e.PendingNotifications(""); n != 2 {
			t.Errorf("%d fired, want both", n)
		}
	})
}

// TestPositionsAreWatchedFirst: if the watch list has no room for all, symbols with
// positions and open orders come before those that the operator names.
func TestPositionsAreWatchedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(testOptions(t), d)
		if err != nil {
			t.Fatal(err)
		}
		for _, symbol := range []string{"YYY", "ZZZ"} {
			if _, err := e.Place(t.Context(), book.OrderRequest{Symbol: symbol, Side: book.Buy, Type: book.Market, Quantity: exact.One}); err != nil {
				t.Fatal(err)
			}
		}
		e.Close()
		o := testOptions(t)
		o.Symbols, o.Limits.Symbols = []string{"AAA", "BBB"}, 2
		if e, err = openOn(o, d); err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		e.watchNeeded(t.Context())
		for _, symbol := range []string{"YYY", "ZZZ"} {
			if !e.watch.Has(symbol) {
				t.Errorf("%s, of which there is a position, is not watched", symbol)
			}
		}
	})
}

// TestMissedBars: after a gap the window is loaded anew, so that averages do
// not span it.
func TestMissedBars(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		time.Sleep(3 * time.Hour)
		closeBars(e, 100)
		s, ok := e.Window("AAA", market.Hour1)
		if !ok || s.Check() != nil {
			t.Fatalf("window %v: %v", s, s.Check())
		}
		for i := 1; i < s.Len(); i++ {
			if s.Time[i]-s.Time[i-1] != 3600 {
				t.Fatalf("a gap at bar %d of %d", i, s.Len())
			}
		}
	})
}

// TestWindow: the window moves with closed bars and prices, stays at its
// length, and is the caller's own copy.
func TestWindow(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		for i := range 1200 {
			closeBars(e, 50+float64(i%7))
		}
		update(e, 60, 62, 58)
		update(e, 61, 65, 55)
		if _, ok := e.Window("AAA", market.Hour1); ok {
			t.Error("the window has a forming bar without its volume")
		}
		e.deliver(t.Context(), market.Update{Symbol: "AAA", Price: 61, High: 61, Low: 61, At: time.Now().UnixMilli() + 1,
			Forming: map[market.Interval]market.FormingBar{market.Hour1: {Bar: market.Bar{Time: market.Hour1.Start(time.Now().Unix()), Open: 51, High: 65, Low: 50, Close: 61, Volume: 400}}}})
		s, ok := e.Window("AAA", market.Hour1)
		if !ok || s.Len() != watch.WindowBars+1 || !s.Forming || !s.Synthetic || s.Check() != nil {
			t.Fatalf("window of %d bars, forming %t: %v, want watch.WindowBars and a forming one", s.Len(), s.Forming, s.Check())
		}
		if last := s.Bar(s.Len() - 1); last.Open != 51 || last.High != 65 || last.Low != 50 || last.Close != 61 || last.Volume != 400 {
			t.Errorf("forming bar %+v, want 51 65 50 61 and a volume of 400", last)
		}
		s.Close[0] = -1
		if again, _ := e.Window("AAA", market.Hour1); again.Close[0] == -1 {
			t.Error("a change of the returned window changed the engine's")
		}
		if _, ok := e.Window("AAA", market.Day1); ok {
			t.Error("there is a window of an interval that nobody watches")
		}
	})
}

// TestFormingBar: whenever one looks, every 37 seconds here, the engine's bars are those that the
// source gives, the forming one with its volume and its extremes.
func TestFormingBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t)
		o.Source, o.Feed, o.Symbols = market.Sample{}, market.NewFeed(market.Sample{}, nil), []string{"AAA"}
		o.Intervals = []market.Interval{market.Minute5, market.Hour1}
		e := openTest(t, o)
		defer e.Close()
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { e.Run(ctx) })
		times := 100
		if testing.Short() {
			times = 10 // over one close of five minutes
		}
		for range times {
			time.Sleep(37 * time.Second)
			for _, iv := range o.Intervals {
				got, ok := e.Window("AAA", iv)
				if !ok {
					t.Fatalf("no window of %s", iv)
				}
				want, err := market.Sample{}.At(market.Query{Symbol: "AAA", Interval: iv, Limit: got.Len()}, time.UnixMilli(got.AsOf))
				if err != nil {
					t.Fatal(err)
				}
				if last, forming := got.Bar(got.Len()-1), want.Bar(want.Len()-1); last != forming || !slices.Equal(got.Volume, want.Volume) || !slices.Equal(got.High, want.High) {
					t.Fatalf("%s at %d: the engine has %+v, the source %+v", iv, got.AsOf, last, forming)
				}
			}
		}
		stop()
		running.Wait()
	})
}

// TestLimitsWithoutFlag: where the operator says nothing, alerts and symbols have these
// bounds, and the next one is refused.
func TestLimitsWithoutFlag(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for i := range book.MaxAlerts {
			if _, err := setAlert(t, e, fmt.Sprintf(`{"price_above":%d}`, 1000+i), ""); err != nil {
				t.Fatalf("alert %d is refused: %v", i, err)
			}
		}
		if _, err := setAlert(t, e, `{"price_above":999}`, ""); code(err) != "max_alerts" {
			t.Errorf("alert %d: %v, want max_alerts", book.MaxAlerts+1, err)
		}
	})
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		watch := func(i int) error {
			_, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: fmt.Sprintf("S%d", i), Condition: book.Condition{Type: book.PriceAbove, Threshold: 1000 * exact.One}})
			return err
		}
		for i := range book.MaxSymbols {
			if err := watch(i); err != nil {
				t.Fatalf("symbol %d is refused: %v", i, err)
			}
		}
		if err := watch(book.MaxSymbols); code(err) != "max_symbols" {
			t.Errorf("symbol %d: %v, want max_symbols", book.MaxSymbols+1, err)
		}
	})
}

func TestCancelAlert(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.Alerts = 1 }, func(t *testing.T, e *Engine) {
		a, err := setAlert(t, e, `{"price_above":105}`, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := setAlert(t, e, `{"price_above":105}`, ""); code(err) != "max_alerts" {
			t.Errorf("one alert too many: %v, want max_alerts", err)
		}
		if got, err := e.CancelAlert(book.Who{}, a.ID); err != nil || got.ID != a.ID {
			t.Errorf("cancel: %+v, %v", got, err)
		}
		if _, err := e.CancelAlert(book.Who{}, a.ID); code(err) != "unknown_alert" {
			t.Errorf("second cancel: %v, want unknown_alert", err)
		}
		update(e, 200, 200, 200)
		if e.PendingNotifications("") != 0 {
			t.Error("a cancelled alert fired")
		}
	})
}

// TestAlertRefusalWaitsForDisk: who gives the client_alert_id of an alert that is still being
// written is refused only when that alert is on disk, so that no crash can lose it afterwards.
func TestAlertRefusalWaitsForDisk(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		r := book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: dec(t, "105")}, ClientAlertID: "once"}
		a, err := e.newAlert(r)
		if err != nil {
			t.Fatal(err)
		}
		seq, _, err := e.locked(func(*book.State) error { return e.addAlert(a) })
		if err != nil || e.Applied() >= seq {
			t.Fatalf("record %d is to be written and %d are: %v", seq, e.Applied(), err)
		}
		r.Note = "another"
		if _, err := e.SetAlert(t.Context(), r); code(err) != "client_alert_id_reused" || e.Applied() < seq {
			t.Errorf("got %v with %d records written, want client_alert_id_reused with %d", err, e.Applied(), seq)
		}
	})
}

// TestClientAlertID: the same id and arguments return the first alert, also when
// it has fired and after a restart, so a retry cannot make a second one; other
// arguments are refused.
func TestClientAlertID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t)
		e := openTest(t, o)
		request := book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: dec(t, "105")}, ClientAlertID: "once", Note: "sell half"}
		first, err := e.SetAlert(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		again := func(when string) {
			t.Helper()
			if a, err := e.SetAlert(t.Context(), request); err != nil || a.ID != first.ID {
				t.Errorf("%s: alert %q, %v, want %q", when, a.ID, err, first.ID)
			}
			other := request
			other.Note = "sell all"
			if _, err := e.SetAlert(t.Context(), other); err == nil || !strings.Contains(err.Error(), "client_alert_id_reused") {
				t.Errorf("%s, with another note: %v, want client_alert_id_reused", when, err)
			}
		}
		again("active")
		price(e, "AAA", 110)
		if n, _, _ := e.Notifications("", false, Page{Size: 1 << 20}); len(n) != 1 || n[0].Note != "sell half" {
			t.Errorf("notifications %+v, want one with the note sell half", n)
		}
		again("fired")
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = openTest(t, o)
		again("after a restart")
		if n := len(must(e.Alerts(""))); n != 0 {
			t.Errorf("%d alerts are active, want none", n)
		}
		long := request
		long.ClientAlertID, long.Note = "", strings.Repeat("日", book.MaxNote) // characters, of any script
		if a, err := e.SetAlert(t.Context(), long); err != nil || a.Note != long.Note {
			t.Errorf("a note of %d characters: %+v, %v", book.MaxNote, a, err)
		}
		for _, bad := range []book.AlertRequest{{ClientAlertID: "a b"}, {Note: strings.Repeat("x", book.MaxNote+1)}} {
			bad.Symbol, bad.Condition = request.Symbol, request.Condition
			if _, err := e.SetAlert(t.Context(), bad); err == nil {
				t.Errorf("%+v was taken, want a refusal", bad)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRetryOfEndedAlert: a retry returns the first alert even if that has ended, and says
// how and when it ended, also after a crash and after a stop. An alert that waits says
// nothing of an end, and no alert that has ended is listed. Of one that an older version
// remembered it is only known that it is gone.
func TestRetryOfEndedAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, time.Minute, 100)
		p.start()
		set := func(name string, threshold int64, change func(*book.AlertRequest)) book.Alert {
			t.Helper()
			r := book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: exact.Decimal(threshold) * exact.One}, ClientAlertID: name}
			if change != nil {
				change(&r)
			}
			a, err := p.e.SetAlert(t.Context(), r)
			if err != nil {
				t.Fatal(name, err)
			}
			return a
		}
		each := func(r *book.AlertRequest) { r.Repeat = book.EachTime }
		ends := time.Now().Add(1500 * time.Millisecond)
		until := func(r *book.AlertRequest) { r.ExpiresAt = ends }
		set("expired", 205, until)
		set("fired", 105, nil)
		set("repeats", 105, each)
		cancelled := set("cancelled", 205, nil)
		set("waits", 205, nil)
		time.Sleep(time.Second)
		price(p.e, "AAA", 106)
		time.Sleep(time.Second)
		if _, err := p.e.CancelAlert(book.Who{}, cancelled.ID); err != nil {
			t.Fatal(err)
		}
		check := func(when string) {
			t.Helper()
			for _, c := range []struct {
				alert book.Alert
				want  string
			}{
				{set("fired", 105, nil), "fired 00:01:04 this alert waits no more: it fired at 2000-01-01T00:01:04Z; for another one choose another client_alert_id"},
				{set("cancelled", 205, nil), "cancelled 00:01:05 this alert waits no more: it was cancelled at 2000-01-01T00:01:05Z; for another one choose another client_alert_id"},
				{set("expired", 205, until), "expired 00:01:05 this alert waits no more: it expired at 2000-01-01T00:01:05Z; for another one choose another client_alert_id"},
				{set("repeats", 105, each), ""},
				{set("waits", 205, nil), ""},
			} {
				got := ""
				if c.alert.Ended != "" {
					got = fmt.Sprint(c.alert.Ended, " ", c.alert.EndedAt.Format(time.TimeOnly), " ", c.alert.Hint(nil))
				}
				if got != c.want {
					t.Errorf("%s: %s says %q, want %q", when, c.alert.ClientAlertID, got, c.want)
				}
			}
			if n := len(must(p.e.Alerts(""))); n != 2 {
				t.Errorf("%s: %d alerts wait, want 2", when, n)
			}
		}
		check("running")
		p.kill()
		p.start()
		check("killed")
		p.stop()
		p.start()
		check("stopped")
		time.Sleep(book.ExpiryGrace + 2*book.SeenPeriod)
		check("later")
		p.kill()
		p.start()
		check("killed later")
		r := book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: 205 * exact.One}, ClientAlertID: "new", ExpiresAt: ends}
		if _, err := p.e.SetAlert(t.Context(), r); code(err) != "bad_expiry" {
			t.Errorf("a new alert that has expired: %v, want bad_expiry", err)
		}
		r.ClientAlertID, r.ExpiresAt = "expired", ends.Add(-time.Second)
		if _, err := p.e.SetAlert(t.Context(), r); code(err) != "client_alert_id_reused" {
			t.Errorf("another expiry under the same id: %v, want client_alert_id_reused", err)
		}
		p.stop()
	})
}

// TestNamedBound: past the limit the oldest id is forgotten.
func TestNamedBound(t *testing.T) {
	s := book.NewState("test")
	for i := range book.MaxNamed + 1 {
		s.Name(&book.Alert{ID: fmt.Sprintf("a-test-%d", i+1), ClientAlertID: fmt.Sprint("c", i)})
	}
	if len(s.Named) != book.MaxNamed || s.Named["c0"] != nil || s.Named["c1"] == nil {
		t.Errorf("%d are remembered, want maxNamed and the oldest forgotten", len(s.Named))
	}
}

// TestAlertOfUnknownIndicator: an alert of an indicator that this version does not have is
// listed and can be cancelled. It is not judged, and the others are.
func TestAlertOfUnknownIndicator(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		if _, err := setAlert(t, e, `{"indicator_signal":{"indicator":"rule","when":"close > 110","signal":"becomes_true"}}`, "1h"); err != nil {
			t.Fatal(err)
		}
		old := &book.Alert{Symbol: "AAA", Interval: market.Hour1, Condition: book.Condition{Type: book.IndicatorSignal, Indicator: "gone_by_now", Signal: "up"}}
		if err := e.Do(func(*book.State) error { return e.addAlert(old) }); err != nil {
			t.Fatal(err)
		}
		closeBars(e, 120)
		a := must(e.Alerts(""))
		if len(a) != 1 || a[0].ID != old.ID || a[0].Meaning() != "" || e.Standing(t.Context(), a[0]) != nil || e.PendingNotifications("") != 1 {
			t.Errorf("%d fired and %+v wait; want the rule fired and the old alert left", e.PendingNotifications(""), a)
		}
		if got := old.Sentence(book.Trigger{}, "12:00"); got != "AAA 1h bar of 12:00: up." {
			t.Errorf("%q", got)
		}
		if _, err := e.CancelAlert(book.Who{}, old.ID); err != nil {
			t.Error(err)
		}
	})
}

// TestNotJudgedWithoutData: an alert whose data of another market or column the source does
// not give at the close of a bar is not judged on that bar, and on the next one as usual. The
// others are judged.
func TestNotJudgedWithoutData(t *testing.T) {
	source := &lacking{Source: fundingSource{100, new(int)}}
	inBubble(t, func(o *Options) { o.Source = source }, func(t *testing.T, e *Engine) {
		set := func(condition string, repeat book.Repeat) string {
			return repeating(t, e, `{"indicator_signal":`+condition+`}`, book.AlertRequest{Repeat: repeat, Interval: "1h"}).ID
		}
		plain := set(`{"indicator":"rule","when":"close > 110","signal":"becomes_true"}`, book.EachBar)
		other := set(`{"indicator":"rule","when":"close > 110 and close:BBB > 1","signal":"becomes_true"}`, book.EachBar)
		funding := set(`{"indicator":"funding","signal":"zero_up"}`, book.Once)
		check := func(when, want string) {
			t.Helper()
			counts := make(map[string]int)
			list, _, _ := e.Notifications("", false, Page{Size: 1 << 20})
			for _, n := range list {
				counts[n.AlertID]++
			}
			if got := fmt.Sprint(counts[plain], counts[other], counts[funding]); got != want {
				t.Errorf("%s the three alerts fired %s times, want %s", when, got, want)
			}
		}
		source.fault = func(q market.Query) error {
			if q.Symbol == "BBB" || len(q.Extra) > 0 {
				return errors.New("no answer")
			}
			return nil
		}
		closeBars(e, 120, 100, 120)
		check("without the data", "2 0 0")
		source.fault = nil
		closeBars(e, 120)
		check("on the next bar", "1 1 1") // the rate turns on the newest bar, whichever that is
		funding = set(`{"indicator":"funding","signal":"zero_up"}`, book.Once)
		var failed sync.Map // what each alert reads is loaded beside the others
		source.fault = func(q market.Query) error {
			if q.Symbol != "BBB" && len(q.Extra) == 0 {
				return nil
			}
			if _, before := failed.LoadOrStore(fmt.Sprint(q.Symbol, q.Extra), true); before {
				return nil
			}
			return errors.New("no answer, once")
		}
		closeBars(e, 120)
		check("with data at the second try", "1 1 1")
	})
}
