package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/indicators"
	"wick/market"
	"wick/trade"
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
			{"place_order", order + `"leverage":9}`, []string{`"leverage"`, "symbol, side, type, quantity, notional, price, stop_price", "client_order_id, dry_run"}},
			{"place_order", order + `"trailing":1,"timeinforce":"gtc"}`, []string{`"timeinforce" (did you mean "time_in_force"?)`, `"trailing"`}},
			{"place_order", order + `"client_orderid":"x"}`, []string{`"client_orderid" (did you mean "client_order_id"?)`}},
			{"place_order", `{"symbol":"BTCUSDT","side":"buy","type":"iceberg","quantity":1,"visible":9}`, []string{`"visible"`, `type "iceberg" is not one of market, limit, stop`}},
			{"cancel_order", `{"order_id":"o-1","every":true}`, []string{`"every"`, "order_id"}},
			{"set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":1},"repeat_every":5}`, []string{`"repeat_every"`, "condition"}},
			{"set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":1,"price2":2}}`, []string{"the condition has 2 keys, exactly one is right"}},
			{"set_alert", `{"symbol":"BTCUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","level":70}}}`, []string{`"level"`}},
			{"set_alert", `{"symbol":"BTCUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":"crosses_above","level":70,"price2":1}}}`, []string{`"price2"`}},
			{"set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":1},"cooldown":"4h"}`, []string{"needs no cooldown"}},
			{"cancel_alert", `{"alert_id":"a-1","symbol":"BTCUSDT"}`, []string{`"symbol"`, "alert_id"}},
			{"subscribe_notifications", `{"symbol":"BTCUSDT"}`, []string{`"symbol" (did you mean "symbols"?)`, "alert_types"}},
		} {
			_, err := d.call(trader, c.tool, c.arguments)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s %s: %v, want a refusal with %q", c.tool, c.arguments, err, want)
				}
			}
		}
		if s, _, _ := d.hub.Status(trader.ID); s != nil || len(d.engine.Orders(false))+len(d.engine.Alerts()) > 0 {
			t.Error("a refused call changed something")
		}
		if _, err := d.call(trader, "place_order", order+`"leverage":null}`); err != nil {
			t.Errorf("null stands for an absent argument, and was refused: %v", err)
		}
	})
}

// TestUnknownReported: every other tool answers and names what it did not read,
// with the nearest name that it knows: in an object under "ignored", beside an
// array or a picture in a text of its own.
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

// TestRuleOutsideItsIndicator: a condition beside the indicators would change the
// question, so it is not left out: the call is refused with the words that are
// right, which the next call is made of.
func TestRuleOutsideItsIndicator(t *testing.T) {
	d := Deps{Source: &fixed{}}
	for _, c := range []struct{ tool, arguments, want string }{
		{"get_indicators", `{"symbols":["BTCUSDT","ETHUSDT"],"rule":"rsi(14) < 30"}`, `"indicators":[{"name":"rule","when":"rsi(14) < 30"}]`},
		{"get_indicators", `{"symbols":["BTCUSDT"],"indicators":["rsi"],"when":"rsi(14) < 30"}`, `"indicators":[{"name":"rule","when":"rsi(14) < 30"}]`},
		{"get_indicators", `{"symbol":"BTCUSDT","condition":{"when":"close > 1"}}`, `"indicators":[{"name":"rule","when":"rsi(14) < 30"}]`},
		{"get_indicators", `{"symbol":"BTCUSDT","indicators":["backtest"],"enter":"close > \"x\""}`, `"indicators":[{"name":"backtest","enter":"close > \"x\""}]`},
		{"generate_chart", `{"symbol":"BTCUSDT","formula":"close / close:ETHUSDT"}`, `"indicators":[{"name":"formula","expr":"close / close:ETHUSDT"}]`},
		{"generate_chart", `{"symbol":"BTCUSDT","rule":"` + strings.Repeat("1 + ", 5000) + `close > 1"}`, `"indicators":[{"name":"rule","when":"`},
	} {
		_, err := call(t, d, c.tool, c.arguments)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1500 {
			t.Errorf("%s %.100s: %.2000v, want a refusal with %s", c.tool, c.arguments, err, c.want)
		}
	}
	if _, err := call(t, d, "get_indicators", `{"symbol":"BTCUSDT","indicators":["rsi"],"rule":null}`); err != nil {
		t.Errorf("null stands for an absent argument: %v", err)
	}
}

// TestParameterOutsideItsIndicator: a backtest without the stop that was sent beside it is
// another test, so every parameter of rule, formula and backtest is refused there, under each
// of its names, with the words that are right. Where none of them is asked for, and of any
// other indicator, the call is answered and says where the argument belongs.
func TestParameterOutsideItsIndicator(t *testing.T) {
	d := Deps{Source: &fixed{}}
	for name, required := range map[string]string{"rule": `"when":"close > 1"`, "formula": `"expr":"close"`, "backtest": `"enter":"close > 1"`} {
		ind, err := indicators.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ind.Params {
			for _, spelling := range append([]string{p.Name, strings.ReplaceAll(p.Name, "_", "-")}, p.Aliases...) {
				arguments := fmt.Sprintf(`{"symbol":"BTCUSDT","indicators":[{"name":%q,%s}],%q:3}`, name, required, spelling)
				want := fmt.Sprintf(`%s is of the indicator %s: send "indicators":[{"name":%q,%q:3}]`, spelling, name, name, p.Name)
				if _, err := call(t, d, "get_indicators", arguments); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want a refusal with %s", arguments, err, want)
				}
			}
		}
	}
	for arguments, want := range map[string]string{
		`"indicators":[{"name":"backtest","enter":"close > 1"}],"stopLoss":"3%"`:              `{"name":"backtest","stop_loss":"3%"}`,
		`"indicators":["avwap",{"name":"backtest","enter":"close > 1"}],"start":"2026-01-31"`: `{"name":"backtest","from":"2026-01-31"}`, // both have it
		`"indicators":"backtest","stop_loss":3`:                                               `{"name":"backtest","stop_loss":3}`,
		`"indicators":[{"name":"strategy","params":{"enter":"close > 1"}}],"side":"short"`:    `{"name":"backtest","side":"short"}`,
	} {
		if _, err := call(t, d, "get_indicators", `{"symbol":"BTCUSDT",`+arguments+`}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a refusal with %s", arguments, err, want)
		}
	}
	spellings := `{"symbol":"BTCUSDT","indicators":[{"name":"backtest","enter":"close > 1"}]`
	for i := range 2000 {
		spellings += `,"stop` + strings.Repeat("_", i) + `loss":3`
	}
	if _, err := call(t, d, "get_indicators", spellings+"}"); err == nil || len(err.Error()) > 10_000 {
		t.Errorf("2000 spellings of a parameter: %.200v", err)
	}
	for arguments, want := range map[string]string{
		`"indicators":[{"name":"backtest","enter":"close > 1"}],"stop_loss":""`: `"ignored":[{"name":"stop_loss"}]}`, // "" stands for an absent one
		`"indicators":["macd","rsi"],"length":21`:                               `"ignored":[{"name":"length","why":"it is a parameter of rsi: it belongs into the object of that indicator, beside its name"}]}`,
		`"indicators":["rsi"],"stop_loss":3`:                                    `"ignored":[{"name":"stop_loss"}]}`,
	} {
		r, err := call(t, d, "get_indicators", `{"symbol":"BTCUSDT",`+arguments+`}`)
		if err != nil || !strings.HasSuffix(string(r.Content[0].Text), want) {
			t.Errorf("%s: %v, %s, want %s", arguments, err, r.Content[0].Text, want)
		}
	}
}

// TestUnknownIsBounded: a call with thousands of unknown arguments gets a short
// answer.
func TestUnknownIsBounded(t *testing.T) {
	arguments := make(map[string]string)
	for i := range 5000 {
		arguments[strings.Repeat("x", 100)+string(rune('a'+i%26))+encode(i)] = ""
	}
	r, err := call(t, Deps{Source: market.Sample{}}, "list_indicators", `{"query":"rsi",`+encode(arguments)[1:])
	if err != nil || len(r.Content[0].Text) > replySize {
		t.Errorf("%d characters, %v", len(r.Content[0].Text), err)
	}
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

// TestIdleReported: an argument that a tool knows but does not use, because of another
// argument or because another is missing, is named like an unknown one. One that is sent
// with its default value changes nothing and is not named.
func TestIdleReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		var o trade.Order
		d.reply(trader, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":1}`, &o)
		one := `"order_id":"` + o.ID + `"`
		for _, c := range []struct{ tool, arguments, names string }{
			{"get_indicators", `"symbol":"BTCUSDT","indicators":"rsi","sort":"rsi(14)"`, "sort"},
			{"get_indicators", `"symbol":"BTCUSDT","indicators":"rsi","sort_by":"nonsense((("`, "sort_by"},
			{"get_indicators", `"symbol":"BTCUSDT","indicators":"rsi","sort":"rsi(14)","foo":1`, "foo sort"},
			{"get_indicators", `"symbols":["BTCUSDT"],"indicators":"rsi","sort":"rsi(14)"`, ""},
			{"get_orders", one + `,"filter":"open","symbol":"ETHUSDT","since":"2000-01-01","until":"2000-01-02","mine":true,"limit":1,"offset":3`, "filter symbol since until mine limit offset"},
			{"get_orders", one + `,"filter":"all","offset":0`, ""},
			{"get_orders", `"filter":"open","symbol":"ETHUSDT","limit":1,"offset":3`, ""},
			{"list_indicators", `"names":["rsi"],"query":"bands","category":"trend"`, "query category"},
			{"list_indicators", `"query":"bands","category":"trend"`, ""},
			{"get_notifications", `"offset":2`, "offset"},
			{"get_notifications", `"offset":2,"again":true`, ""},
			{"generate_chart", `"format":"summary","bars":5,"width":800,"theme":"light","chart_type":"line","scale":"log","signals":"off","volume":false,"pixel_ratio":2,"height":400`, "width height theme chart_type scale signals volume pixel_ratio"},
			{"generate_chart", `"format":"summary","bars":5,"width":1440,"theme":"dark"`, ""},
			{"generate_chart", `"format":"both","bars":5,"width":800,"theme":"light"`, ""},
			{"generate_chart", `"format":"series","bars":5,"width":800,"height":400,"pixel_ratio":2,"theme":"light","type":"line","scale":"log"`, "width height pixel_ratio"},
			{"generate_chart", `"symbol":"BTCUSDT","compare":["ETHUSDT"],"bars":5,"log_scale":true`, "log_scale"},
			{"generate_chart", `"symbol":"BTCUSDT","compare":["ETHUSDT"],"bars":5,"scale":"log","format":"series"`, "scale"},
			{"generate_chart", `"symbol":"BTCUSDT","compare":["ETHUSDT"],"bars":5,"scale":"percent"`, ""},
			{"generate_chart", `"symbol":"BTCUSDT","compare":["btc-usdt"],"bars":5,"scale":"log"`, "compare[0]"}, // nothing but itself, so scale counts
			{"generate_chart", `"symbol":"BTCUSDT","compare_to":["ETHUSDT","eth/usdt","BTCUSDT"],"bars":5`, "compare_to[1] compare_to[2]"},
			{"generate_chart", `"symbol":"BTCUSDT","compare":["ETHUSDT","SOLUSDT"],"bars":5,"format":"summary"`, ""},
			{"generate_chart", `"symbol":"BTCUSDT","compare":[],"bars":5,"scale":"log"`, ""},
			{"generate_chart", `"bars":5,"marks":[{"type":"level","price":1,"price2":2,"time":"2025-01-01","time2":"2025-01-02"}]`, "marks[0].price2 marks[0].time marks[0].time2"},
			{"generate_chart", `"bars":5,"format":"series","drawings":[{"type":"zone","price":1,"price2":2},{"type":"text","price":1,"time":"2025-01-01","text":"x","time2":1700000009,"price2":"2"}]`, "drawings[1].price2 drawings[1].time2"},
			{"generate_chart", `"bars":5,"marks":"{\"type\":\"level\",\"price\":1,\"price2\":2}"`, "marks[0].price2"},
			{"generate_chart", `"bars":5,"format":"summary","marks":[{"type":"level","price":1,"price2":2}]`, "marks"},
			{"generate_chart", `"bars":5,"marks":[{"type":"level","price":1,"price2":null,"time":"","text":"x"},{"type":"zone","price":1,"price2":2,"time":1700000001,"time2":1700000002},` +
				`{"type":"line","price":1,"price2":2,"time":1700000001,"time2":1700000002},{"type":"text","price":1,"time":1700000001,"text":"x"}]`, ""},
			{"generate_chart", `"bars":5,"indicators":[],"signals":"labels"`, "signals"},
			{"generate_chart", `"bars":5,"indicators":[],"signals":"auto"`, ""},
			{"generate_chart", `"bars":5,"indicators":["rsi"],"signals":"labels"`, ""},
			{"generate_chart", `"bars":5,"interval":"1d","tz":"Asia/Tokyo"`, "tz"},
			{"generate_chart", `"bars":5,"interval":"1d","timezone":"UTC"`, ""}, // what counts without it
			{"set_alert", `"symbol":"BTCUSDT","interval":"1d","condition":{"price_above":99999}`, "interval"},
			{"set_alert", `"symbol":"BTCUSDT","timeframe":"1d","condition":{"price_below":1},"repeat":"each_time"`, "timeframe"},
			{"set_alert", `"symbol":"BTCUSDT","condition":{"price_above":99999}`, ""},
			{"set_alert", `"symbol":"BTCUSDT","interval":"1d","condition":{"price_above":99999},"repeat":"each_bar"`, ""},
			{"set_alert", `"symbol":"BTCUSDT","interval":"1h","condition":{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold"}}`, ""},
		} {
			r, err := d.call(trader, c.tool, "{"+c.arguments+"}")
			if err != nil {
				t.Errorf("%s %s: %v", c.tool, c.arguments, err)
				continue
			}
			var said []string
			for _, content := range r.Content {
				var in struct{ Ignored []ignored }
				if text := string(content.Text); strings.HasPrefix(text, "Ignored: ") {
					for _, part := range strings.Split(text, `"`)[1:] {
						if !strings.Contains(part, " ") && part != "" {
							said = append(said, part)
						}
					}
				} else if json.Unmarshal(content.Text, &in) == nil {
					for _, i := range in.Ignored {
						said = append(said, i.Name)
					}
				}
			}
			if got := strings.Join(said, " "); got != c.names {
				t.Errorf("%s %s names %q, want %q", c.tool, c.arguments, got, c.names)
			}
		}
	})
}

// TestIdleZone: a time zone is named in the reply exactly if the reply without it is
// otherwise the same, byte for byte.
func TestIdleZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		begin := time.Now().Add(-48 * time.Hour).UTC()
		date := begin.Format(time.DateOnly)
		for _, more := range []string{
			``, `,"from":"` + date + `"`, `,"to":"` + date + ` 12:00"`, `,"to":"` + begin.Format(time.RFC3339) + `"`, fmt.Sprintf(`,"to":%d`, begin.Unix()),
			`,"marks":[{"type":"text","price":1,"time":"` + date + `","text":"x"}]`,
		} {
			for _, interval := range []string{"1h", "4h", "1d", "3d", "1wk", "1mo"} {
				for _, format := range []string{"png", "summary", "both", "series"} {
					arguments := fmt.Sprintf(`{"symbol":"BTCUSDT","bars":9,"indicators":["rsi"],"interval":%q,"format":%q%s`, interval, format, more)
					without, _, err := heeded(d, arguments+"}")
					with, left, wrong := heeded(d, arguments+`,"timezone":"Asia/Tokyo"}`)
					if fmt.Sprint(err) != fmt.Sprint(wrong) {
						t.Errorf("%s: %v, and with a zone %v", arguments, err, wrong)
					}
					same, named := with == without, strings.Contains(left, `"timezone"`)
					if err == nil && same != named { // a week or a month may not begin in the period
						t.Errorf("%s: with a zone the reply is the same: %t, and names it: %t", arguments, same, named)
					}
				}
			}
		}
	})
}

// heeded returns the reply of generate_chart without what it says of ignored arguments,
// and that beside it.
func heeded(d *desk, arguments string) (reply, left string, err error) {
	r, err := d.call(trader, "generate_chart", arguments)
	if err != nil {
		return "", "", err
	}
	for _, c := range r.Content {
		text, member, in := strings.Cut(string(c.Text), `,"ignored":[`)
		switch {
		case in:
			left, text = member, text+"}"
		case strings.HasPrefix(text, "Ignored: "):
			left, text = text, ""
		}
		reply += text + string(c.Data)
	}
	return reply, left, nil
}

// namesOf has the bars of Sample under the names of another source, which is asked for
// nothing else.
type namesOf struct {
	market.Sample
	names market.Source
}

func (n namesOf) Resolve(text string) (string, error) { return market.Resolve(n.names, text) }

// TestSameMarketReported: whether two symbols to compare are one market is for the source
// to say. At Kraken XXBTZUSD is XBTUSD; auto asks Coinbase for BTCUSD and Kraken for XBTUSD,
// and draws both.
func TestSameMarketReported(t *testing.T) {
	for _, c := range []struct{ source, symbol, compare, want string }{
		{"kraken", "XBTUSD", `["BTCUSD","PEPE-USD","PEPEUSD","XXBTZUSD"]`, "compare[0] compare[2] compare[3]"},
		{"yahoo", "JPY=X", `["USDJPY","EURUSD"]`, "compare[0]"},
		{"auto", "BTCUSD", `["XBTUSD","ETHUSD"]`, ""},
	} {
		names, err := market.Open(c.source, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Ignored []ignored }
		payload(t, Deps{Source: namesOf{names: names}}, "generate_chart", `{"symbol":"`+c.symbol+`","bars":5,"indicators":[],"format":"summary","compare":`+c.compare+`}`, &got)
		var said []string
		for _, i := range got.Ignored {
			said = append(said, i.Name)
		}
		if got := strings.Join(said, " "); got != c.want {
			t.Errorf("%s compares %s with %s and names %q, want %q", c.source, c.symbol, c.compare, got, c.want)
		}
	}
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
		{"generate_chart", `{"symbol":"ABC","interval":"15m"}`, "ask for 1h 2h 4h ", again},
		{"generate_chart", `{"symbol":"ABC","interval":"1h","compare":["NOPE"]}`, "it has ABC", again},
		{"generate_chart", `{"symbol":"ABC","marks":[{"type":"level","price":1e300}]}`, "a price of 1e+300, want a number below 1e300", again},
		{"get_indicators", `{"symbol":"ABC","interval":"1h","indicators":["funding"]}`, `the file has no "funding": leave out what reads it`, never},
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
		for _, arguments := range []string{`{}`, `{"order_id":"o-1","all":true}`, `{"symbol":"ALL"}`} {
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
