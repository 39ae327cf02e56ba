//go:build !core

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/notify"
	"wick/trade"
	"wick/trade/book"
)

// hook is a receiver of webhooks.
type hook struct {
	*httptest.Server
	mu   sync.Mutex
	got  []hooked
	fail bool // answer 500
}

// hooked is one webhook.
type hooked struct {
	ID   string
	Type string
	Data struct {
		Text, Symbol, Client string
		Detail               json.RawMessage
		Picture              []byte
	}
}

func newHook(t *testing.T) *hook {
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.fail {
			http.Error(w, "not now", http.StatusInternalServerError)
			return
		}
		got := hooked{ID: r.Header.Get("webhook-id")}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		h.got = append(h.got, got)
	}))
	t.Cleanup(h.Close)
	return h
}

// await returns the first webhook of a type, once it has come.
func (h *hook) await(kind string) hooked {
	for {
		h.mu.Lock()
		for _, got := range h.got {
			if got.Type == kind {
				h.mu.Unlock()
				return got
			}
		}
		h.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
	}
}

// destinations writes a file of destinations and returns its name.
func destinations(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "notify")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestNotifyDailyLoss: the owner is told when the account has lost what it may in a day, and the
// message speaks of a loss, not of a halt that somebody ordered.
func TestNotifyDailyLoss(t *testing.T) {
	t.Parallel()
	receiver := newHook(t)
	file := destinations(t, "hook webhook "+receiver.URL+" allow-private kinds=loss,halt,fill")
	h := start(t, "--trade", "--data-dir", t.TempDir(), "--notify-file", file, "--cash", "1000", "--fee-rate", "0.01", "--max-daily-loss", "0.05")
	token := h.login(t)
	h.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.002"}`) // for about 120, and 1.2 of fees
	if got := receiver.await("loss"); !strings.HasPrefix(got.Data.Text, "The account has lost what it may in a day (--max-daily-loss)") {
		t.Errorf("loss: %+v", got)
	}
	receiver.await("fill")
	receiver.mu.Lock()
	defer receiver.mu.Unlock()
	for _, got := range receiver.got {
		if got.Type == "halt" {
			t.Errorf("told of a halt too: %+v", got)
		}
	}
}

// TestNotify: a login, a fill, an alert with its picture and a
// halt reach the owner; and the secret of the address is in no log, reply, metric,
// record or audit.
func TestNotify(t *testing.T) {
	t.Parallel()
	receiver := newHook(t)
	dir := t.TempDir()
	file := destinations(t, "hook webhook "+receiver.URL+"/PLANTEDsecret allow-private picture rate=1000")
	h := start(t, "--trade", "--data-dir", dir, "--notify-file", file, "--metrics", "127.0.0.1:0")
	receiver.await("journal")
	token := h.login(t)
	if got := receiver.await("login"); !strings.Contains(got.Data.Text, "logged in from 127.0.0.1, may use: charts trade") {
		t.Errorf("login: %+v", got)
	}
	replies := h.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.02"}`)
	if got := receiver.await("fill"); !regexp.MustCompile(`^BTCUSDT: bought 0\.02 at [\d,.]+ \(paper, invented prices\)$`).MatchString(got.Data.Text) || got.Data.Client == "" || got.Data.Symbol != "BTCUSDT" ||
		!bytes.Contains(got.Data.Detail, []byte(`"order_id"`)) || bytes.Contains(got.Data.Detail, []byte(`"by"`)) {
		t.Errorf("fill: %+v %s", got, got.Data.Detail)
	}
	replies += h.call(t, token, "set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":0.5},"note":"look"}`)
	got := receiver.await("alert")
	if !strings.HasSuffix(got.Data.Text, ", at or above 0.5. The data is invented. \"look\"") || !strings.HasPrefix(got.ID, "n-") {
		t.Errorf("alert: %+v", got)
	}
	if picture, err := png.DecodeConfig(bytes.NewReader(got.Data.Picture)); err != nil || picture.Width != 960 || picture.Height != 1200 {
		t.Errorf("its picture: %+v, %v", picture, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "HALT"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := receiver.await("halt"); got.Data.Text != "Trading is halted: no orders are taken (owner, by the file HALT)" {
		t.Errorf("halt: %+v", got)
	}
	receiver.mu.Lock()
	receiver.fail = true
	receiver.mu.Unlock()
	os.Remove(filepath.Join(dir, "HALT"))
	for !strings.Contains(h.log.String(), "message not sent yet") {
		time.Sleep(5 * time.Millisecond)
	}
	_, metrics := fetch(t, "GET", metricsAt.FindStringSubmatch(h.log.String())[1], "")
	for _, want := range []string{`wick_notify_attempts_total{destination="hook",outcome="sent"} 5`, `outcome="retry"} `, `wick_notify_waiting{destination="hook"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s in the metrics: %s", want, metrics)
		}
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	var audit bytes.Buffer
	if err := trade.Audit(dir, &audit); err != nil || !strings.Contains(audit.String(), " outbox ") {
		t.Errorf("audit: %v", err)
	}
	files := everyFile(t, dir)
	for what, text := range map[string]string{"log": h.log.String(), "replies": replies, "metrics": metrics, "audit": audit.String(), "data directory": files} {
		if strings.Contains(text, "PLANTED") {
			t.Errorf("the secret is in the %s", what)
		}
	}
}

// TestNotifySays: with destinations for messages, a client's model reads in the instructions
// that fired alerts reach their owner, and in the reply to set_alert where this one goes. Of
// destinations that leave it out nothing is promised.
func TestNotifySays(t *testing.T) {
	t.Parallel()
	receiver := newHook(t)
	line := func(name, filter string) string {
		return name + " webhook " + receiver.URL + "/PLANTEDsecret allow-private " + filter
	}
	const alert = `{"symbol":"BTCUSDT","condition":{"price_above":99999999}}`
	for _, c := range []struct {
		lines        []string
		instructions bool
		reply        string
	}{
		{nil, false, `"goes_to":["queue"]`},
		{[]string{line("phone", ""), line("desk", "kinds=alert,fill"), line("log", "kinds=fill"), line("eth", "symbols=ETHUSDT"), line("btc", "symbols=btc/usdt"), line("other", "clients=other"), line("mine", "clients=test")},
			true, `"goes_to":["queue","phone"]`},
		{[]string{line("log", "kinds=fill")}, false, `"goes_to":["queue"]`},
		{[]string{line("eth", "symbols=ETHUSDT")}, true, `"goes_to":["queue"]`},
	} {
		args := []string{"--trade", "--data-dir", t.TempDir()}
		if c.lines != nil {
			args = append(args, "--notify-file", destinations(t, c.lines...))
		}
		h := start(t, args...)
		token := h.login(t)
		var hello struct{ Result struct{ Instructions string } }
		h.post(t, "/mcp", "application/json", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, 200, &hello)
		const said = "A fired alert is also sent to the owner as a message, whether or not a client is connected."
		if strings.Contains(hello.Result.Instructions, said) != c.instructions {
			t.Errorf("%q: the instructions are %s; want them to name the messages: %v", c.lines, hello.Result.Instructions, c.instructions)
		}
		reply := h.call(t, token, "set_alert", alert)
		if !strings.Contains(strings.ReplaceAll(reply, `\`, ""), c.reply) {
			t.Errorf("%q: the reply is %s, want %s", c.lines, reply, c.reply)
		}
		if strings.Contains(reply, "PLANTED") {
			t.Error("the address is told")
		}
	}
}

// everyFile returns the content of all files below a directory.
func everyFile(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if data, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
			b.Write(data)
		}
	}
	return b.String()
}

// TestNotifyOverRestart: what a destination did not take is sent after the next
// start, under the same id.
func TestNotifyOverRestart(t *testing.T) {
	receiver := newHook(t)
	receiver.fail = true
	dir := t.TempDir()
	file := destinations(t, "hook webhook "+receiver.URL+" allow-private kinds=fill")
	h := start(t, "--trade", "--data-dir", dir, "--notify-file", file)
	h.call(t, h.login(t), "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.02"}`)
	for !strings.Contains(h.log.String(), "message not sent yet") {
		time.Sleep(5 * time.Millisecond)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	receiver.mu.Lock()
	receiver.fail = false
	receiver.mu.Unlock()
	start(t, "--trade", "--data-dir", dir, "--notify-file", file)
	if got := receiver.await("fill"); !strings.Contains(h.log.String(), "id="+got.ID) {
		t.Errorf("%s is not the id of before", got.ID)
	}
}

// TestNotifyTest: wick notify-test says what came back, of all or of one.
func TestNotifyTest(t *testing.T) {
	receiver := newHook(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "who are you, "+r.URL.Path, http.StatusUnauthorized)
	}))
	defer other.Close()
	file := destinations(t, "good webhook "+receiver.URL+" allow-private picture", "bad ntfy "+other.URL+"/PLANTEDtopic allow-private")
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := Run(t.Context(), append(args, "--notify-file", file), env("HOME", t.TempDir()), nil, &out, io.Discard)
		return out.String(), err
	}
	if out, err := run("notify-test"); err == nil || out != "good: sent\nbad: failed: answered 401 Unauthorized: who are you, /***\n" {
		t.Errorf("%q, %v", out, err)
	}
	if got := receiver.await("test"); len(got.Data.Picture) == 0 {
		t.Errorf("%+v", got)
	}
	if out, err := run("notify-test", "good"); err != nil || out != "good: sent\n" {
		t.Errorf("%q, %v", out, err)
	}
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"--notify-file", file, "notify-test", "good"}, env("HOME", t.TempDir()), nil, &out, io.Discard); err != nil || out.String() != "good: sent\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if _, err := run("notify-test", "nobody"); err == nil || !strings.Contains(err.Error(), `no destination is called "nobody"`) {
		t.Error(err)
	}
}

// TestNotifyFlags: what is refused at the start.
func TestNotifyFlags(t *testing.T) {
	open := destinations(t, "a ntfy https://example.com/x")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"needs --trade":          {"--serve", "--notify-file", destinations(t, "a ntfy https://example.com/x")},
		"chmod 600":              {"--trade", "--notify-file", open},
		"no such file":           {"--trade", "--notify-file", filepath.Join(t.TempDir(), "none")},
		"line 1: the kind":       {"--trade", "--notify-file", destinations(t, "a sms https://example.com/x")},
		"is longer than 65536":   {"--trade", "--notify-file", destinations(t, "a ntfy https://example.com/x\n"+strings.Repeat("#", maxNotifyFile))},
		"not a regular file":     {"--trade", "--notify-file", t.TempDir()},
		"write wick notify-test": {"--notify-file", open, "notify-test", "a", "b"},
		"unexpected argument \"": {"--notify-file", open, "a"},
	} {
		_, err := parseConfig(args, env("HOME", t.TempDir()), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

// fourHours is a messenger whose pictures have that interval.
var fourHours = &messenger{app: &app{config: &config{engine: trade.Options{Intervals: []market.Interval{"4h"}}}}}

// TestAlertText: a message about an alert has the sentence that clients get, and the note.
func TestAlertText(t *testing.T) {
	var e notify.Event
	fourHours.describe(&e, book.Step{Notification: &book.Notification{Symbol: "AAA", Message: "AAA is at 12, at or above 11.", Note: `a "note"`, Interval: "1h",
		Condition: book.FiredCondition{Type: book.IndicatorSignal, Indicator: "rsi"}}})
	if want := `AAA is at 12, at or above 11. "a \"note\""`; e.Text != want || e.Kind != notify.Alert {
		t.Errorf("%s %s, want %s", e.Kind, e.Text, want)
	}
}

// TestOrderText: what was bought or sold is told whatever became of the rest of the order.
func TestOrderText(t *testing.T) {
	number := func(text string) exact.Decimal {
		v, err := exact.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	average := number("1100.5")
	for _, c := range []struct {
		want       string
		kind, also notify.Kind
		order      book.Order
	}{
		{"AAA: bought 1,035 at 1,100.5 (paper)", notify.Fill, "",
			book.Order{Side: book.Buy, Status: book.StatusFilled, Quantity: number("1035"), FilledQuantity: number("1035"), AveragePrice: &average}},
		{"AAA: bought 10 of 1,035 at 1,100.5; the rest was cancelled (paper)", notify.Fill, notify.Cancel,
			book.Order{Side: book.Buy, Status: book.StatusCancelled, Quantity: number("1035"), FilledQuantity: number("10"), AveragePrice: &average}},
		{"AAA: sold 10 of 35 at 1,100.5; the rest was rejected: no money (alpaca)", notify.Fill, notify.Reject,
			book.Order{Side: book.Sell, Status: book.StatusRejected, Quantity: number("35"), FilledQuantity: number("10"), AveragePrice: &average, Reason: "no money", Account: "1", Broker: "alpaca"}},
		{"AAA: bought 1 of 2 at 1,100.5 (alpaca)", notify.Fill, "", // the broker says that it is all
			book.Order{Side: book.Buy, Status: book.StatusFilled, Quantity: number("2"), FilledQuantity: number("1"), AveragePrice: &average, Account: "1", Broker: "alpaca"}},
		{"AAA: order to buy 2 filled (alpaca)", notify.Fill, "", // the broker names no quantity and no price
			book.Order{Side: book.Buy, Status: book.StatusFilled, Quantity: number("2"), Account: "1", Broker: "alpaca"}},
		{"AAA: order to sell 35 cancelled (paper, invented prices)", notify.Cancel, "",
			book.Order{Side: book.Sell, Status: book.StatusCancelled, Quantity: number("35"), Synthetic: true}},
		{"AAA: order to sell 35 cancelled: at the broker: expired (alpaca)", notify.Cancel, "",
			book.Order{Side: book.Sell, Status: book.StatusCancelled, Quantity: number("35"), Reason: "at the broker: expired", Account: "1", Broker: "alpaca"}},
		{"AAA: order to buy 35 rejected: no money (paper)", notify.Reject, "",
			book.Order{Side: book.Buy, Status: book.StatusRejected, Quantity: number("35"), Reason: "no money"}},
	} {
		c.order.Symbol = "AAA"
		var e notify.Event
		fourHours.describe(&e, book.Step{Order: &c.order})
		if e.Text != c.want || e.Kind != c.kind || e.Also != c.also {
			t.Errorf("got  %s %s %q\nwant %s %s %q", e.Kind, e.Also, e.Text, c.kind, c.also, c.want)
		}
	}
	// What the broker changes after the end is no second fill.
	var e notify.Event
	late := book.Order{Symbol: "AAA", Side: book.Buy, Status: book.StatusFilled, Quantity: number("1035"), FilledQuantity: number("1035"), AveragePrice: &average,
		Reason: "it took back 2 of 1035 that were filled", Account: "1", Broker: "alpaca"}
	fourHours.describe(&e, book.Step{Order: &late, Again: true})
	if want := "AAA: of the order to buy 1,035: it took back 2 of 1035 that were filled (alpaca)"; e.Text != want || e.Kind != notify.Fill || e.Chart != nil {
		t.Errorf("got %s %q with a chart: %v, want %q", e.Kind, e.Text, e.Chart != nil, want)
	}
}

// TestNotifyFill: of an order that is far larger than what a minute trades a destination
// learns by one message, when it is filled, also if that is not taken before a restart.
func TestNotifyFill(t *testing.T) {
	receiver := newHook(t)
	receiver.fail = true
	file := destinations(t, "fills webhook "+receiver.URL+" allow-private kinds=fill,cancel")
	args := []string{"--trade", "--data-dir", t.TempDir(), "--notify-file", file, "--cash", "1e9", "--max-order-notional", "1e9", "--max-position-notional", "1e9"}
	h := start(t, args...)
	reply := h.call(t, h.login(t), "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"5000"}`)
	if !strings.Contains(reply, `"status":"filled","filled_quantity":5000,`) {
		t.Fatalf("the order: %s", reply)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	receiver.mu.Lock()
	receiver.fail = false
	receiver.mu.Unlock()
	h = start(t, args...)
	if got := receiver.await("fill"); !strings.HasPrefix(got.Data.Text, "BTCUSDT: bought 5,000 at ") {
		t.Errorf("told of the fill: %+v", got)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	for _, got := range receiver.got { // a restart may repeat a message, under its id
		if got.ID != receiver.got[0].ID {
			t.Errorf("told more than once: %+v", receiver.got)
		}
	}
}

func TestGrouped(t *testing.T) {
	for number, want := range map[string]string{"1": "1", "999": "999", "1000": "1,000", "-1000": "-1,000", "-100": "-100", "1234567.891": "1,234,567.891", "0.00001234": "0.00001234", "1e+21": "1e+21", "1.5e-10": "1.5e-10"} {
		if got := grouped(number); got != want {
			t.Errorf("%s: %s, want %s", number, got, want)
		}
	}
}

// TestNotifySymbols: a destination may name its symbols as a client may, and a start refuses
// what is no symbol of the source, with the destination.
func TestNotifySymbols(t *testing.T) {
	for _, test := range []struct{ source, symbols, want string }{
		{"sample", "BTC/USDT,btc-usdt", "[BTCUSDT BTCUSDT]"},
		{"sample", "ethusdt", "[ETHUSDT]"},
		{"kraken", "btc-usd", "[XBTUSD]"},
		{"sample", "BT$", `the line of phone: symbols=: bad symbol "BT$"`},
		{"sample", "BTCUSDT,", `the line of phone: symbols=: bad symbol ""`},
		{"kraken", "BINANCE:BTCUSDT", "the line of phone: symbols=: bad symbol"},
	} {
		file := filepath.Join(t.TempDir(), "notify")
		if err := os.WriteFile(file, []byte("phone ntfy https://ntfy.example.com/topic symbols="+test.symbols), 0o600); err != nil {
			t.Fatal(err)
		}
		c := parse(t, env("HOME", t.TempDir()), "--trade", "--notify-file", file, "--source", test.source)
		source, err := market.Open(test.source, env())
		if err != nil {
			t.Fatal(err)
		}
		err = c.resolveNotified(source)
		if got := fmt.Sprint(c.destinations[0].Filter.Symbols, err); !strings.Contains(got, test.want) {
			t.Errorf("%s at %s: %s, want %s", test.symbols, test.source, got, test.want)
		}
		if err != nil && Run(t.Context(), []string{"--trade", "--port", "0", "--notify-file", file, "--source", test.source}, env("HOME", t.TempDir()), nil, io.Discard, io.Discard) == nil {
			t.Errorf("%s at %s: wick starts", test.symbols, test.source)
		}
	}
}

// TestSilentSource: ten minutes without an answer are told once, and so is their
// end; a broken journal is told once.
func TestSilentSource(t *testing.T) {
	told := make(map[string]bool)
	for i, step := range []struct {
		journal string
		age     time.Duration
		want    string
	}{
		{"ok", time.Minute, ""},
		{"ok", silence - time.Second, ""},
		{"ok", silence, "silent: binance has not answered for 10 minutes: alerts on its prices wait"},
		{"ok", time.Hour, ""},
		{"ok", 0, "silent: binance answers again"},
		{"broken", 0, "storage: Storage failed: wick takes no orders and fires no alerts until it is started again"},
		{"broken", 0, ""},
	} {
		var got []string
		for _, e := range changes(told, step.journal, map[string]time.Duration{"binance": step.age}, time.Now()) {
			got = append(got, fmt.Sprintf("%s: %s", e.Kind, e.Text))
		}
		if strings.Join(got, "|") != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
}

// TestNotifyPictures: the chart of an alert on an indicator has the indicator's parameters, and
// the bar that fired is marked.
func TestNotifyPictures(t *testing.T) {
	source, err := market.Open("sample", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	bar := book.Time{Time: time.Now().UTC().Truncate(4 * time.Hour).Add(-4 * time.Hour)}
	n := &book.Notification{Symbol: "BTCUSDT", Interval: "4h", Value: "31.2", TriggeredAt: book.Time{Time: time.Now()}, BarTime: &bar,
		Condition: book.FiredCondition{Type: book.IndicatorSignal, Indicator: "rsi", Signal: "rsi_oversold", Params: map[string]json.RawMessage{"length": json.RawMessage("21")}}}
	with := fourHours.alertChart(n)
	n.BarTime = nil
	without := fourHours.alertChart(n)
	var pictures [][]byte
	for _, chart := range []json.RawMessage{with, without} {
		picture, err := painter(source)(context.Background(), notify.Event{Chart: chart})
		if err != nil {
			t.Fatal(err)
		}
		pictures = append(pictures, picture)
	}
	if bytes.Equal(pictures[0], pictures[1]) || !bytes.Contains(with, []byte(`"length":21`)) {
		t.Errorf("the bar is not marked, or the parameters are lost: %s", with)
	}
}
