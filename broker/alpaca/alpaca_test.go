package alpaca

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/broker"
	"wick/broker/alpaca/alpacatest"
	"wick/exact"
)

// dial returns a client of a venue.
func dial(t testing.TB, v *alpacatest.Venue) *Client {
	t.Helper()
	c, err := New(Options{URL: PaperURL, Keys: Keys{&pair{v.Keys[0], v.Keys[1]}}, Client: v.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"two lines", "APCA_API_KEY_ID=PK1\nAPCA_API_SECRET_KEY=hush\n", true},
		{"as a shell has them", "# mine\nexport APCA_API_KEY_ID=\"PK1\"\n\nexport APCA_API_SECRET_KEY='hush'\n", true},
		{"one of them", "APCA_API_KEY_ID=PK1\n", false},
		{"something else", "APCA_API_KEY_ID=PK1\nAPCA_API_SECRET_KEY=hush\nhush=hush\n", false},
		{"what breaks a header", "APCA_API_KEY_ID=PK1\nAPCA_API_SECRET_KEY=hu sh\n", false},
		{"nothing", "", false},
	} {
		k, err := ParseKeys(c.text)
		if c.ok && (err != nil || *k.pair != pair{"PK1", "hush"}) || !c.ok && err == nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error has the key: %v", c.name, err)
		}
	}
	held := struct{ keys Keys }{Keys{&pair{"PK1", "hush"}}}
	if text := fmt.Sprintf("%v %+v %#v %s %v %+v %#v", held, held, held, held.keys, held.keys, held.keys, held.keys); strings.Contains(text, "hush") || strings.Contains(text, "PK1") {
		t.Errorf("keys are printed: %s", text)
	}
}

// TestAddress: keys go to https addresses, or to this machine.
func TestAddress(t *testing.T) {
	for text, ok := range map[string]bool{
		LiveURL: true, PaperURL: true, "http://127.0.0.1:1": true, "http://api.alpaca.markets": false, "": false, "ftp://127.0.0.1": false, "://": false,
	} {
		if _, err := New(Options{URL: text}); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRules: what Alpaca would not take is refused before it is sent, with its rule.
func TestRules(t *testing.T) {
	c := dial(t, alpacatest.New())
	whole := broker.Order{Symbol: "AAPL", Side: "buy", Type: "limit", TimeInForce: "gtc", Quantity: exact.One, Limit: 10050 * exact.One / 100}
	with := func(change func(*broker.Order)) broker.Order { o := whole; change(&o); return o }
	for _, k := range []struct {
		name string
		o    broker.Order
		want string // a part of the refusal; empty for none
	}{
		{"a plain limit", whole, ""},
		{"no such symbol", with(func(o *broker.Order) { o.Symbol = "NONE" }), `no asset "NONE"`},
		{"not traded", with(func(o *broker.Order) { o.Symbol = "GONE" }), "does not trade GONE now"},
		{"a coin", with(func(o *broker.Order) { o.Symbol = "ETHUSD" }), "ETHUSD is crypto, and wick trades only stocks at Alpaca"},
		{"a coin as Yahoo writes it", with(func(o *broker.Order) { o.Symbol = "BTC-USD" }), "BTC/USD is crypto"},
		{"a class of shares as Yahoo writes it", with(func(o *broker.Order) { o.Symbol = "BRK-B" }), ""},
		{"an option", with(func(o *broker.Order) { o.Symbol = "AAPL261218C00200000" }), `of the class "us_option"`},
		{"a part of a share that waits", with(func(o *broker.Order) { o.Quantity = exact.One / 2 }), "type market with time_in_force day"},
		{"a part of a share at once", with(func(o *broker.Order) {
			o.Quantity, o.Type, o.Limit, o.TimeInForce = exact.One/2, "market", 0, "day"
		}), ""},
		{"a part of what is not sold in parts", with(func(o *broker.Order) {
			o.Symbol, o.Quantity, o.Type, o.Limit, o.TimeInForce = "HALF", exact.One/2, "market", 0, "day"
		}), "whole shares of HALF only"},
		{"short of what is lent", with(func(o *broker.Order) { o.Side, o.Short = "sell", true }), ""},
		{"short of what is not", with(func(o *broker.Order) { o.Symbol, o.Side, o.Short = "HARD", "sell", true }), "lends no shares of HARD"},
		{"a part of a share short", with(func(o *broker.Order) {
			o.Side, o.Short, o.Quantity, o.Type, o.Limit, o.TimeInForce = "sell", true, exact.One/2, "market", 0, "day"
		}), "no more than is held"},
		{"half a cent", with(func(o *broker.Order) { o.Limit += exact.One / 200 }), "in steps of 0.01 here: 100.5 or 100.51, not 100.505"},
		{"half a cent of a penny stock", with(func(o *broker.Order) { o.Limit = exact.One / 200 }), ""},
		{"gtd", with(func(o *broker.Order) { o.TimeInForce = "gtd" }), "gtc, day, ioc and fok"},
		{"ioc of a stop", with(func(o *broker.Order) { o.TimeInForce, o.Type, o.Stop, o.Limit = "ioc", "stop", exact.One, 0 }), "only with orders of type market and limit"},
		{"exits of a stop", with(func(o *broker.Order) { o.Type, o.StopLoss = "stop", exact.One }), "an entry of type market or limit"},
		{"exits that end at once", with(func(o *broker.Order) { o.TimeInForce, o.StopLoss = "fok", exact.One }), "day and gtc only"},
		{"exits of a change", with(func(o *broker.Order) { o.Replaces, o.TakeProfit = "x", 200*exact.One }), "cancel it and place another"},
	} {
		rules, err := c.Rules(t.Context(), k.o.Symbol)
		if err == nil {
			err = rules.Check(k.o)
		}
		refused := (*broker.Refused)(nil)
		if k.want == "" && err != nil || k.want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), k.want)) {
			t.Errorf("%s: %v", k.name, err)
		}
	}
}

// TestClosed: while the exchange is closed, nothing is sent that would have to be
// filled at once, and the refusal says when the next session is, by the calendar.
// The dates are those of Thanksgiving 2026, and the times the exchange's own.
func TestClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 26, 20, 0, 0, 0, time.UTC)))
		v := alpacatest.New()
		v.Closed, v.Opens = true, time.Date(2026, 11, 27, 14, 30, 0, 0, time.UTC)
		rules, err := dial(t, v).Rules(t.Context(), "AAPL")
		if err != nil {
			t.Fatal(err)
		}
		o := broker.Order{Symbol: "AAPL", Side: "buy", Type: "market", TimeInForce: "day", Quantity: exact.One}
		if err := rules.Check(o); err == nil || !strings.Contains(err.Error(), "closed until 2026-11-27 14:30 UTC, and then open until 18:00 UTC, a half day: a limit or a stop") {
			t.Errorf("a market order: %v", err)
		}
		o.Type, o.Limit = "limit", exact.One
		if err := rules.Check(o); err != nil {
			t.Errorf("a limit: %v", err)
		}
	})
}

// TestCalendar: an order for the day ends with the session that is on or comes
// next, half days, holidays and summer time included. The calendar is asked for a
// few times a day, and one that cannot be had or read stops no order.
func TestCalendar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		c, asked := dial(t, v), 0
		broken := alpacatest.Fault{}
		v.Faults = func(r *http.Request) alpacatest.Fault {
			if r.URL.Path == "/v2/calendar" {
				asked++
				return broken
			}
			return alpacatest.Fault{}
		}
		for _, k := range []struct{ now, want string }{
			{"2026-10-30T15:00:00Z", "2026-10-30T20:00:00Z"}, // summer time
			{"2026-11-02T15:00:00Z", "2026-11-02T21:00:00Z"}, // winter time
			{"2026-11-25T21:30:00Z", "2026-11-27T18:00:00Z"}, // after the close before Thanksgiving
			{"2026-11-27T15:00:00Z", "2026-11-27T18:00:00Z"}, // half a day
			{"2026-11-27T18:00:00Z", "2026-11-30T21:00:00Z"}, // over for the week
		} {
			now, _ := time.Parse(time.RFC3339, k.now)
			time.Sleep(time.Until(now))
			rules, err := c.Rules(t.Context(), "AAPL")
			if got := rules.DayEnd.Format(time.RFC3339); err != nil || got != k.want {
				t.Errorf("at %s: %s, %v, want %s", k.now, got, err, k.want)
			}
		}
		if asked != 4 { // the last two are three hours apart
			t.Errorf("asked %d times", asked)
		}
		time.Sleep(24 * time.Hour)
		for _, broken = range []alpacatest.Fault{{Status: 500}, {HTML: true}, {Unread: true}} {
			if rules, err := c.Rules(t.Context(), "AAPL"); err != nil || !rules.DayEnd.IsZero() {
				t.Errorf("with %+v: %v, %v", broken, rules.DayEnd, err)
			}
			time.Sleep(calendarWait)
		}
		if asked != 7 {
			t.Errorf("asked %d times", asked)
		}
	})
	for text, ok := range map[string]bool{
		`{"date":"2026-11-27","open":"09:30","close":"13:00"}`: true,
		`{"date":"2026-11-27","open":"13:00","close":"09:30"}`: false,
		`{"date":"27.11.","open":"09:30","close":"13:00"}`:     false,
		`{}`: false,
	} {
		var d calendarDay
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		if _, err := d.session(time.UTC); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDefinite: only an answer by which Alpaca itself refuses is a refusal. After any
// other answer the order may have been taken.
func TestDefinite(t *testing.T) {
	for _, k := range []struct {
		name     string
		fault    alpacatest.Fault
		definite bool
	}{
		{"403", alpacatest.Fault{Status: 403}, true},
		{"422", alpacatest.Fault{Status: 422}, true},
		{"429", alpacatest.Fault{Status: 429}, true},
		{"408", alpacatest.Fault{Status: 408}, false},
		{"500", alpacatest.Fault{Status: 500}, false},
		{"504", alpacatest.Fault{Status: 504}, false},
		{"a page with 200", alpacatest.Fault{HTML: true}, false},
		{"a broken connection", alpacatest.Fault{Unread: true}, false},
	} {
		v := alpacatest.New()
		c := dial(t, v)
		if _, err := c.Rules(t.Context(), "AAPL"); err != nil {
			t.Fatal(err)
		}
		v.Faults = func(*http.Request) alpacatest.Fault { return k.fault }
		_, err := c.Submit(t.Context(), broker.Order{ClientID: "a", Symbol: "AAPL", Side: "buy", Type: "market", TimeInForce: "day", Quantity: exact.One})
		refused := (*broker.Refused)(nil)
		if err == nil || errors.As(err, &refused) != k.definite || errors.Is(err, broker.ErrUnknown) {
			t.Errorf("%s: %v", k.name, err)
		}
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		w.Write([]byte("<html>no</html>"))
	}))
	defer proxy.Close()
	c, err := New(Options{URL: proxy.URL})
	if err != nil {
		t.Fatal(err)
	}
	c.assets["AAPL"] = known{asset: asset{Symbol: "AAPL"}, at: time.Now()}
	refused := (*broker.Refused)(nil)
	if _, err := c.Submit(t.Context(), broker.Order{ClientID: "a", Symbol: "AAPL"}); err == nil || errors.As(err, &refused) {
		t.Errorf("403 of a proxy on the way: %v", err)
	}
}

// TestHostile: what comes back is not an answer of Alpaca. Each such reply leaves the
// outcome unknown, takes bounded time and memory, and sends the keys to no other address.
func TestHostile(t *testing.T) {
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Store(true) }))
	defer other.Close()
	ends := make(chan struct{})
	for name, answer := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		},
		"a reply without an end": func(w http.ResponseWriter, _ *http.Request) { io.CopyN(w, endless{}, maxReply+1) },
		"half a reply": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.Write([]byte(`{"id":"x"`))
		},
		"an order of somebody else": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"id":"x","client_order_id":"b","status":"new","qty":"1"}`))
		},
		"more filled than was wanted": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"id":"x","client_order_id":"a","status":"filled","qty":"1","filled_qty":"2"}`))
		},
		"nothing":          func(http.ResponseWriter, *http.Request) {},
		"no answer at all": func(_ http.ResponseWriter, r *http.Request) { <-ends },
	} {
		server := httptest.NewServer(answer)
		c, err := New(Options{URL: server.URL, Keys: Keys{&pair{"PK1", "hush"}}})
		if err != nil {
			t.Fatal(err)
		}
		c.assets["AAPL"] = known{asset: asset{Symbol: "AAPL"}, at: time.Now()}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the client's own limit is ten
		refused := (*broker.Refused)(nil)
		s, err := c.Submit(ctx, broker.Order{ClientID: "a", Symbol: "AAPL"})
		if err == nil || errors.As(err, &refused) || errors.Is(err, broker.ErrUnknown) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if cancel(); name == "no answer at all" {
			close(ends)
		}
		server.Close()
	}
	if leaked.Load() {
		t.Error("a redirect was followed")
	}
}

// endless is a reply of digits.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '1'
	}
	return len(b), nil
}

// TestDuplicate: an id that was used before is no refusal: the order may be ours.
func TestDuplicate(t *testing.T) {
	c := dial(t, alpacatest.New())
	c.Rules(t.Context(), "AAPL")
	o := broker.Order{ClientID: "a", Symbol: "AAPL", Side: "buy", Type: "market", TimeInForce: "day", Quantity: exact.One}
	first, err := c.Submit(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Submit(t.Context(), o); !errors.Is(err, errDuplicate) {
		t.Errorf("second: %v", err)
	}
	if s, err := c.Lookup(t.Context(), o); err != nil || s.ID != first.ID || s.Status != broker.Filled {
		t.Errorf("looked up: %+v, %v", s, err)
	}
	if _, err := c.Lookup(t.Context(), broker.Order{ClientID: "b"}); !errors.Is(err, broker.ErrUnknown) {
		t.Errorf("an order that is not there: %v", err)
	}
}

// TestCancelAll: a reply that says of an order that it could not be cancelled is an
// error, although its status is a success.
func TestCancelAll(t *testing.T) {
	v := alpacatest.New()
	c := dial(t, v)
	v.Foreign("AAPL", "buy", exact.One, exact.One)
	v.Foreign("AAPL", "buy", exact.One, exact.One)
	v.Stuck = true
	if err := c.CancelAll(t.Context()); err == nil || !strings.Contains(err.Error(), "would not cancel 2 of 2 open orders") {
		t.Errorf("orders that stay: %v", err)
	}
	v.Stuck = false
	if err := c.CancelAll(t.Context()); err != nil || len(v.Open()) != 0 {
		t.Errorf("%v, open: %v", err, v.Open())
	}
	if err := c.CancelAll(t.Context()); err != nil { // there are none
		t.Error(err)
	}
}

// TestBudget: never more than 200 requests in a minute, and cancels go through
// when others have used theirs up.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		c := dial(t, v)
		refused := (*broker.Refused)(nil)
		begin := time.Now()
		for time.Since(begin) < 3*time.Minute {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			_, err := c.Account(ctx)
			cancel()
			if errors.As(err, &refused) { // its turn did not come
				if err := c.Cancel(t.Context(), "none"); !errors.Is(err, broker.ErrUnknown) {
					t.Fatalf("cancel while others wait: %v", err)
				}
				time.Sleep(time.Second)
			}
		}
		if n := v.Busiest(); n < 120 || n > 200 {
			t.Errorf("%d requests in a minute", n)
		}
	})
}

// TestPause: after "too many requests" nothing is sent until the time that was
// named.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		c := dial(t, v)
		v.Faults = func(*http.Request) alpacatest.Fault { return alpacatest.Fault{Status: 429} }
		c.Account(t.Context())
		v.Faults = nil
		begin := time.Now()
		if _, err := c.Account(t.Context()); err != nil || time.Since(begin) < time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

// TestReport reads an account with more fills than a page has.
func TestReport(t *testing.T) {
	v := alpacatest.New()
	id := v.Foreign("AAPL", "sell", 300*exact.One, 10*exact.One)
	begin := time.Now()
	for range 250 {
		v.Fill(id, exact.One, 10*exact.One)
	}
	c := dial(t, v)
	r, err := c.Report(t.Context())
	if err != nil || len(r.Open) != 1 || r.Open[0].Filled != 250*exact.One || len(r.Positions) != 1 || r.Positions[0].Quantity != -250*exact.One {
		t.Errorf("report of %d orders, %+v, %v", len(r.Open), r.Positions, err)
	}
	if r.Account.ID != v.Number || r.Account.BuyingPower != 10000012345678 || r.Account.Blocked != "" { // 100000.123456789 cut to eight places
		t.Errorf("account: %+v", r.Account)
	}
	fills, err := c.Fills(t.Context(), begin.Add(-time.Minute))
	if err != nil || len(fills) != 250 {
		t.Errorf("%d fills, %v", len(fills), err)
	}
	for i, f := range fills {
		if f.Total != exact.Decimal(i+1)*exact.One {
			t.Fatalf("fill %d: %+v", i, f)
		}
	}
}

// TestReportFails: a list that cannot be had makes no report.
func TestReportFails(t *testing.T) {
	for _, path := range []string{"/v2/orders", "/v2/account/activities", "/v2/positions", "/v2/account"} {
		for _, fault := range []alpacatest.Fault{{HTML: true}, {Status: 500}, {Unread: true}} {
			v := alpacatest.New()
			v.Faults = func(r *http.Request) alpacatest.Fault {
				if r.URL.Path == path {
					return fault
				}
				return alpacatest.Fault{}
			}
			c := dial(t, v)
			r, err := c.Report(t.Context())
			fills, err2 := c.Fills(t.Context(), time.Unix(1, 0))
			if (err == nil) != (path == "/v2/account/activities") || (err2 == nil) == (err == nil) {
				t.Errorf("%s with %+v: %+v, %v, %v, %v", path, fault, r, fills, err, err2)
			}
		}
	}
}

// TestStream: what happens is told; a stream that is opened again goes on after
// the last event.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		c := dial(t, v)
		read := func(after string) (events []broker.Event, ends func() error) {
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error)
			go func() {
				failed <- c.Stream(ctx, after, func() {}, func(e broker.Event) { events = append(events, e) })
			}()
			synctest.Wait()
			id := v.Foreign("AAPL", "buy", 2*exact.One, 10*exact.One)
			v.Fill(id, exact.One, 9*exact.One)
			time.Sleep(time.Minute)
			v.CutStreams()
			err := <-failed
			cancel()
			return events, func() error { return err }
		}
		first, ended := read("")
		if len(first) != 2 || first[1].Fill == nil || first[1].Fill.Total != exact.One || first[1].Fill.Price != 9*exact.One || ended() == nil {
			t.Fatalf("%+v, %v", first, ended())
		}
		id := v.Foreign("AAPL", "buy", 2*exact.One, 10*exact.One) // while nobody reads
		second, _ := read(first[1].ID)
		if len(second) != 3 || second[0].State.ClientID != id {
			t.Errorf("after a break: %+v", second)
		}
	})
}

// TestNothingSecret: neither errors nor the log have the keys or the address.
func TestNothingSecret(t *testing.T) {
	var log bytes.Buffer
	v := alpacatest.New()
	v.Keys = [2]string{"PKPLANTED", "planted-secret"}
	c := dial(t, v)
	c.log = slog.New(slog.NewTextHandler(&log, nil))
	c.Rules(t.Context(), "AAPL")
	v.Faults = func(*http.Request) alpacatest.Fault { return alpacatest.Fault{Unread: true} }
	_, err := c.Submit(t.Context(), broker.Order{ClientID: "a", Symbol: "AAPL", Side: "buy", Type: "market", TimeInForce: "day", Quantity: exact.One})
	v.Faults, c.keys.pair.id = nil, "PKPLANTEDWRONG"
	_, err2 := c.Account(t.Context())
	c.Cancel(t.Context(), "x")
	text := fmt.Sprint(err, err2, c.keys, log.String())
	if err == nil || err2 == nil || strings.Contains(text, "PLANTED") || strings.Contains(text, "planted") || !strings.Contains(text, "request=") {
		t.Errorf("%s", text)
	}
}

// FuzzWire: whatever Alpaca sends, what the client returns of it is possible.
func FuzzWire(f *testing.F) {
	f.Add([]byte(`{"event":"fill","event_id":"01J","execution_id":"x","qty":"1","price":"2.5","order":{"id":"a","client_order_id":"b","status":"filled","qty":"3","filled_qty":"3","filled_avg_price":"2.123456789","legs":[{"id":"c","status":"held","qty":1}]}}`))
	f.Add([]byte(`{"event":"fill","qty":"-1","price":null,"order":{"id":"../../x","status":"new","qty":"1e9","filled_qty":"1e-9"}}`))
	f.Add([]byte(`{"qty":"0.1234567891","price":"1","cum_qty":"2","order_id":"a"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		err := readEvents(bytes.NewReader(append(append([]byte("data: "), bytes.ReplaceAll(text, []byte("\n"), nil)...), '\n')), func(e broker.Event) {
			s := e.State
			if e.ID != "" && !isID(e.ID) || !isID(s.ID) || s.Filled < 0 || s.Quantity != 0 && s.Filled > s.Quantity || len(s.Legs) > maxLegs {
				t.Errorf("believed %+v of %q", s, text)
			}
			if f := e.Fill; f != nil && (f.Quantity <= 0 || f.Price <= 0 || f.Total < f.Quantity) {
				t.Errorf("believed %+v of %q", *f, text)
			}
		})
		if err == nil {
			t.Error("a stream that ends is an error")
		}
		var a activity
		if json.Unmarshal(text, &a) == nil {
			if got, err := a.fill(); err == nil && (got.Quantity <= 0 || got.Price <= 0 || got.Total < got.Quantity || !isID(got.OrderID)) {
				t.Errorf("believed %+v of %q", got, text)
			}
		}
	})
}
