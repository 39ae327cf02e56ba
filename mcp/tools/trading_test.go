package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"wick/permit"

	"wick/internal/exact"
	"wick/market"
	"wick/mcp"
	"wick/sse"
	"wick/trade"
	"wick/trade/book"
	"wick/trade/watch"
)

// desk is what trades in a test: engine, hub and tools over the sample source.
type desk struct {
	t      *testing.T
	engine *trade.Engine
	hub    *sse.Hub
	tools  []mcp.Tool
	stop   func()
}

// openDesk runs an engine on dir, with options changed by with. In a synctest bubble the
// hours pass at once.
func openDesk(t *testing.T, dir string, with ...func(*trade.Options)) *desk {
	t.Helper()
	d := &desk{t: t, hub: sse.NewHub(EncodeAlert)}
	options := trade.Options{
		Rules: book.Rules{Account: book.AccountRules{Stablecoins: true}}, // as the program has it
		Dir:   dir, Source: market.Sample{}, Feed: market.NewFeed(market.Sample{}, nil),
		Symbols: []string{"BTCUSDT", "HBARUSDT"}, Intervals: []market.Interval{market.Hour4, market.Hour1}, Hub: d.hub,
	}
	for _, change := range with {
		change(&options)
	}
	engine, err := trade.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	d.engine = engine
	d.tools = All(Deps{Source: market.Sample{}, Engine: engine, Hub: d.hub})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	d.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		d.hub.Close()
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}
	return d
}

var trader = mcp.Caller{ID: "token-1", Client: "client", Scope: "charts trade", Door: "http"}

// call runs a tool as a caller.
func (d *desk) call(caller mcp.Caller, name, arguments string) (*mcp.Result, error) {
	d.t.Helper()
	i := slices.IndexFunc(d.tools, func(t mcp.Tool) bool { return t.Name == name })
	if i < 0 {
		d.t.Fatalf("there is no tool %s: it needs an entry in all, in mcp/tools/tools.go", name)
	}
	return d.tools[i].Handle(d.t.Context(), mcp.Call{Caller: caller, Arguments: json.RawMessage(arguments)})
}

// reply runs a tool and decodes its first text.
func (d *desk) reply(caller mcp.Caller, name, arguments string, into any) *mcp.Result {
	d.t.Helper()
	r, err := d.call(caller, name, arguments)
	if err != nil {
		d.t.Fatalf("%s %s: %v", name, arguments, err)
	}
	if err := json.Unmarshal(r.Content[0].Text, into); err != nil {
		d.t.Fatalf("%s %s: %v in %s", name, arguments, err, r.Content[0].Text)
	}
	return r
}

// The tools of the specification, in the order in which clients list them: three for charts
// and indicators, and twelve for trading. Nothing else in the project counts them. A tool that
// the specification does not have is a decision to depart from it, and its name is put here too.
var (
	chartTools   = []string{"generate_chart", "list_indicators", "get_indicators"}
	tradingTools = []string{
		"place_order", "cancel_order", "get_orders", "get_positions", "get_balance", "set_alert", "list_alerts", "cancel_alert",
		"get_notifications", "subscribe_notifications", "unsubscribe_notifications", "list_subscriptions",
	}
)

// TestSpecified: the tools are those, and those for trading need the scope for it where
// there is an engine.
func TestSpecified(t *testing.T) {
	var names, scoped []string
	for _, tool := range All(Deps{Engine: new(trade.Engine)}) {
		names = append(names, tool.Name)
		if permit.Needs(tool.Name) != permit.Charts {
			scoped = append(scoped, tool.Name)
		}
	}
	all := slices.Concat(chartTools, tradingTools)
	either := slices.Concat(names, all)
	slices.Sort(either)
	for _, name := range slices.Compact(either) {
		switch {
		case !slices.Contains(all, name):
			t.Errorf("%s is in all, in mcp/tools/tools.go, and in neither list above", name)
		case !slices.Contains(names, name):
			t.Errorf("%s is in a list above, and not in all, in mcp/tools/tools.go", name)
		case slices.Contains(scoped, name) != slices.Contains(tradingTools, name):
			t.Errorf("%s is in the list for trading of mcp/tools/tools.go or in tradingTools above, and not in both", name)
		}
	}
	if !t.Failed() && !slices.Equal(names, all) {
		t.Errorf("the order of the tools is\n%v, want\n%v", names, all)
	}
}

// TestGate: without an engine every trading tool refuses, and the others do what
// docs/tools.md shows of them; get_balance refuses always.
func TestGate(t *testing.T) {
	page, err := os.ReadFile(chartsPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range jsonBlock.FindAllSubmatch(page, -1) {
		var request struct {
			Name      string
			Arguments json.RawMessage
		}
		if json.Unmarshal(block[1], &request) == nil && slices.Contains(chartTools, request.Name) {
			if _, err := call(t, Deps{Source: market.Sample{}}, request.Name, string(request.Arguments)); err != nil {
				t.Errorf("%s without --trade: %v", block[1], err)
			}
		}
	}
	for _, name := range tradingTools {
		if _, err := call(t, Deps{Source: market.Sample{}}, name, `{}`); err == nil || !strings.Contains(err.Error(), "--trade") {
			t.Errorf("%s without --trade: %v", name, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		if _, err := d.call(trader, "get_balance", `{}`); err == nil || !strings.Contains(err.Error(), "get_positions") {
			t.Errorf("get_balance: %v", err)
		}
	})
}

// slowly is a source whose prices a feed has only every 40 seconds.
type slowly struct{ *market.Feed }

func (slowly) Period(string) time.Duration { return 40 * time.Second }

// TestSlowSourceWarns: set_alert says when a price alert may fire late because the
// source cannot be asked often.
func TestSlowSourceWarns(t *testing.T) {
	for _, c := range []struct {
		feed      watch.Feed
		condition string
		want      bool
	}{
		{market.NewFeed(market.Sample{}, nil), `{"price_above":1e6}`, false},
		{slowly{market.NewFeed(market.Sample{}, nil)}, `{"price_above":1e6}`, true},
		{slowly{market.NewFeed(market.Sample{}, nil)}, `{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold"}}`, false},
	} {
		engine, err := trade.Open(trade.Options{Dir: t.TempDir(), Source: market.Sample{}, Feed: c.feed})
		if err != nil {
			t.Fatal(err)
		}
		defer engine.Close()
		r, err := call(t, Deps{Source: market.Sample{}, Engine: engine, Hub: sse.NewHub(nil)}, "set_alert", `{"symbol":"HBARUSDT","condition":`+c.condition+`}`)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(r.Content[0].Text), `"warning":"prices of HBARUSDT come about every 40s`); got != c.want {
			t.Errorf("%s: %s, warns %t", c.condition, r.Content[0].Text, got)
		}
	}
}

// TestTradersRequests: what people ask for in a sentence is done by one call.
func TestTradersRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		var o struct {
			book.Order
			Exits  []book.Order
			Orders []book.Order
			Count  int `json:"cancelled"`
		}
		// buy 0.1 BTC with a stop at 3 % and take profit at 6 %
		d.reply(trader, "place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":0.1,"stop_loss":"3%","take_profit":"6%"}`, &o)
		if o.Status != book.StatusFilled || len(o.Exits) != 2 || o.Exits[0].Role != book.RoleStopLoss || !o.Exits[1].ReduceOnly {
			t.Errorf("a bracket: %+v", o)
		}
		// set a trailing stop
		d.reply(trader, "place_order", `{"symbol":"HBARUSDT","side":"sell","type":"trailing_stop","trail_percent":2,"quantity":0.1,"reduce_only":true}`, &o)
		if o.Status != book.StatusOpen || o.StopPrice == nil {
			t.Errorf("a trailing stop: %+v", o)
		}
		// $500 of ETH
		d.reply(trader, "place_order", `{"symbol":"ETHUSDT","side":"buy","type":"market","notional":500}`, &o)
		if o.Status != book.StatusFilled || o.Notional.String() != "500" {
			t.Errorf("a value: %+v", o)
		}
		// sell at a price or below another, whichever comes first
		price := float(*o.AveragePrice)
		d.reply(trader, "place_order", fmt.Sprintf(`{"symbol":"ETHUSDT","side":"sell","type":"limit","quantity":0.1,"price":%.2f,"oco":{"stop_price":%.2f}}`, price*1.1, price*0.9), &o)
		if o.Status != book.StatusOpen || o.Role != book.RoleOCO {
			t.Errorf("two that exclude each other: %+v", o)
		}
		d.reply(trader, "cancel_order", `{"symbol":"ETHUSDT"}`, &o)
		if o.Count != 2 {
			t.Errorf("cancelling them: %+v", o)
		}
		// close everything
		d.reply(trader, "place_order", `{"symbol":"all","side":"sell","type":"market","quantity":"all"}`, &o)
		if len(o.Orders) != 2 || len(must(d.engine.Positions(false))) != 0 || len(must(d.engine.Orders(true))) != 0 {
			t.Errorf("closing everything: %+v; %+v are held, %+v are open", o.Orders, must(d.engine.Positions(false)), must(d.engine.Orders(true)))
		}
	})
}

// TestNothingIsDropped: what place_order cannot do is an error, never left out.
func TestNothingIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		const sell = `{"symbol":"HBARUSDT","side":"sell","type":"limit","quantity":1,"price":15`
		for arguments, want := range map[string]string{
			`{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1,"replaces":""}`:                          "replaces is empty",
			`{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1,"quantity":2}`:                           `"quantity" is given twice`,
			`{"symbol":"HBARUSDT","side":"sell","type":"limit","quantity":1,"price":1,"oco":{"price":1,"price":2}}`:  `"price" is given twice`,
			`{"symbol":"all","side":"sell","type":"market","quantity":"all","price":5}`:                              "price",
			`{"symbol":"HBARUSDT","side":"sell","type":"limit","quantity":0.001,"price":15,"oco":{"stop_price":14}}`: "oco",
			`{"symbol":"HBARUSDT","side":"buy","type":"limit","price":9,"time_in_force":"gtd","expires_at":"soon"}`:  "quantity is required, in units of the base, above 0, or all; notional or risk may be given in its place",
			`{"symbol":"HBARUSDT","side":"buy","type":"limit","price":9,"quantity":1,"expires_at":"2026-13-01"}`:     "expires_at",
			sell + `,"oco":8}`:                       `oco must be an object such as {"stop_price":95}, not 8`,
			sell + `,"oco":[8]}`:                     `oco must be an object such as {"stop_price":95}, not [8]`,
			sell + `,"oco":"8"}`:                     `oco must be an object such as {"stop_price":95}, not "8"`,
			sell + `,"oco":true}`:                    `oco must be an object such as {"stop_price":95}, not true`,
			sell + `,"oco":{"stop":8}}`:              "oco does not know \"stop\"; it takes stop_price, price\noco: stop_price is required",
			sell + `,"oco":{"price":"x"}}`:           "oco: stop_price is required, below the price for a sell, above it for a buy\noco: price: bad decimal",
			sell + `,"oco":{"stop_price":8,"at":8}}`: `oco does not know "at"`,
			`{"symbol":"HBARUSDT","side":"buy","type":"market","stop_loss":"3%","stop_loss":"30%","quantity":0.001}`: "twice",
		} {
			if r, err := d.call(trader, "place_order", arguments); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, %v", arguments, r, err)
			}
		}
		if n := len(must(d.engine.Orders(false))); n != 0 {
			t.Errorf("%d orders", n)
		}
	})
}

// TestMarketCalledAll: the stock ALL is a market like any other. Only "all" in small letters
// means every position, order or symbol. So selling that stock, even twice, never closes
// other positions.
func TestMarketCalledAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		var o book.Order
		for _, symbol := range []string{"NYSE:ALL", "AAPL"} {
			d.reply(trader, "place_order", `{"symbol":"`+symbol+`","side":"buy","type":"market","quantity":0.1}`, &o)
			d.reply(trader, "place_order", `{"symbol":"`+symbol+`","side":"buy","type":"limit","quantity":0.1,"price":`+fmt.Sprint(float(*o.AveragePrice) * 0.9)[:5]+`}`, &o)
		}
		const sell = `{"symbol":"ALL","side":"sell","type":"market","quantity":"all"`
		held := func() (symbols []string) {
			for _, p := range must(d.engine.Positions(false)) {
				symbols = append(symbols, p.Symbol)
			}
			return symbols
		}
		o = book.Order{}
		if d.reply(trader, "place_order", sell+`}`, &o); o.Symbol != "ALL" || !slices.Equal(held(), []string{"AAPL"}) {
			t.Errorf("sold %+v, %q are held", o, held())
		}
		for _, again := range []string{sell + `,"dry_run":true}`, sell + `}`, strings.Replace(sell, "ALL", "All", 1) + `}`} {
			r, err := d.call(trader, "place_order", again)
			if err == nil || !strings.Contains(err.Error(), "no position in ALL") {
				t.Errorf("%s: %v, %v", again, r, err)
			}
		}
		if r, err := d.call(trader, "place_order", `{"symbol":"all","side":"sell","type":"market","quantity":0.1}`); err == nil || !strings.Contains(err.Error(), "in capital letters") {
			t.Errorf("a number of all: %v, %v", r, err)
		}
		for _, c := range []struct{ symbol, want string }{{"all", "AAPL AAPL ALL ALL ALL"}, {"ALL", "ALL ALL ALL"}, {"AAPL", "AAPL AAPL"}, {"SPY", ""}} {
			var orders []book.Order
			d.reply(trader, "get_orders", `{"symbol":"`+c.symbol+`"}`, &orders)
			var got []string
			for _, o := range orders {
				got = append(got, o.Symbol)
			}
			if slices.Sort(got); strings.Join(got, " ") != c.want {
				t.Errorf("orders of %s: %q, want %s", c.symbol, got, c.want)
			}
		}
		for symbols, want := range map[string]string{`["ALL"]`: `["ALL"]`, `["AAPL","All"]`: `["AAPL","ALL"]`, `["AAPL","all"]`: `"all"`} {
			var filter struct{ Symbols json.RawMessage }
			d.reply(trader, "subscribe_notifications", `{"symbols":`+symbols+`}`, &filter)
			if string(filter.Symbols) != want {
				t.Errorf("subscribed to %s: %s, want %s", symbols, filter.Symbols, want)
			}
		}
		var done struct{ Cancelled int }
		if d.reply(trader, "cancel_order", `{"symbol":"ALL"}`, &done); done.Cancelled != 1 || len(must(d.engine.Orders(true))) != 1 {
			t.Errorf("cancelled %d, %+v are open", done.Cancelled, must(d.engine.Orders(true)))
		}
		if d.reply(trader, "cancel_order", `{"symbol":"ALL"}`, &done); done.Cancelled != 0 || len(must(d.engine.Orders(true))) != 1 {
			t.Errorf("cancelled %d once more, %+v are open", done.Cancelled, must(d.engine.Orders(true)))
		}
		if d.reply(trader, "cancel_order", `{"symbol":"all"}`, &done); done.Cancelled != 1 {
			t.Errorf("cancelled %d of all", done.Cancelled)
		}
		if _, err := d.call(trader, "place_order", strings.Replace(sell, "ALL", "all", 1)+`}`); err != nil || len(held()) != 0 {
			t.Errorf("closing all: %v, %q are held", err, held())
		}
	})
}

// TestOrdersSince: since and until of get_orders take a time as expires_at does. The order is
// placed three seconds after midnight of 2000-01-01, which is 946684800 in unix time.
func TestOrdersSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		d.reply(trader, "place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1}`, new(book.Order))
		for arguments, want := range map[string]int{
			`"since":"2000-01-01"`:                 1,
			`"since":"2000-01-01 00:00"`:           1,
			`"since":"2000-01-01T00:01"`:           0,
			`"since":"2000-01-01T00:00:03.5Z"`:     0,
			`"since":"946684803"`:                  1,
			`"since":946684804`:                    0,
			`"until":"2000-01-01"`:                 0,
			`"until":"2000-01-01 00:01"`:           1,
			`"until":946684804`:                    1,
			`"until":"2000-01-01T02:00:03+02:00"`:  0,
			`"since":946684803,"until":"20000102"`: 1,
		} {
			var orders []book.Order
			if d.reply(trader, "get_orders", "{"+arguments+"}", &orders); len(orders) != want {
				t.Errorf("%s: %d orders, want %d", arguments, len(orders), want)
			}
		}
		_, err := d.call(trader, "get_orders", `{"since":"yesterday"}`)
		if want := `since "yesterday" is no time: write a date such as 2026-01-31, 2026-01-31 14:30 in UTC, RFC 3339 or unix seconds`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// TestDryRunOfOCO: a dry run shows the stop beside the limit, and names no order or group,
// because another order will have that id.
func TestDryRunOfOCO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		var bought, dry, placed orderReply
		d.reply(trader, "place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1}`, &bought)
		near := float(*bought.AveragePrice)
		order := fmt.Sprintf(`{"symbol":"HBARUSDT","side":"sell","type":"limit","quantity":1,"price":%.2f,"oco":{"stop_price":%.2f,"price":%.2f}`, 1.1*near, 0.9*near, 0.89*near)
		d.reply(trader, "place_order", order+`,"dry_run":true}`, &dry)
		d.reply(trader, "place_order", order+`}`, &placed)
		if len(dry.Exits) != 1 || len(placed.Exits) != 1 {
			t.Fatalf("dry %+v\nplaced %+v", dry, placed)
		}
		for _, o := range []book.Order{dry.Order, dry.Exits[0]} {
			if o.ID != "" || o.Group != "" || o.Role != book.RoleOCO || !strings.Contains(o.Reason, "dry run") {
				t.Errorf("the dry run has %+v", o)
			}
		}
		got, want := dry.Exits[0], placed.Exits[0]
		if got.Type != book.StopLimit || got.Type != want.Type || got.Side != want.Side || got.Quantity != want.Quantity || *got.Price != *want.Price || *got.StopPrice != *want.StopPrice {
			t.Errorf("the dry run has the stop %+v, placed was %+v", got, want)
		}
	})
}

// TestDryRunOfExits: a dry run shows the exits that the order would have at once, with their
// prices and without ids: none while the entry waits, and those of a turned position for
// what is left of it.
func TestDryRunOfExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		for order, want := range map[string]int{
			`{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2,"stop_loss":"3%","take_profit":"2atr"`: 2,
			`{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1,"take_profit":"2atr"`:                  1,
			`{"symbol":"ETHUSDT","side":"sell","type":"market","quantity":1,"stop_loss":"3%"`:                      1,
			`{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1`:                                       0,
		} {
			sameExits(t, d, order, want)
		}
		sameExits(t, d, `{"symbol":"HBARUSDT","side":"sell","type":"market","quantity":9,"stop_loss":"3%","take_profit":"2atr"`, 2)
		var last orderReply
		d.reply(trader, "place_order", `{"symbol":"SOLUSDT","side":"buy","type":"market","quantity":1}`, &last)
		sameExits(t, d, fmt.Sprintf(`{"symbol":"SOLUSDT","side":"buy","type":"limit","price":%.2f,"quantity":1,"stop_loss":"3%%"`, 0.9*float(*last.AveragePrice)), 0)
	})
}

// sameExits runs an order dry, then places it: both must have the same exits, so many.
func sameExits(t *testing.T, d *desk, order string, want int) {
	t.Helper()
	var dry, placed orderReply
	d.reply(trader, "place_order", order+`,"dry_run":true}`, &dry)
	d.reply(trader, "place_order", order+`}`, &placed)
	if len(dry.Exits) != want || len(placed.Exits) != want {
		t.Fatalf("%s, want %d exits:\ndry %+v\nplaced %+v", order, want, dry, placed)
	}
	for i, o := range dry.Exits {
		if o.ID != "" || o.Group != "" || !strings.Contains(o.Reason, "dry run") {
			t.Errorf("%s: the dry run has %+v", order, o)
		}
		// What only an order that exists has is taken over, and all else is the same.
		real := placed.Exits[i]
		o.ID, o.Group, o.Reason, o.ReasonCode, o.CreatedAt, o.UpdatedAt = real.ID, real.Group, real.Reason, real.ReasonCode, real.CreatedAt, real.UpdatedAt
		if !reflect.DeepEqual(o, real) {
			t.Errorf("%s: the dry run has %+v, placed was %+v", order, o, real)
		}
	}
}

// TestCloseAllFails: a list in which a position stays open is an error.
func TestCloseAllFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		var o book.Order
		d.reply(trader, "place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":0.001}`, &o)
		const all = `{"symbol":"all","side":"sell","type":"market","quantity":"all","client_order_id":"out"}`
		if r, err := d.call(trader, "place_order", all); err != nil || r.IsError {
			t.Errorf("closed: %s, %v", r.Content[0].Text, err)
		}
		d.reply(trader, "place_order", `{"symbol":"ETHUSDT","side":"buy","type":"market","quantity":0.001}`, &o)
		if r, err := d.call(trader, "place_order", all); err != nil || !r.IsError || !strings.Contains(string(r.Content[0].Text), o.Symbol) {
			t.Errorf("with one that stays: %s, error %t, %v", r.Content[0].Text, r.IsError, err)
		}
	})
}

// TestOneKindOfDeadline: an order and an alert end at the same instant when they
// are given the same text.
func TestOneKindOfDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		for text, want := range map[string]string{
			`"2000-01-31"`: "2000-01-31T23:59:59.000Z", `"2000-01-31 14:30"`: "2000-01-31T14:30:00.000Z", `"2000-01-31T14:30:00.5+01:00"`: "2000-01-31T13:30:00.500Z", `949327200`: "2000-01-31T14:00:00.000Z",
		} {
			var o struct {
				Order string `json:"expires_at"`
			}
			d.reply(trader, "place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","notional":10,"time_in_force":"gtd","expires_at":`+text+`}`, &o)
			placed := o.Order
			d.reply(trader, "set_alert", `{"symbol":"HBARUSDT","condition":{"price_above":1e6},"expires_at":`+text+`}`, &o)
			if placed != want || o.Order != want {
				t.Errorf("%s: an order ends at %s, an alert at %s, want %s", text, placed, o.Order, want)
			}
			time.Sleep(10 * time.Second) // else it is taken for a retry
		}
	})
}

// TestMeaningOfEachBar: a rule that fires on each bar says so, and not when it
// becomes true.
func TestMeaningOfEachBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		for repeat, want := range map[string]string{"each_bar": "on every bar on which the condition is true", "each_time": ""} {
			var o struct{ Meaning string }
			d.reply(trader, "set_alert", `{"symbol":"HBARUSDT","repeat":"`+repeat+`","condition":{"indicator_signal":{"indicator":"rule","when":"close > 1","signal":"becomes_true"}}}`, &o)
			if want != "" && o.Meaning != want || want == "" && strings.Contains(o.Meaning, "every bar") {
				t.Errorf("%s means %q", repeat, o.Meaning)
			}
		}
	})
}

// TestNothingIsRequired: the schema lets notional stand in the place of quantity, and a label come
// with an order_id alone.
func TestNothingIsRequired(t *testing.T) {
	for _, tool := range All(Deps{Engine: &trade.Engine{}}) {
		var schema struct{ Required []string }
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		if tool.Name == "place_order" && len(schema.Required) > 0 {
			t.Errorf("place_order requires %v", schema.Required)
		}
	}
}

// TestAccountReply: get_positions adds the account when asked, or says that there
// is none, and its first text stays the list.
func TestAccountReply(t *testing.T) {
	for _, cash := range []exact.Decimal{0, 5000 * exact.One} {
		engine, err := trade.Open(trade.Options{Dir: t.TempDir(), Source: market.Sample{}, Feed: market.NewFeed(market.Sample{}, nil), Rules: book.Rules{Account: book.AccountRules{Cash: cash}}})
		if err != nil {
			t.Fatal(err)
		}
		defer engine.Close()
		r, err := call(t, Deps{Source: market.Sample{}, Engine: engine, Hub: sse.NewHub(nil)}, "get_positions", `{"account":true}`)
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{false: "without --cash", true: `"equity":5000,"buying_power":5000`}[cash > 0]
		if len(r.Content) != 2 || string(r.Content[0].Text) != "[]" || !strings.Contains(string(r.Content[1].Text), want) {
			t.Errorf("with %s: %s", cash, r.Content)
		}
		_, err = call(t, Deps{Source: market.Sample{}, Engine: engine, Hub: sse.NewHub(nil)}, "get_balance", `{}`)
		if err == nil || !strings.Contains(err.Error(), "account=true") {
			t.Errorf("get_balance with %s: %v", cash, err)
		}
	}
}

// TestOneOrder: get_orders returns one order by either of its ids, and says so if
// there is none.
func TestOneOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		var placed book.Order
		d.reply(trader, "place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":0.01,"client_order_id":"mine"}`, &placed)
		for _, arguments := range []string{fmt.Sprintf(`{"order_id":%q}`, placed.ID), `{"client_order_id":"mine"}`} {
			var orders []book.Order
			if d.reply(trader, "get_orders", arguments, &orders); len(orders) != 1 || orders[0].ID != placed.ID {
				t.Errorf("%s: %+v", arguments, orders)
			}
		}
		if _, err := d.call(trader, "get_orders", `{"order_id":"o-none-1"}`); err == nil || !strings.Contains(err.Error(), "unknown_order") {
			t.Errorf("an order that never was: %v", err)
		}
	})
}

// TestReclaim: a client that comes back under another token, after a restart or
// not, gets its subscription and its queue back; another client does not.
func TestReclaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		d := openDesk(t, dir)
		time.Sleep(3 * time.Second)
		var ignored map[string]any
		d.reply(trader, "subscribe_notifications", `{"symbols":"hbarusdt"}`, &ignored)
		d.reply(trader, "set_alert", `{"symbol":"HBARUSDT","condition":{"price_above":0.01}}`, &ignored)
		time.Sleep(5 * time.Second)
		d.stop()

		d = openDesk(t, dir)
		defer d.stop()
		var sub struct {
			Subscribed bool
			Symbols    []string
			Waiting    int `json:"offline_queue_size"`
		}
		d.reply(mcp.Caller{ID: "token-2", Client: "another", Scope: "charts trade", Door: "http"}, "list_subscriptions", `{}`, &sub)
		if sub.Subscribed || sub.Waiting != 0 {
			t.Errorf("a stranger has %+v", sub)
		}
		again := mcp.Caller{ID: "token-3", Client: trader.Client, Scope: "charts trade", Door: "http"}
		d.reply(again, "list_subscriptions", `{}`, &sub)
		if !sub.Subscribed || sub.Waiting != 1 || !slices.Equal(sub.Symbols, []string{"HBARUSDT"}) {
			t.Errorf("the client came back to %+v", sub)
		}
		var frames []string
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		d.hub.Push(ctx, again.ID, func(e sse.Event) error {
			frames = append(frames, string(e.Data))
			return nil
		})
		if len(frames) != 1 || !strings.Contains(frames[0], `"method":"notifications/alert_triggered"`) {
			t.Errorf("delivered %q", frames)
		}
	})
}

// TestClaimTogether: a client that comes back opens its streams and makes its
// calls at once. One of them claims the subscription, which takes as long as the
// disk does; the others wait for it. Let through before, a call would be told
// that there is no subscription.
func TestClaimTogether(t *testing.T) {
	dir := t.TempDir()
	d := openDesk(t, dir)
	d.reply(trader, "subscribe_notifications", `{}`, new(any))
	for round := range 20 {
		d.stop()
		d = openDesk(t, dir)
		again := mcp.Caller{ID: fmt.Sprint("again-", round), Client: trader.Client, Scope: trader.Scope, Door: "http"}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if err := d.engine.Claim(Subscriber(again)); err != nil {
					t.Error(err)
				}
				if s, _, _ := d.hub.Status(again.ID); s == nil {
					t.Errorf("round %d: a claim has returned and there is no subscription", round)
				}
			})
		}
		group.Wait()
	}
	d.stop()
}

// TestWaiting: a trading tool mentions fired alerts that nobody has read, until
// they are read.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		var ignored any
		d.reply(trader, "set_alert", `{"symbol":"HBARUSDT","condition":{"price_above":"0.01"}}`, &ignored)
		time.Sleep(5 * time.Second)
		if r := d.reply(trader, "get_positions", `{}`, &ignored); len(r.Content) != 2 || !strings.Contains(string(r.Content[1].Text), "get_notifications") {
			t.Errorf("no mention of the waiting alert: %v", r.Content)
		}
		var fired []map[string]any
		d.reply(trader, "get_notifications", `{}`, &fired)
		if len(fired) != 1 {
			t.Errorf("drained %v", fired)
		}
		if r := d.reply(trader, "get_positions", `{}`, &ignored); len(r.Content) != 1 {
			t.Errorf("still mentioned: %v", r.Content)
		}
		d.reply(trader, "get_notifications", `{"again":true}`, &fired)
		if len(fired) != 1 {
			t.Errorf("again gives %v", fired)
		}
		d.reply(trader, "get_notifications", `{}`, &fired)
		if len(fired) != 0 {
			t.Errorf("a second drain gives %v", fired)
		}
	})
}

// TestBadTrading: bad arguments are refused by name before anything happens.
func TestBadTrading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		for _, c := range [][3]string{
			{"place_order", `{}`, "symbol"},
			{"place_order", `{"symbol":"HBARUSDT","side":"hold","type":"market","quantity":1}`, "buy, sell"},
			{"place_order", `{"symbol":"HBARUSDT","side":"buy","type":"iceberg","quantity":1}`, "market, limit, stop"},
			{"place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market"}`, "quantity"},
			{"place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":0}`, "above 0"},
			{"place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":-1}`, "above 0"},
			{"place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1e-9}`, "decimals"},
			{"place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":"NaN"}`, "quantity"},
			{"place_order", `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":1}`, "price"},
			{"place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1,"client_order_id":"a b"}`, "client_order_id"},
			{"cancel_order", `{}`, "order_id"},
			{"cancel_order", `{"order_id":"nope"}`, "nope"},
			{"get_orders", `{"filter":"some"}`, "open, all"},
			{"set_alert", `{"symbol":"HBARUSDT"}`, "condition"},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{}}`, "exactly one"},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"price_above":1,"price_below":2}}`, "exactly one"},
			{"set_alert", `{"symbol":"HBARUSDT","condition":"up"}`, "object"},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"price_above":0}}`, "above zero"},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":"x"}}}`, "rsi_oversold"},
			{"set_alert", `{"symbol":"HBARUSDT","condition":{"indicator_signal":{"indicator":"xyz","signal":"x"}}}`, "unknown indicator"},
			{"cancel_alert", `{"alert_id":"nope"}`, "nope"},
			{"subscribe_notifications", `{"alert_types":["some"]}`, "price_above"},
			{"subscribe_notifications", `{"symbols":["../"]}`, "symbol"},
		} {
			if r, err := d.call(trader, c[0], c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
				t.Errorf("%s %s: %v, %v, want an error with %q", c[0], c[1], r, err, c[2])
			}
		}
		if orders, alerts := must(d.engine.Orders(false)), must(d.engine.Alerts("")); len(orders)+len(alerts) > 0 {
			t.Errorf("left behind: %v %v", orders, alerts)
		}
	})
}

// FuzzArguments: whatever a client sends as arguments, a tool answers or
// refuses; it never panics, and a refusal stays short. Without an engine the
// trading tools refuse before they read, so their arguments are read directly.
func FuzzArguments(f *testing.F) {
	tools := newHandlers(Deps{Source: bare{}}).all()
	for i := range tools {
		f.Add(i, []byte(`{"symbol":"btc","interval":"1h","indicators":["rsi",{"name":"bbands","length":5}],"bars":30,"format":"summary"}`))
		f.Add(i, []byte(`{"query":"x","category":"momentum","symbol":null,"indicators":"[\"rsi\"]"}`))
		f.Add(i, []byte(`{"symbol":"btc","side":"buy","type":"limit","quantity":"1","price":2e3,"condition":{"price_above":1},"limit":3,"offset":"1"}`))
	}
	long := strings.Repeat("x", 6000)
	for _, arguments := range []string{
		`{"symbol":"btc","from":"2026-01-01","to":1767225600,"timezone":"+01:00","bars":5,"format":"series","compare":"ethusdt"}`,
		`{"marks":"[{\"type\":\"zone\",\"price\":1,\"price2\":1e300}]","pixel_ratio":"1.5","width":320,"height":240,"log_scale":true,"indicators":[]}`,
		`{"marks":[{"` + long + `":1}]}`, `{"marks":[{"type":"text","price":1,"time":"` + long + `"}]}`, `{"show":` + encode(slices.Repeat([]string{"x"}, 3000)) + `}`,
		`{"from":"` + long + `","scale":"` + long + `","timezone":"` + long + `","compare":["` + long + `"]}`,
	} {
		f.Add(0, []byte(arguments))
	}
	f.Fuzz(func(t *testing.T, i int, arguments []byte) {
		if !json.Valid(arguments) {
			return // the dispatcher lets nothing else through
		}
		tool := tools[(i%len(tools)+len(tools))%len(tools)]
		_, _, err := read(tool.declared, arguments)
		if permit.Needs(tool.Name) == permit.Charts {
			var r *mcp.Result
			if r, err = tool.Handle(t.Context(), mcp.Call{Caller: trader, Arguments: arguments}); (r == nil) == (err == nil) {
				t.Errorf("%s %s: result %v, error %v", tool.Name, arguments, r, err)
			}
		}
		if err != nil && len(err.Error()) > 5000 {
			t.Errorf("%s %s: a refusal of %d characters", tool.Name, arguments, len(err.Error()))
		}
	})
}

// TestNoKeys: no tool asks for a key, a secret or a token: what an exchange would
// want to see belongs to the operator's configuration, where no model reads it.
func TestNoKeys(t *testing.T) {
	secret := regexp.MustCompile(`(?i)key|secret|token|pass|credential|auth`)
	for _, tool := range All(Deps{Source: market.Sample{}}) {
		var schema struct {
			Properties map[string]json.RawMessage
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		for name := range schema.Properties {
			if secret.MatchString(name) {
				t.Errorf("%s asks for %q", tool.Name, name)
			}
		}
	}
}

// TestDryRunOfUsedID: a dry run with a client_order_id that was used says that
// the order exists.
func TestDryRunOfUsedID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		const order = `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":1,"client_order_id":"once"`
		var first, dry struct {
			ID     string `json:"order_id"`
			DryRun bool   `json:"dry_run"`
			Exists bool
			Note   string
		}
		d.reply(trader, "place_order", order+`,"dry_run":true}`, &dry)
		if dry.Exists || dry.ID != "" {
			t.Errorf("before: %+v", dry)
		}
		d.reply(trader, "place_order", order+`}`, &first)
		d.reply(trader, "place_order", order+`,"dry_run":true}`, &dry)
		if !dry.Exists || !dry.DryRun || dry.ID != first.ID || !strings.Contains(dry.Note, first.ID) {
			t.Errorf("after: %+v, want order %s", dry, first.ID)
		}
	})
}

// TestSignalMeaning: what a label means is said where somebody chooses it and
// when the alert is set. rsi_oversold is easily taken for the opposite.
func TestSignalMeaning(t *testing.T) {
	const want = "leaves the oversold zone"
	var c struct {
		Indicators []struct {
			Meanings map[string]string `json:"signal_meanings"`
		}
	}
	payload(t, Deps{}, "list_indicators", `{"names":"rsi"}`, &c)
	if got := c.Indicators[0].Meanings["rsi_oversold"]; !strings.Contains(got, want) {
		t.Errorf("list_indicators says %q", got)
	}
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		var alert struct{ Meaning string }
		d.reply(trader, "set_alert", `{"symbol":"HBARUSDT","condition":{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold"}}}`, &alert)
		if !strings.Contains(alert.Meaning, want) {
			t.Errorf("set_alert says %q", alert.Meaning)
		}
	})
}

// TestClosingReply: the reply to an order that closes a position names the exits that end with
// it and the orders that are left, over the tool and with symbol all. One that closes a part
// names none.
func TestClosingReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(3 * time.Second)
		type reply struct {
			ID    string   `json:"order_id"`
			Price float64  `json:"average_price"`
			Ended []string `json:"ended"`
			Left  []string `json:"left_open"`
		}
		order := func(arguments string) (r reply) {
			t.Helper()
			d.reply(trader, "place_order", `{"symbol":"BTCUSDT",`+arguments+`}`, &r)
			return r
		}
		for _, all := range []bool{false, true} {
			price := order(`"side":"buy","type":"market","quantity":0.1`).Price
			stop := order(fmt.Sprintf(`"side":"sell","type":"stop","quantity":0.1,"stop_price":%.2f`, price/2))
			entry := order(fmt.Sprintf(`"side":"buy","type":"limit","quantity":0.1,"price":%.2f`, price/3))
			if part := order(`"side":"sell","type":"market","quantity":0.04`); part.Ended != nil || part.Left != nil {
				t.Errorf("a part is closed: %+v", part)
			}
			var got reply
			if all {
				var closed []reply
				d.reply(trader, "place_order", `{"symbol":"all","side":"sell","type":"market","quantity":"all"}`, &struct {
					Orders *[]reply `json:"orders"`
				}{&closed})
				if len(closed) == 1 {
					got = closed[0]
				}
			} else {
				got = order(`"side":"sell","type":"market","quantity":"all"`)
			}
			if !slices.Equal(got.Ended, []string{stop.ID}) || !slices.Equal(got.Left, []string{entry.ID}) {
				t.Errorf("symbol all: %t: ended %v and left %v, want %s and %s", all, got.Ended, got.Left, stop.ID, entry.ID)
			}
			var ignored struct{}
			d.reply(trader, "cancel_order", `{"all":true}`, &ignored)
			time.Sleep(time.Minute) // an equal order within seconds is taken for a repetition
		}
	})
}

// TestChangePartOfAlert: what a change of an alert does not name stays, the place of a time and whose profit it
// is too, unless it does not go with what the alert waits for then.
func TestChangePartOfAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		set := func(arguments string) (id, condition string) {
			t.Helper()
			r, err := d.call(trader, "set_alert", arguments)
			if err != nil {
				return "", err.Error()
			}
			var reply struct {
				ID        string          `json:"alert_id"`
				Condition json.RawMessage `json:"condition"`
			}
			if err := json.Unmarshal(r.Content[0].Text, &reply); err != nil {
				t.Fatal(err)
			}
			return reply.ID, string(reply.Condition)
		}
		const weekly = `"daily":"15:30","timezone":"America/New_York","weekdays":["mon","fri"]`
		for _, c := range []struct{ is, change, want string }{
			{weekly, `"daily":"16:00"`, `{"daily":"16:00","timezone":"America/New_York","weekdays":["mon","fri"]}`},
			{weekly, `"weekdays":["tue"]`, `{"daily":"15:30","timezone":"America/New_York","weekdays":["tue"]}`},
			{weekly, `"timezone":"Asia/Tokyo"`, `{"daily":"15:30","timezone":"Asia/Tokyo","weekdays":["mon","fri"]}`},
			{weekly, `"at":"2000-02-01T09:30"`, `{"at":"2000-02-01T09:30","timezone":"America/New_York"}`},
			{weekly, `"condition":{"daily":"16:00"}`, `{"daily":"16:00"}`},
			{weekly, `"profit_above":5,"of":"account"`, `{"of":"account","profit_above":5}`},
			{weekly, `"of":"account"`, "exactly one"},
			{`"profit_below":-5,"of":"account"`, `"profit_below":-7`, `{"of":"account","profit_below":-7}`},
			{`"profit_below":-5,"of":"account"`, `"profit_above":3`, `{"of":"account","profit_above":3}`},
			{`"profit_below":-5,"of":"account"`, `"note":"x"`, `{"of":"account","profit_below":-5}`},
			{`"symbol":"BTCUSDT","when":"close > 5"`, `"when":"close > 6"`, `"when":"close \u003e 6"`},
		} {
			id, _ := set("{" + c.is + "}")
			if changed, got := set(`{"alert_id":"` + id + `",` + c.change + "}"); !strings.Contains(got, c.want) || changed != id && changed != "" {
				t.Errorf("%s, changed by %s, is %s, and not %s", c.is, c.change, got, c.want)
			}
		}
	})
}
