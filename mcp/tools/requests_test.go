package tools

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/trade"
	"wick/trade/book"
)

// TestTradersDay makes the calls of test/model/requests.md that change something, one after the other
// on one account, and works out from prices, fees and slippage alone what the replies must say. The
// calls that only read are like those of TestPlainWords.
func TestTradersDay(t *testing.T) {
	const cash, fee, slip = 100_000, 0.001, 0.0005
	account := func(o *trade.Options) {
		o.Rules.Account = book.AccountRules{Cash: cash * exact.One, Stablecoins: true, Short: true}
		o.Rules.FeeRate, o.Rules.Slippage = exact.One/1000, exact.One/2000
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir(), account)
		defer d.stop()
		time.Sleep(3 * time.Second)
		// call returns what a reply says at dotted paths: a call that fails ends the test.
		call := func(tool, format string, values ...any) func(path string) any {
			t.Helper()
			var reply any
			d.reply(trader, tool, fmt.Sprintf(format, values...), &reply)
			return func(path string) any {
				at := reply
				for _, name := range strings.Split(path, ".") {
					switch v := at.(type) {
					case map[string]any:
						at = v[name]
					case []any:
						i := int(name[0] - '0')
						if i >= len(v) {
							return nil
						}
						at = v[i]
					}
				}
				return at
			}
		}
		number := func(v any) float64 { f, _ := v.(float64); return f }
		same := func(request string, got any, want float64) {
			t.Helper()
			if f := number(got); math.Abs(f-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%s: %v, want %.9g", request, got, want)
			}
		}
		is := func(request string, got any, want string) {
			t.Helper()
			if text, _ := json.Marshal(got); strings.Trim(string(text), `"`) != want {
				t.Errorf("%s: %s, want %s", request, text, want)
			}
		}
		price := func(symbol string) float64 {
			return number(call("generate_chart", `{"symbol":%q,"interval":"1h","bars":2,"indicators":[],"format":"summary"}`, symbol)("price.last.close"))
		}

		// Alerts: U14 to U17, U18, H12.
		btc := price("BTCUSDT")
		is("5 % above", call("set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":%.2f}}`, btc*1.05)("now.true"), "false")
		rsi := call("set_alert", `{"symbol":"ETHUSDT","when":"rsi(14) crosses below 30","interval":"1h","repeat":"each_time","cooldown":"4h"}`)("alert_id")
		// 1 January 2000 is a Saturday: the next weekday is Monday, and New York is five hours behind.
		is("15:30 in New York on weekdays", call("set_alert", `{"daily":"15:30","timezone":"America/New_York","weekdays":["mon","tue","wed","thu","fri"]}`)("now.next"), "2000-01-03T20:30:00.000Z")
		is("down 500 on the day", call("set_alert", `{"profit_below":-500,"of":"day"}`)("now.value"), "0")
		changed := call("set_alert", `{"alert_id":%q,"when":"rsi(14) crosses below 25"}`, rsi)
		is("25 instead of 30", changed("condition.indicator_signal.when"), "rsi(14) crosses below 25")
		is("the rest is kept", []any{changed("alert_id"), changed("interval"), changed("repeat"), changed("cooldown")}, fmt.Sprintf(`[%q,"1h","each_time","4h0m0s"]`, rsi))
		is("the alerts on ether", call("cancel_alert", `{"symbol":"ETHUSDT"}`)("cancelled"), "1")

		// Sizes: U20 to U24, H6, H14.
		spent := 0.0
		bought := func(o func(string) any) (quantity, at float64) {
			quantity, at = number(o("filled_quantity")), number(o("average_price"))
			same("the fee", o("fee"), math.Round(quantity*at*fee*1e8)/1e8)
			spent += quantity * at * (1 + fee)
			return quantity, at
		}
		bought(call("place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.1}`))
		quantity, at := bought(call("place_order", `{"symbol":"ETHUSDT","side":"buy","type":"market","notional":2000}`))
		same("2,000 dollars' worth", quantity*at, 2000)
		power := cash - spent
		quantity, at = bought(call("place_order", `{"symbol":"SOLUSDT","side":"buy","type":"market","quantity":"10%%"}`))
		same("10 %% of what I can spend", quantity*at*(1+fee), power/10)
		equity := number(call("get_positions", `{"view":"risk"}`)("equity"))
		o := call("place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","risk":"1%%","stop_loss":"3%%"}`)
		quantity, at = bought(o)
		stop := at * 0.97
		out := stop * (1 - slip)
		if lost := quantity * (at - out + fee*(at+out)); math.Abs(lost/equity-0.01) > 0.0001 {
			t.Errorf("risk 1 %%: %g would be lost of %g", lost, equity)
		}
		same("stop 3 % below", o("exits.0.stop_price"), stop)
		eth := price("ETHUSDT")
		bid := call("place_order", `{"symbol":"ETHUSDT","side":"buy","type":"limit","quantity":1,"price":%.2f,"stop_loss":"3%%","take_profit":"6%%"}`, eth*0.98)
		moved := call("place_order", `{"replaces":%q,"price":%.2f}`, bid("order_id"), eth*0.98-10) // U29
		is("the rest of the bid", []any{moved("quantity"), moved("stop_loss.percent"), moved("take_profit.percent")}, "[1,3,6]")
		why := call("get_orders", `{"order_id":%q}`, moved("order_id")) // H5
		is("why it is not filled", why("0.waits_for.code"), "waits_for_fall")
		same("how far that is", why("0.distance"), number(why("0.price_now"))-number(moved("price")))
		_, err := d.call(trader, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":1e4}`)
		var most float64
		if _, after, found := strings.Cut(fmt.Sprint(err), "at most "); !found || !strings.HasPrefix(err.Error(), "buying_power") {
			t.Fatalf("far too much: %v", err)
		} else if _, err := fmt.Sscanf(after, "%g", &most); err != nil {
			t.Fatal(err)
		}
		is("as much as was named", call("place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":%.8f,"stop_loss":"2%%","dry_run":true}`, most)("reason_code"), "dry_run")

		// Exits: U25, U26, H1, H2, H4.
		trail := call("place_order", `{"symbol":"BTCUSDT","side":"sell","type":"trailing_stop","quantity":"all","trail_percent":2}`)
		same("all of my BTC", trail("quantity"), 0.1+quantity)
		half := call("place_order", `{"symbol":"SOLUSDT","side":"sell","type":"market","quantity":"50%%"}`)
		same("half of it", half("quantity"), math.Floor(number(half("sizing.amount"))/2*1e8)/1e8)
		pair := call("place_order", `{"symbol":"ETHUSDT","side":"sell","type":"limit","quantity":"all","price":%.2f,"oco":{"stop_price":%.2f}}`, eth*1.05, eth*0.97)
		is("one of two", []any{pair("role"), pair("exits.0.role")}, `["oco","oco"]`)
		waits := call("place_order", `{"symbol":"SOLUSDT","side":"buy","type":"market","quantity":10,"when":"rsi(14) crosses above 50","interval":"1h","price":%.2f}`, price("SOLUSDT")*1.03)
		is("when RSI crosses 50", waits("reason_code"), "waits_for_rule")
		later := call("place_order", `{"symbol":"ETHUSDT","side":"sell","type":"market","quantity":"all","when":"close:BTCUSDT < sma(50)@1d:BTCUSDT","interval":"1d"}`)

		// The portfolio: H10, H11.
		risk := call("get_positions", `{"view":"risk","weights":{"BTCUSDT":50,"ETHUSDT":30,"SOLUSDT":0}}`)
		worth := func(i int) float64 { return number(risk(fmt.Sprintf("positions.%d.worth", i))) }
		same("the exposure", risk("exposure"), worth(0)+worth(1)+worth(2))
		of := number(risk("rebalance.of"))
		for i := range 3 {
			leg := func(name string) any { return risk(fmt.Sprintf("rebalance.orders.%d.%s", i, name)) }
			held := 0.0
			for k := range 3 {
				if risk(fmt.Sprintf("positions.%d.symbol", k)) == leg("symbol") {
					held = worth(k)
				}
			}
			want := map[any]float64{"BTCUSDT": of * 0.5, "ETHUSDT": of * 0.3, "SOLUSDT": 0}[leg("symbol")] - held
			got := number(leg("worth"))
			if leg("side") == "sell" {
				got = -got
			}
			if diff := want - got; diff < -0.01 || diff > 0.004*max(want, 1) { // bought is less by the costs of buying and selling
				t.Errorf("rebalance %v: %g, want %g", leg("symbol"), got, want)
			}
		}

		// Out of everything, the journal: U30 to U33, H8, H9, H15, H16, H18.
		is("the orders on SOL", call("cancel_order", `{"symbol":"SOLUSDT"}`)("cancelled"), "1")
		all := call("place_order", `{"symbol":"all","side":"sell","type":"market","quantity":"all"}`)
		var closing any
		for i := range 3 {
			if at := fmt.Sprintf("orders.%d.", i); all(at+"symbol") == "ETHUSDT" {
				closing = all(at + "order_id")
				if left, _ := all(at + "left_open").([]any); !slices.Contains(left, moved("order_id")) || !slices.Contains(left, later("order_id")) {
					t.Errorf("the bid %v and what waits for a rule %v stay open; the reply names %v", moved("order_id"), later("order_id"), left)
				}
			}
		}
		is("every order", call("cancel_order", `{"all":true}`)("cancelled"), "2")
		call("place_order", `{"order_id":%q,"tag":"breakout","note":"chased it"}`, closing)
		month := call("get_orders", `{"view":"report","timezone":"Europe/Berlin"}`)
		is("the month in Berlin, and its trades", []any{month("groups.0.group"), month("groups.0.trades")}, `["2000-01",3]`)
		made := number(call("get_positions", `{"view":"risk"}`)("equity")) - cash
		same("its profit is what the account has made", month("groups.0.profit"), made)
		tag := call("get_orders", `{"view":"report","by":"tag"}`)
		is("a line for the tag", []any{tag("groups.0.group"), tag("groups.0.trades"), tag("groups.1.group"), tag("groups.1.trades")}, `["",2,"breakout",1]`)
		trades := call("get_orders", `{"view":"trades","symbol":"BTCUSDT"}`)
		same("what was given back", trades("0.given_back"), number(trades("0.best"))-number(trades("0.profit")))
		same("R", trades("0.r"), math.Round(number(trades("0.profit"))/number(trades("0.risk.amount"))*1e8)/1e8)
		time.Sleep(5 * time.Second) // an equal order within five seconds is taken for a retry
		call("place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.1}`)
		call("place_order", `{"symbol":"BTCUSDT","side":"sell","type":"market","quantity":0.2,"may_open":true}`)
		flipped := call("get_positions", `{}`)
		is("turned around", []any{flipped("0.side"), flipped("0.quantity")}, `["short",0.1]`)
		is("good until eight in New York", call("place_order", `{"symbol":"ETHUSDT","side":"buy","type":"limit","quantity":1,"price":%.2f,"time_in_force":"gtd","expires_at":"2000-01-02 01:00"}`, eth*0.97)("expires_at"), "2000-01-02T01:00:00.000Z")
	})
}
