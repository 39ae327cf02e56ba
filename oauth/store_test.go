package oauth

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestFlood registers a hundred thousand clients from as many addresses. They
// push out each other; the memory stays bounded, the owner's token works, and so
// does the registration it came from.
func TestFlood(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	token := reply[tokenReply](t, h.exchange(exchangeForm(c, h.code(query(c, callback)), callback)), http.StatusOK).AccessToken
	h.flood(100_000, `{"redirect_uris":["https://a.example/cb"]}`)
	if h.clients.n != DefaultMaxClients || size(&h.clients) != DefaultMaxClients {
		t.Errorf("%d clients counted, %d kept, want %d", h.clients.n, size(&h.clients), DefaultMaxClients)
	}
	if _, err := h.bearer(token); err != nil {
		t.Errorf("the owner's token: %v", err)
	}
	h.code(query(c, callback)) // fails the test unless the client is still known
}

// TestFloodOfGiants fills the table with the largest registrations there can be.
func TestFloodOfGiants(t *testing.T) {
	uris := make([]string, 15)
	for i := range uris {
		uris[i] = "https://a.example/" + strings.Repeat("x", 1000) + fmt.Sprint(i)
	}
	body, _ := json.Marshal(map[string]any{"client_name": strings.Repeat("📈", 200), "redirect_uris": uris})
	if len(body) > maxBody || len(body) < maxBody*95/100 {
		t.Fatalf("a body of %d bytes, want nearly %d", len(body), maxBody)
	}
	open(t).flood(DefaultMaxClients+100, string(body))
}

// flood registers n clients, each from its own address, and fails the test if
// that costs 64 MiB.
func (h *house) flood(n int, body string) {
	h.t.Helper()
	before := heap()
	for i := range n {
		w := h.do("POST", "/register", body, header("Content-Type", asJSON), from(addressOf(i)))
		if w.Code != http.StatusCreated {
			h.t.Fatalf("registration %d: status %d", i, w.Code)
		}
	}
	grown := int64(heap()) - int64(before)
	h.t.Logf("%d registrations of %d bytes: %d kept, heap grown by %d KiB", n, len(body), h.clients.n, grown>>10)
	if grown > 64<<20 {
		h.t.Errorf("the heap grew by %d bytes, want under 64 MiB", grown)
	}
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

// A registration that leads to no token dies after a day; one that did stays.
func TestUnusedRegistrationsDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		used, unused := h.registerURIs(callback), h.registerURIs(callback)
		form := exchangeForm(used, h.code(query(used, callback)), callback)
		reply[tokenReply](t, h.exchange(form), http.StatusOK)
		time.Sleep(24*time.Hour - time.Nanosecond)
		h.code(query(unused, callback))
		time.Sleep(time.Nanosecond)
		if w := h.authorize(query(unused, callback)); w.Code != http.StatusBadRequest {
			t.Errorf("an unused registration after 24 hours: status %d, want 400", w.Code)
		}
		if h.clients.n != 1 {
			t.Errorf("%d clients, want 1", h.clients.n)
		}
		time.Sleep(30 * 24 * time.Hour)
		h.code(query(used, callback))
	})
}

// Past its bound a table drops the entry of lowest standing: never proven before
// proven, and the longest unused first.
func TestEviction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var table table[*client]
		table.init(4)
		add := func(name string, proven bool) {
			time.Sleep(time.Second)
			c := &client{name: name, created: time.Now()}
			if proven {
				c.tokenAt.Store(time.Now().UnixNano())
			}
			table.add(digestOf(name), c)
		}
		want := func(names ...string) {
			t.Helper()
			for _, name := range names {
				if _, ok := table.get(digestOf(name)); !ok {
					t.Errorf("%s is gone", name)
				}
			}
			if table.n != len(names) || size(&table) != len(names) {
				t.Errorf("%d entries, %d counted, want %d", size(&table), table.n, len(names))
			}
		}
		add("proven 1", true)
		add("new 1", false)
		add("proven 2", true)
		add("new 2", false)
		add("new 3", false)
		want("proven 1", "proven 2", "new 2", "new 3")
		add("proven 3", true)
		add("proven 4", true)
		want("proven 1", "proven 2", "proven 3", "proven 4")
		add("new 4", false) // the one used longest ago makes room
		want("proven 2", "proven 3", "proven 4", "new 4")
		table.remove(digestOf("proven 3"))
		table.remove(digestOf("proven 3"))
		want("proven 2", "proven 4", "new 4")
	})
}

// The table drops whom a plain search for the lowest would drop, whatever
// happens in between.
func TestEvictionOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 40
		var table table[*client]
		table.init(most)
		kept := make(map[string]*client)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 5000 {
			time.Sleep(time.Millisecond)
			if len(kept) == most {
				lowest := ""
				for name, c := range kept {
					p, u := c.standing()
					if lowest == "" {
						lowest = name
					} else if lp, lu := kept[lowest].standing(); lp && !p || lp == p && u < lu {
						lowest = name
					}
				}
				delete(kept, lowest)
			}
			c := &client{name: fmt.Sprint(i), created: time.Now()}
			table.add(digestOf(c.name), c)
			kept[c.name] = c
			time.Sleep(time.Millisecond)
			for _, c := range kept { // some get a token, in the order of chance
				if random.IntN(60) == 0 {
					time.Sleep(time.Microsecond)
					c.tokenAt.Store(time.Now().UnixNano())
				}
			}
			for name := range kept {
				if _, ok := table.get(digestOf(name)); !ok {
					t.Fatalf("after %d entries %s is gone", i, name)
				}
			}
			if table.n != len(kept) {
				t.Fatalf("after %d entries %d are kept, want %d", i, table.n, len(kept))
			}
		}
	})
}

// Codes and tokens have bounds too. A token in use outlives one that is not.
func TestCodeAndTokenBounds(t *testing.T) {
	if h := open(t); h.codes.max != 100 || h.tokens.max != 1000 {
		t.Errorf("when not told, %d codes and %d tokens, want 100 and 1000", h.codes.max, h.tokens.max)
	}
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(o *Options) { o.MaxCodes, o.MaxTokens = 3, 3 })
		c := h.registerURIs(callback)
		var codes []string
		for range 4 {
			codes = append(codes, h.code(query(c, callback)))
			time.Sleep(time.Second)
		}
		wantError(t, h.exchange(exchangeForm(c, codes[0], callback)), http.StatusBadRequest, "invalid_grant")
		var tokens []string
		for _, code := range codes[1:] {
			tokens = append(tokens, reply[tokenReply](t, h.exchange(exchangeForm(c, code, callback)), http.StatusOK).AccessToken)
			time.Sleep(time.Second)
		}
		if _, err := h.bearer(tokens[0]); err != nil { // used: now the second is the longest unused
			t.Fatal(err)
		}
		h.login()
		for i, want := range []error{nil, ErrInvalidToken, nil} {
			if _, err := h.bearer(tokens[i]); err != want {
				t.Errorf("token %d: %v, want %v", i, err, want)
			}
		}
		if h.codes.n > 3 || h.tokens.n != 3 {
			t.Errorf("%d codes and %d tokens, want at most 3 and 3", h.codes.n, h.tokens.n)
		}
	})
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
		grant, err := s.Authenticate(r)
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
