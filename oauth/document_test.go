package oauth

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
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const documentID = "https://claude.ai/oauth/mcp-oauth-client-metadata"

// documentHost serves documents in place of claude.ai.
type documentHost struct {
	*httptest.Server
	asked  atomic.Int64
	answer atomic.Pointer[http.HandlerFunc]
}

func serveDocuments(t testing.TB) *documentHost {
	h := &documentHost{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked.Add(1)
		(*h.answer.Load())(w, r)
	}))
	t.Cleanup(h.Close)
	h.say(goodDocument(documentID))
	return h
}

// say makes the host answer with a document.
func (h *documentHost) say(body string) {
	h.with(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	})
}

func (h *documentHost) with(f http.HandlerFunc) { h.answer.Store(&f) }

// open makes a server that takes documents of claude.ai from this host.
func (h *documentHost) open(t testing.TB, change ...func(*Options)) *fixture {
	t.Helper()
	s := open(t, append(change, func(o *Options) { o.Documents = []string{"claude.ai"} })...)
	s.documents.client.Transport = h
	return s
}

// RoundTrip sends a request for claude.ai to this host.
func (h *documentHost) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.URL.Path = "http", h.Listener.Addr().String(), "/"+r.URL.Host+r.URL.Path
	return http.DefaultTransport.RoundTrip(r)
}

func goodDocument(id string) string {
	text, _ := json.Marshal(map[string]any{"client_id": id, "client_name": "Claude", "redirect_uris": []string{callback}, "token_endpoint_auth_method": "none"})
	return string(text)
}

// A client with a document logs in without having registered, and again after a
// restart, as the same client.
func TestDocumentLogin(t *testing.T) {
	host := serveDocuments(t)
	var clients []string
	for range 2 { // two servers: the second is the first, restarted
		h := host.open(t)
		c := registered{ClientID: documentID}
		code := location(t, h.authorize(query(c, callback)), callback).Get("code")
		token := reply[tokenReply](t, h.exchange(exchangeForm(c, code, callback)), http.StatusOK)
		grant, err := h.bearer(token.AccessToken)
		if err != nil || grant.Name != "Claude" {
			t.Fatalf("%v, %+v", err, grant)
		}
		clients = append(clients, grant.Client)
	}
	if clients[0] != clients[1] {
		t.Error("after a restart it is another client")
	}
	if n := host.asked.Load(); n != 2 {
		t.Errorf("the host was asked %d times, want once by each server", n)
	}
	if meta := host.open(t).do("GET", serverDocument, ""); !strings.Contains(meta.Body.String(), `"client_id_metadata_document_supported":true`) {
		t.Errorf("metadata: %s", meta.Body)
	}
	if meta := open(t).do("GET", serverDocument, ""); strings.Contains(meta.Body.String(), "client_id_metadata") {
		t.Errorf("metadata without --client-documents: %s", meta.Body)
	}
}

// Only addresses on hosts that were named are fetched, and each in one spelling only:
// otherwise a stranger could make this server fetch anything.
func TestDocumentAddresses(t *testing.T) {
	host := serveDocuments(t)
	h := host.open(t)
	for _, id := range []string{
		"https://evil.example/oauth/x", "https://claude.ai.evil.example/x", "https://evil.example/claude.ai/x", "https://127.0.0.1/x", "https://claude.ai@evil.example/x",
		"https://user@claude.ai/x", "https://claude.ai:8443/x", "https://claude.ai:443/x", "https://claude.ai:/x", "http://claude.ai/x", "HTTPS://claude.ai/x",
		"https://CLAUDE.AI/x", "https://claude.ai", "https://claude.ai/", "https://claude.ai/x?y=1", "https://claude.ai/x?", "https://claude.ai/x#y",
		"https://claude.ai/x#", "https://claude.ai/a/../b", "https://claude.ai//evil.example/x", "https://claude.ai/x/", "https://claude.ai/%2e%2e/x",
		"https://claude.ai/a b", `https://claude.ai\@evil.example/x`, "https://[::1/x", "https://claude.ai/" + strings.Repeat("x", maxDocumentURL),
		"https://claude.ai/" + strings.Repeat("x", maxClientID),
	} {
		w := h.authorize(query(registered{ClientID: id}, callback), header("Accept", "application/json"))
		wantError(t, w, http.StatusBadRequest, "invalid_client")
		if !strings.Contains(w.Body.String(), "at the hosts that --client-documents names") {
			t.Errorf("%.60s: %s", id, w.Body)
		}
	}
	if n := host.asked.Load(); n != 0 {
		t.Errorf("the host was asked %d times", n)
	}
	w := open(t).authorize(query(registered{ClientID: documentID}, callback), header("Accept", "application/json"))
	wantError(t, w, http.StatusBadRequest, "invalid_client") // no host is named: off
}

// A document that is cut off, not about its own address, or not a document at all, makes
// no client.
func TestDocumentRefused(t *testing.T) {
	kind := func(contentType string, status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	good := goodDocument(documentID)
	for what, answer := range map[string]http.HandlerFunc{
		"another id":      kind("application/json", 200, goodDocument("https://claude.ai/other")),
		"a web page":      kind("text/html", 200, good),
		"not found":       kind("application/json", 404, good),
		"not JSON":        kind("application/json", 200, "{"),
		"no redirects":    kind("application/json", 200, `{"client_id":"`+documentID+`"}`),
		"a bad redirect":  kind("application/json", 200, strings.Replace(good, callback, "http://evil.example/", 1)),
		"wants a secret":  kind("application/json", 200, strings.Replace(good, `"none"`, `"private_key_jwt"`, 1)),
		"too long":        kind("application/json", 200, strings.Replace(good, "Claude", strings.Repeat("x", maxDocument), 1)),
		"redirects to it": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
	} {
		host := serveDocuments(t)
		host.with(answer)
		w := host.open(t).authorize(query(registered{ClientID: documentID}, callback), header("Accept", "application/json"))
		if w.Code != http.StatusBadRequest || host.asked.Load() != 1 {
			t.Errorf("%s: status %d after %d requests", what, w.Code, host.asked.Load())
		}
	}
}

// A document is kept for as long as it says, within bounds, and longer when its
// host fails.
func TestDocumentKept(t *testing.T) {
	host := serveDocuments(t)
	h := host.open(t)
	ask := func() bool { _, err := h.client(documentID, visitor{}, noQuestion); return err == nil }
	age := func(d time.Duration) {
		doc, _ := h.documents.kept.get(digestOf(documentID))
		doc.until = doc.until.Add(-d)
	}
	if first, again := ask(), ask(); !first || !again || host.asked.Load() != 1 {
		t.Fatalf("asked %d times", host.asked.Load())
	}
	age(documentLeast)
	host.with(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	if !ask() || host.asked.Load() != 2 {
		t.Errorf("the host fails: asked %d times", host.asked.Load())
	}
	if !ask() || host.asked.Load() != 2 {
		t.Errorf("the host failed a moment ago: asked %d times", host.asked.Load())
	}
	for what, answer := range map[string]http.HandlerFunc{
		"not found": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"gone":      func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusGone) },
		"another's": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, goodDocument("https://claude.ai/other"))
		},
	} {
		host.say(goodDocument(documentID))
		age(documentMost)
		if !ask() {
			t.Fatalf("the host works again, before %s", what)
		}
		age(documentMost)
		host.with(answer)
		if ask() {
			t.Errorf("%s: the host took the document back, and its client still counts", what)
		}
	}
	for header, want := range map[string]time.Duration{
		"": documentLeast, "no-store": documentLeast, "max-age=60": documentLeast, "public, max-age=3600": time.Hour,
		"Max-Age=9999999": documentMost, "max-age=x": documentLeast, "max-age=-5": documentLeast, "max-age=99999999999999999999": documentLeast,
	} {
		if got := keepFor(header); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

// A stranger who asks for many documents of an allowed host makes us neither ask
// for all of them nor keep them.
func TestDocumentBounds(t *testing.T) {
	host := serveDocuments(t)
	h := host.open(t)
	for i := range 3 * maxDocuments {
		h.client(fmt.Sprintf("https://claude.ai/%d", i), visitorAt(i), noQuestion)
	}
	if n := host.asked.Load(); n > int64(documentRate.Burst)+2 {
		t.Errorf("the host was asked %d times", n)
	}
	if n := h.documents.kept.n; n > maxDocuments {
		t.Errorf("%d are kept", n)
	}
}

// visitorAt returns one of many visitors, each from an address of its own.
func visitorAt(i int) visitor {
	addr, _ := netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)}).Prefix(32)
	return visitor{addr: addr}
}

// One stranger who asks for documents that are not there keeps nobody else from a
// first login. Many such strangers keep no known client out: its document is neither
// pushed out of memory nor left to grow old.
func TestDocumentBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(map[string]int)
		h := open(t, func(o *Options) { o.Documents = []string{"claude.ai"} })
		h.documents.client = &http.Client{Transport: answers(func(r *http.Request) *http.Response {
			w := httptest.NewRecorder()
			if asked[r.URL.String()]++; !strings.HasPrefix(r.URL.Path, "/good") {
				w.WriteHeader(http.StatusNotFound)
				return w.Result()
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, goodDocument(r.URL.String()))
			return w.Result()
		})}
		nothing := 0
		bother := func(v visitor) { nothing++; h.client(fmt.Sprint("https://claude.ai/nothing/", nothing), v, noQuestion) }
		for range 100 {
			bother(visitorAt(1))
		}
		if _, err := h.client("https://claude.ai/good/1", visitorAt(2), noQuestion); err != nil {
			t.Error("one stranger used up what all may fetch")
		}
		for range 20 {
			for i := range 100 {
				bother(visitorAt(i))
			}
			time.Sleep(documentLeast / 20)
		}
		if _, err := h.client("https://claude.ai/good/1", visitorAt(3), noQuestion); err != nil || asked["https://claude.ai/good/1"] != 2 {
			t.Errorf("while strangers ask: %v, fetched %d times, want twice", err, asked["https://claude.ai/good/1"])
		}
	})
}

// A client whose document cannot be fetched or used is told why, and whether to try again;
// the log has one line for each fetch.
func TestDocumentTold(t *testing.T) {
	kind := func(status int, contentType, body string) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
			return w.Result(), nil
		}
	}
	const again = "Try again in 60 seconds"
	for what, tc := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		status int // at /authorize; at /token a client that is none is 401
		text   string
	}{
		"not there":      {kind(404, asJSON, ""), 400, "its host answers with status 404. Trying again helps only"},
		"a redirect":     {kind(302, asJSON, ""), 400, "its host answers with status 302. Trying again helps only"},
		"a web page":     {kind(200, "text/html", "x"), 400, "it is of type &#39;text/html&#39; and not JSON"},
		"too long":       {kind(200, asJSON, strings.Repeat(" ", maxDocument+1)), 400, "it is longer than 5120 bytes"},
		"about another":  {kind(200, asJSON, goodDocument("https://claude.ai/other")), 400, "is about &#39;https://claude.ai/other&#39;"},
		"the host fails": {kind(500, asJSON, ""), 503, "its host answers with status 500. " + again},
		"no host":        {func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }, 503, "its host could not be reached. " + again},
		"slow": {func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, 503, "it did not come within 5 seconds. " + again},
		"slow in the middle": {func(r *http.Request) (*http.Response, error) {
			response, _ := kind(200, asJSON, "")(r)
			response.Body = io.NopCloser(untilDone{r.Context()})
			return response, nil
		}, 503, "it did not come within 5 seconds. " + again},
	} {
		synctest.Test(t, func(t *testing.T) {
			var lines lockedBuffer
			h := open(t, func(o *Options) {
				o.Documents, o.Log = []string{"claude.ai"}, slog.New(slog.NewTextHandler(&lines, nil))
			})
			h.documents.client = &http.Client{Transport: transport(tc.answer)}
			q := query(registered{ClientID: documentID}, callback)
			page := h.authorize(q)
			text := strings.ReplaceAll(page.Body.String(), "&#34;", "&#39;")
			if page.Code != tc.status || !strings.Contains(text, "https://claude.ai/oauth/mcp-oauth-client-metadata") || !strings.Contains(text, tc.text) || strings.Contains(text, "restart") {
				t.Errorf("%s: status %d: %s", what, page.Code, text[strings.Index(text, "<body"):])
			}
			passes := tc.status == http.StatusServiceUnavailable
			code, status, wait := "invalid_client", http.StatusUnauthorized, ""
			if passes {
				code, status, wait = "temporarily_unavailable", tc.status, "60"
			}
			wantError(t, h.authorize(q, header("Accept", asJSON)), tc.status, code)
			token := h.exchange(exchangeForm(registered{ClientID: documentID}, "x", callback))
			wantError(t, token, status, code)
			if got := token.Header().Get("Retry-After"); got != wait || page.Header().Get("Retry-After") != wait {
				t.Errorf("%s: Retry-After %q, want %q", what, got, wait)
			}
			if n := strings.Count(lines.String(), `msg="client document not fetched"`); n != 1 || !strings.Contains(lines.String(), documentID) {
				t.Errorf("%s: %d lines, want one for three requests that were answered from one fetch: %s", what, n, lines.String())
			}
		})
	}
}

// transport answers requests as it likes.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// untilDone is a body that does not come.
type untilDone struct{ ctx context.Context }

func (b untilDone) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

// A visitor who has used up his rate of documents is told so, and when to come back. One
// whose document is on a host that was not named is told that.
func TestDocumentNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		h := open(t, func(o *Options) { o.Documents = []string{"claude.ai"} })
		h.documents.client = &http.Client{Transport: answers(func(*http.Request) *http.Response {
			asked++
			w := httptest.NewRecorder()
			w.WriteHeader(http.StatusNotFound)
			return w.Result()
		})}
		ask := func(i int) *httptest.ResponseRecorder {
			return h.authorize(query(registered{ClientID: fmt.Sprint("https://claude.ai/", i)}, callback), from("203.0.113.5:1"))
		}
		for i := range 5 {
			ask(i)
		}
		w := ask(5)
		if text := w.Body.String(); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "60" || asked != 5 ||
			!strings.Contains(text, "too many such documents were asked for just now. Try again in 60 seconds") || strings.Contains(text, "restart") {
			t.Errorf("status %d, Retry-After %q after %d requests: %s", w.Code, w.Header().Get("Retry-After"), asked, text)
		}
		w = h.authorize(query(registered{ClientID: "https://evil.example/x"}, callback))
		if text := w.Body.String(); w.Code != http.StatusBadRequest || !strings.Contains(text, "--client-documents") || strings.Contains(text, "restart") {
			t.Errorf("another host: status %d: %s", w.Code, text)
		}
	})
}

// answers is a transport that answers by itself and connects to nobody.
type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// A host that does not answer holds up a login for a bounded time.
func TestDocumentSlow(t *testing.T) {
	s := open(t, func(o *Options) { o.Documents = []string{"claude.ai"} })
	if got := s.documents.client.Timeout; got != documentTime {
		t.Errorf("a document may take %v, want %v", got, documentTime)
	}
}

// Hosts are names, and no document comes from an address that is not public.
func TestDocumentOptions(t *testing.T) {
	for _, o := range []Options{
		{BaseURL: "http://localhost:9315", Loopback: true, Documents: []string{"https://claude.ai"}},
		{BaseURL: "http://localhost:9315", Loopback: true, Documents: []string{"localhost"}},
		{BaseURL: "http://localhost:9315", Loopback: true, Documents: []string{"claude.ai:443"}},
		{BaseURL: "http://localhost:9315", Loopback: true, Documents: []string{"*.ai"}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%v is taken", o.Documents)
		}
	}
	s, err := New(Options{BaseURL: "http://localhost:9315", Loopback: true, Documents: []string{"claude.ai"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.documents.fetch("https://127.0.0.1:1/document"); err == nil || !strings.Contains(err.cause, "address refused") {
		t.Errorf("a host that resolves to this machine: %v", err)
	}
}

// Whatever a document holds, a client made from it belongs to the document's address and
// has only redirect URIs that a registration could have.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(goodDocument(documentID)), documentID)
	f.Add([]byte(`{"client_id":7}`), "https://claude.ai/x")
	f.Fuzz(func(t *testing.T, body []byte, id string) {
		d := documents{hosts: []string{"claude.ai"}}
		if d.asks(id) && !strings.HasPrefix(id, "https://claude.ai/") {
			t.Fatalf("%q may be asked for", id)
		}
		c, err := parseDocument(id, body)
		if err != nil {
			return
		}
		if slices.ContainsFunc(c.redirect, func(uri string) bool { _, ref := parseRedirect(uri); return ref != nil }) || c.id != digestOf(id) || !bytes.Contains(body, []byte(`"redirect_uris"`)) && !bytes.Contains(body, []byte(`\u`)) {
			t.Fatalf("%q: %+v", body, c)
		}
	})
}
