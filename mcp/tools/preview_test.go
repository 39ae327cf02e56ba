package tools

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/mcp"
	"wick/trade"
	"wick/trade/book"
)

// previews has for every argument of place_order orders that have it, and what a person
// who is asked about each must read of it. The price is about 16, the fee 0.2 %, and
// 0.1 % for limits that rested; 1 is held, and OPEN is an order that waits.
var previews = map[string][]struct{ order, want string }{
	"symbol": {
		{`"symbol":"hbar-usdt","side":"buy","type":"market","quantity":2`, "buy 2 HBARUSDT, market order"},
		{`"symbol":"AAPL","side":"buy","type":"limit","price":150,"notional":300`, // a symbol that names no currency
			"size: for 300 in the quote currency\nworth: about 300\nfee: about 0.3\n"},
	},
	"side": {{`"symbol":"HBARUSDT","side":"sell","type":"market","quantity":2`, "sell 2 HBARUSDT, market order"}},
	"type": {
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2`, `price: about 15\.\d+, now`},
		{`"symbol":"HBARUSDT","side":"buy","type":"stop","quantity":2,"stop_price":17`, `price: that of the market, once it comes to 17`},
	},
	"quantity": {
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":"50%","when":"rsi(14) crosses above 30"`, "\nsize: worked out then\nsize: 50% of the position if it closes one then, else of the buying power then\n"},
		{`"symbol":"HBARUSDT","side":"sell","type":"market","quantity":"50%"`, "sell 0.5 HBARUSDT, market order\n(.*\n)*size: 50% of the position, which is 1\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2`, `position after: 3 HBARUSDT`},
		{`"symbol":"HBARUSDT","side":"sell","type":"market","quantity":"all"`, "sell 1 HBARUSDT, market order\n(.*\n)*size: all that is held, which closes the position\n(.*\n)*position after: 0 HBARUSDT"},
	},
	"risk": {
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"risk":3,"stop_loss":14`, "buy about 2.87\\d* HBARUSDT, limit order\n(.*\n)*size: to lose 3 USDT at most at the stop loss\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"market","risk":"1%","stop_loss":"3%","when":"rsi(14) crosses above 30"`, "\nsize: worked out then\nsize: to lose 1% of the equity then at most at the stop loss\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"market","risk":30,"stop_loss":"3%","when":"rsi(14) crosses above 30"`, "\nsize: worked out then\nsize: to lose 30 USDT at most at the stop loss\n"},
	},
	"notional": {
		{`"symbol":"HBARUSDT","side":"buy","type":"market","notional":30`, "buy about 1\\.\\d+ HBARUSDT, market order\n(.*\n)*size: for 30 USDT\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"notional":30`, "buy 2 HBARUSDT, limit order\n(.*\n)*size: for 30 USDT\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"stop","stop_price":20,"notional":30`, "buy 1.5 HBARUSDT, stop order\n(.*\n)*size: for 30 USDT\n"},
		{`"symbol":"HBARUSDT","side":"sell","type":"stop_limit","stop_price":15,"price":12,"notional":24,"may_open":true`, "sell 2 HBARUSDT, stop limit order\n(.*\n)*size: for 24 USDT\nworth: about 30 USDT\nfee: about 0.06 USDT\n"},
		{`"symbol":"HBARUSDT","side":"sell","type":"trailing_stop","trail_amount":0.5,"notional":10`, `size: for 10 USDT\n`},
	},
	"price": {
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":2,"price":15`, "price: 15 or better, once the market is there\n(.*\n)*worth: about 30 USDT\nfee: about 0.03 USDT\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":2,"price":17`, `price: about 15\.\d+, now; the limit is 17\n(.*\n)*worth: about 30\.\d\d? USDT\n`},
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":2,"price":15,"time_in_force":"ioc"`, "price: 15 or better; the market is not there, and it would end unfilled\n(.*\n)*worth: about 0 USDT for 0 of it, which would fill now; 30 USDT if it is filled whole\nfee: about 0 USDT\n(.*\n)*position after: 3 HBARUSDT, if it is filled whole"},
	},
	"stop_price": {
		{`"symbol":"HBARUSDT","side":"buy","type":"stop","quantity":2,"stop_price":17`, "once it comes to 17\n(.*\n)*worth: about 34 USDT\nfee: about 0.068 USDT\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"stop_limit","quantity":2,"stop_price":17,"price":17.5`, "price: 17.5 or better, once the market has come to 17\n(.*\n)*worth: about 34 USDT\nfee: about 0.068 USDT\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"stop_limit","quantity":2,"stop_price":17,"price":16.5`, "price: 16.5 or better, once the market has come to 17\n(.*\n)*worth: about 33 USDT\nfee: about 0.033 USDT\n"},
		{`"symbol":"HBARUSDT","side":"sell","type":"stop_limit","quantity":2,"stop_price":15,"price":15.5,"may_open":true`, "price: 15.5 or better, once the market has come to 15\n(.*\n)*worth: about 31 USDT\nfee: about 0.031 USDT\n"},
	},
	"trail_amount": {
		{`"symbol":"HBARUSDT","side":"sell","type":"trailing_stop","quantity":1,"trail_amount":0.5`, `once it is 0\.5 below its highest since the order: about 14\.\d+ now` + "\n(.*\n)*" + `worth: about 14\.\d+ USDT` + "\n" + `fee: about 0\.02\d* USDT`},
	},
	"trail_percent": {
		{`"symbol":"HBARUSDT","side":"buy","type":"trailing_stop","quantity":1,"trail_percent":3`, `once it is 3 % above its lowest since the order: about 15\.\d+ now`},
	},
	"stop_loss": {
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":2,"stop_loss":"3%"`, `stop loss: 3 % from the entry, about 14\.55`},
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":2,"stop_loss":12`, "stop loss: at the price 12\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":2,"stop_loss":"1.5atr"`, `stop loss: 1.5 average true ranges from the entry, about 14\.\d+`},
	},
	"take_profit": {
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":2,"take_profit":"4%"`, `take profit: 4 % from the entry, about 15\.6`},
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":2,"take_profit":18`, "take profit: at the price 18\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"take_profit":"1atr"`, `take profit: 1 average true range from the entry, about 15\.\d+`},
	},
	"oco": {
		{`"symbol":"HBARUSDT","side":"sell","type":"limit","price":18,"quantity":1,"oco":{"stop_price":15}`, "worth: about 18 USDT by the limit, 15 USDT by the stop\nfee: about 0.018 USDT by the limit, 0.03 USDT by the stop\none cancels the other: stop 15\n"},
		{`"symbol":"HBARUSDT","side":"sell","type":"limit","price":18,"quantity":1,"oco":{"stop_price":15,"price":14.5}`, "worth: about 18 USDT by the limit, 15 USDT by the stop\n(.*\n)*one cancels the other: stop 15, limit 14.5\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":3,"oco":{"stop_price":18}`, "price: 15 or better, once the market is there\n(.*\n)*worth: about 45 USDT by the limit, 54 USDT by the stop\nfee: about 0.045 USDT by the limit, 0.108 USDT by the stop\n"},
	},
	"time_in_force": {
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":2`, "waits: until it is cancelled"},
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":2,"time_in_force":"day"`, "waits: until 2000-01-02 00:00:00 UTC, when the day or the session ends"},
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"time_in_force":"ioc"`, "waits: not at all; what does not fill at once is cancelled"},
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"time_in_force":"fok"`, "waits: not at all; it is filled whole at once or cancelled"},
	},
	"expires_at": {
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":2,"time_in_force":"gtd","expires_at":"2000-02-01"`, "waits: until 2000-02-01 23:59:59 UTC\n"},
	},
	"post_only":   {{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":2,"post_only":true`, "post only: refused if it would fill at once"}},
	"reduce_only": {{`"symbol":"HBARUSDT","side":"sell","type":"limit","price":18,"quantity":1,"reduce_only":true`, "reduce only: it never opens or grows a position\n(.*\n)*position after: 0 HBARUSDT"}},
	"may_open":    {{`"symbol":"HBARUSDT","side":"sell","type":"limit","price":18,"quantity":2,"may_open":true`, "may open: it is no exit, and may turn the position around\n(.*\n)*position after: -1 HBARUSDT"}},
	"replaces": {
		{`"replaces":"OPEN","price":13`, "buy 0.5 HBARUSDT, limit order\nprice: 13 or better(.*\n)*replaces: OPEN, buy 0.5 HBARUSDT, limit order at 14, which is cancelled"},
		{`"symbol":"HBARUSDT","side":"buy","type":"limit","price":15,"quantity":2,"replaces":"OPEN"`, "replaces: OPEN, buy 0.5 HBARUSDT, limit order at 14, which is cancelled"},
	},
	"when": {
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"when":"rsi(14) crosses above 30"`, "buy 2 HBARUSDT, market order\nprice: that of the market\n(.*\n)*when: rsi\\(14\\) crosses above 30 becomes true on a closed bar of 4h\nworst price: 2[34]\\.\\d+\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"when":"close\n\n  > 100"`, "when: close > 100 becomes true"},
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"price":17,"when":"rsi(14) crosses above 30"`, "\nworst price: 17\n"},
		{`"symbol":"HBARUSDT","side":"sell","type":"market","quantity":"all","when":"rsi(14) crosses above 70"`, "size: worked out then\n(.*\n)*size: all that is held then\n"},
	},
	"interval": {{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"when":"close > 100","interval":"1d"`, "when: close > 100 becomes true on a closed bar of 1d\n"}},
	"now": {
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"when":"close > 1","now":true`, "price: about 15\\.\\d+, now\n(.*\n)*when: close > 1, which is true now\n"},
		{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"when":"close > 100","now":true`, "when: close > 100 becomes true on a closed bar of 4h, or is true by then\n"},
	},
	"late":            {{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"when":"close > 100","late":"skip"`, "late: cancelled if that happens while wick is not watching\n"}},
	"client_order_id": {{`"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"client_order_id":"mine"`, "client_order_id: mine"}},
}

// goValue is what Go prints for a structure, a pointer or a moment in milliseconds, and
// an argument by the name that only a program uses.
var goValue = regexp.MustCompile(`[{}]|0x|<nil>|map\[|\d{13}|\w=|stop_loss|take_profit|\w_(only|limit|stop)|gtc|gtd`)

// TestPreview: the question to a person has every argument of place_order that changes
// what is traded, in words and in the unit in which it was given, with an estimated
// fee; that the prices are invented where they are; and nothing in it is a value as Go
// prints it. An argument without an example here fails.
func TestPreview(t *testing.T) {
	for _, a := range new(orderRequest).args() {
		if previews[a.name] == nil && !slices.Contains([]string{"dry_run", "order_id", "tag", "note"}, a.name) { // which ask nobody, or change nothing that is traded
			t.Errorf("no preview of an order with %s is tested", a.name)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir(), func(o *trade.Options) {
			maker := exact.One / 1000
			o.FeeRate, o.MakerFeeRate = exact.One/500, &maker
		})
		defer d.stop()
		d.reply(trader, "place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1}`, &book.Order{})
		var open book.Order
		d.reply(trader, "place_order", `{"symbol":"HBARUSDT","side":"buy","type":"limit","price":14,"quantity":0.5}`, &open)
		time.Sleep(6 * time.Second) // past the guard against doubled orders
		d.tools = All(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub, Gate: gateAt(0, "")})
		named := trader
		named.Name = "Assistant"
		for name, orders := range previews {
			for _, p := range orders {
				id := strings.NewReplacer("OPEN", open.ID)
				input, err := d.order(mcp.Call{Elicits: true, Caller: named}, "{"+id.Replace(p.order)+"}")
				if input == nil {
					t.Errorf("%s: %s: %v", name, p.order, err)
					continue
				}
				if !regexp.MustCompile(id.Replace(p.want)).MatchString(input.Message) {
					t.Errorf("%s: %s\nasks\n%s\nwant %s", name, p.order, input.Message, p.want)
				}
				if found := goValue.FindString(input.Message); found != "" {
					t.Errorf("%s: %s asks with %q:\n%s", name, p.order, found, input.Message)
				}
				for _, fact := range []string{"\nprice: ", "\ndata: invented, from no real market\n", "\nclient: Assistant\n", "\nbroker: paper", "\nworth: about ", "\nfee: about ", "\nposition after: "} {
					if !strings.Contains(input.Message, fact) {
						t.Errorf("%s: %s\nasks\n%s\nwithout %q", name, p.order, input.Message, fact)
					}
				}
			}
		}
	})
}

// TestPreviewOfRealPrices: the question calls no price invented that a market made.
func TestPreviewOfRealPrices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		for _, synthetic := range []bool{false, true} {
			o := book.Order{Symbol: "HBARUSDT", Side: book.Buy, Type: book.Market, Quantity: exact.One, Broker: "paper", Synthetic: synthetic}
			lines := strings.Join(describe(trader, book.OrderRequest{}, o, 0, d.engine), "\n")
			if strings.Contains(lines, "invented") != synthetic {
				t.Errorf("synthetic %t, and the question is\n%s", synthetic, lines)
			}
		}
	})
}

// TestPreviewElsewhere: what a broker elsewhere takes as its fee is not known here, so
// none is named.
func TestPreviewElsewhere(t *testing.T) {
	o := book.Order{Type: book.Market, Quantity: exact.One, Broker: "alpaca", Account: "123"}
	if got := feeOf(o, book.Estimate{Price: 20 * exact.One}, " USD"); got != "what the broker takes" {
		t.Errorf("fee: %s", got)
	}
}

// TestApprovalOfPassedSell: a sell limit of 9 is not counted as 9 a piece while the market is at
// 16: it gets what the market offers. So with 12 a person approves it, and with 20 it counts
// as 16, so that no second one passes. One that waits at 17 is worth 17, and a market order
// counts at the quote.
func TestApprovalOfPassedSell(t *testing.T) {
	worth := map[string]string{
		"9":  `\nworth: about 1[56]\.\d+ USDT\n`,
		"17": `\nworth: about 17 USDT\n`,
		"":   `\nworth: about 1[56]\.\d+ USDT\n`,
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir(), func(o *trade.Options) {
			o.Grid = func(string) (book.Grid, bool) { return book.Grid{Lot: exact.One}, true }
		})
		defer d.stop()
		for _, c := range []struct {
			above int64
			price string
			asks  []bool
		}{{12, "9", []bool{true}}, {20, "9", []bool{false, true}}, {20, "17", []bool{false, true}}, {40, "17", []bool{false, false, true}}, {20, "", []bool{false, true}}} {
			d.tools = All(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub, Gate: gateAt(exact.Decimal(c.above)*exact.One, "")})
			for i, asks := range c.asks {
				kind := `"type":"market"`
				if c.price != "" {
					kind = `"type":"limit","price":` + c.price
				}
				input, err := d.order(mcp.Call{Elicits: true}, fmt.Sprintf(`{"symbol":"HBARUSDT","side":"sell","quantity":1,%s,"client_order_id":"%d-%s-%d"}`, kind, c.above, c.price, i))
				if (input != nil) != asks || !asks && err != nil {
					t.Errorf("above %d, order %d at %s asks %+v, %v; want a question: %v", c.above, i, c.price, input, err, asks)
				}
				if input != nil && !regexp.MustCompile(worth[c.price]).MatchString(input.Message) {
					t.Errorf("the order at %q asks\n%s\nwant %s", c.price, input.Message, worth[c.price])
				}
			}
		}
	})
}

// TestPreviewWorth: what an order is worth agrees with the price beside it: it is the
// product to the nearest hundredth, by hand 10 x 10.5910929 = 105.910929, and exact below one.
func TestPreviewWorth(t *testing.T) {
	for price, want := range map[string]string{"10.5910929": "105.91", "10.5915929": "105.92", "0.05915929": "0.5915929", "0.1": "1"} {
		at, err := exact.Parse([]byte(price))
		if err != nil {
			t.Fatal(err)
		}
		if got := worthOfFill(book.Estimate{Price: at, Quantity: 10 * exact.One}); got != want {
			t.Errorf("10 at %s are worth %s, want %s", price, got, want)
		}
	}
}

// TestPreviewWithoutName: of a client without a name, as over stdio, the question has no
// line that would be empty.
func TestPreviewWithoutName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		d.tools = All(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub, Gate: gateAt(0, "")})
		input, err := d.order(mcp.Call{Elicits: true}, `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2}`)
		if input == nil || strings.Contains(input.Message, "client:") || !strings.Contains(input.Message, "\nbroker: paper") {
			t.Errorf("%+v, %v", input, err)
		}
	})
}
