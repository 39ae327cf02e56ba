package tools

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/trade"
)

// TestAlertsPage: every call in docs/alerts.md, written as a tool and its arguments, is answered
// without a refusal, in the order of the page; so is an alert on every condition of its table.
func TestAlertsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	var calls [][2]string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\{.*?\\})` \\|").FindAllStringSubmatch(string(page), -1) {
		calls = append(calls, [2]string{"set_alert", `{"symbol":"BTCUSDT","condition":` + m[1] + `}`})
	}
	conditions := len(calls)
	for _, m := range regexp.MustCompile("`(set_alert|list_alerts|cancel_alert|get_notifications) (\\{.*?\\})`").FindAllStringSubmatch(string(page), -1) {
		calls = append(calls, [2]string{m[1], m[2]})
	}
	if conditions < 5 || len(calls) < conditions+4 {
		t.Fatalf("%d conditions and %d calls in docs/alerts.md: they are written in another way than this test reads", conditions, len(calls)-conditions)
	}
	past := strings.NewReplacer("2026-11", "1999-12") // it is the year 2000 in the bubble
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir(), func(o *trade.Options) { o.Rules.Account.Cash = exact.One })
		defer d.stop()
		time.Sleep(5 * time.Second) // the feed has spoken
		var last struct {           // what a-… stands for
			ID string `json:"alert_id"`
		}
		d.reply(trader, "set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":65000}}`, &last)
		for _, c := range calls {
			c[1] = strings.ReplaceAll(c[1], "a-…", last.ID)
			if _, err := d.call(trader, c[0], past.Replace(c[1])); err != nil {
				t.Errorf("%s %s: %v", c[0], c[1], err)
			}
		}
	})
}

// TestAlertsInOrder: alerts are listed and cancelled by symbol, by ids or all, and what fired is
// listed after it was read.
func TestAlertsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(5 * time.Second)
		set := func(symbol, condition string) (id string) {
			var a struct {
				ID string `json:"alert_id"`
			}
			d.reply(trader, "set_alert", `{"symbol":"`+symbol+`","condition":`+condition+`}`, &a)
			return a.ID
		}
		fired := set("BTCUSDT", `{"price_above":0.01}`)
		time.Sleep(time.Minute)
		btc, hbar := set("BTCUSDT", `{"price_above":1e9}`), set("HBARUSDT", `{"price_above":1e9}`)
		ids := func(arguments string) string {
			var list []struct {
				ID string `json:"alert_id"`
			}
			d.reply(trader, "list_alerts", arguments, &list)
			var all []string
			for _, a := range list {
				all = append(all, a.ID)
			}
			return strings.Join(all, " ")
		}
		d.reply(trader, "get_notifications", `{}`, new(any))
		for _, c := range [][2]string{
			{`{}`, hbar + " " + btc}, {`{"symbol":"btcusdt"}`, btc}, {`{"symbol":"all"}`, hbar + " " + btc},
			{`{"state":"fired"}`, fired}, {`{"state":"fired","symbol":"HBARUSDT"}`, ""}, {`{"state":"fired","from":"2000-01-01"}`, fired},
			{`{"state":"fired","since":"2000-01-02"}`, ""}, {`{"from":"2000-01-02"}`, ""}, {`{"limit":1}`, hbar},
		} {
			if got := ids(c[0]); got != c[1] {
				t.Errorf("list_alerts %s: %q, want %q", c[0], got, c[1])
			}
		}
		for _, c := range [][2]string{
			{`{}`, "alert_id is required"}, {`{"alert_id":"` + btc + `","all":true}`, "exclude each other"}, {`{"symbol":"BTCUSDT","ids":["` + hbar + `"]}`, "exclude each other"},
		} {
			if _, err := d.call(trader, "cancel_alert", c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
				t.Errorf("cancel_alert %s: %v, want %q", c[0], err, c[1])
			}
		}
		for _, c := range [][2]string{
			{`{"ids":["a-none-1","` + btc + `"]}`, `{"ok":true,"cancelled":1,"alert_ids":["` + btc + `"],"unknown":["a-none-1"]}`},
			{`{"symbol":"HBARUSDT"}`, `{"ok":true,"cancelled":1,"alert_ids":["` + hbar + `"]}`},
			{`{"all":true}`, `{"ok":true,"cancelled":0,"alert_ids":[]}`},
		} {
			r, err := d.call(trader, "cancel_alert", c[0])
			if err != nil || string(r.Content[0].Text) != c[1] {
				t.Errorf("cancel_alert %s: %s, %v; want %s", c[0], r.Content[0].Text, err, c[1])
			}
		}
	})
}

// TestConditionBeside: what an alert waits for may stand beside the other arguments, and means what
// it means in a condition. It may not stand in both places.
func TestConditionBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(5 * time.Second)
		for _, c := range [][2]string{
			{`"at":"2100-11-20 15:30","timezone":"America/New_York"`, `{"at":"2100-11-20 15:30","timezone":"America/New_York"}`},
			{`"daily":"15:30","weekdays":"Fri,mon","timezone":""`, `{"daily":"15:30","weekdays":["mon","fri"]}`},
			{`"symbol":"BTCUSDT","profit_below":"-5","of":"position"`, `{"of":"position","profit_below":-5}`},
			{`"profit_above":5,"of":"account","condition":null`, `{"of":"account","profit_above":5}`},
			{`"symbol":"BTCUSDT","when":"close == 1e9"`, `{"indicator_signal":{"indicator":"rule","signal":"becomes_true","when":"close == 1e9"}}`},
		} {
			var a struct {
				ID        string `json:"alert_id"`
				Condition json.RawMessage
			}
			d.reply(trader, "set_alert", `{`+c[0]+`}`, &a)
			if string(a.Condition) != c[1] {
				t.Errorf("set_alert {%s} waits for %s, want %s", c[0], a.Condition, c[1])
			}
			var again struct{ Condition json.RawMessage }
			if d.reply(trader, "set_alert", `{"symbol":"BTCUSDT","condition":`+string(a.Condition)+`}`, &again); string(again.Condition) != c[1] {
				t.Errorf("the condition %s, given back, became %s", c[1], again.Condition)
			}
		}
		for _, c := range [][2]string{
			{`{"symbol":"BTCUSDT","condition":{"price_above":1},"at":"2100-11-20"}`, "or leave it out"},
			{`{"symbol":"BTCUSDT","at":"2100-11-20","when":"close > 1"}`, "exactly one"},
			{`{"symbol":"BTCUSDT","timezone":"UTC"}`, "unknown condition"},
			{`{"profit_below":-5,"of":"position"}`, "symbol is required"},
			{`{"when":"close > 1"}`, "symbol is required"},
			{`{}`, "condition is required"},
		} {
			if _, err := d.call(trader, "set_alert", c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
				t.Errorf("set_alert %s: %v, want %q", c[0], err, c[1])
			}
		}
	})
}

// TestLineSaysItsSlope: an alert on a drawn line says how much the line rises in a day: from 64000 to 66000
// in nine days.
func TestLineSaysItsSlope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(5 * time.Second)
		for points, want := range map[string]string{
			`\"1999-12-01\", 64000, \"1999-12-10\", 66000`: "; its line rises by 222.22222 a day, by the clock, not by the bar",
			`\"1999-12-01\", 64000, \"1999-12-03\", 63000`: "; its line rises by -500 a day, by the clock, not by the bar",
		} {
			var a struct{ Meaning string }
			d.reply(trader, "set_alert", `{"symbol":"BTCUSDT","when":"close crosses above line(`+points+`)"}`, &a)
			if !strings.HasSuffix(a.Meaning, want) {
				t.Errorf("a line through %s: %q, want %q at its end", points, a.Meaning, want)
			}
		}
	})
}
