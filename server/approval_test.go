//go:build !core

package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const testPhrase = "a passphrase of some length"

// consented registers a client that may trade and logs it in with the passphrase, as its
// person does in a browser.
func (h *running) consented(t *testing.T, phrase string) string {
	t.Helper()
	return h.consentedTo(t, phrase, "trade")
}

// consentedTo is consented for a scope that the person chooses.
func (h *running) consentedTo(t *testing.T, phrase, scope string) string {
	t.Helper()
	const redirect = "http://127.0.0.1:1/callback"
	var client struct {
		ID string `json:"client_id"`
	}
	h.post(t, "/register", "application/json", `{"client_name":"agent","redirect_uris":["`+redirect+`"]}`, 201, &client)
	verifier := strings.Repeat("v", 43)
	challenge := sha256.Sum256([]byte(verifier))
	query := url.Values{"client_id": {client.ID}, "redirect_uri": {redirect}, "response_type": {"code"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"}}
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := browser.Get(h.base + "/authorize?" + query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(r.Body)
	r.Body.Close()
	form := requestField.FindSubmatch(page)
	if form == nil {
		t.Fatalf("no form: %s %s", r.Status, page)
	}
	r, err = browser.PostForm(h.base+"/authorize", url.Values{"request": {string(form[1])}, "decision": {"allow"}, "grant": {scope}, "passphrase": {phrase}})
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	back, err := r.Location()
	if err != nil {
		t.Fatalf("%s: %v", r.Status, err)
	}
	var token struct {
		Token string `json:"access_token"`
	}
	h.post(t, "/token", "application/x-www-form-urlencoded", url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {client.ID}, "redirect_uri": {redirect}, "code_verifier": {verifier}}.Encode(), 200, &token)
	return token.Token
}

var requestField = regexp.MustCompile(`name="request" value="([^"]+)"`)

// approvePage answers on the page of a question, as a person with a browser does, and returns
// what the page says.
func approvePage(t *testing.T, address, phrase string) string {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar}
	r, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(r.Body)
	r.Body.Close()
	form := requestField.FindSubmatch(page)
	if form == nil {
		t.Fatalf("no form: %s", page)
	}
	at, _ := url.Parse(address)
	r, err = browser.PostForm("http://"+at.Host+at.Path, url.Values{"request": {string(form[1])}, "decision": {"allow"}, "passphrase": {phrase}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	page, _ = io.ReadAll(r.Body)
	return string(page)
}

// newer calls place_order in the newer era, with what is declared and what comes back.
func (h *running) newer(t *testing.T, token, capabilities, order, more string) string {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"place_order","arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}%s}}`, order, capabilities, more)
	r, err := http.NewRequest("POST", h.base+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "place_order"} {
		r.Header.Set(name, value)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Without a passphrase a program logs in as often as it likes, under any name: all of
// these logins share one sum. With one the owner lets each client in, to a sum of its own.
func TestSumOfManyNames(t *testing.T) {
	h := start(t, "--serve", "--trade", "--port", "0", "--confirm-above", "50", "--paper-file", paperLines(t, "max-order-rate 100"))
	for i, want := range []string{`"status":"filled"`, "a person has to approve", "a person has to approve"} {
		h.name = fmt.Sprint("agent ", i)
		order := fmt.Sprintf(`{"symbol":"BTCUSDT","side":"buy","type":"market","notional":30,"client_order_id":"n%d"}`, i)
		if said := h.tool(t, h.login(t), "place_order", order); !strings.Contains(strings.ReplaceAll(said, `\"`, `"`), want) {
			t.Errorf("%s: %s, want %s", h.name, said, want)
		}
	}
}

// TestSumInOneCurrency: --confirm-above is a sum in the currency of the account, also where no
// account was opened. Money in another currency, and in one that neither source nor symbol
// names, cannot be compared with it, so a person is asked, however small the number is. From
// an account an order without a currency is paid like any other.
func TestSumInOneCurrency(t *testing.T) {
	for _, c := range []struct {
		symbol, flags, lines string
		asks                 bool
	}{
		{"BTCUSDT", "", "", false},
		{"BTCUSD", "", "", false},
		{"BTCUSDT", "", "stablecoins-as-usd false", true},
		{"ETHBTC", "", "", true},
		{"ETHBTC", "", "currency BTC", false},
		{"BTCUSDT", "", "currency BTC", true},
		{"BTCEUR", "", "", true},
		{"AAPL", "", "", true},
		{"AAPL", "--cash=10000", "", false},
	} {
		args := []string{"--serve", "--trade", "--port", "0", "--confirm-above", "50", "--paper-file", paperLines(t, "max-order-rate 100\n"+c.lines)}
		if c.flags != "" {
			args = append(args, c.flags)
		}
		h := start(t, args...)
		said := h.tool(t, h.login(t), "place_order", fmt.Sprintf(`{"symbol":%q,"side":"buy","type":"market","notional":30}`, c.symbol))
		if strings.Contains(said, "a person has to approve") != c.asks || !c.asks && !strings.Contains(said, `filled`) {
			t.Errorf("%s with %q %q: %s, want a question: %t", c.symbol, c.flags, c.lines, said, c.asks)
		}
		h.stop()
	}
}

// TestSelfApproval: a client that answers the form of its own approval places nothing with
// real money, whatever it declares. It is led to the page, and the yes that a person gives
// there with the passphrase places the order, which names the evidence in the journal.
func TestSelfApproval(t *testing.T) {
	v, flags := atAlpaca(t)
	flags[1] = "alpaca"
	t.Setenv("WICK_PASSPHRASE", testPhrase)
	dir := t.TempDir()
	p := startProcess(t, dir, append(flags, "--approve-in-client")...)
	p.ready(t)
	token := p.consented(t, testPhrase)
	const order = `{"symbol":"AAPL","side":"buy","type":"market","quantity":1,"client_order_id":"self"}`
	state := regexp.MustCompile(`"requestState":"([^"]+)"`)
	address := regexp.MustCompile(`"url":"([^"]+)"`)
	for _, capabilities := range []string{`{"elicitation":{}}`, `{"elicitation":{"form":{}}}`, `{"elicitation":{"form":{},"url":{}}}`} {
		asked := p.newer(t, token, capabilities, order, "")
		given := ""
		if m := state.FindStringSubmatch(asked); m != nil {
			given = m[1]
		} else if m := regexp.MustCompile(`\?id=(\w+)`).FindStringSubmatch(asked); m != nil {
			given = m[1]
		}
		for _, content := range []string{`,"content":{"approve":true}`, ``} {
			answer := p.newer(t, token, capabilities, order, fmt.Sprintf(`,"requestState":%q,"inputResponses":{"approve":{"action":"accept"%s}}`, given, content))
			if n := len(v.Orders()); n > 0 {
				t.Fatalf("a client with %s approved its own order for real money: %s", capabilities, answer)
			}
		}
	}
	led := p.newer(t, token, `{"elicitation":{"url":{}}}`, order, "")
	page := address.FindStringSubmatch(led)
	if page == nil || !strings.Contains(led, `"resultType":"input_required"`) || !strings.Contains(led, `"mode":"url"`) || !strings.HasPrefix(page[1], p.base+"/approve?id=") || strings.Contains(led, "requestedSchema") {
		t.Fatalf("the client is not led to the page: %s", led)
	}
	if said := approvePage(t, page[1], "a wrong passphrase"); !strings.Contains(said, "not the passphrase") {
		t.Errorf("a wrong passphrase: %s", said)
	}
	if said := approvePage(t, page[1], testPhrase); !strings.Contains(said, "Approved") {
		t.Fatalf("the right one: %s", said)
	}
	again := p.newer(t, token, `{"elicitation":{"url":{}}}`, order, fmt.Sprintf(`,"requestState":%q,"inputResponses":{"approve":{"action":"accept"}}`, state.FindStringSubmatch(led)[1]))
	if strings.Contains(again, "input_required") || len(v.Orders()) != 1 {
		t.Fatalf("after the yes: %s, %d orders", again, len(v.Orders()))
	}
	p.order(t, token, "self", `"status":"filled"`)
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"audit", "--data-dir", dir}, env("HOME", dir), nil, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	evidence := regexp.MustCompile(`(?m)^(\S+) (\d+) approval_answered .*"evidence":\{"id":"(\w+)","yes":true,"at":"[^"]+","proved":true,"channel":"page","address":"127\.0\.0\.1","asked":\{"name":"agent","client":"\w+","login":"\w{8}","door":"http","address":"127\.0\.0\.1"\},"order":\["buy 1 AAPL, market order".*"digest":"[0-9a-f]{64}"`).FindStringSubmatch(out.String())
	if evidence == nil {
		t.Fatalf("the audit has no evidence:\n%s", &out)
	}
	if named := regexp.MustCompile(`(?m)^\S+ (\d+) order_intent .*"evidence":"` + evidence[3] + `"`).FindStringSubmatch(out.String()); named == nil || len(named[1]) < len(evidence[2]) || len(named[1]) == len(evidence[2]) && named[1] <= evidence[2] {
		t.Errorf("no later order names the evidence %s:\n%s", evidence[3], &out)
	}
	p.terminate(t) // the log is written beside the work, and all of it by now
	if !strings.Contains(p.log.String(), "order answered") || !strings.Contains(p.log.String(), evidence[3]) {
		t.Errorf("the log does not say it: %s", p.log)
	}
}

// overSocket asks over the socket of a data directory.
func overSocket(t *testing.T, dir, method, path string, form url.Values) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, controlName))
	}}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequest(method, "http://wick"+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	reply, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, _ := io.ReadAll(reply.Body)
	return reply.StatusCode, string(text)
}

// TestSocketYes: over the socket a yes needs the passphrase, and a no does not. Both are
// evidence in the journal.
func TestSocketYes(t *testing.T) {
	t.Setenv("WICK_PASSPHRASE", testPhrase)
	dir := t.TempDir()
	p := startProcess(t, dir, "--confirm-above", "1")
	token := p.consented(t, testPhrase)
	const order = `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":1,"client_order_id":%q}`
	ask := func(id string) string {
		p.tool(t, token, "place_order", fmt.Sprintf(order, id))
		var waiting []struct{ ID string }
		if status, text := overSocket(t, dir, "GET", "/approvals", nil); status != 200 || json.Unmarshal([]byte(text), &waiting) != nil || len(waiting) != 1 {
			t.Fatalf("approvals: %d %s", status, text)
		}
		return waiting[0].ID
	}
	id := ask("one")
	for name, form := range map[string]url.Values{
		"none": {}, "an empty one": {"passphrase": {""}}, "a wrong one": {"passphrase": {"not the passphrase"}}, "two": {"passphrase": {testPhrase, testPhrase}},
	} {
		form.Set("id", id)
		form.Set("answer", "yes")
		if status, text := overSocket(t, dir, "POST", "/approve", form); status != http.StatusForbidden {
			t.Errorf("a yes with the passphrase %s: %d %s", name, status, text)
		}
	}
	if text := p.tool(t, token, "place_order", fmt.Sprintf(order, "one")); strings.Contains(text, `"status`) {
		t.Fatalf("placed without a yes: %s", text)
	}
	if status, text := overSocket(t, dir, "POST", "/approve", url.Values{"id": {id}, "answer": {"yes"}, "passphrase": {testPhrase}}); status != 200 {
		t.Errorf("with the passphrase: %d %s", status, text)
	}
	if text := p.call(t, token, "place_order", fmt.Sprintf(order, "one")); !strings.Contains(text, `"status":"filled"`) {
		t.Errorf("after the yes: %s", text)
	}
	if status, text := overSocket(t, dir, "POST", "/approve", url.Values{"id": {ask("two")}, "answer": {"no"}}); status != 200 {
		t.Errorf("a no: %d %s", status, text)
	}
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"audit", "--data-dir", dir}, env("HOME", dir), nil, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`approval_answered .*"yes":true.*"proved":true,"channel":"socket"`, `approval_answered .*"yes":false.*"proved":false,"channel":"socket"`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("the audit has no %s:\n%s", want, &out)
		}
	}
	p.terminate(t)
	if n := strings.Count(p.log.String(), `msg="wrong passphrase" from=socket`); n != 1 {
		t.Errorf("%d lines of one wrong passphrase:\n%s", n, p.log)
	}
}

// TestSumOutlivesRestart: what a client placed within the hour counts also after a restart, or
// a client that can have wick started anew would have no sum at all.
func TestSumOutlivesRestart(t *testing.T) {
	t.Setenv("WICK_PASSPHRASE", testPhrase)
	dir := t.TempDir()
	const order = `{"symbol":"BTCUSDT","side":"buy","type":"market","notional":60,"client_order_id":%q}`
	p := startProcess(t, dir, "--confirm-above", "100")
	if text := p.call(t, p.consented(t, testPhrase), "place_order", fmt.Sprintf(order, "one")); !strings.Contains(text, `"status":"filled"`) {
		t.Fatalf("within the sum: %s", text)
	}
	p.terminate(t)
	p = startProcess(t, dir, "--confirm-above", "100")
	if text := p.tool(t, p.consented(t, testPhrase), "place_order", fmt.Sprintf(order, "two")); !strings.Contains(text, "more than 100 would be placed within an hour") {
		t.Errorf("beyond the sum, after a restart: %s", text)
	}
	p.terminate(t)
}

// TestGuessesOverSocket: a program that guesses over the socket until it has to wait does not
// keep the owner, who types the passphrase on a page of this machine, waiting.
func TestGuessesOverSocket(t *testing.T) {
	t.Setenv("WICK_PASSPHRASE", testPhrase)
	dir := t.TempDir()
	p := startProcess(t, dir, "--confirm-above", "1")
	said := ""
	for range 6 {
		_, said = overSocket(t, dir, "POST", "/approve", url.Values{"id": {"x"}, "answer": {"yes"}, "passphrase": {"not the passphrase"}})
	}
	if !strings.Contains(said, "too many wrong passphrases") {
		t.Errorf("the sixth guess: %s", said)
	}
	p.consented(t, testPhrase)
	p.terminate(t)
}

// TestAttachReads: a host that attaches to a process with a passphrase reads, and trades only
// if that process was started with --attach-trade.
func TestAttachReads(t *testing.T) {
	for _, trades := range []bool{false, true} {
		t.Setenv("WICK_PASSPHRASE", testPhrase)
		dir := t.TempDir()
		var more []string
		if trades {
			more = []string{"--attach-trade"}
		}
		startProcess(t, dir, more...)
		t.Setenv("WICK_PASSPHRASE", "")
		host := startHost(t, dir)
		if got := host.call("get_positions", `{}`); got != "[]" {
			t.Errorf("reading: %s", got)
		}
		got := host.call("place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.01}`)
		if placed := strings.Contains(got, `"status":"filled"`); placed != trades || !placed && !strings.Contains(got, "--attach-trade") {
			t.Errorf("with %v a host that attaches places an order: %s", more, got)
		}
	}
}

// TestAttachMoney: two processes on one data directory agree where orders go, also if one of
// them says nothing and so means paper, or the attach is refused with the name of the flag.
func TestAttachMoney(t *testing.T) {
	_, flags := atAlpaca(t)
	t.Setenv("WICK_PASSPHRASE", testPhrase)
	dir := t.TempDir()
	p := startProcess(t, dir, flags...)
	p.ready(t)
	for _, args := range [][]string{{}, {"--broker", "paper"}, append([]string{"--broker", "alpaca"}, flags[2:]...), append([]string{"--broker-dead-man", "10m"}, flags...)} {
		want := "--broker"
		if len(args) > 0 && args[0] == "--broker-dead-man" {
			want = "--broker-dead-man"
		}
		host := runHost(t, func(ctx context.Context, in io.Reader, out, log io.Writer) error {
			variables := env("HOME", dir, "WICK_PASSPHRASE", testPhrase, "WICK_ALPACA_URL", brokerAt(t))
			return Run(ctx, append([]string{"--mcp", "--trade", "--data-dir", dir}, args...), variables, in, out, log)
		})
		if err := <-host.ended; err == nil || !strings.Contains(err.Error(), want+" ") || !strings.Contains(err.Error(), "both must have the same") {
			t.Errorf("%v attaches to --broker alpaca-paper: %v", args, err)
		}
	}
	p.terminate(t)
	paper := t.TempDir()
	startHost(t, paper).call("get_positions", `{}`)
	host := runHost(t, func(ctx context.Context, in io.Reader, out, log io.Writer) error {
		return Run(ctx, append([]string{"--mcp", "--trade", "--data-dir", paper}, flags...), env("HOME", dir, "WICK_ALPACA_URL", brokerAt(t)), in, out, log)
	})
	if err := <-host.ended; err == nil || !strings.Contains(err.Error(), "--broker is alpaca-paper here and paper at") {
		t.Errorf("a host that means a broker attaches to paper: %v", err)
	}
}

// TestStdioMoney: real money needs a passphrase over stdio too.
func TestStdioMoney(t *testing.T) {
	_, flags := atAlpaca(t)
	flags[1] = "alpaca"
	err := Run(t.Context(), append([]string{"--mcp", "--trade", "--data-dir", t.TempDir()}, flags...), env("HOME", t.TempDir(), "WICK_ALPACA_URL", brokerAt(t)), strings.NewReader(""), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "moves real money") {
		t.Errorf("without a passphrase: %v", err)
	}
}

// TestApproveCommand: over stdio there is no page; the refusal says how the owner answers,
// and wick approve shows the order and takes the passphrase on its standard input, or the word
// yes there and the passphrase of a file. The yes is evidence in the journal, before the order
// that names it.
func TestApproveCommand(t *testing.T) {
	dir := t.TempDir()
	host := runHost(t, func(ctx context.Context, in io.Reader, out, log io.Writer) error {
		return Run(ctx, []string{"--mcp", "--trade", "--confirm-above", "0", "--data-dir", dir}, env("HOME", dir, "WICK_PASSPHRASE", testPhrase), in, out, log)
	})
	const order = `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.01,"client_order_id":"one"}`
	id := regexp.MustCompile(`wick approve (\w+) and the passphrase`).FindStringSubmatch(host.call("place_order", order))
	if id == nil {
		t.Fatalf("not asked: %s", host.call("place_order", order))
	}
	var shown bytes.Buffer
	approve := func(phrase string, flags ...string) error {
		shown.Reset()
		return Run(t.Context(), append([]string{"approve", id[1], "--data-dir", dir}, flags...), env("HOME", dir), strings.NewReader(phrase+"\n"), &shown, io.Discard)
	}
	file := filepath.Join(t.TempDir(), "phrase")
	if err := os.WriteFile(file, []byte(testPhrase), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := approve("", "--passphrase-file", file); err == nil || !strings.HasPrefix(shown.String(), "buy 0.01 BTCUSDT, market order\n") {
		t.Errorf("without a typed yes: %v, shown %q; want the order and no yes", err, &shown)
	}
	if err := Run(t.Context(), []string{"approve", "another", "--data-dir", dir}, env("HOME", dir), strings.NewReader(testPhrase+"\n"), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "no order waits under the id") {
		t.Errorf("an id that nobody gave: %v", err)
	}
	if err := approve("not the passphrase"); err == nil || !strings.Contains(err.Error(), "not the passphrase") {
		t.Errorf("a wrong passphrase: %v", err)
	}
	if err := approve(""); err == nil {
		t.Error("no passphrase approves")
	}
	if got := host.call("place_order", order); strings.Contains(got, `"status"`) {
		t.Fatalf("placed without a yes: %s", got)
	}
	if err := approve("yes", "--passphrase-file", file); err != nil {
		t.Fatal(err)
	}
	if got := host.call("place_order", order); !strings.Contains(got, `"status":"filled"`) {
		t.Errorf("after the yes: %s", got)
	}
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"audit", "--data-dir", dir}, env("HOME", dir), nil, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	yes := regexp.MustCompile(`approval_answered .*"id":"(\w+)","yes":true,.*"proved":true,"channel":"socket","asked":\{"client":"stdio",.*"order":\["buy 0.01 BTCUSDT, market order"`).FindStringSubmatch(out.String())
	if yes == nil {
		t.Fatalf("the audit has no evidence:\n%s", &out)
	}
	_, after, _ := strings.Cut(out.String(), yes[0])
	if !regexp.MustCompile(`order_placed .*"evidence":"` + yes[1] + `"`).MatchString(after) {
		t.Errorf("no later order names the evidence %s:\n%s", yes[1], &out)
	}
}

// TestWords: what does one thing is a word, and no other word is taken.
func TestWords(t *testing.T) {
	var words bytes.Buffer
	if err := Run(t.Context(), []string{"permissions"}, env("HOME", "/"), nil, &words, io.Discard); err != nil || !strings.Contains(words.String(), "place_order") {
		t.Errorf("wick permissions prints %s, %v", &words, err)
	}
	for _, args := range [][]string{{"permission"}, {"port", "1"}, {"serve"}} {
		if err := Run(t.Context(), args, env("HOME", "/"), nil, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "unexpected argument") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
