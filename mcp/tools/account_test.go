package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/chart"
	"wick/internal/exact"
	"wick/market"
	"wick/mcp"
	"wick/trade"
	"wick/trade/book"
	"wick/trade/live"
	"wick/trade/live/alpaca"
	"wick/trade/live/alpaca/alpacatest"
)

// busyDesk is a desk with a position of 2, a sell limit, a price alert and an
// alert for a signal.
func busyDesk(t *testing.T) *desk {
	d := openDesk(t, t.TempDir())
	time.Sleep(5 * time.Second)
	for tool, arguments := range map[string]string{
		"place_order": `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2}`,
		"set_alert":   `{"symbol":"HBARUSDT","condition":{"price_above":16.2}}`,
	} {
		if _, err := d.call(trader, tool, arguments); err != nil {
			t.Fatal(err)
		}
	}
	for tool, arguments := range map[string]string{
		"place_order": `{"symbol":"HBARUSDT","side":"sell","type":"limit","quantity":1,"price":16.1}`,
		"set_alert":   `{"symbol":"HBARUSDT","interval":"1h","condition":{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","length":21}}}`,
	} {
		if _, err := d.call(trader, tool, arguments); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// TestUnknownProfit: until the first price after a start the profit of a position is not
// known. get_positions has null there, and a chart must not have 0.
func TestUnknownProfit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		d := openDesk(t, dir)
		time.Sleep(5 * time.Second)
		if _, err := d.call(trader, "place_order", `{"symbol":"HBARUSDT","side":"buy","type":"market","quantity":2}`); err != nil {
			t.Fatal(err)
		}
		d.stop()
		engine, err := trade.Open(trade.Options{Dir: dir, Source: market.Sample{}}) // nobody asks it to run, so no price comes
		if err != nil {
			t.Fatal(err)
		}
		defer engine.Close()
		h := newHandlers(Deps{Source: market.Sample{}, Engine: engine})
		bars := &market.Series{Symbol: "HBARUSDT"}
		bars.Append(market.Bar{Close: 10})
		held := must(h.position(&chart.View{Series: bars}))
		if known := must(engine.Positions(false))[0].UnrealizedPnL; known != nil || held == nil || !math.IsNaN(held.Profit) {
			t.Errorf("the profit is %v in the account and the position in the chart %+v, want nil and NaN", known, held)
		}
	})
}

// TestChartWaits: a chart that shows something of the account first waits until the engine
// is up to date, and passes the note on if it may not be. Any other does not wait.
func TestChartWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(5 * time.Second)
		waits := 0
		h := newHandlers(Deps{Source: market.Sample{}, Engine: d.engine, Outdated: func(context.Context) string {
			if waits++; waits == 1 { // what another process has acknowledged arrives
				if _, err := d.call(trader, "place_order", `{"symbol":"HBARUSDT","side":"buy","type":"limit","quantity":1,"price":15}`); err != nil {
					t.Error(err)
				}
			}
			return "may be out of date"
		}})
		draw := func(caller mcp.Caller, arguments string) (first mcp.Content, note string) {
			result, err := h.generateChart().Handle(t.Context(), mcp.Call{Caller: caller, Arguments: json.RawMessage(arguments)})
			if err != nil {
				t.Fatalf("%s: %v", arguments, err)
			}
			return result.Content[0], string(result.Content[len(result.Content)-1].Text)
		}
		picture, note := draw(trader, `{"symbol":"HBARUSDT","show":["orders"]}`)
		again, _ := draw(trader, `{"symbol":"HBARUSDT","show":["orders"]}`)
		if waits != 2 || note != "may be out of date" || !bytes.Equal(picture.Data, again.Data) {
			t.Errorf("it has waited %d times and says %q; the same picture without the wait: %v", waits, note, bytes.Equal(picture.Data, again.Data))
		}
		if _, note := draw(trader, `{"symbol":"HBARUSDT","format":"series"}`); waits != 3 || note != "may be out of date" {
			t.Errorf("a series, which has levels of alerts, has waited %d times and says %q", waits, note)
		}
		empty, _ := draw(trader, `{"symbol":"HBARUSDT","show":[]}`)
		if bytes.Equal(picture.Data, empty.Data) {
			t.Error("the picture shows no order")
		}
		draw(trader, `{}`)
		draw(trader, `{"symbol":"HBARUSDT","format":"summary"}`)
		draw(mcp.Caller{ID: "b", Scope: "charts"}, `{"symbol":"HBARUSDT"}`)
		if waits != 3 {
			t.Errorf("charts without an account wait %d times", waits-3)
		}
	})
}

// TestProfitOfTheShownPrice: the profit in a picture is that of the last close in the same
// picture, although the engine, which asks for prices now and then, may know an older one:
// a profit of +0.40 beside a price below the entry is false. A picture of the past has none.
func TestProfitOfTheShownPrice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := busyDesk(t)
		defer d.stop()
		h := newHandlers(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub})
		older := 0 // how often the engine's price was another
		for range 20 {
			time.Sleep(700 * time.Millisecond)
			var positions []struct {
				Entry float64 `json:"entry_price"`
				Price float64 `json:"current_price"`
			}
			d.reply(trader, "get_positions", `{}`, &positions)
			r := chartAsked(t, `{"symbol":"HBARUSDT","interval":"1m","bars":30,"indicators":[]}`)
			v, err := h.chartView(t.Context(), trader, r)
			if err != nil {
				t.Fatal(err)
			}
			shown := v.Series.Close[29]
			if want := 2 * (shown - positions[0].Entry); math.Abs(v.Account.Position.Profit-want) > 1e-7 {
				t.Errorf("at a price of %v, bought 2 at %v: the profit is %v, want %v", shown, positions[0].Entry, v.Account.Position.Profit, want)
			}
			if shown != positions[0].Price {
				older++
			}
			v.Past = true
			if p := must(h.position(v)); p == nil || !math.IsNaN(p.Profit) {
				t.Errorf("in the past the position is %+v, want one without a profit", p)
			}
		}
		if older == 0 {
			t.Error("the engine's price was always that of the picture: the test shows nothing")
		}
	})
}

var chartsOnly = mcp.Caller{ID: "token-9", Client: "viewer", Scope: "charts"}

// TestShowIsForTraders: a trader's chart shows the account by default, and on demand one
// part of it or nothing. A login for charts gets the picture of a server without trading,
// whatever it asks for.
func TestShowIsForTraders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := busyDesk(t)
		defer d.stop()
		draw := func(caller mcp.Caller, more string) *mcp.Result {
			r, err := d.call(caller, "generate_chart", `{"symbol":"hbarusdt","interval":"1h","bars":100,"indicators":[{"name":"rsi","length":21}]`+more+`}`)
			if err != nil {
				t.Fatalf("%s: %v", more, err)
			}
			return r
		}
		plain, err := call(t, Deps{Source: market.Sample{}}, "generate_chart", `{"symbol":"hbarusdt","interval":"1h","bars":100,"indicators":[{"name":"rsi","length":21}]}`)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{string(plain.Content[0].Data): "nothing"}
		for _, more := range []string{"", `,"show":["position"]`, `,"show":"orders"`, `,"show":["Alerts"]`, `,"show":["fills"]`} {
			picture := string(draw(trader, more).Content[0].Data)
			if as, drawn := seen[picture]; drawn {
				t.Errorf("show %q draws the same as %s", more, as)
			}
			seen[picture] = more
		}
		for more, want := range map[string]string{"": "", `,"show":"Orders"`: `,"show":["orders"]`, `,"show":[]`: `,"show":[]`, `,"to":"1999-12-30"`: `,"show":["fills"]`} {
			text := string(draw(trader, more+`,"format":"series"`).Content[0].Text)
			if repeated := strings.Contains(text, `"show"`); repeated != (want != "") || !strings.Contains(text, want) {
				t.Errorf("asked with %q a series does not have %q: %.400s", more, want, text)
			}
		}
		if r := draw(trader, `,"show":[]`); !bytes.Equal(r.Content[0].Data, plain.Content[0].Data) {
			t.Error("show [] draws something")
		}
		for _, more := range []string{"", `,"show":["position","orders","alerts","fills"]`} {
			r := draw(chartsOnly, more)
			if !bytes.Equal(r.Content[0].Data, plain.Content[0].Data) {
				t.Errorf("a login for charts sees the account, asked with %q", more)
			}
			if said := len(r.Content) == 2 && strings.Contains(string(r.Content[1].Text), "show"); said != (more != "") {
				t.Errorf("asked with %q the answer has %d items", more, len(r.Content))
			}
		}
	})
}

// TestFilledAt: an order is drawn at the time of its last fill, also if the rest was
// cancelled later or news of the fill came late, and never before there was the order.
func TestFilledAt(t *testing.T) {
	at := func(minute int) book.Time { return book.Time{Time: time.Unix(int64(60*minute), 0)} }
	price := func(minute int) *book.Time { p := at(minute); return &p }
	for name, c := range map[string]struct {
		order book.Order
		want  int64
	}{
		"filled at once":                {book.Order{CreatedAt: at(30), PriceAt: price(30), UpdatedAt: at(30)}, 30},
		"filled later":                  {book.Order{CreatedAt: at(20), PriceAt: price(30), UpdatedAt: at(30)}, 30},
		"the rest cancelled":            {book.Order{CreatedAt: at(20), PriceAt: price(30), UpdatedAt: at(33)}, 30},
		"at the close of the night":     {book.Order{CreatedAt: at(30), PriceAt: price(5), UpdatedAt: at(30)}, 30},
		"of a version without the time": {book.Order{CreatedAt: at(20), UpdatedAt: at(30)}, 30},
	} {
		if got := filledAt(c.order); got != 60*c.want {
			t.Errorf("%s: at %d s, want %d", name, got, 60*c.want)
		}
	}
}

// TestRestsAt: a stop_limit that was set off rests at its limit, and a stop that was set off
// and waits for volume is at the market.
func TestRestsAt(t *testing.T) {
	stop, limit, at := 97*exact.One, 96*exact.One, new(book.Time)
	for _, c := range []struct {
		o    book.Order
		want *exact.Decimal
	}{
		{book.Order{Type: book.StopLimit, StopPrice: &stop, Price: &limit}, &stop},
		{book.Order{Type: book.StopLimit, StopPrice: &stop, Price: &limit, TriggeredAt: at}, &limit},
		{book.Order{Type: book.Stop, StopPrice: &stop}, &stop},
		{book.Order{Type: book.Stop, StopPrice: &stop, TriggeredAt: at}, nil},
		{book.Order{Type: book.Limit, Price: &limit}, &limit},
		{book.Order{Type: book.Market}, nil},
	} {
		if got := restsAt(c.o); got != c.want {
			t.Errorf("%s, set off at %v: drawn at %v, want %v", c.o.Type, c.o.TriggeredAt, got, c.want)
		}
	}
}

// TestAccount: the chart shows the same account as the trading tools.
func TestAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := busyDesk(t)
		defer d.stop()
		h := newHandlers(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub})
		account := func(arguments string) *chart.Account {
			v, err := h.chartView(t.Context(), trader, chartAsked(t, arguments))
			if err != nil {
				t.Fatal(err)
			}
			return v.Account
		}
		var positions []struct {
			Entry  float64 `json:"entry_price"`
			Profit float64 `json:"unrealized_pnl"`
		}
		d.reply(trader, "get_positions", `{}`, &positions)
		a := account(`{"symbol":"HBARUSDT","interval":"1h","indicators":["rsi",{"name":"rsi","length":21}]}`)
		if p := a.Position; p == nil || p.Quantity != 2 || p.Entry != positions[0].Entry || p.Profit != positions[0].Profit {
			t.Errorf("position %+v, want %+v", p, positions[0])
		}
		if len(a.Orders) != 1 || a.Orders[0] != (chart.Order{Kind: "limit", Price: 16.1, Quantity: 1}) {
			t.Errorf("orders %+v", a.Orders)
		}
		if len(a.Fills) != 1 || !a.Fills[0].Buy || a.Fills[0].Quantity != 2 || a.Fills[0].Price != positions[0].Entry {
			t.Errorf("fills %+v", a.Fills)
		}
		if len(a.Alerts) != 2 || a.Alerts[0].Price != 16.2 || a.Alerts[1].Key != "rsi#2" || a.Alerts[1].Signal != "rsi_oversold" {
			t.Errorf("alerts %+v", a.Alerts)
		}
		for what, arguments := range map[string]string{
			"another symbol": `{"symbol":"ETHUSDT"}`, "sample bars": `{}`, "a period before": `{"symbol":"HBARUSDT","to":"1999-12-01"}`,
		} {
			if a := account(arguments); a != nil && (a.Position != nil || len(a.Orders)+len(a.Alerts)+len(a.Fills) > 0) {
				t.Errorf("%s: %+v", what, a)
			}
		}
	})
}

// TestUnknownOrderInChart: a chart tells of an order whose outcome at the broker is unknown,
// which may have been filled, and draws it as one that is unknown.
func TestUnknownOrderInChart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		d := openDesk(t, t.TempDir(), atVenue(t, v))
		defer d.stop()
		time.Sleep(time.Second)
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault { return alpacatest.Fault{Lost: r.Method == "POST"} }
		})
		o, err := d.engine.Place(t.Context(), book.OrderRequest{Symbol: "AAPL", Side: book.Buy, Type: book.Limit, Price: 150 * exact.One, Quantity: exact.One})
		if err != nil || !o.Unknown() {
			t.Fatalf("the order whose answer is lost: %+v, %v", o, err)
		}
		for format, want := range map[string]bool{"png": true, "series": false} {
			reply, err := d.call(trader, "generate_chart", `{"symbol":"AAPL","interval":"1h","format":"`+format+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, c := range reply.Content {
				said += string(c.Text)
			}
			if told := strings.Contains(said, "It is not known whether these orders are open") && strings.Contains(said, o.ID); told != want {
				t.Errorf("%s says of the order: %t, want %t", format, told, want)
			}
		}
		h := newHandlers(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub})
		a := &chart.Account{}
		if h.marks(a, &market.Series{Symbol: "AAPL", Interval: "1h", Time: []int64{0}}, true, false); len(a.Orders) != 1 || !a.Orders[0].Unknown {
			t.Errorf("drawn: %+v, want the order as unknown", a.Orders)
		}
	})
}

// atVenue has an engine trade at a venue in memory.
func atVenue(t *testing.T, v *alpacatest.Venue) func(*trade.Options) {
	t.Helper()
	keys, err := alpaca.ParseKeys("APCA_API_KEY_ID=" + v.Keys[0] + "\nAPCA_API_SECRET_KEY=" + v.Keys[1])
	if err != nil {
		t.Fatal(err)
	}
	client, err := alpaca.New(alpaca.Options{URL: alpaca.PaperURL, Paper: true, Keys: keys, Client: v.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *trade.Options) {
		o.Venue = &live.Options{Broker: client, Name: "alpaca-paper", Account: v.Number}
	}
}

// TestAlertsOfIndicators: an alert for a level of an indicator is a level of its panel, in
// the picture and in a series, if that has the same parameters, however they were written,
// and the same interval. The reply counts the alerts that have no level.
func TestAlertsOfIndicators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		time.Sleep(5 * time.Second)
		chart := func(more string) *mcp.Result {
			r, err := d.call(trader, "generate_chart", `{"symbol":"HBARUSDT","interval":"1h","bars":100,"indicators":[{"name":"rsi","length":21},"macd","ema"]`+more+`}`)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		for _, c := range []struct {
			name, interval, signal string
			drawn                  bool
			hline, note            string
		}{
			{"a level", "1h", `"rsi","length":21,"signal":"crosses_above","level":65`, true, `{"y":65,"label":"alert above","tone":"accent","ink":"amber"}`, ""},
			{"with params", "1h", `"rsi","params":{"length":21},"signal":"crosses_below","level":35`, true, `{"y":35,"label":"alert below","tone":"accent","ink":"amber"}`, ""},
			{"zero", "1h", `"macd","signal":"crosses_above","level":0,"line":"signal"`, true, `{"y":0,"label":"alert Signal above","tone":"accent","ink":"amber"}`, ""},
			{"the first line", "1h", `"macd","signal":"crosses_below","level":0.01`, true, `{"y":0.01,"label":"alert MACD below","tone":"accent","ink":"amber"}`, ""},
			{"over the price", "1h", `"ema","signal":"crosses_above","level":10.6`, true, `{"y":10.6,"label":"alert EMA 20 above","tone":"accent","ink":"amber"}`, ""},
			{"a signal", "1h", `"rsi","length":21,"signal":"enters_overbought"`, false, "", "Waiting alerts of HBARUSDT without a level in the picture: 1."},
			{"other parameters", "1h", `"rsi","signal":"crosses_above","level":65`, false, "", "Waiting alerts of HBARUSDT without a level in the picture: 1."},
			{"other zones", "1h", `"rsi","length":21,"oversold":20,"signal":"crosses_above","level":65`, false, "", "Waiting alerts of HBARUSDT without a level in the picture: 1."},
			{"another interval", "4h", `"rsi","length":21,"signal":"crosses_above","level":65`, false, "", "Waiting alerts of HBARUSDT without a level in the picture: 1."},
		} {
			var alert struct {
				ID string `json:"alert_id"`
			}
			d.reply(trader, "set_alert", `{"symbol":"HBARUSDT","interval":"`+c.interval+`","condition":{"indicator_signal":{"indicator":`+c.signal+`}}}`, &alert)
			with, without := chart(""), chart(`,"show":[]`)
			if drawn := !bytes.Equal(with.Content[0].Data, without.Content[0].Data); drawn != c.drawn {
				t.Errorf("%s: it is drawn: %v, want %v", c.name, drawn, c.drawn)
			}
			said := ""
			for _, content := range with.Content[1:] {
				said += string(content.Text)
			}
			if len(without.Content) > 1 || (said == "") != (c.note == "") || !strings.HasPrefix(said, c.note) {
				t.Errorf("%s: the reply says %q, want %q", c.name, said, c.note)
			}
			series, hidden := string(chart(`,"format":"series"`).Content[0].Text), string(chart(`,"format":"series","show":[]`).Content[0].Text)
			if c.drawn != strings.Contains(series, "alert ") || !strings.Contains(series, c.hline) || strings.Contains(hidden, "alert ") {
				t.Errorf("%s: a series does not have %q", c.name, c.hline)
			}
			d.reply(trader, "cancel_alert", `{"alert_id":"`+alert.ID+`"}`, new(any))
		}
	})
}

// TestVenueCarriesMoney: whether orders move real money is what the venue says, whatever it is
// called, in the instructions, in the description of place_order, in every reply, and in what
// a person is asked to approve; a form in the client counts only where none does.
func TestVenueCarriesMoney(t *testing.T) {
	for _, paper := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			keys, err := alpaca.ParseKeys("APCA_API_KEY_ID=" + v.Keys[0] + "\nAPCA_API_SECRET_KEY=" + v.Keys[1])
			if err != nil {
				t.Fatal(err)
			}
			client, err := alpaca.New(alpaca.Options{URL: alpaca.LiveURL, Paper: paper, Keys: keys, Client: v.Client()})
			if err != nil {
				t.Fatal(err)
			}
			// As if the names were exchanged: nothing follows from a name.
			name := map[bool]string{false: "elsewhere", true: "alpaca"}[paper]
			d := openDesk(t, t.TempDir(), func(o *trade.Options) {
				o.Venue = &live.Options{Broker: client, Name: name, Account: v.Number}
			})
			defer d.stop()
			time.Sleep(time.Second)
			if got := BrokerInstructions(d.engine); !strings.Contains(got, name) || strings.Contains(got, "REAL MONEY") == paper {
				t.Errorf("paper %t: the instructions say %q", paper, got)
			}
			i := slices.IndexFunc(d.tools, func(t mcp.Tool) bool { return t.Name == "place_order" })
			if got := d.tools[i].Description; strings.Contains(got, "WITH REAL MONEY") == paper || strings.Contains(got, "no real money moves") != paper {
				t.Errorf("paper %t: place_order says %q", paper, got)
			}
			want := map[bool]string{false: `"money":"real"`, true: `"money":"none"`}[paper]
			r, err := d.call(trader, "get_positions", `{}`)
			if err != nil || !strings.Contains(string(r.Content[len(r.Content)-1].Text), want) {
				t.Errorf("paper %t: get_positions ends with %s, %v", paper, r.Content[len(r.Content)-1].Text, err)
			}
			d.tools = All(Deps{Source: market.Sample{}, Engine: d.engine, Hub: d.hub, Gate: gateAt(0, "http://localhost:9315/approve")})
			asked, err := d.order(mcp.Call{Elicits: true}, `{"symbol":"AAPL","side":"buy","type":"market","quantity":1}`)
			if asked == nil || !strings.Contains(asked.Message, "broker: "+name) || strings.Contains(asked.Message, "REAL MONEY") == paper || (asked.Schema != nil) != paper {
				t.Errorf("paper %t: a person is asked %+v, %v", paper, asked, err)
			}
		})
	}
}
