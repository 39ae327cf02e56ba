package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/market"
)

// TestUnknownRefused: a tool that changes something refuses what it does not
// know, says what it does know, and changes nothing. A dropped argument may be
// the protection that was asked for.
func TestUnknownRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		const order = `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":1,`
		for _, c := range []struct {
			tool, arguments string
			want            []string
		}{
			{"place_order", order + `"leverage":9}`, []string{`"leverage"`, "symbol, side, type, quantity, risk, notional, price, stop_price", "client_order_id, tag, note, order_id, dry_run"}},
			{"place_order", order + `"trailing":1,"timeinforce":"gtc"}`, []string{`"timeinforce" (did you mean "time_in_force"?)`, `"trailing"`}},
			{"place_order", order + `"client_orderid":"x"}`, []string{`"client_orderid" (did you mean "client_order_id"?)`}},
			{"place_order", `{"symbol":"BTCUSDT","side":"buy","type":"iceberg","quantity":1,"visible":9}`, []string{`"visible"`, `type "iceberg" is not one of market, limit, stop`}},
			{"cancel_order", `{"order_id":"o-1","every":true}`, []string{`"every"`, "order_id"}},
			{"set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":1},"repeat_every":5}`, []string{`"repeat_every"`, "condition"}},
			{"set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":1,"price2":2}}`, []string{"the condition has 2 keys, exactly one is right"}},
			{"set_alert", `{"symbol":"BTCUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","level":70}}}`, []string{`"level"`}},
			{"set_alert", `{"symbol":"BTCUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":"crosses_above","level":70,"price2":1}}}`, []string{`"price2"`}},
			{"set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":1},"cooldown":"4h"}`, []string{"needs no cooldown"}},
			{"cancel_alert", `{"alert_id":"a-1","every":true}`, []string{`"every"`, "alert_id"}},
			{"subscribe_notifications", `{"symbol":"BTCUSDT"}`, []string{`"symbol" (did you mean "symbols"?)`, "alert_types"}},
		} {
			_, err := d.call(trader, c.tool, c.arguments)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s %s: %v, want a refusal with %q", c.tool, c.arguments, err, want)
				}
			}
		}
		if s, _, _ := d.hub.Status(trader.ID); s != nil || len(must(d.engine.Orders(false)))+len(must(d.engine.Alerts(""))) > 0 {
			t.Error("a refused call changed something")
		}
		if _, err := d.call(trader, "place_order", order+`"leverage":null}`); err != nil {
			t.Errorf("null stands for an absent argument, and was refused: %v", err)
		}
	})
}

// TestUnknownReported: the tools that show something answer and name what they did not read, with
// the nearest name that they know: in an object under "ignored", beside an array or a picture in
// a text of its own.
func TestUnknownReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		for _, c := range []struct{ tool, arguments, kind, nearest string }{
			{"generate_chart", `"symbl":"X","format":"summary"`, "object", "symbol"},
			{"generate_chart", `"symbl":"X","format":"both"`, "object", "symbol"},
			{"generate_chart", `"symbl":"X"`, "text", "symbol"},
			{"list_indicators", `"quer":"rsi","query":"rsi"`, "object", "query"},
			{"list_indicators", `"categry":"trend"`, "object", "category"},
			{"get_indicators", `"symbol":"BTCUSDT","indicators":"rsi","intervall":"1h"`, "object", "interval"},
			{"get_indicators", `"symbols":"BTCUSDT,ETHUSDT","indicators":"rsi","intervall":"1h"`, "object", "interval"},
			{"get_orders", `"filer":"open"`, "text", "filter"},
			{"get_orders", `"state":"open"`, "text", "filter"}, // nearest is status, another name of it
			{"get_positions", `"symbol":"BTCUSDT"`, "text", ""},
			{"list_alerts", `"limt":1`, "text", "limit"},
			{"get_notifications", `"agian":true`, "text", "again"},
			{"list_subscriptions", `"x":1`, "object", ""},
			{"unsubscribe_notifications", `"x":1`, "object", ""},
		} {
			r, err := d.call(trader, c.tool, "{"+c.arguments+"}")
			if err != nil {
				t.Errorf("%s %s: %v", c.tool, c.arguments, err)
				continue
			}
			last := r.Content[len(r.Content)-1].Text
			var object struct{ Ignored []ignored }
			isObject := json.Unmarshal(last, &object) == nil
			switch {
			case isObject != (c.kind == "object"):
				t.Errorf("%s %s: ends with %.200s, want an %s", c.tool, c.arguments, last, c.kind)
			case isObject && (len(object.Ignored) != 1 || object.Ignored[0].Nearest != c.nearest):
				t.Errorf("%s %s: ignored %v, want one, nearest %q", c.tool, c.arguments, object.Ignored, c.nearest)
			case !isObject && !strings.Contains(string(last), `did you mean "`+c.nearest+`"?`) && c.nearest != "":
				t.Errorf("%s %s: %q does not name %q", c.tool, c.arguments, last, c.nearest)
			}
		}
	})
}

// TestUnknownIsBounded: every tool refuses a call of more than 64 names in a short text,
// before it looks any of them up. Below that the reply names ten.
func TestUnknownIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		of := func(n int) string {
			arguments := make(map[string]string)
			for i := range n {
				arguments[strings.Repeat("x", 100)+encode(i)] = ""
			}
			return encode(arguments)
		}
		for _, tool := range d.tools {
			for _, n := range []int{65, 9000} {
				_, err := d.call(trader, tool.Name, of(n))
				if want := "an object has more than 64 names"; err == nil || !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 200 {
					t.Errorf("%s with %d names: %.200v; want %s", tool.Name, n, err, want)
				}
			}
			r, err := d.call(trader, tool.Name, of(64))
			if err != nil && strings.Contains(err.Error(), "too large") || r != nil && len(r.Content[0].Text) > replySize && tool.Name != "list_indicators" && r.Content[0].Data == nil {
				t.Errorf("%s with 64 names: %.200v", tool.Name, err)
			}
		}
	})
}

// TestStrictTools names the tools that refuse, as the contract lists them, by
// asking each for an argument that none has.
func TestStrictTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		var strict []string
		for _, tool := range d.tools {
			if _, err := d.call(trader, tool.Name, `{"frobnicate":1}`); err != nil && strings.HasPrefix(err.Error(), tool.Name+` does not know "frobnicate"`) {
				strict = append(strict, tool.Name)
			}
		}
		want := []string{"place_order", "cancel_order", "set_alert", "cancel_alert", "subscribe_notifications"}
		for _, name := range want {
			if !slices.Contains(strict, name) {
				t.Errorf("%s does not refuse", name)
			}
		}
	})
}

// TestErrorsSayRetry: the error of a tool says whether a retry can help (the contract asks
// it of every tool): of a mistake in a request in the words of trading's refusals, and of
// a source in its own.
func TestErrorsSayRetry(t *testing.T) {
	const again = "(fix the request)"
	for _, c := range []struct{ tool, arguments, end string }{
		{"generate_chart", `{"type":"renko"}`, again},
		{"generate_chart", `{"bars":0}`, again},
		{"generate_chart", `{"bars":0,"colour":"red"}`, again},
		{"generate_chart", `{"from":"2099-11-10"}`, again},
		{"generate_chart", `{"from":"1999-11-10","to":"1999-11-11","bars":5}`, again},
		{"generate_chart", `{"timezone":"Mars"}`, again},
		{"generate_chart", `{"marks":[{"type":"level"}]}`, again},
		{"generate_chart", `{"symbol":"not a symbol"}`, again},
		{"generate_chart", `{"compare":["BTCUSDT"]}`, again},
		{"generate_chart", `{"symbol":"BTCUSDT","compare":["not a symbol"]}`, again},
		{"generate_chart", `{"bars":5000,"format":"series","indicators":["rsi","macd","ema_stack","bbands","ichimoku"]}`, again},
		{"generate_chart", `{"symbol":"BADUSDT"}`, "trying again may help"},
		{"get_indicators", `{"symbol":"BTCUSDT","indicators":["rsj"]}`, again},
		{"get_indicators", `{"symbol":"BTCUSDT","indicators":[]}`, again},
		{"get_indicators", `{"symbols":[],"indicators":["rsi"]}`, again},
		{"get_indicators", `{"symbol":"not a symbol","indicators":["rsi"]}`, again},
		{"get_indicators", `{"symbols":["@none"],"indicators":["rsi"]}`, again},
		{"get_indicators", `{"symbols":["BTCUSDT"],"indicators":["rsi"],"sort":"rsi(("}`, again},
		{"get_indicators", `{"symbols":["BTCUSDT"],"indicators":["rsi"],"sort":"change_24h","interval":"1wk"}`, again},
		{"get_indicators", `{"symbol":"BADUSDT","indicators":["rsi"]}`, "trying again may help"},
		{"list_indicators", `{"names":["rsj"]}`, again},
		{"list_indicators", `{"category":"none"}`, again},
	} {
		_, err := call(t, Deps{Source: closedSource{}}, c.tool, c.arguments)
		if err == nil || !strings.HasSuffix(err.Error(), c.end) || strings.Count(err.Error(), again) > 1 {
			t.Errorf("%s %s: %v, want an end %q", c.tool, c.arguments, err, c.end)
		}
	}
	// A directory of files is not a service: its errors are plain ones.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "abc-1h.csv"), []byte("time,open,high,low,close\n2026-01-01,1,2,1,2\n2026-01-02,1,2,1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := market.Open("csv:"+dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	const never = "; retry only with other data"
	for _, c := range []struct{ tool, arguments, says, end string }{
		{"generate_chart", `{"symbol":"NOPE"}`, "it has ABC", again},
		{"generate_chart", `{"symbol":"ABC","interval":"15m"}`, `csv has "ABC" at 1h only`, again},
		{"generate_chart", `{"symbol":"ABC","interval":"1h","compare":["NOPE"]}`, "it has ABC", again},
		{"generate_chart", `{"symbol":"ABC","marks":[{"type":"level","price":1e300}]}`, "a price of 1e+300, want a number below 1e300", again},
		{"get_indicators", `{"symbol":"ABC","interval":"1h","indicators":["funding"]}`, `csv has no "funding": it has no extra column; leave out what reads it`, never},
		{"get_indicators", `{"symbol":"ABC","interval":"4h","indicators":[{"name":"rule","when":"close@1h > 1"}]}`, "choose a shorter interval for the chart", again},
		{"get_indicators", `{"symbols":["NOPE"],"indicators":["rsi"]}`, "it has ABC", again},
	} {
		_, err := call(t, Deps{Source: files}, c.tool, c.arguments)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasSuffix(err.Error(), c.end) {
			t.Errorf("%s %s: %v, want %q and an end %q", c.tool, c.arguments, err, c.says, c.end)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		for _, arguments := range []string{`{}`, `{"order_id":"o-1","all":true}`} {
			if _, err := d.call(trader, "cancel_order", arguments); err == nil || !strings.HasSuffix(err.Error(), again) {
				t.Errorf("cancel_order %s: %v, want an end %q", arguments, err, again)
			}
		}
	})
}

// closedSource is Sample, but fails for BADUSDT in a way that a later try may mend.
type closedSource struct{ market.Sample }

func (s closedSource) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if q.Symbol == "BADUSDT" {
		return nil, &market.Error{Source: "somewhere", Symbol: q.Symbol, Reason: "it does not answer", Retry: true}
	}
	return s.Sample.Bars(ctx, q)
}
