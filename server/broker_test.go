//go:build !core

package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/trade"
	"wick/trade/book"
	"wick/trade/live"
	"wick/trade/live/alpaca"
	"wick/trade/live/alpaca/alpacatest"
)

// atAlpaca starts a fake of Alpaca on this machine and returns it with the flags
// that lead a process to it: prices of AAPL from a file, and planted keys.
func atAlpaca(t *testing.T) (*alpacatest.Venue, []string) {
	t.Helper()
	v := alpacatest.New()
	v.Keys = [2]string{"PKPLANTED", "PLANTEDsecret"}
	v.Price("AAPL", 50*exact.One)
	fake := httptest.NewServer(v)
	t.Cleanup(fake.Close)
	t.Cleanup(v.CutStreams)
	t.Setenv("WICK_ALPACA_URL", fake.URL)
	dir := t.TempDir()
	var bars strings.Builder
	bars.WriteString("time,open,high,low,close,volume\n")
	for at := time.Now().Truncate(time.Hour).Add(-100 * time.Hour); at.Before(time.Now()); at = at.Add(time.Hour) {
		fmt.Fprintf(&bars, "%d,50,50,50,50,1\n", at.Unix())
	}
	keys := filepath.Join(dir, "keys")
	for name, text := range map[string]string{filepath.Join(dir, "AAPL-1h.csv"): bars.String(), keys: "APCA_API_KEY_ID=" + v.Keys[0] + "\nAPCA_API_SECRET_KEY=" + v.Keys[1] + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return v, []string{"--broker", "alpaca-paper", "--broker-key-file", keys, "--source", "csv:" + dir, "--symbols", "AAPL", "--intervals", "1h", "--paper-file", paperLines(t, "max-price-age 1000h")}
}

// ready waits until the account was read.
func (p *process) ready(t *testing.T) string {
	t.Helper()
	for {
		r, err := http.Get(p.base)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"trading":"active"`) {
			return string(text)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// order waits until get_orders says something of an order.
func (p *process) order(t *testing.T, token, id, want string) {
	t.Helper()
	for !strings.Contains(p.call(t, token, "get_orders", `{"order_id":"`+id+`"}`), want) {
		time.Sleep(10 * time.Millisecond)
	}
}

// TestBroker: a process at a broker says so everywhere; each order waits for a
// person unless the owner said otherwise; the keys are in no log, reply, metric,
// record, audit or error; the directory is the account's; wick halt cancel cancels.
func TestBroker(t *testing.T) {
	v, flags := atAlpaca(t)
	dir := t.TempDir()
	p := startProcess(t, dir, append(flags, "--metrics", "127.0.0.1:0")...)
	if health := p.ready(t); !strings.Contains(health, `"broker":"alpaca-paper","account":"…ICK1"`) || strings.Contains(health, v.Number) {
		t.Errorf("GET /: %s", health)
	}
	token := p.login(t)
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"AAPL","side":"buy","type":"limit","price":45,"quantity":1}}}`
	if _, text := p.ask(t, "/mcp", token, message); !strings.Contains(text, "a person has to approve this order") || len(v.Orders()) != 0 {
		t.Errorf("without --confirm-above: %s, %d orders", text, len(v.Orders()))
	}
	p.terminate(t)

	p = startProcess(t, dir, append(flags, "--metrics", "127.0.0.1:0", "--confirm-above", "100000")...)
	p.ready(t)
	token = p.login(t)
	if text := p.call(t, token, "place_order", `{"symbol":"AAPL","side":"buy","type":"limit","price":45,"quantity":1,"client_order_id":"one"}`); !strings.Contains(text, `"broker":"alpaca-paper"`) || !strings.Contains(text, v.Number) {
		t.Errorf("reply: %s", text)
	}
	big := strings.Replace(message, `"quantity":1`, `"quantity":3`, 1)
	if _, text := p.ask(t, "/mcp", token, big); !strings.Contains(text, "over the limit of 100 per order") {
		t.Errorf("an order of 135: %s", text)
	}
	if _, text := p.ask(t, "/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_positions","arguments":{"account":true}}}`); !strings.Contains(text, `\"broker\":\"alpaca-paper\",\"account\":\"`+v.Number) || !strings.Contains(text, `buying_power`) || !strings.Contains(text, `\"as_of\":\"20`) {
		t.Errorf("positions: %s", text)
	}
	var said bytes.Buffer
	if err := Run(t.Context(), []string{"--data-dir", dir, "halt", "cancel"}, os.Getenv, nil, &said, io.Discard); err != nil || len(v.Open()) != 0 {
		t.Errorf("halt cancel: %s, %v, %v still open", &said, err, v.Open())
	}
	if got := said.String(); strings.Contains(got, "rests there stays") || !strings.Contains(got, "no order is sent to alpaca-paper until it is resumed; every open order there was asked to be cancelled") {
		t.Errorf("halt cancel says %q, want that every order was asked to be cancelled, and not that some stay", got)
	}
	p.order(t, token, "one", `"status":"cancelled"`)
	var replies strings.Builder
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_orders","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_balance","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_positions","arguments":{"account":true,"include_flat":true}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"wick://positions"}}`,
		big,
	} {
		_, text := p.ask(t, "/mcp", token, body)
		replies.WriteString(text)
	}
	_, health := fetch(t, "GET", p.base+"/", "")
	replies.WriteString(health)
	_, metrics := fetch(t, "GET", metricsAt.FindStringSubmatch(p.log.String())[1], "")
	p.terminate(t)

	var audit bytes.Buffer
	if err := trade.Audit(dir, &audit); err != nil || !strings.Contains(audit.String(), " order_intent ") || !strings.Contains(audit.String(), " order_answered ") {
		t.Errorf("audit: %v %s", err, &audit)
	}
	v.Set(func(v *alpacatest.Venue) { v.Number = "PA3SOMEBODYELSE" })
	refused := Run(t.Context(), append(flags, "--trade", "--port", "0", "--data-dir", dir), os.Getenv, nil, io.Discard, io.Discard)
	if refused == nil || !strings.Contains(refused.Error(), "belongs to another account") {
		t.Errorf("another account on the directory: %v", refused)
	}
	paper := Run(t.Context(), []string{"--trade", "--port", "0", "--data-dir", dir}, os.Getenv, nil, io.Discard, io.Discard)
	if paper == nil || !strings.Contains(paper.Error(), "start with --broker alpaca-paper") {
		t.Errorf("paper on the directory: %v", paper)
	}
	v.Set(func(v *alpacatest.Venue) { v.Keys[1] = "other" })
	wrong := Run(t.Context(), append(flags, "--trade", "--port", "0", "--data-dir", t.TempDir()), os.Getenv, nil, io.Discard, io.Discard)
	if wrong == nil || !strings.Contains(wrong.Error(), "does not let these keys in") {
		t.Errorf("wrong keys: %v", wrong)
	}
	for what, text := range map[string]string{"log": p.log.String(), "metrics": metrics, "replies": replies.String(), "audit": audit.String(), "data directory": everyFile(t, dir), "errors": fmt.Sprint(refused, paper, wrong)} {
		if strings.Contains(text, "PLANTED") {
			t.Errorf("a key is in the %s", what)
		}
	}
}

// TestBrokerRefusesAtStart: only a refusal of the keys themselves ends a start. Whatever else
// Alpaca refuses at that moment is not said to be the keys, and the start goes on.
func TestBrokerRefusesAtStart(t *testing.T) {
	v := alpacatest.New()
	fake := httptest.NewServer(v)
	defer fake.Close()
	keys, err := alpaca.ParseKeys("APCA_API_KEY_ID=" + v.Keys[0] + "\nAPCA_API_SECRET_KEY=" + v.Keys[1] + "\n")
	if err != nil {
		t.Fatal(err)
	}
	for status, ends := range map[int]bool{http.StatusUnauthorized: true, http.StatusForbidden: false, http.StatusTooManyRequests: false, http.StatusServiceUnavailable: false} {
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(*http.Request) alpacatest.Fault { return alpacatest.Fault{Status: status} }
		})
		o, err := openVenue(&config{brokerConfig: brokerConfig{broker: brokerAlpacaPaper, brokerURL: fake.URL, brokerKeys: keys}}, slog.New(slog.DiscardHandler))
		if (err != nil) != ends || ends != (o == nil) || o != nil && o.(*live.Options).Account != "" {
			t.Errorf("status %d: %+v, %v, want the start to end: %t", status, o, err, ends)
		}
	}
}

// TestBrokerInEveryReply: each trading tool names the broker and the account in
// every reply, whether it did what it was asked for, found nothing or refused.
func TestBrokerInEveryReply(t *testing.T) {
	v, flags := atAlpaca(t)
	p := startProcess(t, t.TempDir(), flags...)
	p.ready(t)
	token := p.login(t)
	tried := map[string]bool{}
	for _, c := range []struct{ tool, arguments, want string }{
		{"place_order", `{"symbol":"AAPL","side":"buy","type":"limit","price":45,"quantity":1}`, "a person has to approve this order"},
		{"place_order", `{"symbol":"AAPL","side":"buy","type":"limit","price":45,"quantity":1,"dry_run":true}`, `\"dry_run\":true`},
		{"place_order", `{"symbol":"AAPL","side":"buy","type":"limit","price":45,"quantity":3}`, "over the limit of 100"},
		{"place_order", `{"symbol":"AAPL","side":"buy","type":"limit","price":45,"quantity":1,"time_in_force":"gtd","expires_at":"2030-01-01"}`, "knows no time_in_force gtd"},
		{"place_order", `{"symbol":"AAPL","side":"buy","type":"limit","price":45.001,"quantity":1}`, "steps of 0.01"},
		{"place_order", `{"symbol":"AAPL"}`, "side is required"},
		{"place_order", `{"symbol":"AAPL","sides":"buy"}`, "nothing was changed"},
		{"place_order", `{"symbol":"all","side":"sell","type":"market","quantity":"all"}`, `{\"orders\":[]}`},
		{"cancel_order", `{"order_id":"o-none-1"}`, "o-none-1"},
		{"cancel_order", `{"all":true}`, `\"cancelled\":0`},
		{"cancel_order", `{}`, "order_id is required"},
		{"get_orders", `{}`, `"text":"[]"`},
		{"get_orders", `{"order_id":"none"}`, "none"},
		{"get_orders", `{"limit":"many"}`, "limit"},
		{"get_positions", `{}`, `"text":"[]"`},
		{"get_positions", `{"account":true,"include_flat":true,"colour":1}`, "buying_power"},
		{"get_balance", `{}`, "get_balance is not available"},
		{"set_alert", `{"symbol":"AAPL","condition":{"price_above":1000}}`, `\"alert_id\"`},
		{"set_alert", `{"symbol":"AAPL"}`, "condition is required"},
		{"list_alerts", `{}`, `\"alert_id\"`},
		{"cancel_alert", `{"alert_id":"none"}`, "none"},
		{"get_notifications", `{}`, `"text":`},
		{"subscribe_notifications", `{}`, `"text":`},
		{"list_subscriptions", `{}`, `"text":`},
		{"unsubscribe_notifications", `{"subscription_id":"none"}`, `"text":`},
	} {
		tried[c.tool] = true
		_, text := p.ask(t, "/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+c.tool+`","arguments":`+c.arguments+`}}`)
		if !strings.Contains(text, c.want) || !strings.Contains(text, `{\"broker\":\"alpaca-paper\",\"account\":\"`+v.Number+`\",\"money\":\"none\"`) {
			t.Errorf("%s %s: %s, want %s and the broker", c.tool, c.arguments, text, c.want)
		}
	}
	_, trading := toolNames()
	for _, name := range trading {
		if !tried[name] {
			t.Errorf("%s was not tried: this test needs a call of it", name)
		}
	}
	p.terminate(t)
}

// TestRealMoney: the consent page, the page of GET / and the instructions for
// models say that real money moves.
func TestRealMoney(t *testing.T) {
	_, flags := atAlpaca(t)
	flags[1] = "alpaca"
	t.Setenv("WICK_PASSPHRASE", "")
	if err := Run(t.Context(), append(flags, "--trade", "--port", "0", "--data-dir", t.TempDir()), os.Getenv, nil, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "also a model that has a shell; set --passphrase-file") {
		t.Errorf("without a passphrase: %v", err)
	}
	t.Setenv("WICK_PASSPHRASE", "a passphrase of some length")
	p := startProcess(t, t.TempDir(), flags...)
	health := p.ready(t)
	if !strings.Contains(health, `"money":"real"`) {
		t.Errorf("GET /: %s", health)
	}
	request, _ := http.NewRequest("GET", p.base, nil)
	request.Header.Set("Accept", "text/html")
	if text := fetched(t, request); !strings.Contains(text, "Trading at alpaca, account …ICK1") || !strings.Contains(text, "active, with real money") {
		t.Errorf("GET / for a person: %s", text)
	}
	if _, text := p.ask(t, "/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`); !strings.Contains(text, "move REAL MONEY") {
		t.Errorf("initialize: %s", text)
	}
	var client struct {
		ID string `json:"client_id"`
	}
	p.post(t, "/register", "application/json", `{"client_name":"test","redirect_uris":["http://127.0.0.1:1/callback"]}`, 201, &client)
	request, _ = http.NewRequest("GET", p.base+"/authorize?"+url.Values{
		"client_id": {client.ID}, "redirect_uri": {"http://127.0.0.1:1/callback"}, "response_type": {"code"}, "code_challenge": {strings.Repeat("c", 43)}, "code_challenge_method": {"S256"},
	}.Encode(), nil)
	if text := fetched(t, request); !strings.Contains(text, "Real money: orders are sent to alpaca, account …ICK1.") {
		t.Errorf("consent page: %s", text)
	}
	p.terminate(t)
}

// fetched returns what a request gets.
func fetched(t *testing.T, r *http.Request) string {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPricesOfOthers: real money is not traded by prices that another user can write, at the
// start or at any question. The sum above which a person is asked is judged by them.
func TestPricesOfOthers(t *testing.T) {
	_, flags := atAlpaca(t)
	dir := strings.TrimPrefix(flags[5], "csv:")
	variables := env("HOME", "/", "WICK_PASSPHRASE", testPhrase, "WICK_ALPACA_URL", os.Getenv("WICK_ALPACA_URL"))
	c, err := parseConfig(append([]string{"--trade", "--broker", "alpaca"}, flags[2:]...), variables, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	source, err := openSource(c, variables)
	if err != nil {
		t.Fatalf("this user's own prices are refused: %v", err)
	}
	bars := 0
	refused := func() bool {
		bars++ // another number each time: a smaller one would be answered from memory
		_, asked := source.Bars(t.Context(), market.Query{Symbol: "AAPL", Interval: market.Hour1, Limit: bars})
		_, opened := openSource(c, variables)
		for _, err := range []error{asked, opened} {
			if err != nil && !strings.Contains(err.Error(), "prices by which real orders are judged") {
				t.Errorf("refused with %v", err)
			}
		}
		if (asked == nil) != (opened == nil) {
			t.Errorf("a question: %v, a start: %v", asked, opened)
		}
		return asked != nil
	}
	if refused() {
		t.Error("this user's own prices are refused")
	}
	for _, name := range []string{dir, filepath.Join(dir, "AAPL-1h.csv")} {
		if err := os.Chmod(name, 0o777); err != nil {
			t.Fatal(err)
		}
		if !refused() {
			t.Errorf("taken, though everybody can change %s", name)
		}
		if err := os.Chmod(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// Whoever can write above the directory can put another in its place.
	if err := errors.Join(os.Rename(dir, dir+"-mine"), os.CopyFS(dir, os.DirFS(dir+"-mine")), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	if !refused() {
		t.Error("prices of another directory are taken, which others can write")
	}
}

// TestBrokerFlags: what does not go together is refused with what would.
func TestBrokerFlags(t *testing.T) {
	_, flags := atAlpaca(t)
	open := filepath.Join(t.TempDir(), "open")
	if err := os.WriteFile(open, []byte("APCA_API_KEY_ID=a\nAPCA_API_SECRET_KEY=b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--trade", "--broker", "binance"}, "none of paper, alpaca-paper, alpaca"},
		{[]string{"--trade", "--broker", "alpaca", "--source", "yahoo"}, "needs --broker-key-file"},
		{[]string{"--serve", "--broker", "alpaca", "--source", "yahoo"}, "needs --trade"},
		{[]string{"--trade", "--broker", "alpaca", "--broker-key-file", flags[3]}, "invented prices"},
		{[]string{"--trade", "--broker", "alpaca", "--source", "yahoo", "--broker-key-file", open}, "run chmod 600 on it"},
		{append([]string{"--trade", "--cash", "5"}, flags...), "has one of its own"},
		{append([]string{"--trade", "--broker-dead-man", "1s"}, flags...), "at least 1m0s"},
	} {
		if _, err := parseConfig(c.args, env("HOME", "/"), io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
	if _, err := parseConfig(append([]string{"--trade"}, flags...), env("HOME", "/", "WICK_ALPACA_URL", "https://elsewhere.example"), io.Discard); err == nil || !strings.Contains(err.Error(), "not an address of this machine") {
		t.Errorf("keys to elsewhere: %v", err)
	}
	c := parse(t, env("HOME", "/"), append([]string{"--trade", "--max-daily-loss", "50"}, flags...)...)
	if c.engine.Limits.OrderNotional.String() != "100" || c.asking.Above != 0 || c.realMoney() || strings.Contains(fmt.Sprintf("%v %+v", c.brokerKeys, c), "PLANTED") {
		t.Errorf("%+v", c)
	}
}

// TestAttachLimits: a refusal to attach names the limits that hold, which a broker lowers where
// nothing was set.
func TestAttachLimits(t *testing.T) {
	_, flags := atAlpaca(t)
	c := parse(t, os.Getenv, append([]string{"--trade"}, flags...)...)
	for flag, want := range map[string]string{"--max-order-notional": "is 500 here and 100 at the wick", "--confirm-above": "is 500 here and 0 at the wick"} {
		front := parse(t, os.Getenv, append([]string{"--trade", flag, "500"}, flags...)...)
		if why := c.differs(front.agreed()); !strings.Contains(why, flag+" "+want) {
			t.Errorf("%s: %s", flag, why)
		}
	}
}

// TestBrokerKill kills the process with -9 while an order is on its way: before it
// arrives, and after it was taken and before the answer; the next process finds
// out; nothing is executed twice.
func TestBrokerKill(t *testing.T) {
	v, flags := atAlpaca(t)
	flags = append(flags, "--confirm-above", "100000")
	dir := t.TempDir()
	var victim atomic.Pointer[process]
	taken := false
	kill := func() { victim.Load().cmd.Process.Kill() }
	v.Set(func(v *alpacatest.Venue) {
		v.Faults = func(r *http.Request) alpacatest.Fault {
			switch {
			case r.Method != http.MethodPost || victim.Load() == nil:
				return alpacatest.Fault{}
			case taken:
				return alpacatest.Fault{Unread: true, Done: kill}
			}
			kill()
			return alpacatest.Fault{Lost: true}
		}
	})
	for i := range 4 {
		p := startProcess(t, dir, flags...)
		p.ready(t)
		token := p.login(t)
		taken = i%2 == 0
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		victim.Store(p)
		request, _ := http.NewRequest("POST", p.base+"/mcp", strings.NewReader(fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"AAPL","side":"buy","type":"market","quantity":1,"time_in_force":"day","client_order_id":"c%d"}}}`, i)))
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		if r, err := http.DefaultClient.Do(request); err == nil {
			r.Body.Close()
		}
		p.wait()
		victim.Store(nil)
	}
	p := startProcess(t, dir, flags...)
	p.ready(t)
	token := p.login(t)
	for i, want := range []string{`"status":"filled"`, "outcome unknown", `"status":"filled"`, "outcome unknown"} {
		p.order(t, token, fmt.Sprint("c", i), want)
	}
	if n := len(v.Orders()); n != 2 || v.Position("AAPL").String() != "2" {
		t.Errorf("the venue has %d orders and holds %s", n, v.Position("AAPL"))
	}
	p.terminate(t)
}

// purse is a broker that is never asked for more than whose money its orders move.
type purse struct {
	live.Broker
	money book.Money
}

func (p purse) Money() book.Money { return p.money }

// TestMoneyOfVenue: the consent page and GET / say whether real money moves by what the venue
// says of itself, whatever its name, and that none does without a broker.
func TestMoneyOfVenue(t *testing.T) {
	if got := new(app).moneyText(); got != "Paper trading: no real money." {
		t.Errorf("without a book the page says %q", got)
	}
	for _, c := range []struct {
		name           string
		money          book.Money
		page, reported string
	}{
		{"elsewhere", book.RealMoney, "Real money: orders are sent to elsewhere, account …3456.", "real"},
		{"alpaca", book.NoMoney, "Orders are sent to the paper account …3456 at alpaca: no real money.", ""},
		{"", "", "Paper trading: no real money.", ""},
	} {
		options := trade.Options{Dir: t.TempDir(), Source: market.Sample{}, Feed: market.NewFeed(market.Sample{}, nil)}
		if c.name != "" {
			options.Venue = &live.Options{Broker: purse{money: c.money}, Name: c.name, Account: "123456"}
		}
		e, err := trade.Open(options)
		if err != nil {
			t.Fatal(err)
		}
		a := &app{config: &config{trade: true}, trade: e}
		if got := a.moneyText(); got != c.page {
			t.Errorf("%q: the page says %q, want %q", c.name, got, c.page)
		}
		if got := a.health().Money; got != c.reported {
			t.Errorf("%q: GET / says %q, want %q", c.name, got, c.reported)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// brokerAt returns where the broker of atAlpaca is.
func brokerAt(t *testing.T) string {
	t.Helper()
	return os.Getenv("WICK_ALPACA_URL")
}
