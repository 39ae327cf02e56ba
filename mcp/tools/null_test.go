package tools

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestNullWithin: null stands for an absent argument, but not for an item of a list or a
// name that has to be there: such a slip is refused with what would be right. A filter
// that holds nothing but null would match everything.
func TestNullWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		for _, c := range []struct{ tool, arguments, want string }{
			{"get_indicators", `{"symbol":"HBARUSDT","indicators":[null]}`, "null is neither a name nor an object with a name"},
			{"generate_chart", `{"indicators":["rsi",null]}`, "null is neither a name nor an object with a name"},
			{"generate_chart", `{"indicators":[{"name":null}]}`, `an indicator object needs "name"`},
			{"generate_chart", `{"indicators":[{"name":"ema","source":{"name":null}}]}`, `an indicator object needs "name"`},
			{"generate_chart", `{"indicators":[{"name":"technical_rating","params":null}]}`, ""},
			{"generate_chart", `{"marks":[null]}`, "marks[0]: bad chart option: null is not an object, want one with type, price, "},
			{"generate_chart", `{"compare":[null]}`, "compare must hold strings, not null"},
			{"generate_chart", `{"show":[null]}`, `show must hold strings, not null`},
			{"get_indicators", `{"symbols":["HBARUSDT",null],"indicators":["rsi"]}`, "symbols must hold strings, not null"},
			{"list_indicators", `{"names":[null]}`, "names must hold strings, not null"},
			{"subscribe_notifications", `{"symbols":[null]}`, "symbols must hold strings, not null"},
			{"subscribe_notifications", `{"alert_types":[null]}`, "alert_types must hold strings, not null"},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"indicator_signal":{"indicator":null,"signal":"rsi_oversold"}}}`, `indicator_signal needs "indicator" and "signal", both strings`},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":null}}}`, `indicator_signal needs "indicator" and "signal", both strings`},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","params":null,"length":21}}}`, ""},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","params":{"length":21},"length":null}}}`, ""},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","params":null}}}`, ""},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":"crosses_above","level":50,"line":null}}}`, ""},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"rule":null}}`, "the condition has 0 keys"},
			{"place_order", `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":1,"price":9,"oco":{"stop_price":null}}`, "oco: stop_price is required"},
			{"place_order", `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":1,"price":9,"stop_loss":[null]}`, "stop_loss must be a single value, not [null]"},
		} {
			_, err := d.call(trader, c.tool, c.arguments)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v, want %q", c.tool, c.arguments, err, c.want)
			}
		}
	})
}

// TestEmptyText: models send "" for what they leave out; a text, a word or a number is then
// absent. Where an order would be another one without the argument, "" is refused: nobody
// can know that it was meant to be left out.
func TestEmptyText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		const order = `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":1,"price":12,`
		for argument, want := range map[string]string{
			`"dry_run":""`: `dry_run "" is not one of true, false`, `"dry_run":" "`: `dry_run "" is not one of true, false`,
			`"reduce_only":""`: `reduce_only "" is not one of true, false`, `"post_only":""`: `post_only "" is not one of true, false`,
			`"oco":""`: `oco must be an object such as {"stop_price":95}, not ""`, `"oco":" "`: `oco must be an object`,
			`"oco":{"stop_price":20,"price":""}`: `oco: price: `, `"oco":{"stop_price":""}`: `oco: stop_price`,
			`"stop_loss":""`: "stop_loss: ", `"take_profit":""`: "take_profit: ", `"expires_at":""`: `expires_at "" is no time`, `"replaces":""`: "replaces is empty",
		} {
			if _, err := d.call(trader, "place_order", order+argument+"}"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("place_order with %s: %v, want %q", argument, err, want)
			}
		}
		if _, err := d.call(trader, "cancel_order", `{"symbol":"HBARUSDT","all":""}`); err == nil || !strings.Contains(err.Error(), `all "" is not one of true, false`) {
			t.Errorf("cancel_order: %v", err)
		}
		if n := len(must(d.engine.Orders(false))); n != 0 {
			t.Fatalf("%d orders were placed", n)
		}
		if _, err := d.call(trader, "place_order", order+`"stop_price":"","notional":"","trail_percent":"","time_in_force":"","client_order_id":"","ticker":"","dry_run":null,"oco":null}`); err != nil || len(must(d.engine.Orders(false))) != 1 {
			t.Errorf("texts and numbers that are empty: %v, %d orders", err, len(must(d.engine.Orders(false))))
		}
	})
}
