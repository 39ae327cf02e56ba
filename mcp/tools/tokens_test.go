package tools

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/indicators"
)

// TestTokens: what a model reads stays short. A token counts as four characters.
func TestTokens(t *testing.T) {
	tokens := func(what, text string, most int) int {
		n := len(text) / 4
		if n >= most {
			t.Errorf("%s has %d tokens, want fewer than %d:\n%.2000s", what, n, most, text)
		}
		return n
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		server := d.protocol(nil)
		var list json.RawMessage
		ask(t, server, trader, "tools/list", `{}`, &list)
		tokens("tools/list", string(list), 7000)
		texts := func(tool, arguments string) (all string) {
			result, err := d.call(trader, tool, arguments)
			if err != nil {
				t.Fatalf("%s %s: %v", tool, arguments, err)
			}
			for _, c := range result.Content {
				all += string(c.Text)
			}
			return all
		}
		// The guide says of some calls how much they take.
		said := make(map[string][]string)
		for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| (\d+)(?:, (\d+))?`).FindAllStringSubmatch(guidePage, -1) {
			said[row[1]] = row[2:]
		}
		for _, c := range []struct {
			guide           string // the row
			at              int    // the number in it
			tool, arguments string
			most            int
		}{
			{"the state of one market", 0, "generate_chart", `{"symbol":"BTCUSDT","format":"summary"}`, 1200},
			{"every bar and value", 0, "generate_chart", `{"symbol":"BTCUSDT","format":"series","bars":20}`, 2000},
			{"newest values", 0, "get_indicators", `{"symbol":"BTCUSDT","indicators":["rsi"]}`, 400},
			{"many symbols in one table", 0, "get_indicators", `{"symbols":["BTCUSDT"],"indicators":["rsi"]}`, 400},
			{"what trading it had made", 0, "get_indicators", `{"symbol":"BTCUSDT","bars":5000,"indicators":[{"name":"backtest","enter":"ema(10) crosses above ema(30)","exit":"rsi(14) > 70"}]}`, 400},
			{"an indicator's signals, parameters", 0, "list_indicators", `{"names":["rsi"]}`, 400},
			{"an indicator's signals, parameters", 1, "list_indicators", `{"query":"trend"}`, 1500},
			{"all indicators", 0, "list_indicators", `{}`, 18_000},
			{"", 0, "list_indicators", `{"query":"oversold"}`, 1500},
			{"", 0, "list_indicators", `{"query":"a strategy with moving averages"}`, 1500},
			{"", 0, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.1,"stop_loss":"3%","take_profit":"6%"}`, 400},
			{"", 0, "set_alert", `{"symbol":"BTCUSDT","when":"rsi(14) < 30 and close > ema(200)@1d"}`, 400},
			{"", 0, "get_positions", `{}`, 400},
			{"", 0, "get_orders", `{"order_id":"entry"}`, 400},
		} {
			if c.tool == "get_orders" {
				texts("place_order", `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":1,"price":15,"client_order_id":"entry"}`)
			}
			n := tokens(c.tool+" "+c.arguments, texts(c.tool, c.arguments), c.most)
			if c.guide == "" {
				continue
			}
			if len(said[c.guide]) == 0 {
				t.Errorf("the guide has no row %q with a size", c.guide)
			} else if says, _ := strconv.Atoi(said[c.guide][c.at]); math.Abs(math.Log(float64(n)/float64(says))) > math.Log(1.5) {
				t.Errorf("%s %s takes %d tokens, the guide says %d", c.tool, c.arguments, n, says)
			}
		}
		// Languages, and the entries with dozens of signals, are long.
		for ind := range indicators.All() {
			if ind.Category != indicators.Rules && !slices.Contains([]string{"candles", "cipher_b"}, ind.Name) {
				tokens(ind.Name, texts("list_indicators", `{"names":`+encode([]string{ind.Name})+`}`), 400)
			}
		}
		if got := strings.Count(texts("get_indicators", `{"symbol":"BTCUSDT","indicators":["rsi"],"bars":100}`), `"bars":100,`); got != 1 {
			t.Error("get_indicators with bars 100 does not say 100")
		}
	})
}

// TestRulesAsWritten: a rule stands in a reply as it was written, without escapes.
func TestRulesAsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		for _, call := range [][2]string{
			{"set_alert", `{"symbol":"BTCUSDT","when":"rsi(14) > 99 and close < 5"}`},
			{"list_alerts", `{}`},
			{"place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.1,"when":"rsi(14) > 99 and close < 5"}`},
			{"get_orders", `{}`},
		} {
			result, err := d.call(trader, call[0], call[1])
			if err != nil {
				t.Fatalf("%s %s: %v", call[0], call[1], err)
			}
			if text := string(result.Content[0].Text); !strings.Contains(text, "rsi(14) > 99 and close < 5") {
				t.Errorf("%s: %s", call[0], text)
			}
		}
	})
}
