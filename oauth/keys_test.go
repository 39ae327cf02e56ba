package oauth

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// keysOf reads key files put one after the other, as a rotation does.
func keysOf(t testing.TB, files ...[]byte) []Key {
	t.Helper()
	keys, err := ParseKeys(bytes.Join(files, nil))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// keyed makes a server with keys that outlive it.
func keyed(keys []Key, l Ledger) func(*Options) {
	return func(o *Options) { o.Keys, o.Ledger = keys, l }
}

// memoryLedger returns a new ledger that ends with the test.
func memoryLedger() *BookLedger { return NewLedger(NewBook(), func(Book) error { return nil }) }

// TestKeysRestart: a second server with the key and the ledger, be it the first one
// started again or another one beside it, knows the registrations, codes, forms and
// tokens of the first; without a key nothing survives.
func TestKeysRestart(t *testing.T) {
	for _, survives := range []bool{true, false} {
		same := func(*Options) {}
		if survives {
			same = keyed(keysOf(t, NewKey()), memoryLedger())
		}
		before, after := open(t, public, trading, same), open(t, public, trading, same)
		const redirect = "https://client.example/cb"
		c := before.register(`{"client_name":"Claude","redirect_uris":["` + redirect + `"],"token_endpoint_auth_method":"client_secret_post"}`)
		form := func(code string) url.Values {
			v := exchangeForm(c, code, redirect)
			v.Set("client_secret", c.ClientSecret)
			return v
		}
		token := reply[tokenReply](t, before.exchange(form(before.code(query(c, redirect)))), http.StatusOK).AccessToken
		code := before.code(query(c, redirect))
		page := before.authorize(query(c, redirect))
		was, err := before.bearer(token)
		if err != nil {
			t.Fatal(err)
		}

		is, err := after.bearer(token)
		if survives && (err != nil || is.ID != was.ID || is.Client != was.Client || is.Name != was.Name || is.Scope != was.Scope || !is.Expires.Equal(was.Expires) || !after.Valid(is.ID)) {
			t.Errorf("the token: %+v, %v, want %+v", is, err, was)
		}
		if !survives && err != ErrInvalidToken {
			t.Errorf("without a key the token gives %v", err)
		}
		for what, w := range map[string]*httptest.ResponseRecorder{
			"the code":         after.exchange(form(code)),
			"the registration": after.authorize(query(c, redirect)),
			"the form":         after.answer(page, url.Values{"decision": {"allow"}, "passphrase": {phrase}}),
		} {
			if ok := w.Code < 400; ok != survives {
				t.Errorf("%s, with a key %v: status %d: %s", what, survives, w.Code, w.Body)
			}
		}
	}
}

// TestKeysOnce: what counts once counts once for all servers together, and a code
// that is used again ends the login that its first use began, wherever that is.
func TestKeysOnce(t *testing.T) {
	keys, ledger := keysOf(t, NewKey()), memoryLedger()
	var ended []string
	a := open(t, keyed(keys, ledger), func(o *Options) { o.OnRevoke = func(id string) { ended = append(ended, id) } })
	b := open(t, keyed(keys, ledger))
	c := a.registerURIs(callback)
	form := exchangeForm(c, a.code(query(c, callback)), callback)
	wrong := exchangeForm(c, form.Get("code"), callback)
	wrong.Set("code_verifier", rfcVerifier[1:]+"A")
	wantError(t, b.exchange(wrong), http.StatusBadRequest, "invalid_grant") // burns nothing
	token := reply[tokenReply](t, a.exchange(form), http.StatusOK).AccessToken
	grant, err := b.bearer(token)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, b.exchange(wrong), http.StatusBadRequest, "invalid_grant") // ends nothing
	if _, err := b.bearer(token); err != nil {
		t.Fatal("a wrong attempt revoked the token")
	}
	wantError(t, b.exchange(form), http.StatusBadRequest, "invalid_grant")
	for name, h := range map[string]*fixture{"where it was given": a, "where it was replayed": b, "after a restart": open(t, keyed(keys, ledger))} {
		if _, err := h.bearer(token); err != ErrInvalidToken || h.Valid(grant.ID) || len(h.Logins()) != 0 {
			t.Errorf("%s the token gives %v, listed %v", name, err, h.Logins())
		}
	}
	if a.Sweep(); !slices.Equal(ended, []string{grant.ID}) {
		t.Errorf("announced %q, want %q", ended, grant.ID)
	}

	const redirect = "https://client.example/cb"
	page := a.authorize(query(a.registerURIs(redirect), redirect))
	location(t, a.answer(page, url.Values{"decision": {"allow"}}), redirect)
	if w := b.answer(page, url.Values{"decision": {"allow"}}); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "answered before") {
		t.Errorf("a form answered here and there: status %d", w.Code)
	}
}

// TestKeysParallel: of many exchanges of one sealed code at two servers at most one wins,
// and its token does not outlive the others.
func TestKeysParallel(t *testing.T) {
	keys, ledger := keysOf(t, NewKey()), memoryLedger()
	both := []*fixture{open(t, keyed(keys, ledger)), open(t, keyed(keys, ledger))}
	c := both[0].registerURIs(callback)
	for range 10 {
		form := exchangeForm(c, both[0].code(query(c, callback)), callback)
		var won atomic.Int32
		var token atomic.Pointer[string]
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				if w := both[i%2].exchange(form); w.Code == http.StatusOK {
					won.Add(1)
					text := reply[tokenReply](t, w, http.StatusOK).AccessToken
					token.Store(&text)
				}
			})
		}
		wg.Wait()
		if won.Load() > 1 {
			t.Fatalf("%d exchanges won", won.Load())
		}
		if won.Load() == 0 {
			continue
		}
		for _, h := range both {
			if _, err := h.bearer(*token.Load()); err != ErrInvalidToken {
				t.Fatalf("the token outlives the replay: %v", err)
			}
		}
	}
}

// TestKeysRefused: texts of another key, another epoch, another address or another
// purpose, revoked ones, expired ones and arbitrary texts are all refused in exactly the
// same words: a refusal does not say which of them it was.
func TestKeysRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, ledger := NewKey(), memoryLedger()
		h := open(t, keyed(keysOf(t, file), ledger))
		of := func(change ...func(*Options)) *fixture { return open(t, change...) }
		c := h.registerURIs(callback)
		code := func(h *fixture) string {
			return h.seal(forCode, code{Login: rand.Text(), Epoch: h.ledger.Epoch(), Client: digestOf(c.ClientID).String(), Redirect: digestOf(callback).String(), Challenge: rfcChallenge, Scope: "charts", Issued: time.Now()})
		}
		old := []string{h.login(), code(h)}
		time.Sleep(TokenLife)
		if _, err := h.RevokeAll(); err != nil {
			t.Fatal(err)
		}
		mine := h.login()
		late := code(h)
		time.Sleep(codeLife)
		tokens := map[string]string{
			"none of ours":      "x",
			"empty":             "",
			"outlived":          old[0],
			"another key":       of(keyed(keysOf(t, NewKey()), ledger)).login(),
			"another epoch":     of(keyed(keysOf(t, file), memoryLedger())).login(),
			"another address":   of(keyed(keysOf(t, file), ledger), func(o *Options) { o.BaseURL = "http://localhost:9999" }).login(),
			"a code":            code(h),
			"a client":          c.ClientID,
			"longer than any":   strings.Repeat("A", maxSealed+1),
			"a token cut short": mine[:len(mine)-1],
			"a token and more":  mine + "A",
			"a random one":      newSecret(),
		}
		revoked := h.login()
		if grant, err := h.bearer(revoked); err != nil {
			t.Fatal(err)
		} else if _, err := h.Revoke(grant.ShortID()); err != nil {
			t.Fatal(err)
		}
		tokens["revoked"] = revoked
		for what, text := range tokens {
			if _, err := h.bearer(text); err != ErrInvalidToken {
				t.Errorf("token, %s: %v", what, err)
			}
		}
		var want string
		for what, text := range map[string]string{
			"none of ours":    "x",
			"outlived":        late,
			"of an old epoch": old[1],
			"another key":     code(of(keyed(keysOf(t, NewKey()), ledger))),
			"another epoch":   code(of(keyed(keysOf(t, file), memoryLedger()))),
			"another address": code(of(keyed(keysOf(t, file), ledger), func(o *Options) { o.BaseURL = "http://localhost:9999" })),
			"a token":         mine,
			"longer than any": strings.Repeat("A", maxSealed+1),
		} {
			got := h.exchange(exchangeForm(c, text, callback))
			wantError(t, got, http.StatusBadRequest, "invalid_grant")
			if want == "" {
				want = got.Body.String()
			}
			if got.Body.String() != want {
				t.Errorf("code, %s: %s, others %s", what, got.Body, want)
			}
		}
		if _, err := h.bearer(mine); err != nil {
			t.Errorf("the good token: %v", err)
		}
	})
}

// TestKeysRotation: with a new key before the old one, what the old one sealed still
// opens, secrets of clients included, and new texts are the new key's; without the
// old one its texts are refused.
func TestKeysRotation(t *testing.T) {
	first, second, ledger := NewKey(), NewKey(), memoryLedger()
	old := open(t, keyed(keysOf(t, first), ledger))
	c := old.register(`{"redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"client_secret_post"}`)
	login := func(h *fixture) string {
		form := exchangeForm(c, h.code(query(c, callback)), callback)
		form.Set("client_secret", c.ClientSecret)
		return reply[tokenReply](t, h.exchange(form), http.StatusOK).AccessToken
	}
	token := login(old)
	both := open(t, keyed(keysOf(t, second, first), ledger))
	during := login(both)
	ready := open(t, keyed(keysOf(t, first, second), ledger)) // a replica that has not been told to seal with it yet
	alone := open(t, keyed(keysOf(t, second), ledger))
	for _, tc := range []struct {
		name  string
		h     *fixture
		token string
		want  error
	}{
		{"an old token, both keys", both, token, nil},
		{"a new token, both keys", both, during, nil},
		{"a new token, the new key second", ready, during, nil},
		{"a new token, the new key alone", alone, during, nil},
		{"an old token, the new key alone", alone, token, ErrInvalidToken},
		{"a new token, the old key alone", old, during, ErrInvalidToken},
	} {
		if _, err := tc.h.bearer(tc.token); err != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
	w := alone.authorize(query(c, callback), header("Accept", "application/json"))
	wantError(t, w, http.StatusBadRequest, "invalid_client")
	if strings.Contains(w.Body.String(), "restart") {
		t.Errorf("a restart is blamed: %s", w.Body)
	}
}

// TestKeysRevoke: the owner's and the client's revocations hold at every server, now
// and after a restart; to sign out everywhere ends tokens that nobody has shown yet,
// and codes; registrations stay.
func TestKeysRevoke(t *testing.T) {
	keys, ledger := keysOf(t, NewKey()), memoryLedger()
	a := open(t, keyed(keys, ledger))
	first, second, unseen := a.login(), a.login(), a.login()
	c := a.registerURIs(callback)
	own := reply[tokenReply](t, a.exchange(exchangeForm(c, a.code(query(c, callback)), callback)), http.StatusOK).AccessToken
	b := open(t, keyed(keys, ledger))
	if n := len(b.Logins()); n != 0 {
		t.Errorf("%d logins are known that nobody has shown", n)
	}
	grant, err := b.bearer(first)
	if err != nil || len(b.Logins()) != 1 {
		t.Fatalf("%v, %d logins", err, len(b.Logins()))
	}
	if got, err := b.Revoke(grant.ShortID()); err != nil || got.ID != grant.ID {
		t.Fatal(got, err)
	}
	if got, err := b.Revoke(grant.ShortID()); err != nil || got.ID != grant.ID {
		t.Errorf("once more: %v, %v", got, err)
	}
	give := func(token string, c registered) *httptest.ResponseRecorder {
		return b.do("POST", "/revoke", url.Values{"token": {token}, "client_id": {c.ClientID}}.Encode())
	}
	wantError(t, give(second, c), http.StatusBadRequest, "invalid_grant")
	if w := give(own, c); w.Code != http.StatusOK {
		t.Fatalf("a client gives its token back: %d %s", w.Code, w.Body)
	}
	check := func(when string, want map[string]error) {
		t.Helper()
		for name, h := range map[string]*fixture{"a": a, "b": b, "a new start": open(t, keyed(keys, ledger))} {
			for token, want := range want {
				if _, err := h.bearer(token); err != want {
					t.Errorf("%s, at %s: %v, want %v", when, name, err, want)
				}
			}
		}
	}
	check("one each", map[string]error{first: ErrInvalidToken, own: ErrInvalidToken, second: nil})
	code := a.code(query(c, callback))
	if _, err := b.RevokeAll(); err != nil {
		t.Fatal(err)
	}
	check("all", map[string]error{first: ErrInvalidToken, own: ErrInvalidToken, second: ErrInvalidToken, unseen: ErrInvalidToken})
	wantError(t, a.exchange(exchangeForm(c, code, callback)), http.StatusBadRequest, "invalid_grant")
	a.code(query(c, callback)) // the client is still known
}

// TestKeysRevokeLogged: each token that a client gives back is logged once, also one that
// was not presented since the start, and also if that cannot be written down at first.
func TestKeysRevokeLogged(t *testing.T) {
	for _, seen := range []bool{true, false} {
		for _, breaks := range []bool{true, false} {
			keys, ledger := keysOf(t, NewKey()), newFaulty()
			before := open(t, keyed(keys, ledger))
			c := before.registerURIs(callback)
			token := reply[tokenReply](t, before.exchange(exchangeForm(c, before.code(query(c, callback)), callback)), http.StatusOK).AccessToken
			var log bytes.Buffer
			h := open(t, keyed(keys, ledger), func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
			if seen {
				if _, err := h.bearer(token); err != nil {
					t.Fatal(err)
				}
			}
			for try := range 3 {
				ledger.broken.Store(breaks && try == 0)
				h.do("POST", "/revoke", url.Values{"token": {token}, "client_id": {c.ClientID}}.Encode())
			}
			if n := strings.Count(log.String(), "token revoked by its client"); n != 1 {
				t.Errorf("presented %v, the disk fails at first %v: %d lines, want one", seen, breaks, n)
			}
		}
	}
}

// faulty is a ledger whose disk fails.
type faulty struct {
	*BookLedger
	broken atomic.Bool
}

var errDisk = errors.New("disk failure")

func newFaulty() *faulty {
	f := &faulty{}
	f.BookLedger = NewLedger(NewBook(), func(Book) error {
		if f.broken.Load() {
			return errDisk
		}
		return nil
	})
	return f
}

// TestKeysDiskFails: what cannot be written down is not granted and may be tried
// again. A revocation that cannot be written down holds in this process, and whoever asked
// for it is told so.
func TestKeysDiskFails(t *testing.T) {
	ledger := newFaulty()
	h := open(t, public, keyed(keysOf(t, NewKey()), ledger))
	const redirect = "https://client.example/cb"
	c := h.registerURIs(redirect)
	form := exchangeForm(c, h.code(query(c, redirect)), redirect)
	page := h.authorize(query(c, redirect))
	ledger.broken.Store(true)
	w := h.exchange(form)
	wantError(t, w, http.StatusServiceUnavailable, "temporarily_unavailable")
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	yes := url.Values{"decision": {"allow"}, "passphrase": {phrase}}
	again := h.answer(page, yes)
	if again.Code != http.StatusServiceUnavailable || again.Header().Get("Location") != "" || !strings.Contains(again.Body.String(), "Nothing was granted") {
		t.Errorf("a consent that cannot be written: status %d", again.Code)
	}
	ledger.broken.Store(false)
	location(t, h.answer(again, yes, cookies(page)), redirect) // the page that was shown again
	token := reply[tokenReply](t, h.exchange(form), http.StatusOK).AccessToken
	grant, err := h.bearer(token)
	if err != nil {
		t.Fatal(err)
	}

	ledger.broken.Store(true)
	give := url.Values{"token": {token}, "client_id": {c.ClientID}}.Encode()
	for range 2 { // the second time it is revoked in memory, and still not on disk
		wantError(t, h.do("POST", "/revoke", give), http.StatusServiceUnavailable, "temporarily_unavailable")
	}
	if _, err := h.bearer(token); err != ErrInvalidToken || h.Valid(grant.ID) {
		t.Errorf("the token works on: %v", err)
	}
	if _, err := h.RevokeAll(); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "in this process and until the next start only") {
		t.Errorf("RevokeAll: %v", err)
	}
	ledger.broken.Store(false)
	if w := h.do("POST", "/revoke", give); w.Code != http.StatusOK {
		t.Errorf("the disk works again: %d", w.Code)
	}
}

// TestKeysMemory: sealed logins past the bound of tokens stay valid. The table only
// saves opening them again, and tells whose streams to end.
func TestKeysMemory(t *testing.T) {
	h := open(t, keyed(keysOf(t, NewKey()), memoryLedger()))
	h.tokens.max = 3
	var tokens []string
	for range 6 {
		tokens = append(tokens, h.login())
	}
	for i, token := range slices.Concat(tokens, tokens) {
		if _, err := h.bearer(token); err != nil {
			t.Errorf("token %d: %v", i%6, err)
		}
	}
	if h.tokens.n != 3 {
		t.Errorf("%d tokens are kept", h.tokens.n)
	}
}

// TestKeysNothingOutlives: the streams of a token end when it ends at the latest, however
// many tokens came after it. One that is pushed out is announced, so that its streams end
// then, and its client can open them again.
func TestKeysNothingOutlives(t *testing.T) {
	for name, end := range map[string]func(h *fixture, again func()){
		"all at once":       func(h *fixture, _ func()) { h.RevokeAll() },
		"at another server": func(h *fixture, _ func()) { h.ledger.NextEpoch(); h.Sweep() },
		"code used twice":   func(_ *fixture, again func()) { again() },
	} {
		streams := make(map[string]bool)
		h := open(t, keyed(keysOf(t, NewKey()), memoryLedger()), func(o *Options) { o.OnRevoke = func(id string) { delete(streams, id) } })
		h.tokens.max = 3
		c := h.registerURIs(callback)
		form := exchangeForm(c, h.code(query(c, callback)), callback)
		first := reply[tokenReply](t, h.exchange(form), http.StatusOK).AccessToken
		for _, text := range []string{first, h.login(), h.login(), h.login(), first, h.login(), h.login(), h.login()} {
			if grant, err := h.bearer(text); err != nil {
				t.Fatal(err)
			} else {
				streams[grant.ID] = true
			}
		}
		end(h, func() { wantError(t, h.exchange(form), http.StatusBadRequest, "invalid_grant") })
		for id := range streams {
			if !h.Valid(id) {
				t.Errorf("%s: a stream of %.8s is open", name, id)
			}
		}
	}
}

// TestKeysRevokeAgain: a revocation that could not be written down holds at once, and the
// owner can ask for it again by the same id until it is.
func TestKeysRevokeAgain(t *testing.T) {
	ledger := newFaulty()
	announced := 0
	h := open(t, keyed(keysOf(t, NewKey()), ledger), func(o *Options) { o.OnRevoke = func(string) { announced++ } })
	text := h.seal(forToken, statement{Grant: Grant{Login: rand.Text() + "." + ledger.Epoch() + "." + h.issuers[0], Scope: ScopeCharts, Expires: time.Now().Add(TokenLife)}})
	grant, err := h.bearer(text)
	if err != nil {
		t.Fatal(err)
	}
	ledger.broken.Store(true)
	for range 2 {
		if _, err := h.Revoke(grant.ID); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "in this process and until the next start only") || !strings.HasSuffix(err.Error(), "do the same again") {
			t.Errorf("while the disk fails: %v", err)
		}
		if _, err := h.bearer(text); err != ErrInvalidToken || h.Valid(grant.ID) || len(h.Logins()) != 0 || announced == 0 {
			t.Errorf("the token works on: %v, %v", err, h.Logins())
		}
	}
	ledger.broken.Store(false)
	if got, err := h.Revoke(grant.ID); err != nil || got.ID != grant.ID || ledger.unsaved {
		t.Errorf("once the disk works: %v, %v", got, err)
	}
}

// TestKeysRevokeUntilWritten: a login whose end, however it came, could not be written down
// can be revoked by its id until that is written; each end is announced once.
func TestKeysRevokeUntilWritten(t *testing.T) {
	for name, end := range map[string]func(h *fixture, id string, again func()){
		"one, then all":   func(h *fixture, id string, _ func()) { h.Revoke(id); h.RevokeAll() },
		"all":             func(h *fixture, _ string, _ func()) { h.RevokeAll() },
		"all, then Sweep": func(h *fixture, _ string, _ func()) { h.RevokeAll(); h.Sweep() },
		"code used twice": func(h *fixture, _ string, again func()) { again() },
	} {
		ledger := newFaulty()
		announced := make(map[string]int)
		h := open(t, keyed(keysOf(t, NewKey()), ledger), func(o *Options) { o.OnRevoke = func(id string) { announced[id]++ } })
		c := h.registerURIs(callback)
		form := exchangeForm(c, h.code(query(c, callback)), callback)
		text := reply[tokenReply](t, h.exchange(form), http.StatusOK).AccessToken
		grant, err := h.bearer(text)
		if err != nil {
			t.Fatal(err)
		}
		other, err := h.bearer(h.login())
		if err != nil {
			t.Fatal(err)
		}
		ledger.broken.Store(true)
		end(h, grant.ID, func() { wantError(t, h.exchange(form), http.StatusBadRequest, "invalid_grant") })
		if _, err := h.Revoke(grant.ID); !errors.Is(err, errDisk) {
			t.Errorf("%s: while the disk fails: %v", name, err)
		}
		if _, err := h.bearer(text); err != ErrInvalidToken || slices.ContainsFunc(h.Logins(), func(l Login) bool { return l.ID == grant.ID }) {
			t.Errorf("%s: the token works on: %v, %v", name, err, h.Logins())
		}
		ledger.broken.Store(false)
		if got, err := h.Revoke(grant.ID); err != nil || got.ID != grant.ID || ledger.unsaved {
			t.Errorf("%s: once the disk works: %v, %v", name, got, err)
		}
		if _, err := h.RevokeAll(); err != nil || announced[grant.ID] != 1 || announced[other.ID] != 1 || len(h.Logins()) != 0 {
			t.Errorf("%s: %v, announced %v, %v work on", name, err, announced, h.Logins())
		}
	}
}

// TestKeysAllEnd: when all logins end, each that was presented here has been announced, so
// that its streams end with it. That holds for those past the bound too.
func TestKeysAllEnd(t *testing.T) {
	ledger := memoryLedger()
	ended := make(map[string]bool)
	h := open(t, keyed(keysOf(t, NewKey()), ledger), func(o *Options) { o.OnRevoke = func(id string) { ended[id] = true } })
	for range maxTokens + 1 {
		text := h.seal(forToken, statement{Grant: Grant{Login: rand.Text() + "." + ledger.Epoch() + "." + h.issuers[0], Scope: ScopeCharts, Expires: time.Now().Add(TokenLife)}})
		if grant, err := h.bearer(text); err != nil || !h.Valid(grant.ID) {
			t.Fatal(grant, err)
		}
	}
	if n, err := h.RevokeAll(); n != maxTokens || err != nil || len(ended) != maxTokens+1 {
		t.Errorf("%d ended and %d were announced, %v; want %d and one more", n, len(ended), err, maxTokens)
	}
}

// TestKeysSize: the longest code and token that can be made stay within their bound,
// for headers and addresses; so does the client_id, which a key does not make longer.
func TestKeysSize(t *testing.T) {
	h := open(t, trading, keyed(keysOf(t, NewKey()), memoryLedger()), func(o *Options) { o.OwnPage = "/app" })
	name := strings.Repeat("\U0001F56F", 64)
	redirect := "https://a.example/" + strings.Repeat("x", 900)
	c := h.register(`{"client_name":"` + name + `","redirect_uris":["` + redirect + `"]}`)
	if len(c.ClientID) > maxClientID {
		t.Errorf("a client_id of %d characters", len(c.ClientID))
	}
	w := h.answer(h.authorize(query(c, redirect)), url.Values{"decision": {"allow"}, "grant": {"trade"}})
	code := location(t, w, redirect).Get("code")
	token := reply[tokenReply](t, h.exchange(exchangeForm(c, code, redirect)), http.StatusOK).AccessToken
	if len(code) > maxSealed || len(token) > maxSealed {
		t.Errorf("a code of %d characters and a token of %d, want at most %d", len(code), len(token), maxSealed)
	}
	if grant, err := h.bearer(token); err != nil || grant.Name != name {
		t.Errorf("%+v, %v", grant, err)
	}
}

// TestKeysStrangersWriteNothing: whatever a stranger sends to a server with a
// passphrase, the ledger, which is on disk, is not written.
func TestKeysStrangersWriteNothing(t *testing.T) {
	writes := 0
	ledger := NewLedger(NewBook(), func(Book) error { writes++; return nil })
	h := open(t, public, keyed(keysOf(t, NewKey()), ledger))
	const redirect = "https://client.example/cb"
	c := h.registerURIs(redirect)
	for _, answer := range []url.Values{{"decision": {"deny"}}, {"decision": {"allow"}}, {"decision": {"allow"}, "passphrase": {"guess"}}, {}} {
		h.answer(h.authorize(query(c, redirect)), answer)
	}
	h.exchange(exchangeForm(c, newSecret(), redirect))
	h.do("POST", "/revoke", url.Values{"token": {newSecret()}, "client_id": {c.ClientID}}.Encode())
	h.bearer(newSecret())
	if writes != 0 {
		t.Errorf("%d writes", writes)
	}
	h.code(query(c, redirect))
	if writes != 1 {
		t.Errorf("%d writes after a consent, want 1", writes)
	}
}

// TestKeysConsentPage: with a key file the page does not say that a restart ends the
// permission.
func TestKeysConsentPage(t *testing.T) {
	const redirect = "https://client.example/cb"
	for want, h := range map[string]*fixture{
		"The permission ends after seven days, or when wick restarts.": open(t),
		"The permission ends after seven days.":                        open(t, keyed(keysOf(t, NewKey()), memoryLedger())),
	} {
		if page := h.authorize(query(h.registerURIs(redirect), redirect)); !strings.Contains(page.Body.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestParseKeys: a key file is read whole or refused, and no error and no verb shows
// a key.
func TestParseKeys(t *testing.T) {
	one, two := string(NewKey()), string(NewKey())
	line := func(file string) string { return strings.Split(file, "\n")[1] }
	same := keyMark + base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	for _, tc := range []struct {
		name, text string
		keys       int
		want       string // in the error
	}{
		{"one", one, 1, ""},
		{"two, put together", one + two, 2, ""},
		{"without a line end", line(one), 1, ""},
		{"Windows line ends and blanks", "\r\n  " + line(one) + " \r\n\r\n#x\r\n", 1, ""},
		{"empty", "", 0, "no key"},
		{"a comment", "# nothing\n", 0, "no key"},
		{"cut short", line(one)[:len(line(one))-1], 0, "line 1 is not a key"},
		{"longer", line(one) + "A", 0, "line 1 is not a key"},
		{"not its mark", strings.TrimPrefix(line(one), keyMark), 0, "line 1 is not a key"},
		{"other characters", line(one)[:20] + "+" + line(one)[21:], 0, "line 1 is not a key"},
		{"one byte again and again", same, 0, "line 1 is not a key"},
		{"the same twice", one + one, 0, "line 4 repeats key 1"},
		{"a good one and another", one + "passphrase", 0, "line 3 is not a key"},
	} {
		keys, err := ParseKeys([]byte(tc.text))
		if len(keys) != tc.keys || (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %d keys, %v, want %d and %q", tc.name, len(keys), err, tc.keys, tc.want)
		}
		if err != nil && (strings.Contains(err.Error(), line(one)[len(keyMark):len(keyMark)+8]) || strings.Contains(err.Error(), "passphrase")) {
			t.Errorf("%s: the error shows the line: %v", tc.name, err)
		}
	}
	var many []byte
	for range maxKeys + 1 {
		many = append(many, NewKey()...)
	}
	if _, err := ParseKeys(many); err == nil || !strings.Contains(err.Error(), "one key too many") {
		t.Errorf("%d keys: %v", maxKeys+1, err)
	}
	key := keysOf(t, []byte(one))[0]
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", key, "options", Options{Keys: []Key{key}})
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", key)
	shown := log.String() + fmt.Sprintf("%v %+v %#v %s %x %d %q %v", key, key, key, key, key, key, key, []Key{key})
	for _, form := range []string{"%v", "%x", "%d"} {
		if secret := fmt.Sprintf(form, key[:4]); strings.Contains(shown, strings.Trim(secret, "[]")) {
			t.Errorf("the key is shown as %s: %s", form, shown)
		}
	}
}

// TestKeysNeedLedger: keys without a ledger could not tell a used code from a new one.
func TestKeysNeedLedger(t *testing.T) {
	for _, o := range []Options{{Keys: keysOf(t, NewKey())}, {Ledger: memoryLedger()}} {
		o.BaseURL, o.Loopback = "http://localhost:9315", true
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "go together") {
			t.Errorf("New: %v", err)
		}
	}
}

// FuzzParseKeys: whatever is read as keys has 32 bytes each, and no two are the same.
func FuzzParseKeys(f *testing.F) {
	f.Add(NewKey())
	f.Add([]byte(keyMark))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := ParseKeys(text)
		if (err == nil) != (len(keys) > 0) || len(keys) > maxKeys {
			t.Fatalf("%d keys and %v", len(keys), err)
		}
		seen := make(map[Key]bool)
		for _, key := range keys {
			if seen[key] || !bytes.Contains(text, []byte(base64.RawURLEncoding.EncodeToString(key[:]))) {
				t.Fatal("a key is there twice, or not in the file")
			}
			seen[key] = true
		}
	})
}

// FuzzSealed: no text opens as a token or a code but the ones that were given out,
// and those only as what they are.
func FuzzSealed(f *testing.F) {
	h := open(f, keyed(keysOf(f, NewKey(), NewKey()), memoryLedger()))
	c := h.registerURIs(callback)
	token, code := h.login(), h.code(query(c, callback))
	for _, seed := range []string{"TOKEN", "CODE", "ID", "TOKENCODE", "TOKEN=", "TOKEN\n", "", "AAAA"} {
		f.Add(seed, 0, byte(0))
		f.Add(seed, 7, byte(1))
		f.Add(seed, 40, byte(0x80))
	}
	f.Fuzz(func(t *testing.T, text string, at int, flip byte) {
		text = strings.NewReplacer("TOKEN", token, "CODE", code, "ID", c.ClientID).Replace(text)
		if at >= 0 && at < len(text) {
			text = text[:at] + string([]byte{text[at] ^ flip}) + text[at+1:]
		}
		if _, ok := h.readToken(text); ok != (text == token) {
			t.Fatalf("%q is a token: %v", text, ok)
		}
		if by := h.open(forCode, text, new(struct{})); (by != nil) != (text == code) {
			t.Fatalf("%q is a code: %v", text, by != nil)
		}
	})
}
