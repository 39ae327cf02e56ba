package tools

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(5 * time.Second) // the feed has spoken
		for _, c := range calls {
			if _, err := d.call(trader, c[0], c[1]); err != nil {
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
