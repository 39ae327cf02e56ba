package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// limitRow is a bound of an argument: the value at the limit, the next beyond it, and what
// the refusal of that says.
type limitRow struct{ tool, argument, at, past, says string }

// TestOnePastTheLimit: an argument is taken at its limit and refused one beyond it, with
// words that name the bound. Every argument whose schema has such a bound has a row.
func TestOnePastTheLimit(t *testing.T) {
	text := func(n int) string { return encode(strings.Repeat("x", n)) }
	wide := func(n int) string { return encode(strings.Repeat("é", n)) } // characters, not bytes
	list := func(n int, item string) string {
		var items []string
		for i := range n {
			items = append(items, strings.ReplaceAll(item, "#", fmt.Sprint(i)))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	// named returns rules that name so many indicators, eight each.
	named := func(studies int) string {
		var rules []any
		for at := 0; at < studies; at += 8 {
			var terms []string
			for n := at; n < min(at+8, studies); n++ {
				terms = append(terms, fmt.Sprintf("sma(%d)", 10+n))
			}
			rules = append(rules, map[string]string{"name": "rule", "when": strings.Join(terms, "+") + " > 0"})
		}
		return encode(rules)
	}
	rows := []limitRow{
		{"generate_chart", "bars", "5000", "5001", "bars 5001 is out of bounds, 1 to 5000"},
		{"generate_chart", "bars", "1", "0", "bars 0 is out of bounds, 1 to 5000"},
		{"generate_chart", "width", "320", "319", "width 319 is out of bounds, 320 to 4096"},
		{"generate_chart", "width", "4096", "4097", "width 4097 is out of bounds, 320 to 4096"},
		{"generate_chart", "height", "240", "239", "height 239 is out of bounds, 240 to 4096"},
		{"generate_chart", "height", "4096", "4097", "height 4097 is out of bounds, 240 to 4096"},
		{"generate_chart", "pixel_ratio", "1", "0.99", `pixel_ratio "0.99" is not a number from 1 to 3`},
		{"generate_chart", "pixel_ratio", "2.8", "2.9", "4096"}, // 1440 wide by default
		{"generate_chart", "indicators", list(16, `"rsi"`), list(17, `"rsi"`), "indicators has 17 items: at most 16 a call"},
		{"generate_chart", "indicators", named(64), named(65), "65 indicators in rules and formulas are too many: at most 64 a call"},
		{"generate_chart", "indicators", `[{"name":"rsi","length":1000}]`, `[{"name":"rsi","length":1001}]`, "1 to 1000"},
		{"generate_chart", "marks", list(50, `{"type":"level","price":1}`), list(51, `{"type":"level","price":1}`), "marks has 51 items: at most 50 a call"},
		{"generate_chart", "marks", `[{"type":"level","price":1,"text":` + text(60) + `}]`, `[{"type":"level","price":1,"text":` + text(61) + `}]`, "text has 61 characters, want at most 60"},
		{"generate_chart", "compare", list(5, `"AA#USDT"`), list(6, `"AA#USDT"`), "compare has 6 items: at most 5 a call"},
		{"generate_chart", "show", `["position","orders","alerts","fills"]`, list(5, `"fills"`), "show has 5 items: at most 4 a call"},
		{"generate_chart", "from", `"2026-01-01T00:00:00.000000000000000000Z"`, text(41), "from has 41 characters, at most 40 are taken"},
		{"generate_chart", "to", `"2026-01-01T00:00:00.000000000000000000Z"`, text(41), "to has 41 characters, at most 40 are taken"},
		{"generate_chart", "timezone", `"UTC"`, text(65), "timezone has 65 characters, at most 64 are taken"},
		{"list_indicators", "names", list(50, `"rsi"`), list(51, `"rsi"`), "names has 51 items: at most 50 a call"},
		{"list_indicators", "query", wide(200), wide(201), "query has 201 characters, at most 200 are taken"},
		{"get_positions", "bars", "1000", "1001", "bars 1001 is out of bounds, 10 to 1000"},
		{"get_positions", "bars", "10", "9", "bars 9 is out of bounds, 10 to 1000"},
		{"get_indicators", "bars", "5000", "5001", "bars 5001 is out of bounds, 1 to 5000"},
		{"get_indicators", "bars", "1", "0", "bars 0 is out of bounds, 1 to 5000"},
		{"get_indicators", "indicators", list(16, `"rsi"`), list(17, `"rsi"`), "indicators has 17 items: at most 16 a call"},
		{"get_indicators", "symbols", list(200, `"AA#USDT"`), list(201, `"AA#USDT"`), "symbols has 201 items: at most 200 a call"},
		{"get_indicators", "sort", encode("close" + strings.Repeat(" ", 390) + "desc"), text(401), "sort has 401 characters, at most 400 are taken"},
		{"place_order", "quantity", "0.00000001", "0", "quantity 0 must be above 0"},
		{"place_order", "quantity", `"50%"`, `"101%"`, `quantity "101%": a percentage is above 0 and at most 100`},
		{"place_order", "notional", "0.00000001", "0", "notional 0 must be above 0"},
		{"place_order", "price", "0.00000001", "-1", "price -1 must be above 0"},
		{"place_order", "stop_price", "0.00000001", "0", "stop_price 0 must be above 0"},
		{"place_order", "trail_amount", "0.00000001", "0", "trail_amount 0 must be above 0"},
		{"place_order", "trail_percent", `"3%"`, `"0%"`, "trail_percent 0 must be above 0"},
		{"place_order", "oco", `{"stop_price":0.00000001}`, `{"stop_price":0}`, "oco: stop_price 0 must be above 0"},
		{"place_order", "replaces", text(64), text(65), "replaces has 65 characters, at most 64 are taken"},
		{"place_order", "client_order_id", text(48), text(49), "client_order_id has 49 characters, at most 48 are taken"},
		{"cancel_order", "order_id", text(64), text(65), "order_id has 65 characters, at most 64 are taken"},
		{"get_orders", "order_id", text(64), text(65), "order_id has 65 characters, at most 64 are taken"},
		{"get_orders", "limit", "500", "501", "limit 501 is out of bounds, 1 to 500"},
		{"get_orders", "limit", "1", "0", "limit 0 is out of bounds, 1 to 500"},
		{"get_orders", "offset", "1000000", "1000001", "offset 1000001 is out of bounds, 0 to 1000000"},
		{"get_orders", "offset", "0", "-1", "offset -1 is out of bounds, 0 to 1000000"},
		{"get_orders", "timezone", `"UTC"`, text(65), "timezone has 65 characters, at most 64 are taken"},
		{"get_orders", "tag", text(128), text(129), "tag has 129 characters, at most 128 are taken"},
		{"place_order", "tag", text(32), text(33), "1 to 32 letters"},
		{"place_order", "note", text(200), text(201), "note has 201 characters, at most 200 are taken"},
		{"place_order", "when", encode("close > 1" + strings.Repeat(" ", 391)), text(401), "when has 401 characters, at most 400 are taken"},
		{"place_order", "order_id", text(64), text(65), "order_id has 65 characters, at most 64 are taken"},
		{"list_alerts", "limit", "500", "501", "limit 501 is out of bounds, 1 to 500"},
		{"cancel_alert", "ids", list(500, `"a-0-#"`), list(501, `"a-0-#"`), "ids has 501 items: at most 500 a call"},
		{"list_alerts", "offset", "1000000", "1000001", "offset 1000001 is out of bounds, 0 to 1000000"},
		{"get_notifications", "limit", "500", "501", "limit 501 is out of bounds, 1 to 500"},
		{"get_notifications", "offset", "1000000", "1000001", "offset 1000001 is out of bounds, 0 to 1000000"},
		{"set_alert", "note", text(200), text(201), "note has 201 characters, at most 200 are taken"},
		{"set_alert", "cooldown", text(20), text(21), "cooldown has 21 characters, at most 20 are taken"},
		{"set_alert", "client_alert_id", text(48), text(49), "client_alert_id has 49 characters, at most 48 are taken"},
		{"cancel_alert", "alert_id", text(64), text(65), "alert_id has 65 characters, at most 64 are taken"},
		{"set_alert", "alert_id", text(64), text(65), "alert_id has 65 characters, at most 64 are taken"},
		{"subscribe_notifications", "symbols", list(100, `"AA#USDT"`), list(101, `"AA#USDT"`), "symbols has 101 items: at most 100 a call"},
		{"subscribe_notifications", "alert_types", list(10, `"order"`), list(11, `"order"`), "alert_types has 11 items: at most 10 a call"},
	}
	// With the rest as it should be, so that only the value can be wrong.
	rest := map[string]map[string]string{
		"generate_chart": {"symbol": `"BTCUSDT"`, "format": `"summary"`}, "get_indicators": {"symbol": `"BTCUSDT"`, "indicators": `"rsi"`, "bars": "5"},
		"get_positions": {"view": `"risk"`},
		"set_alert":     {"symbol": `"BTCUSDT"`, "condition": `{"price_above":1}`},
		"place_order":   {"symbol": `"BTCUSDT"`, "side": `"buy"`, "type": `"limit"`, "price": "1", "quantity": "1", "dry_run": "true"},
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		for _, r := range rows {
			arguments := map[string]json.RawMessage{}
			for name, usual := range rest[r.tool] {
				if name != "symbol" || r.argument != "symbols" {
					arguments[name] = json.RawMessage(usual)
				}
			}
			arguments[r.argument] = json.RawMessage(r.past)
			_, err := d.call(trader, r.tool, encode(arguments))
			if err == nil || !strings.Contains(err.Error(), r.says) || len(err.Error()) > 600 {
				t.Errorf("%s %s %.60s: %.600v, want a refusal with %q", r.tool, r.argument, r.past, err, r.says)
			}
			arguments[r.argument] = json.RawMessage(r.at)
			if _, err := d.call(trader, r.tool, encode(arguments)); err != nil && (strings.Contains(err.Error(), "at most") || strings.Contains(err.Error(), "out of bounds") || strings.Contains(err.Error(), "must be above 0")) {
				t.Errorf("%s %s %.60s, at its limit: %.300v", r.tool, r.argument, r.at, err)
			}
		}
		for _, tool := range d.tools {
			var schema struct {
				Properties map[string]map[string]json.RawMessage
			}
			if err := json.Unmarshal(tool.Schema, &schema); err != nil {
				t.Fatal(err)
			}
			for name, p := range schema.Properties {
				bounded := p["maxLength"] != nil || p["maximum"] != nil || p["maxItems"] != nil || p["exclusiveMinimum"] != nil
				if bounded && !slices.ContainsFunc(rows, func(r limitRow) bool { return r.tool == tool.Name && r.argument == name }) {
					t.Errorf("%s: no row has a value past the limit of %s", tool.Name, name)
				}
			}
		}
	})
}
