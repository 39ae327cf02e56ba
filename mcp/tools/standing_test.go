package tools

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAlertStanding: the reply of set_alert says whether the condition holds on
// the newest closed bar, with which values, from which bars of other intervals,
// and warns of a rule that is true already. Invented prices are called so.
func TestAlertStanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins at midnight of 2000-01-01, UTC
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		type reply struct {
			Synthetic bool
			Fired     int
			Hint      string
			Now       struct {
				Bar    string
				True   *bool
				Values map[string]json.Number
				Bars   map[string]string `json:"other_bars"`
				Price  json.Number
				Since  string
				Least  bool `json:"at_least"`
			}
		}
		set := func(more, condition string) (r reply) {
			d.reply(trader, "set_alert", `{"symbol":"BTCUSDT",`+more+`"condition":`+condition+`}`, &r)
			return r
		}
		rule := func(when string) string {
			return `{"indicator_signal":{"indicator":"rule","when":"` + when + `","signal":"becomes_true"}}`
		}
		r := set(`"interval":"1h",`, rule("close > high[1]@1d"))
		if r.Now.Bar != "1999-12-31T23:00:00Z" || r.Now.Bars["@1d"] != "1999-12-31T00:00:00Z" || r.Now.True == nil || r.Now.Values["high[1]@1d"] == "" || r.Now.Values["close"] == "" || !r.Synthetic || r.Now.Least {
			t.Errorf("a rule on the day before: %+v", r)
		}
		if r := set(`"interval":"5m",`, rule("close > 0")); !strings.Contains(r.Hint, "true already") || r.Now.True == nil || !*r.Now.True || r.Now.Since == "" || !r.Now.Least || len(r.Now.Values) != 1 {
			t.Errorf("a rule that is true already: %+v", r)
		}
		if r := set(`"interval":"5m","repeat":"each_bar",`, rule("close > 0")); r.Hint != "" {
			t.Errorf("on each bar: %+v", r)
		}
		if r := set("", `{"price_above":0.001}`); r.Hint == "" || r.Now.Price == "" || r.Now.True == nil || !*r.Now.True {
			t.Errorf("a price that is reached: %+v", r)
		}
		const repeats = `"repeat":"each_time","client_alert_id":"a",`
		set(repeats, `{"price_above":0.001}`)
		time.Sleep(10 * time.Second) // it fires
		if r := set(repeats, `{"price_above":0.001}`); r.Fired != 1 || r.Hint != "" {
			t.Errorf("one that has fired and waits for the price to come back: %+v", r)
		}
		if r := set(`"interval":"1h",`, `{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold"}}`); len(r.Now.Values) == 0 || r.Now.True != nil {
			t.Errorf("a signal: %+v", r)
		}
		// A histogram is a line that an alert can wait for, too: the difference of the other two.
		macd := set(`"interval":"1h",`, `{"indicator_signal":{"indicator":"macd","signal":"crosses_above","level":0,"line":"Histogram"}}`).Now.Values
		line, _ := macd["MACD"].Float64()
		signal, _ := macd["Signal"].Float64()
		if bar, err := macd["Histogram"].Float64(); err != nil || math.Abs(bar-(line-signal)) > 1e-9 {
			t.Errorf("a crossing of a histogram: %v", macd)
		}
		time.Sleep(10 * time.Minute) // two bars
		result, err := d.call(trader, "get_notifications", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		text := string(result.Content[0].Text)
		if n := strings.Count(text, "(close > 0) is true (close at "); n < 2 || strings.Contains(text, "was not true on the bar before") {
			t.Errorf("%d messages say that the rule is true: %s", n, text)
		}
		if !strings.Contains(text, "The data is invented.") {
			t.Errorf("no message says that the data is invented: %s", text)
		}
	})
}

// TestStandingOfEndedAlert: a retry that finds its alert fired or cancelled is told so
// and not how the market stands to it, as if it would still fire.
func TestStandingOfEndedAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3*time.Second + time.Millisecond) // not at an instant at which the source is asked, too
		set := func(name string) (r map[string]any) {
			d.reply(trader, "set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":0.001},"client_alert_id":"`+name+`"}`, &r)
			return r
		}
		first := set("a")
		d.reply(trader, "cancel_alert", `{"alert_id":"`+set("b")["alert_id"].(string)+`"}`, new(any))
		time.Sleep(5 * time.Second)
		for name, want := range map[string]string{"a": "it fired at", "b": "it was cancelled at"} {
			r := set(name)
			if hint, _ := r["hint"].(string); !strings.Contains(hint, want) || r["now"] != nil || r["warning"] != nil || r["ended_at"] == nil {
				t.Errorf("%s: %v", name, r)
			}
		}
		for _, member := range []string{"ended", "ended_at"} {
			if first[member] != nil {
				t.Errorf("an alert that waits has %s: %v", member, first)
			}
		}
		if again := set("a"); again["alert_id"] != first["alert_id"] {
			t.Errorf("a retry returned %v, want %v", again, first)
		}
	})
}
