package oauth

import (
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestFlood registers twenty thousand clients from as many addresses; nothing is
// kept of them, and nobody is pushed out: a login that waits for its owner, a
// code and a token still work.
func TestFlood(t *testing.T) {
	h := open(t)
	c, idle := h.registerURIs(callback), h.registerURIs("https://idle.example/cb")
	token := reply[tokenReply](t, h.exchange(exchangeForm(c, h.code(query(c, callback)), callback)), http.StatusOK).AccessToken
	waiting := exchangeForm(c, h.code(query(c, callback)), callback)
	page := h.authorize(query(idle, "https://idle.example/cb"))
	register := func(n, first int) {
		for i := range n {
			w := h.do("POST", "/register", `{"redirect_uris":["https://a.example/cb"]}`, header("Content-Type", asJSON), from(addressOf(first+i)))
			if w.Code != http.StatusCreated {
				t.Fatalf("registration %d: status %d", first+i, w.Code)
			}
		}
	}
	register(2*maxAddresses, 0) // fill the memory of the rate limit, which is bounded
	before := heap()
	more := 20_000
	if testing.Short() {
		more = 2000
	}
	register(more, 2*maxAddresses)
	if grown := int64(heap()) - int64(before); grown > 1<<20 {
		t.Errorf("%d registrations hold %d bytes", more, grown)
	}
	if _, err := h.bearer(token); err != nil {
		t.Errorf("the owner's token: %v", err)
	}
	reply[tokenReply](t, h.exchange(waiting), http.StatusOK)
	location(t, h.answer(page, url.Values{"decision": {"allow"}}), "https://idle.example/cb")
	h.code(query(c, callback)) // fails the test unless the client is still known
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// size counts what a table really holds.
func size[E entry](t *table[E]) (n int) {
	for range t.m.Range {
		n++
	}
	return n
}

// Past its bound a table drops the entry used longest ago, and says which.
func TestEviction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var table table[*token]
		table.max = 3
		entries := make(map[string]*token)
		add := func(name string, want ...string) {
			t.Helper()
			time.Sleep(time.Second)
			entries[name] = &token{statement: statement{Grant: Grant{Name: name, Expires: time.Now().Add(time.Hour)}}}
			entries[name].last.Store(time.Now().UnixNano())
			added, pushed := table.add(digestOf(name), entries[name])
			var names []string
			for _, e := range pushed {
				names = append(names, e.Name)
			}
			if !added || !slices.Equal(names, want) {
				t.Errorf("adding %s: %v, pushed out %v, want %v", name, added, names, want)
			}
		}
		add("a")
		add("b")
		add("c")
		entries["a"].last.Store(time.Now().Add(time.Second).UnixNano())
		add("d", "b")
		add("e", "c")
		if added, _ := table.add(digestOf("e"), entries["e"]); added {
			t.Error("a key was added twice")
		}
		if table.n != 3 || size(&table) != 3 || len(table.all()) != 3 {
			t.Errorf("%d entries, %d counted, want 3", size(&table), table.n)
		}
		time.Sleep(2 * time.Hour)
		if len(table.all()) != 0 {
			t.Error("dead entries are listed")
		}
	})
}

// What is kept of logins has bounds too.
func TestLoginBounds(t *testing.T) {
	if h := open(t); h.tokens.max != 20480 || h.answered.max != 1000 || h.approved.max != 1000 {
		t.Errorf("%d tokens, %d forms, %d clients, want 20480, 1000 and 1000", h.tokens.max, h.answered.max, h.approved.max)
	}
}

// The biggest request that is allowed passes through the form.
func TestBiggestRequest(t *testing.T) {
	h := open(t, public)
	redirect := "https://a.example/cb?" + strings.Repeat("/", maxRedirectLen-len("https://a.example/cb?"))
	c := h.registerURIs(redirect)
	q := query(c, redirect)
	q.Set("state", strings.Repeat("\xff", maxState))
	q.Set("scope", strings.Repeat("a ", 100))
	q.Set("resource", h.base)
	raw := strings.ReplaceAll(q.Encode(), "%2F", "/")
	if len(raw) > maxQuery {
		t.Fatalf("the request has %d bytes", len(raw))
	}
	w := h.answer(h.do("GET", "/authorize?"+raw, ""), url.Values{"decision": {"allow"}, "passphrase": {phrase}})
	if got := location(t, w, redirect).Get("state"); got != q.Get("state") {
		t.Errorf("state of %d bytes came back with %d", len(q.Get("state")), len(got))
	}
}

func ExampleNew() {
	s, err := New(Options{BaseURL: "http://localhost:9315", Loopback: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	s.Routes(mux)
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		grant, err := s.Authenticate(r, s.ClientIP(r))
		if err != nil {
			s.Challenge(w.Header(), r.URL.Path, err)
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		fmt.Fprintln(w, "your token allows", grant.Scope)
	})

	// Without a passphrase, nobody else may be able to reach the service.
	_, err = New(Options{BaseURL: "https://charts.example.com", Loopback: true})
	fmt.Println(err)
	// Output: base URL "https://charts.example.com" is not a loopback name, so strangers may reach the service: set a passphrase
}
