//go:build !core

package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"wick/permit"
	"wick/trade/book"

	"wick/internal/exact"
	"wick/mcp"
	"wick/notify"
	"wick/oauth"
	"wick/trade"
)

// pageKey returns the key in the address of the owner's page that the start line has.
func (h *running) pageKey() string {
	if m := regexp.MustCompile(`/app\?key=([\w-]+)`).FindStringSubmatch(h.log.String()); m != nil {
		return m[1]
	}
	return ""
}

// loginOwner logs the owner's page in, without a passphrase by the key of the start line,
// and returns its token.
func (h *running) loginOwner(t *testing.T) string {
	t.Helper()
	verifier := strings.Repeat("v", 43)
	challenge := sha256.Sum256([]byte(verifier))
	redirect := cmp.Or(h.published, h.base) + "/app"
	query := url.Values{
		"client_id": {oauth.OwnClient}, "redirect_uri": {redirect}, "response_type": {"code"}, "scope": {"owner"}, "key": {h.pageKey()},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}
	if h.jar == nil {
		h.jar, _ = cookiejar.New(nil) // never fails without options
	}
	browser := &http.Client{Jar: h.jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := browser.Do(h.browse(t, "GET", "/authorize?"+query.Encode(), nil))
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(r.Body)
	r.Body.Close()
	form := regexp.MustCompile(`name="request" value="([^"]+)"`).FindSubmatch(page)
	if err != nil || r.StatusCode != http.StatusOK || form == nil {
		t.Fatalf("authorize: %s, %v: %s", r.Status, err, page)
	}
	r, err = browser.Do(h.browse(t, "POST", "/authorize", url.Values{"request": {string(form[1])}, "decision": {"allow"}, "passphrase": {os.Getenv("WICK_PASSPHRASE")}}))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	back, err := r.Location()
	if err != nil {
		t.Fatalf("decide: %s, %v", r.Status, err)
	}
	exchange := url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {oauth.OwnClient}, "redirect_uri": {redirect}, "code_verifier": {verifier}}
	var token struct {
		Token string `json:"access_token"`
	}
	h.post(t, "/token", "application/x-www-form-urlencoded", exchange.Encode(), 200, &token)
	return token.Token
}

// owner asks one of the owner's questions and returns status and answer; form is nil
// for a GET.
func (h *running) owner(t *testing.T, token, path string, form url.Values, headers ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequest("GET", h.base+"/app/api/"+path, nil)
	if form != nil {
		request, err = http.NewRequest("POST", h.base+"/app/api/"+path, strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %v, Cache-Control %q", path, err, r.Header.Get("Cache-Control"))
	}
	return r.StatusCode, string(text)
}

// TestOwnerQuestions: with the page's token the owner lists logins, ends one, whose next
// call fails, halts trading, so that an order is refused, lets it go on, and reads who did
// what.
func TestOwnerQuestions(t *testing.T) {
	dir := t.TempDir()
	h := start(t, "--serve", "--trade", "--port", "0", "--data-dir", dir)
	client, page := h.login(t), h.loginOwner(t)
	status, text := h.owner(t, page, "clients", nil)
	var logins []loginJSON
	if err := json.Unmarshal([]byte(text), &logins); err != nil || status != 200 || len(logins) != 2 || logins[0].Client != "test" || logins[1].Scope != "charts trade owner" {
		t.Fatalf("clients: %d %s", status, text)
	}
	if status, text := h.owner(t, page, "revoke", url.Values{"id": {logins[0].ID}}); status != 200 || !strings.Contains(text, "revoked "+logins[0].ID+", test") {
		t.Errorf("revoke: %d %s", status, text)
	}
	if got := h.ping(t, client); got != http.StatusUnauthorized {
		t.Errorf("the ended login: %d, want 401", got)
	}
	if status, text := h.owner(t, page, "halt", url.Values{}); status != 200 {
		t.Errorf("halt: %d %s", status, text)
	}
	if _, err := os.Stat(filepath.Join(dir, "HALT")); err != nil {
		t.Error(err)
	}
	if _, text := h.owner(t, page, "health", nil); !strings.Contains(text, `"trading":"halted"`) {
		t.Errorf("health after halt: %s", text)
	}
	for range 2 { // a second time changes nothing
		if status, text := h.owner(t, page, "resume", url.Values{}); status != 200 {
			t.Errorf("resume: %d %s", status, text)
		}
	}
	if _, text := h.owner(t, page, "health", nil); !strings.Contains(text, `"trading":"active"`) {
		t.Errorf("health after resume: %s", text)
	}
	h.call(t, page, "set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":1000000},"note":"from the page"}`)
	if status, text := h.owner(t, page, "audit", nil); status != 200 || !strings.Contains(text, "from the page") || !strings.Contains(text, "halted") {
		t.Errorf("audit: %d %s", status, text)
	}
}

// TestOwnerRefuses: an order that needs a yes waits on the owner's page. Refused there, the
// client is told so once. Without a passphrase nothing can prove that a person says yes, so a
// yes of the page, whose key the start line shows to every program of this user, places nothing.
func TestOwnerRefuses(t *testing.T) {
	h := start(t, "--serve", "--trade", "--confirm-above", "1", "--port", "0", "--data-dir", t.TempDir())
	client, page := h.login(t), h.loginOwner(t)
	place := func(id string) string {
		_, text := h.ask(t, "/mcp", client, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.5,"client_order_id":"`+id+`"}}}`)
		return text
	}
	waiting := func() (list []struct {
		ID, Gist string
		Real     bool
		Lines    []string
	}) {
		t.Helper()
		status, text := h.owner(t, page, "approvals", nil)
		if err := json.Unmarshal([]byte(text), &list); err != nil || status != 200 {
			t.Fatalf("approvals: %d %s", status, text)
		}
		return list
	}
	if text := place("first"); !strings.Contains(text, "a person has to approve") {
		t.Fatalf("without a yes: %s", text)
	}
	list := waiting()
	if len(list) != 1 || list[0].Lines[0] != "buy 0.5 BTCUSDT, market order" || list[0].Real || !strings.HasPrefix(list[0].Gist, "about ") || !strings.HasSuffix(list[0].Gist, " USDT") {
		t.Fatalf("what waits: %v", list)
	}
	answer := func(path string, answers ...string) (int, string) {
		return h.owner(t, page, path, url.Values{"id": {list[0].ID}, "answer": answers})
	}
	// Of two answers nobody can know which was meant.
	for path, answers := range map[string][]string{"approve": {"no", "no"}, "approve?answer=no": {"no"}} {
		if status, text := answer(path, answers...); status != 404 || len(waiting()) != 1 {
			t.Errorf("%s with %q: %d %s, want it refused", path, answers, status, text)
		}
	}
	if status, text := answer("approve", "perhaps"); status != 404 {
		t.Errorf("neither yes nor no: %d %s", status, text)
	}
	if status, text := answer("approve", "yes"); status != 403 || !strings.Contains(text, "passphrase") || len(waiting()) != 1 {
		t.Errorf("yes: %d %s, want it refused", status, text)
	}
	if status, text := answer("approve", "no"); status != 200 || len(waiting()) != 0 {
		t.Errorf("no: %d %s", status, text)
	}
	if status, _ := answer("approve", "no"); status != 404 {
		t.Errorf("no after it: %d", status)
	}
	if text := place("first"); !strings.Contains(text, "the person did not approve the order") {
		t.Errorf("after the no: %s", text)
	}
	if text := place("first"); !strings.Contains(text, "a person has to approve") {
		t.Errorf("and once more: %s", text)
	}
}

// TestOwnerTokenApprovesNothing: with a passphrase the token of the owner's page, which the
// browser keeps, gives no yes; the list of what waits names the page that asks for the passphrase.
// It can still say no.
func TestOwnerTokenApprovesNothing(t *testing.T) {
	t.Setenv("WICK_PASSPHRASE", testPhrase)
	h := startProcess(t, t.TempDir(), "--confirm-above", "1")
	client, page := h.consented(t, testPhrase), h.loginOwner(t)
	const order = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.5,"client_order_id":"one"}}}`
	h.ask(t, "/mcp", client, order)
	var list []struct{ ID, Page string }
	status, text := h.owner(t, page, "approvals", nil)
	if err := json.Unmarshal([]byte(text), &list); err != nil || status != 200 || len(list) != 1 || list[0].Page != "/approve?id="+list[0].ID {
		t.Fatalf("approvals: %d %s", status, text)
	}
	if status, text := h.owner(t, page, "approve", url.Values{"id": {list[0].ID}, "answer": {"yes"}}); status != 403 || !strings.Contains(text, "passphrase") {
		t.Errorf("yes by the token: %d %s, want it refused", status, text)
	}
	if _, text := h.ask(t, "/mcp", client, order); !strings.Contains(text, "a person has to approve") {
		t.Errorf("after that: %s", text)
	}
	if status, text := h.owner(t, page, "approve", url.Values{"id": {list[0].ID}, "answer": {"no"}}); status != 200 {
		t.Errorf("no by the token: %d %s", status, text)
	}
}

// TestOwnerWithout: where no order needs a yes and no message goes anywhere, the page
// is told so and shows no empty lists.
func TestOwnerWithout(t *testing.T) {
	h := start(t, "--serve", "--trade", "--port", "0", "--data-dir", t.TempDir())
	page := h.loginOwner(t)
	for _, path := range []string{"approvals", "letters"} {
		if status, text := h.owner(t, page, path, nil); status != 200 || strings.TrimSpace(text) != "null" {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// TestOwnerAccepts: the owner is told all that was accepted. An order that turned up is no
// position, and the owner has to hear of it all the same.
func TestOwnerAccepts(t *testing.T) {
	differed := []book.Difference{{Symbol: "AAA", Book: 2 * exact.One, Broker: exact.One}}
	for _, c := range []struct {
		differed []book.Difference
		late     []string
		left     []book.Difference
		want     string
	}{
		{nil, nil, nil, "nothing differs"},
		{differed, nil, []book.Difference{{Symbol: "BBB"}}, "accepted: AAA is 1 at the broker and 2 by wick's fills; not accepted, because it is not known yet what was filled: BBB"},
		{nil, []string{"o-1"}, nil, "accepted: order o-1 is at the broker, and had been given up"},
		{differed, []string{"o-1"}, nil, "accepted: AAA is 1 at the broker and 2 by wick's fills; order o-1 is at the broker, and had been given up"},
	} {
		if got := accepted(c.differed, c.late, c.left); got != c.want {
			t.Errorf("%v and %q: %q, want %q", c.differed, c.late, got, c.want)
		}
	}
}

// TestOwnerLetters: messages that were given up are listed, the newest first.
func TestOwnerLetters(t *testing.T) {
	n := notify.New(notify.Options{})
	for i, text := range []string{"first", "second"} {
		if err := n.Apply("n", uint64(i), []byte(`{"to":"hook","dead":{"to":"hook","text":"`+text+`","reason":"answered 400"}}`)); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := (&messenger{n, nil}).letters().([]notify.Dead); len(got) != 2 || got[0].Text != "second" || got[1].Text != "first" || got[0].To != "hook" || got[0].Reason != "answered 400" {
		t.Errorf("%+v", got)
	}
}

// TestOwnerAlone: no other token gets an answer, nor a page of another site, nor
// anybody where the page is switched off. Without this any client could end others.
func TestOwnerAlone(t *testing.T) {
	h := start(t, "--serve", "--trade", "--port", "0", "--data-dir", t.TempDir())
	client, page := h.login(t), h.loginOwner(t)
	for path, form := range map[string]url.Values{"clients": nil, "health": nil, "audit": nil, "approvals": nil, "approve": {}, "letters": nil, "halt": {}, "resume": {}, "revoke": {"id": {"all"}}} {
		for name, tc := range map[string]struct {
			token  string
			site   string
			status int
		}{
			"nobody":             {"", "same-origin", 401},
			"a wrong token":      {"x", "same-origin", 401},
			"a client":           {client, "same-origin", 403},
			"a page elsewhere":   {page, "cross-site", 403},
			"a page on the site": {page, "same-site", 403},
			"an emptied header":  {page, "", 403},
		} {
			if status, text := h.owner(t, tc.token, path, form, "Sec-Fetch-Site", tc.site); status != tc.status {
				t.Errorf("%s asks for %s: %d %s, want %d", name, path, status, text, tc.status)
			}
		}
	}
	if status, _ := h.owner(t, page, "clients", nil); status != 200 {
		t.Errorf("the page itself: %d", status)
	}
	off := start(t, "--serve", "--trade", "--no-app", "--port", "0", "--data-dir", t.TempDir())
	client = off.login(t)
	for path, method := range map[string]string{"clients": "GET", "halt": "POST", "revoke": "POST"} {
		if r, _ := off.send(t, method, "/app/api/"+path, http.Header{"Authorization": {"Bearer " + client}}); r.StatusCode != 404 {
			t.Errorf("%s without the page: %s, want 404", path, r.Status)
		}
	}
}

// TestOwnerOrigin: only a page of the base URL's own origin may send the owner's requests,
// whatever other origins may use the protocol. No script of another origin can read an
// answer to them.
func TestOwnerOrigin(t *testing.T) {
	dir := t.TempDir()
	h := start(t, "--serve", "--trade", "--port", "0", "--data-dir", dir, "--allow-origin", "https://app.example")
	token := h.loginOwner(t)
	ask := func(method, path string, origin, site []string) *http.Response {
		t.Helper()
		r, _ := h.send(t, method, path, http.Header{"Authorization": {"Bearer " + token}, "Origin": origin, "Sec-Fetch-Site": site})
		for name := range r.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s %s from %q has the header %s", method, path, origin, name)
			}
		}
		return r
	}
	for _, from := range []struct {
		origin, site []string
		status       int
	}{
		{nil, nil, 200},
		{[]string{h.base}, nil, 200},
		{[]string{h.base}, []string{"same-origin"}, 200},
		{[]string{"http://localhost:3"}, nil, 403}, // a program on another port of this machine
		{[]string{strings.Replace(h.base, "localhost", "127.0.0.1", 1)}, nil, 403},
		{[]string{"https://app.example"}, nil, 403}, // may use the protocol, and not be the owner
		{[]string{"https://evil.example"}, nil, 403},
		{[]string{"null"}, nil, 403},
		{[]string{""}, nil, 403},
		{[]string{h.base, "http://localhost:3"}, nil, 403},
		{[]string{h.base}, []string{"same-origin", "cross-site"}, 403},
	} {
		for _, path := range []string{"/app/api/clients", "/app/api/audit"} {
			if r := ask("GET", path, from.origin, from.site); r.StatusCode != from.status {
				t.Errorf("GET %s from %q, %q: %s, want %d", path, from.origin, from.site, r.Status, from.status)
			}
		}
		ask("OPTIONS", "/app/api/clients", from.origin, from.site)
		if from.status == 403 {
			if r := ask("POST", "/app/api/halt", from.origin, from.site); r.StatusCode != 403 {
				t.Errorf("POST /app/api/halt from %q, %q: %s, want 403", from.origin, from.site, r.Status)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "HALT")); err == nil {
		t.Error("trading was halted")
	}
}

// TestPagePaths: below the owner's page too, a path that does not exist gets 404 and a
// wrong method 405, both as JSON, with a token and without.
func TestPagePaths(t *testing.T) {
	h := start(t, "--serve", "--port", "0", "--data-dir", t.TempDir())
	token := h.loginOwner(t)
	for _, tc := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/app/api/x", 404}, {"POST", "/app/api/x", 404}, {"GET", "/app/api/", 404}, {"GET", "/app/api", 404}, {"GET", "/app/api/clients/x", 404},
		{"GET", "/app/nothing.mjs", 404}, {"GET", "/app/app", 404}, {"GET", "/app/", 404},
		{"POST", "/app/api/clients", 405}, {"GET", "/app/api/halt", 405}, {"POST", "/app", 405}, {"DELETE", "/app/owner.mjs", 405},
	} {
		for _, header := range []http.Header{{}, {"Authorization": {"Bearer " + token}}} {
			r, body := h.send(t, tc.method, tc.path, header)
			var reply struct{ Error struct{ Message string } }
			if err := json.Unmarshal(body, &reply); err != nil || r.StatusCode != tc.status || reply.Error.Message == "" || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %s with %d headers: %s %s: %s, want %d as JSON", tc.method, tc.path, len(header), r.Status, r.Header.Get("Content-Type"), body, tc.status)
			}
			if tc.status == 405 && r.Header.Get("Allow") == "" {
				t.Errorf("%s %s: 405 without Allow", tc.method, tc.path)
			}
		}
	}
}

// send sends a request without a body and returns the answer and its body.
func (h *running) send(t *testing.T, method, path string, header http.Header) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequest(method, h.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, body
}

// TestNoApp: --no-app takes the page away, its questions, and its client.
func TestNoApp(t *testing.T) {
	h := start(t, "--serve", "--no-app", "--port", "0", "--data-dir", t.TempDir())
	for _, path := range []string{"/app", "/app/owner.mjs", "/app/api/clients"} {
		r, err := http.Get(h.base + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s: %s, want 404", path, r.Status)
		}
	}
	r, err := http.Get(h.base + "/authorize?client_id=" + oauth.OwnClient + "&redirect_uri=" + url.QueryEscape(h.base+"/app"))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusBadRequest {
		t.Errorf("its client: %s, want 400", r.Status)
	}
}

// TestAuditTail: a look at the audit reads the end of the history alone, as much as auditTail,
// in whole lines: what lies before, damaged here, is not touched.
func TestAuditTail(t *testing.T) {
	dir := t.TempDir()
	for range 3 { // each start begins a journal
		e, err := trade.Open(trade.Options{Dir: dir})
		if err == nil {
			err = e.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "journal-1.wal"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, "--trade", "--data-dir", dir, "--paper-file", paperLines(t, "max-order-rate 1000"))
	host := startHost(t, dir)
	const orders = 300 // of about half a kilobyte each
	for i := range orders {
		host.call("place_order", fmt.Sprintf(`{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":0.001,"client_order_id":"order-%d"}`, i))
	}
	status, text := overSocket(t, dir, "GET", "/audit", nil)
	var lines []string
	if err := json.Unmarshal([]byte(text), &lines); err != nil || status != 200 {
		t.Fatalf("%d %.300s", status, text)
	}
	if all := strings.Join(lines, "\n"); len(all) > auditTail || len(all) < auditTail/2 || strings.Contains(all, `"order-0"`) || !strings.Contains(all, fmt.Sprintf("order-%d", orders-1)) || !strings.HasPrefix(lines[0], "20") {
		t.Errorf("%d bytes, from %.100q to %.300q", len(all), lines[0], lines[len(lines)-1])
	}
}

// TestOwnerForm: a longer form than any question needs is not read to its end. A halt
// needs none and is not refused for it.
func TestOwnerForm(t *testing.T) {
	t.Parallel()
	h := start(t, "--serve", "--trade", "--port", "0", "--data-dir", t.TempDir())
	page, long := h.loginOwner(t), strings.Repeat("y", maxOwnerForm)
	for path, form := range map[string]url.Values{
		"revoke":  {"id": {"all"}, "x": {long}},
		"approve": {"id": {"1"}, "answer": {"yes"}, "x": {long}},
		// The address takes the place of no form, and not that of one that is too long.
		"revoke?id=all":           {"x": {long}},
		"revoke?id=all&x=1":       {},
		"approve?id=1&answer=yes": {"x": {long}},
		"approve?answer=yes":      {"id": {"1"}},
	} {
		if status, text := h.owner(t, page, path, form); status != http.StatusNotFound || strings.Contains(text, "waits no longer") {
			t.Errorf("%s: status %d, %s, want 404: nothing is read from a form that is too long", path, status, text)
		}
	}
	if status, text := h.owner(t, page, "halt", url.Values{"x": {long}}); status != http.StatusOK || !strings.Contains(text, "trading is halted") {
		t.Errorf("halt with a form that is too long: %d %s", status, text)
	}
	if got := h.ping(t, page); got != http.StatusOK {
		t.Errorf("the page's own login: %d", got)
	}
}

// TestOwnerRevokedWhileSending: if a form comes slowly, its token must still work when all
// of it has come.
func TestOwnerRevokedWhileSending(t *testing.T) {
	answered := func(body string, revoked bool) int {
		asked := 0
		authenticate := func(*http.Request) (mcp.Caller, error) {
			if asked++; asked > 1 && revoked {
				return mcp.Caller{}, oauth.ErrInvalidToken
			}
			return mcp.Caller{ID: "a", Scope: "charts trade owner"}, nil
		}
		mux := http.NewServeMux()
		(&app{config: &config{baseURL: "http://localhost:9315"}, replica: alone{}, gate: permit.New(permit.Options{Above: -1})}).pageRoutes(mux, authenticate)
		r := httptest.NewRequest("POST", "/app/api/approve", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w.Code
	}
	if got := []int{answered("id=x&answer=no", false), answered("id=x&answer=no", true)}; !slices.Equal(got, []int{404, 401}) {
		t.Errorf("%v, want 404 of a question that is not there, and 401", got)
	}
}

// TestOwnerTooMany: a token with too many connections loses the one that it asks the
// owner's page over: otherwise it could go on with it.
func TestOwnerTooMany(t *testing.T) {
	w := httptest.NewRecorder()
	_, ok := pageCaller(w, httptest.NewRequest("GET", "/app/api/clients", nil), func(*http.Request) (mcp.Caller, error) { return mcp.Caller{}, mcp.ErrTooMany })
	if ok || w.Code != 429 || w.Header().Get("Connection") != "close" {
		t.Errorf("let in: %t, with %d and Connection: %q; want 429 and close", ok, w.Code, w.Header().Get("Connection"))
	}
}
