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
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/trade/live"
	"wick/trade/live/alpaca/alpacatest"
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
	whole := live.Order{Symbol: "AAPL", Side: "buy", Type: "limit", TimeInForce: "gtc", Quantity: exact.One, Limit: 10050 * exact.One / 100}
	with := func(change func(*live.Order)) live.Order { o := whole; change(&o); return o }
	for _, k := range []struct {
		name string
		o    live.Order
		want string // a part of the refusal; empty for none
	}{
		{"a plain limit", whole, ""},
		{"no such symbol", with(func(o *live.Order) { o.Symbol = "NONE" }), `no asset "NONE"`},
		{"not traded", with(func(o *live.Order) { o.Symbol = "GONE" }), "does not trade GONE now"},
		{"a coin", with(func(o *live.Order) { o.Symbol = "ETHUSD" }), "ETHUSD is crypto, and wick trades only stocks at Alpaca"},
		{"a coin as Yahoo writes it", with(func(o *live.Order) { o.Symbol = "BTC-USD" }), "BTC/USD is crypto"},
		{"a class of shares as Yahoo writes it", with(func(o *live.Order) { o.Symbol = "BRK-B" }), ""},
		{"an option", with(func(o *live.Order) { o.Symbol = "AAPL261218C00200000" }), `of the class "us_option"`},
		{"a part of a share that waits", with(func(o *live.Order) { o.Quantity = exact.One / 2 }), "type market with time_in_force day"},
		{"a part of a share at once", with(func(o *live.Order) {
			o.Quantity, o.Type, o.Limit, o.TimeInForce = exact.One/2, "market", 0, "day"
		}), ""},
		{"a part of what is not sold in parts", with(func(o *live.Order) {
			o.Symbol, o.Quantity, o.Type, o.Limit, o.TimeInForce = "HALF", exact.One/2, "market", 0, "day"
		}), "whole shares of HALF only"},
		{"short of what is lent", with(func(o *live.Order) { o.Side, o.Short = "sell", true }), ""},
		{"short of what is not", with(func(o *live.Order) { o.Symbol, o.Side, o.Short = "HARD", "sell", true }), "lends no shares of HARD"},
		{"a part of a share short", with(func(o *live.Order) {
			o.Side, o.Short, o.Quantity, o.Type, o.Limit, o.TimeInForce = "sell", true, exact.One/2, "market", 0, "day"
		}), "only of what is held or bought"},
		{"exits of a part of a share", with(func(o *live.Order) {
			o.Quantity, o.Type, o.Limit, o.TimeInForce, o.StopLoss = exact.One/2, "market", 0, "day", 90*exact.One
		}), "without exits"},
		{"half a cent", with(func(o *live.Order) { o.Limit += exact.One / 200 }), "in steps of 0.01 here: 100.5 or 100.51, not 100.505"},
		{"half a cent of a penny stock", with(func(o *live.Order) { o.Limit = exact.One / 200 }), ""},
		{"gtd", with(func(o *live.Order) { o.TimeInForce = "gtd" }), "gtc, day, ioc and fok"},
		{"ioc of a stop", with(func(o *live.Order) { o.TimeInForce, o.Type, o.Stop, o.Limit = "ioc", "stop", exact.One, 0 }), "only with orders of type market and limit"},
		{"exits of a stop", with(func(o *live.Order) { o.Type, o.StopLoss = "stop", exact.One }), "only with orders of type market and limit"},
		{"exits that end at once", with(func(o *live.Order) { o.TimeInForce, o.StopLoss = "fok", exact.One }), "day and gtc only"},
		{"exits of a change", with(func(o *live.Order) { o.Replaces, o.TakeProfit = "x", 200*exact.One }), "cancel it and place another"},
	} {
		rules, err := c.Rules(t.Context(), k.o.Symbol)
		if err == nil {
			err = rules.Check(k.o)
		}
		refused := (*live.Refused)(nil)
		if k.want == "" && err != nil || k.want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), k.want)) {
			t.Errorf("%s: %v", k.name, err)
		}
	}
}

// TestClosed: while the exchange is closed, nothing is sent that would have to be
// filled at once, and the refusal says when the next session is, with which an order for the
// day ends. The dates are those of Thanksgiving 2026, and the times the exchange's own.
func TestClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 26, 20, 0, 0, 0, time.UTC)))
		v := alpacatest.New()
		v.Closed, v.Opens, v.Closes = true, time.Date(2026, 11, 27, 14, 30, 0, 0, time.UTC), time.Date(2026, 11, 27, 18, 0, 0, 0, time.UTC) // half a day
		rules, err := dial(t, v).Rules(t.Context(), "AAPL")
		if err != nil {
			t.Fatal(err)
		}
		o := live.Order{Symbol: "AAPL", Side: "buy", Type: "market", TimeInForce: "day", Quantity: exact.One}
		if err := rules.Check(o); err == nil || !strings.Contains(err.Error(), "closed until 2026-11-27 14:30 UTC, and then open until 18:00 UTC: a limit or a stop") || !rules.DayEnd.Equal(v.Closes) {
			t.Errorf("a market order: %v; the day ends at %s", err, rules.DayEnd)
		}
		o.Type, o.Limit = "limit", exact.One
		if err := rules.Check(o); err != nil {
			t.Errorf("a limit: %v", err)
		}
	})
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
		_, err := c.Submit(t.Context(), live.Order{ClientID: "a", Symbol: "AAPL", Side: "buy", Type: "market", TimeInForce: "day", Quantity: exact.One})
		refused := (*live.Refused)(nil)
		if err == nil || errors.As(err, &refused) != k.definite || errors.Is(err, live.ErrUnknown) {
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
	refused := (*live.Refused)(nil)
	if _, err := c.Submit(t.Context(), live.Order{ClientID: "a", Symbol: "AAPL"}); err == nil || errors.As(err, &refused) {
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
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the client's own limit is ten
		refused := (*live.Refused)(nil)
		s, err := c.Submit(ctx, live.Order{ClientID: "a", Symbol: "AAPL"})
		if err == nil || errors.As(err, &refused) || errors.Is(err, live.ErrUnknown) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		c.Account(ctx) // has no body: a redirect of it would be followed where that of an order is not
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
	o := live.Order{ClientID: "a", Symbol: "AAPL", Side: "buy", Type: "market", TimeInForce: "day", Quantity: exact.One}
	first, err := c.Submit(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Submit(t.Context(), o); !errors.Is(err, errDuplicate) {
		t.Errorf("second: %v", err)
	}
	if s, err := c.Lookup(t.Context(), o); err != nil || s.ID != first.ID || s.Status != live.Filled {
		t.Errorf("looked up: %+v, %v", s, err)
	}
	if _, err := c.Lookup(t.Context(), live.Order{ClientID: "b"}); !errors.Is(err, live.ErrUnknown) {
		t.Errorf("an order that is not there: %v", err)
	}
}

// TestCancelAll: it says how many orders could not be cancelled, although the reply's status
// is a success.
func TestCancelAll(t *testing.T) {
	v := alpacatest.New()
	c := dial(t, v)
	v.Foreign("AAPL", "buy", exact.One, exact.One)
	v.Foreign("AAPL", "buy", exact.One, exact.One)
	v.Stuck = true
	if left, err := c.CancelAll(t.Context()); left != 2 || err != nil {
		t.Errorf("%d orders stay, %v, want 2", left, err)
	}
	v.Stuck = false
	if left, err := c.CancelAll(t.Context()); left != 0 || err != nil || len(v.Open()) != 0 {
		t.Errorf("%d, %v, open: %v", left, err, v.Open())
	}
	if left, err := c.CancelAll(t.Context()); left != 0 || err != nil { // there are none
		t.Error(left, err)
	}
}

// TestBudget: never more than 200 requests in a minute, and cancels go through
// when others have used theirs up.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		c := dial(t, v)
		refused := (*live.Refused)(nil)
		begin := time.Now()
		for time.Since(begin) < 3*time.Minute {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			_, err := c.Account(ctx)
			cancel()
			if errors.As(err, &refused) { // its turn did not come
				if err := c.Cancel(t.Context(), "none"); !errors.Is(err, live.ErrUnknown) {
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
// named: in Retry-After, else in X-RateLimit-Reset, else after a second, and never for
// longer than a minute. A request that would wait for more than ten seconds is refused.
func TestPause(t *testing.T) {
	for _, k := range []struct {
		name         string
		after, reset int // seconds from now; zero for no header
		refused      bool
		want         time.Duration
	}{
		{"no time", 0, 0, false, time.Second},
		{"five seconds", 5, 0, false, 5 * time.Second},
		{"a reset in four seconds", 0, 4, false, 4 * time.Second},
		{"both", 3, 50, false, 3 * time.Second},
		{"half a minute", 30, 0, true, 30 * time.Second},
		{"an hour", 3600, 0, true, time.Minute},
		{"a reset in a year", 0, 365 * 24 * 3600, true, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			c := dial(t, v)
			header := http.Header{}
			if k.after != 0 {
				header.Set("Retry-After", strconv.Itoa(k.after))
			}
			if k.reset != 0 {
				header.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Duration(k.reset)*time.Second).Unix(), 10))
			}
			c.budget.pause(header)
			begin, refused := time.Now(), (*live.Refused)(nil)
			_, err := c.Account(t.Context())
			if k.refused {
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), "retry in a minute, an order with a new client_order_id or without one") || time.Since(begin) != 0 || v.Busiest() != 0 {
					t.Errorf("%s: %v after %s and %d requests, want a refusal at once and none", k.name, err, time.Since(begin), v.Busiest())
				}
				if err := c.Stream(t.Context(), func() {}, func(live.State) {}); !errors.As(err, &refused) {
					t.Errorf("%s: a stream: %v, want a refusal", k.name, err)
				}
				time.Sleep(k.want - time.Second) // which a request can wait for
				_, err = c.Account(t.Context())
			}
			if took := time.Since(begin); err != nil || took != k.want {
				t.Errorf("%s: %v after %s, want an answer after %s", k.name, err, took, k.want)
			}
		})
	}
}

// TestReport reads an account.
func TestReport(t *testing.T) {
	v := alpacatest.New()
	id := v.Foreign("AAPL", "sell", 300*exact.One, 10*exact.One)
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
}

// TestReportFails: a list that cannot be had makes no report.
func TestReportFails(t *testing.T) {
	for _, path := range []string{"/v2/orders", "/v2/positions", "/v2/account"} {
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
			if err == nil {
				t.Errorf("%s with %+v: %+v", path, fault, r)
			}
		}
	}
}

// canned is a connection to a service that answers what it is told to, by path.
type canned map[string]string

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, ok := c[r.Method+" "+r.URL.Path]
	if !ok {
		return nil, fmt.Errorf("nothing is at %s %s", r.Method, r.URL.Path)
	}
	w := httptest.NewRecorder()
	if status, text, ok := strings.Cut(answer, "|"); ok {
		code, _ := strconv.Atoi(status) // ours
		w.WriteHeader(code)
		answer = text
	}
	w.WriteString(answer)
	return w.Result(), nil
}

// TestUnlikely: an answer that cannot be true is an error, and nothing of it is believed. It
// is no refusal: what was asked for may have been done.
func TestUnlikely(t *testing.T) {
	const (
		account = `{"account_number":"A1","status":"ACTIVE"}`
		clock   = `{"timestamp":"2026-11-17T15:00:00Z","is_open":true,"next_open":"2026-11-18T14:30:00Z","next_close":"2026-11-17T21:00:00Z"}`
		asset   = `{"symbol":"AAPL","class":"us_equity","status":"active","tradable":true}`
	)
	report := func(c *Client) error { _, err := c.Report(t.Context()); return err }
	lookup := func(c *Client) error { _, err := c.Lookup(t.Context(), live.Order{ClientID: "a"}); return err }
	rules := func(c *Client) error { _, err := c.Rules(t.Context(), "AAPL"); return err }
	for _, k := range []struct {
		name   string
		answer canned
		ask    func(*Client) error
		want   string // a part of the error; empty for none
	}{
		{"an empty account", canned{"GET /v2/orders": `[]`, "GET /v2/positions": `[]`, "GET /v2/account": account}, report, ""},
		{"an account without a number", canned{"GET /v2/orders": `[]`, "GET /v2/positions": `[]`, "GET /v2/account": `{"status":"ACTIVE"}`}, report, "an account without a number"},
		{"a position without a symbol", canned{"GET /v2/orders": `[]`, "GET /v2/positions": `[{"qty":"1"}]`}, report, "a position without a symbol"},
		{"a position without a quantity", canned{"GET /v2/orders": `[]`, "GET /v2/positions": `[{"symbol":"AAPL","qty":null}]`}, report, "or a quantity"},
		{"a quantity that is none", canned{"GET /v2/orders": `[]`, "GET /v2/positions": `[{"symbol":"AAPL","qty":"1.12345678x"}]`}, report, `bad decimal "1.12345678x"`},
		{"an order without a status", canned{"GET /v2/orders": `[{"id":"x"}]`}, report, "without an id or a status"},
		{"an order that is filled with nothing", canned{"GET /v2/orders": `[{"id":"x","status":"filled","qty":"1","filled_qty":"0"}]`}, report, "is filled and nothing of it was"},
		{"a leg that cannot be", canned{"GET /v2/orders": `[{"id":"x","status":"new","qty":"1","legs":[{"id":"../y","status":"held"}]}]`}, report, "without an id or a status"},
		{"a stop that was moved three times", canned{"GET /v2/orders": `[{"id":"x","status":"filled","qty":"1","filled_qty":"1","legs":[{"id":"a","status":"new"},{"id":"b","status":"replaced"},{"id":"c","status":"replaced"},{"id":"d","status":"replaced"},{"id":"e","status":"new"}]}]`,
			"GET /v2/positions": `[]`, "GET /v2/account": account}, report, ""},
		{"an id that leads elsewhere", canned{"GET /v2/orders:by_client_order_id": `{"id":"../account","client_order_id":"a","order_class":"bracket","status":"new"}`}, lookup, "an order without an id"},
		{"the asset of another symbol", canned{"GET /v2/assets/AAPL": `{"symbol":"MSFT"}`}, rules, "and got another"},
		{"an asset", canned{"GET /v2/assets/AAPL": asset, "GET /v2/clock": clock}, rules, ""},
		{"a clock without times", canned{"GET /v2/assets/AAPL": asset, "GET /v2/clock": `{"is_open":true}`}, rules, "a clock without the times of the next session"},
		{"a cancel of all that failed", canned{"DELETE /v2/orders": `500|{"code":1,"message":"failed to cancel"}`},
			func(c *Client) error { _, err := c.CancelAll(t.Context()); return err }, "status 500"},
	} {
		c, err := New(Options{URL: PaperURL, Client: &http.Client{Transport: k.answer}})
		if err != nil {
			t.Fatal(err)
		}
		refused := (*live.Refused)(nil)
		err = k.ask(c)
		if k.want == "" && err != nil || k.want != "" && (err == nil || !strings.Contains(err.Error(), k.want) || errors.As(err, &refused)) {
			t.Errorf("%s: %v, want %q", k.name, err, k.want)
		}
	}
}

// TestFineQuantities: the owner buys for a round sum in the dashboard, which Alpaca fills to
// nine decimals; that neither ends the stream nor keeps the account and other fills from being
// read; the ninth is left out.
func TestFineQuantities(t *testing.T) {
	const (
		fine  = `{"id":"x","client_order_id":"by-hand","status":"partially_filled","qty":null,"filled_qty":"0.123456789","filled_avg_price":"81"}`
		usual = `{"id":"y","client_order_id":"a","status":"partially_filled","qty":"2","filled_qty":"1","filled_avg_price":"9"}`
	)
	c, err := New(Options{URL: PaperURL, Client: &http.Client{Transport: canned{
		"GET /v2/orders": "[" + fine + "," + usual + "]", "GET /v2/positions": `[{"symbol":"AAPL","qty":"0.123456789"}]`, "GET /v2/account": `{"account_number":"A1","status":"ACTIVE"}`,
		"GET /v2/events/trades": `data: {"event":"partial_fill","event_id":"01A","qty":"0.123456789","price":"81","order":` + fine + "}\n" +
			`data: {"event":"partial_fill","event_id":"01B","qty":"1","price":"9","order":` + usual + "}\n",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Report(t.Context()); err != nil || len(r.Open) != 2 || r.Open[0].Filled != 12345678 || r.Open[1].ID != "y" || len(r.Positions) != 1 || r.Positions[0].Quantity != 12345678 {
		t.Errorf("the report: %+v, %v, want both orders, and 0.12345678 filled and held", r, err)
	}
	var events []live.State
	err = c.Stream(t.Context(), func() {}, func(s live.State) { events = append(events, s) })
	if len(events) != 2 || events[1].ID != "y" || err == nil || !strings.Contains(err.Error(), "it ended") {
		t.Errorf("the stream: %+v, %v, want both events and its end", events, err)
	}
}

// TestHugeNumbers: somebody else has a position beyond the 92 billion that can be kept exactly,
// as of a coin that costs a fraction of a cent; then there is no report of the account, but an
// error that names the bound.
func TestHugeNumbers(t *testing.T) {
	c, err := New(Options{URL: PaperURL, Client: &http.Client{Transport: canned{
		"GET /v2/orders": "[]", "GET /v2/account": `{"account_number":"A1","status":"ACTIVE"}`, "GET /v2/positions": `[{"symbol":"SHIBUSD","qty":"100000000000","side":"long"}]`,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Report(t.Context()); err == nil || !strings.Contains(err.Error(), "beyond 92 billion") {
		t.Errorf("the report: %+v, %v, want an error that names the bound", r, err)
	}
}

// TestCreditSpread: the owner sells a spread of options in Alpaca's app, an order of several
// legs whose price is negative because money is received (Alpaca's guide to options trading, of
// multi-leg orders); it is listed, and nothing else is kept from being
// read.
func TestCreditSpread(t *testing.T) {
	const (
		spread = `{"id":"x","client_order_id":"by-hand","order_class":"mleg","symbol":"","side":"","type":"limit","status":"partially_filled","qty":"3","filled_qty":"1","limit_price":"-0.54","filled_avg_price":"-0.54",` +
			`"legs":[{"id":"l1","order_class":"mleg","symbol":"AAPL261218C00200000","side":"sell","status":"partially_filled","qty":"3","filled_qty":"1","filled_avg_price":"1.54"},` +
			`{"id":"l2","order_class":"mleg","symbol":"AAPL261218C00210000","side":"buy","status":"partially_filled","qty":"3","filled_qty":"1","filled_avg_price":"1"}]}`
		usual = `{"id":"y","client_order_id":"a","status":"partially_filled","qty":"2","filled_qty":"1","filled_avg_price":"9"}`
	)
	c, err := New(Options{URL: PaperURL, Client: &http.Client{Transport: canned{
		"GET /v2/orders": "[" + spread + "," + usual + "]", "GET /v2/positions": `[]`, "GET /v2/account": `{"account_number":"A1","status":"ACTIVE"}`,
		"GET /v2/events/trades": `data: {"event":"partial_fill","event_id":"01A","qty":"1","price":"-0.54","order":` + spread + "}\n" +
			`data: {"event":"partial_fill","event_id":"01B","qty":"1","price":"0","order":` + spread + "}\n" + // an even one
			`data: {"event":"partial_fill","event_id":"01C","qty":"1","price":"9","order":` + usual + "}\n",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Report(t.Context()); err != nil || len(r.Open) != 2 || r.Open[0].ID != "x" || len(r.Open[0].Legs) != 2 || r.Open[1].ID != "y" {
		t.Errorf("the report: %+v, %v, want the orders x, with two legs, and y", r, err)
	}
	var events []live.State
	err = c.Stream(t.Context(), func() {}, func(s live.State) { events = append(events, s) })
	if len(events) != 3 || events[2].ID != "y" || err == nil || !strings.Contains(err.Error(), "it ended") {
		t.Errorf("the stream: %+v, %v, want three events, the last with a fill, and its end", events, err)
	}
}

// TestNothingPlaced: that Alpaca does not know the order to be replaced is a refusal: nothing was
// placed for certain.
func TestNothingPlaced(t *testing.T) {
	v := alpacatest.New()
	c := dial(t, v)
	o, refused := live.Order{ClientID: "a", Symbol: "AAPL", Side: "buy", Type: "limit", TimeInForce: "gtc", Quantity: exact.One, Limit: exact.One}, (*live.Refused)(nil)
	o.Replaces = "gone"
	if _, err := c.Submit(t.Context(), o); !errors.As(err, &refused) || !strings.Contains(err.Error(), "order not found") {
		t.Errorf("in the place of an order that is not there: %v, want a refusal", err)
	}
	if n := len(v.Orders()); n != 0 {
		t.Errorf("%d orders at the venue, want none", n)
	}
}

// TestBlocked: why an account may not trade is said in words; it can be read all the same.
func TestBlocked(t *testing.T) {
	for members, want := range map[string]string{
		`"status":"ACTIVE"`:                                "",
		`"status":"ACCOUNT_UPDATED"`:                       "the account is ACCOUNT_UPDATED",
		`"status":""`:                                      "the account is ",
		`"status":"ACTIVE","trading_blocked":true`:         "Alpaca has blocked the account",
		`"status":"ACTIVE","account_blocked":true`:         "Alpaca has blocked the account",
		`"status":"ACTIVE","trade_suspended_by_user":true`: "trading is suspended in the account's settings at Alpaca",
	} {
		c, err := New(Options{URL: PaperURL, Client: &http.Client{Transport: canned{"GET /v2/account": `{"account_number":"A1","equity":"5",` + members + `}`}}})
		if err != nil {
			t.Fatal(err)
		}
		if a, err := c.Account(t.Context()); err != nil || a.Blocked != want || a.ID != "A1" || a.Equity != 5*exact.One {
			t.Errorf("%s: %+v, %v, want %q", members, a, err, want)
		}
	}
}

// TestShort: a short position is negative, whether Alpaca writes a minus or only the side.
func TestShort(t *testing.T) {
	for text, want := range map[string]exact.Decimal{
		`{"symbol":"AAPL","side":"short","qty":"-2"}`: -2 * exact.One,
		`{"symbol":"AAPL","side":"short","qty":"2"}`:  -2 * exact.One,
		`{"symbol":"AAPL","side":"long","qty":"2"}`:   2 * exact.One,
	} {
		var p position
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if got, err := p.position(); err != nil || got.Quantity != want {
			t.Errorf("%s: %+v, %v, want %s", text, got, err, want)
		}
	}
}

// pages is a service with open orders, which it lists as Alpaca does: at most 500 of those
// that were submitted after a time, the oldest first.
type pages []order

func (p pages) RoundTrip(r *http.Request) (*http.Response, error) {
	after, _ := time.Parse(time.RFC3339Nano, r.URL.Query().Get("after"))
	page := []map[string]any{}
	for _, o := range p {
		if o.CreatedAt.After(after) && len(page) < ordersPage {
			page = append(page, map[string]any{"id": o.ID, "status": "new", "qty": "1", "created_at": o.CreatedAt})
		}
	}
	w := httptest.NewRecorder()
	json.NewEncoder(w).Encode(page)
	return w.Result(), nil
}

// TestManyOpenOrders: open orders beyond a page are read, also those that were placed at the
// same moment as the last of it. More than can be told apart in pages are an error: a report
// that leaves one out would say that it is gone.
func TestManyOpenOrders(t *testing.T) {
	begin := time.Date(2026, 11, 17, 15, 0, 0, 0, time.UTC)
	for _, k := range []struct {
		name  string
		n     int
		every int // this many are placed at the same moment
		ok    bool
	}{
		{"a page", ordersPage, 1, true},
		{"two pages and one", 2*ordersPage + 1, 1, true},
		{"three at a time", 2*ordersPage + 1, 3, true},
		{"all at the same moment", ordersPage + 1, ordersPage + 1, false},
	} {
		var all pages
		for i := range k.n {
			all = append(all, order{ID: fmt.Sprint("x", i), CreatedAt: begin.Add(time.Duration(i/k.every) * time.Microsecond)})
		}
		c, err := New(Options{URL: PaperURL, Client: &http.Client{Transport: all}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.open(t.Context())
		if (err == nil) != k.ok || k.ok && len(got) != k.n {
			t.Errorf("%s: %d orders, %v, want %d", k.name, len(got), err, k.n)
		}
		for i, s := range got {
			if s.ID != all[i].ID {
				t.Fatalf("%s: order %d is %s", k.name, i, s.ID)
			}
		}
	}
}

// TestStream: what happens is told, and the end of the stream is an error.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		var told []live.State
		failed := make(chan error)
		go func() {
			failed <- dial(t, v).Stream(t.Context(), func() {}, func(s live.State) { told = append(told, s) })
		}()
		synctest.Wait()
		id := v.Foreign("AAPL", "buy", 2*exact.One, 10*exact.One)
		v.Fill(id, exact.One, 9*exact.One)
		time.Sleep(time.Minute)
		v.CutStreams()
		if err := <-failed; len(told) != 2 || told[1].Filled != exact.One || told[1].Average != 9*exact.One || err == nil {
			t.Errorf("%+v, %v", told, err)
		}
	})
}

// TestStreamGoesOn: an event that cannot be read ends the stream, so that the account is read
// instead, as after every connect.
func TestStreamGoesOn(t *testing.T) {
	for name, order := range map[string]string{
		"an order that cannot be": `{"id":"x","status":"new","qty":"1","filled_qty":"2"}`,
		"a number that is none":   `{"id":"x","status":"new","qty":"many"}`,
		"an infinite quantity":    `{"id":"x","status":"new","qty":"Inf"}`,
	} {
		c, err := New(Options{URL: PaperURL, Client: &http.Client{Transport: canned{
			"GET /v2/events/trades": `data: {"at":"2026-11-17T15:00:00Z","event":"new","event_id":"01A","order":` + order + "}\n",
		}}})
		if err != nil {
			t.Fatal(err)
		}
		var told []live.State
		err = c.Stream(t.Context(), func() {}, func(s live.State) { told = append(told, s) })
		if len(told) != 0 || err == nil || strings.Contains(err.Error(), "it ended") {
			t.Errorf("%s: %+v, %v, want nothing and an error", name, told, err)
		}
	}
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
	_, err := c.Submit(t.Context(), live.Order{ClientID: "a", Symbol: "AAPL", Side: "buy", Type: "market", TimeInForce: "day", Quantity: exact.One})
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
		err := readEvents(bytes.NewReader(append(append([]byte("data: "), bytes.ReplaceAll(text, []byte("\n"), nil)...), '\n')), func(s live.State) {
			if !isID(s.ID) || s.Filled < 0 || s.Quantity != 0 && s.Filled > s.Quantity {
				t.Errorf("believed %+v of %q", s, text)
			}
		})
		if err == nil {
			t.Error("a stream that ends is an error")
		}
	})
}
