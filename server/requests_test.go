package server

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
	"testing"
)

// TestSentencesOfTraders: what people ask of an agent is done, over the wire, by one
// call with arguments that tools/list names. Each reply must match its pattern.
func TestSentencesOfTraders(t *testing.T) {
	h := startHost(t, t.TempDir(), "--cash", "100000")
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct{ Properties map[string]json.RawMessage }
		}
	}
	h.ask("tools/list", `{}`, &list)
	for _, c := range []struct{ sentence, tool, arguments, want string }{
		{"buy 0.1 BTC with a stop at 3 % and take profit at 6 %", "place_order",
			`{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.1,"stop_loss":"3%","take_profit":"6%"}`,
			`"status":"filled".*"exits":\[.*"type":"stop".*"role":"stop_loss".*"type":"limit".*"role":"take_profit"`},
		{"how much is at risk", "get_positions", `{"account":true}`, `"risk_to_stops":[0-9.]*[1-9][0-9]*,"unprotected":0,`},
		{"set a trailing stop", "place_order", `{"symbol":"BTCUSDT","side":"sell","type":"trailing_stop","quantity":"all","trail_percent":2}`,
			`"type":"trailing_stop","quantity":0\.1,.*"status":"open".*"stop_price":\d.*"trail_percent":2,"reduce_only":true`},
		{"$500 of ETH", "place_order", `{"symbol":"ETHUSDT","side":"buy","type":"market","notional":500}`, `"status":"filled".*"notional":500`},
		{"close everything", "place_order", `{"symbol":"all","side":"sell","type":"market","quantity":"all"}`,
			`"orders":\[.*"symbol":"BTCUSDT".*"status":"filled".*"symbol":"ETHUSDT".*"status":"filled"`},
		{"is anything left", "get_orders", `{"filter":"open"}`, `^\[\]$`},
	} {
		for _, tool := range list.Tools {
			var arguments map[string]any
			if err := json.Unmarshal([]byte(c.arguments), &arguments); err != nil {
				t.Fatal(err)
			}
			for name := range arguments {
				if tool.Name == c.tool && tool.InputSchema.Properties[name] == nil {
					t.Errorf("%s: tools/list names no %s of %s", c.sentence, name, c.tool)
				}
			}
		}
		if got := strings.Join(h.texts(c.tool, c.arguments), "\n"); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %s\nwant %s", c.sentence, got, c.want)
		}
	}
	h.thisWeek()
	h.in.Close()
	<-h.ended
}

// thisWeek asks what was made this week: the days add up to what the account, which
// was opened today, has made in all, the first order included.
func (h *host) thisWeek() {
	h.t.Helper()
	var a struct {
		Account struct {
			Total json.Number `json:"total_pnl"`
			ByDay []struct {
				Profit json.Number `json:"pnl"`
			} `json:"by_day"`
		}
	}
	texts := h.texts("get_positions", `{"account":true}`)
	if err := json.Unmarshal([]byte(texts[len(texts)-1]), &a); err != nil {
		h.t.Fatal(err)
	}
	rest, ok := new(big.Rat).SetString(a.Account.Total.String())
	for _, d := range a.Account.ByDay {
		if profit, numeric := new(big.Rat).SetString(d.Profit.String()); numeric && ok {
			rest.Sub(rest, profit)
		}
	}
	if !ok || a.Account.Total == "0" || rest.Sign() != 0 {
		h.t.Errorf("what did I make this week: %+v", a.Account)
	}
}
