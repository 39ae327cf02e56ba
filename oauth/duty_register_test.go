package oauth

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

const asJSON = "application/json"

// Duty 11: 201, no caching, everything registered in the reply. Clients check
// the status and every member; one null and they stop.
func TestDuty11Reply(t *testing.T) {
	h := open(t)
	w := h.do("POST", "/register", `{"client_name":"Friend","redirect_uris":["https://a.example/cb","cursor://b/cb"],"token_endpoint_auth_method":"client_secret_post"}`, header("Content-Type", asJSON))
	got := reply[map[string]any](t, w, http.StatusCreated)
	if cc := w.Header().Get("Cache-Control"); cc != "no-store" {
		t.Errorf("Cache-Control %q: a proxy would hand out the secret", cc)
	}
	if s, _ := got["client_secret"].(string); len(s) != 43 {
		t.Errorf("client_secret %q, want 256 bits in base64url", s)
	}
	if s, _ := got["client_id"].(string); len(s) > 2048 || !isBase64(s) || strings.Contains(s, "Friend") {
		t.Errorf("client_id %q, want a sealed text of at most 2 KiB", s)
	}
	delete(got, "client_secret")
	delete(got, "client_id")
	if at, _ := got["client_id_issued_at"].(float64); at < 1e9 {
		t.Errorf("client_id_issued_at %v", at)
	}
	delete(got, "client_id_issued_at")
	want := map[string]any{
		"client_secret_expires_at": 0.0, "client_name": "Friend",
		"redirect_uris": []any{"https://a.example/cb", "cursor://b/cb"},
		"grant_types":   []any{"authorization_code"}, "response_types": []any{"code"},
		"token_endpoint_auth_method": "client_secret_post", "logo_uri": "http://localhost:9315/favicon.svg",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("reply\n%v, want\n%v", got, want)
	}
}

// Duty 12: where a code may be sent. Without this a code goes to plain http for
// anyone on the way to read, or to javascript: on our own page.
func TestDuty12RedirectURIs(t *testing.T) {
	h := open(t)
	post := func(uris ...string) (int, refusalJSON) {
		body, _ := json.Marshal(map[string]any{"redirect_uris": uris})
		w := h.do("POST", "/register", string(body), header("Content-Type", asJSON))
		var ref refusalJSON
		json.Unmarshal(w.Body.Bytes(), &ref)
		return w.Code, ref
	}
	for _, uri := range []string{
		"https://a.example", "https://a.example/", "https://a.example:8443/cb?x=y", "https://xn--bcher-kva.example/cb", "https://192.0.2.1/cb",
		"http://localhost/cb", "http://localhost:1/", "http://127.0.0.1", "http://127.0.0.1:65535/cb", "http://[::1]:80/cb",
		"cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app:/oauth", "vscode://x", "claude://callback",
	} {
		if status, ref := post(uri); status != http.StatusCreated {
			t.Errorf("%q refused: %d %+v", uri, status, ref)
		}
	}
	bad := []string{
		"", "/cb", "a.example/cb", "//a.example/cb", "https:///cb", "https:a.example", "https://", "https://a.example/cb#", "https://a.example/cb#f",
		"https://user@a.example/", "https://user:pw@a.example/", "https://a.example@evil.example/", "https://a.example\\@evil.example/",
		"http://a.example/cb", "http://localhost.evil.example/", "http://127.0.0.1.evil.example/", "http://0.0.0.0/", "http://127.1/", "http://[::2]/",
		"http://localhost:0/", "http://localhost:65536/", "http://localhost:/", "http://localhost:x/", "http:localhost",
		"javascript:alert(1)", "javascript://a/%0aalert(1)", "JavaScript://a", "data:text/html,x", "data://x/y", "file:///etc/passwd", "vbscript:x", "vbscript://x",
		"blob:https://a.example/x", "blob://x", "about:blank", "about://blank", "view-source://x", "filesystem://x", "intent://x", "ws://a.example", "ftp://a.example/",
		"cursor:", "cursor:x", "x://", "https://a.example/\r\nX: y", "https://a.example/ b", "https://a.example/é", "https://a.example/\x00", "https://a.example/%zz", "https://a.example/<b>",
		"https://a.example/" + strings.Repeat("a", maxRedirectLen),
	}
	for _, uri := range bad {
		if status, ref := post(uri); status != http.StatusBadRequest || ref.Error != "invalid_redirect_uri" {
			t.Errorf("%q: %d %+v, want 400 invalid_redirect_uri", uri, status, ref)
		}
		if status, _ := post("https://a.example/cb", uri); status != http.StatusBadRequest {
			t.Errorf("%q passed in the company of a good one", uri)
		}
	}
	many := make([]string, maxRedirects+1)
	for i := range many {
		many[i] = fmt.Sprintf("https://a.example/%d", i)
	}
	if status, _ := post(many...); status != http.StatusBadRequest {
		t.Error("too many redirect URIs taken")
	}
	if status, _ := post(many[1:]...); status != http.StatusCreated {
		t.Error("the most allowed redirect URIs refused")
	}
}

// Bodies that are no metadata.
func TestDuty12Metadata(t *testing.T) {
	h := open(t)
	for body, code := range map[string]string{
		"": "invalid_client_metadata", "null": "invalid_redirect_uri", "[]": "invalid_client_metadata", `"x"`: "invalid_client_metadata",
		"{": "invalid_client_metadata", `{"client_name":7}`: "invalid_client_metadata", `{"redirect_uris":"https://a.example/"}`: "invalid_client_metadata",
		`{"redirect_uris":["https://a.example/"]} x`: "invalid_client_metadata",
		`{}`: "invalid_redirect_uri", `{"redirect_uris":null}`: "invalid_redirect_uri", `{"redirect_uris":[]}`: "invalid_redirect_uri", `{"redirect_uris":[null]}`: "invalid_redirect_uri",
	} {
		wantError(t, h.do("POST", "/register", body, header("Content-Type", asJSON)), http.StatusBadRequest, code)
	}
	good := `{"redirect_uris":["https://a.example/"]}`
	// Other types are what a page of another site can post without asking.
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x"} {
		wantError(t, h.do("POST", "/register", good, header("Content-Type", kind)), http.StatusBadRequest, "invalid_client_metadata")
	}
	for _, kind := range []string{"application/json; charset=utf-8", "Application/JSON", ""} {
		reply[registered](t, h.do("POST", "/register", good, header("Content-Type", kind)), http.StatusCreated)
	}
}

// Duty 13: a client that registered for a secret must send it, or a stolen code and its
// verifier would be enough. A public client proves itself by PKCE alone.
func TestDuty13ClientTypes(t *testing.T) {
	h := open(t)
	for asked, want := range map[string]string{
		"none": "none", "client_secret_post": "client_secret_post", "client_secret_basic": "client_secret_post",
		"client_secret_jwt": "client_secret_post", "private_key_jwt": "none", "": "none", "tls_client_auth": "none",
	} {
		body, _ := json.Marshal(map[string]any{"redirect_uris": []string{callback}, "token_endpoint_auth_method": asked})
		c := h.register(string(body))
		if c.AuthMethod != want {
			t.Errorf("asked for %q: registered %q, want %q", asked, c.AuthMethod, want)
		}
		form := exchangeForm(c, h.code(query(c, callback)), callback)
		for _, wrong := range []string{"wrong", c.ClientID, c.ClientSecret + "x"} {
			form.Set("client_secret", wrong)
			wantError(t, h.exchange(form), http.StatusUnauthorized, "invalid_client")
		}
		form.Del("client_secret")
		if want == "client_secret_post" {
			wantError(t, h.exchange(form), http.StatusUnauthorized, "invalid_client")
			form.Set("client_secret", c.ClientSecret)
		}
		reply[tokenReply](t, h.exchange(form), http.StatusOK)
	}
}

// Duty 14: bodies have a bound. That registrations leave nothing behind is shown
// by TestFlood.
func TestDuty14Bounds(t *testing.T) {
	h := open(t)
	body := `{"redirect_uris":["https://a.example/"],"x":"` + strings.Repeat("x", maxBody) + `"}`
	wantError(t, h.do("POST", "/register", body, header("Content-Type", asJSON)), http.StatusRequestEntityTooLarge, "invalid_request")
	wantError(t, h.do("POST", "/token", "x="+strings.Repeat("x", maxBody)), http.StatusRequestEntityTooLarge, "invalid_request")
	if w := h.do("POST", "/authorize", "x="+strings.Repeat("x", maxBody)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("consent form: status %d, want 413", w.Code)
	}
	if w := h.do("GET", "/authorize?x="+strings.Repeat("x", maxQuery), ""); w.Code != http.StatusBadRequest {
		t.Errorf("query: status %d, want 400", w.Code)
	}
	c := h.register(`{"client_name":"` + strings.Repeat("é", 500) + `","redirect_uris":["https://a.example/"]}`)
	if n := len([]rune(c.Name)); n != 64 {
		t.Errorf("a name of %d characters is kept, want 64", n)
	}
}

// Duty 15: addresses in a registration are never fetched, or a stranger makes
// the server call into its own network.
func TestDuty15NoFetch(t *testing.T) {
	h := open(t)
	h.register(`{"redirect_uris":["https://a.example/"],"logo_uri":"http://169.254.169.254/","client_uri":"http://127.0.0.1:1/","jwks_uri":"http://127.0.0.1:1/","sector_identifier_uri":"http://127.0.0.1:1/"}`)
	// One file has an HTTP client, for documents of hosts that the operator names. The
	// others use only the server side of net/http, and nothing else that can open a
	// connection.
	for name, text := range sources(t) {
		if name == "document.go" {
			continue
		}
		for _, banned := range []string{"http.Get", "http.Post(", "http.Client", "http.DefaultClient", "http.NewRequest", "http.Transport", "net.Dial", "\"net\"", "os/exec"} {
			if strings.Contains(text, banned) {
				t.Errorf("%s names %s", name, banned)
			}
		}
	}
}

// Duty 16: the client does not choose its id: chosen ids could be another's.
func TestDuty16IDIsOurs(t *testing.T) {
	h := open(t)
	body := `{"client_id":"mine","client_secret":"known","redirect_uris":["` + callback + `"]}`
	a, b := h.register(body), h.register(body)
	if a.ClientID == "mine" || a.ClientSecret == "known" || a.ClientID == b.ClientID || a.ClientSecret == b.ClientSecret {
		t.Errorf("ids %q and %q, want two of ours", a.ClientID, b.ClientID)
	}
}

// The identity of a client outlives a restart and a new loopback port, and is
// never that of a client with other addresses.
func TestIdentity(t *testing.T) {
	same := identity("n", []string{"http://localhost:1/cb", "https://a.example/"})
	if got := identity("n", []string{"https://a.example/", "http://localhost:2/cb"}); got != same {
		t.Error("order or loopback port changes the identity")
	}
	for _, other := range []digest{
		identity("m", []string{"http://localhost:1/cb", "https://a.example/"}),
		identity("n", []string{"http://localhost:1/cb"}),
		identity("n", []string{"http://localhost:1/other", "https://a.example/"}),
		identity("n", []string{"http://localhost:1/cb", "https://a.example:8443/"}),
		identity("nhttp://localhost/cb", []string{"https://a.example/"}),
	} {
		if other == same {
			t.Error("two clients share an identity")
		}
	}
}

func TestCleanName(t *testing.T) {
	for in, want := range map[string]string{
		"Claude Code (x)": "Claude Code (x)", "": "unnamed client", " \t\n ": "unnamed client", "\u202e\u2066\u200b": "unnamed client",
		"a\u3164\u2800b": "a b", "\u115f\uffa0": "unnamed client", "a\u20ddb": "a b", "x\u0007\u009by": "x y",
		"a\r\nb": "a b", "a\u202eb": "a b", "Bücher 📈": "Bücher 📈",
	} {
		if got := cleanName(in); got != want {
			t.Errorf("cleanName(%q) = %q, want %q", in, got, want)
		}
	}
}

// If a client sends a code where it should not, in a redirect URI or as the name of a
// parameter, only the reply quotes it: whoever reads the log must not find it there.
func TestRefusedIsNotLogged(t *testing.T) {
	const secret = "A0ywSCdDxz5FF-Ou2oDFBHPCClV0puR11GjUSAk7lKw"
	var lines lockedBuffer
	h := open(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&lines, nil)) })
	for _, uri := range []string{
		"https://e.example/" + secret + "#x", "https://e.example/#" + secret, "bad-" + secret + "://x", "search-ms://" + secret, secret, "x y?code=" + secret,
		"https://" + secret + "@e.example/", "https://e.example:" + secret + "/", "https://e.example/<" + secret, "mailto:" + secret, "http://" + secret + ".example/",
		"https://" + secret + "..example/", "https://" + secret + ".1/", "https://[" + secret + "]/",
	} {
		body, _ := json.Marshal(map[string]any{"redirect_uris": []string{uri}})
		wantError(t, h.do("POST", "/register", string(body), header("Content-Type", asJSON)), http.StatusBadRequest, "invalid_redirect_uri")
	}
	c := h.registerURIs(callback)
	q := query(c, callback)
	q[secret] = []string{"1", "2"}
	h.authorize(q)
	h.do("POST", "/token", secret+"&"+secret)
	if strings.Count(lines.String(), "invalid_redirect_uri") < 14 || strings.Count(lines.String(), "more than once") != 2 {
		t.Errorf("the log lacks the refusals: %s", lines.String())
	}
	for line := range strings.Lines(lines.String()) {
		if strings.Contains(line, secret[:8]) || strings.Contains(strings.ToLower(line), strings.ToLower(secret[:8])) {
			t.Errorf("logged: %s", line)
		}
	}
}

// Text that is not valid UTF-8 is refused: decoding would change it, and two different
// names could become the same.
func TestRegisterUTF8(t *testing.T) {
	h := open(t)
	for _, body := range []string{
		"{\"client_name\":\"a\xff\",\"redirect_uris\":[\"" + callback + "\"]}",
		"{\"client_name\":\"a\",\"redirect_uris\":[\"" + callback + "\"],\"x\":\"\xc3\"}",
		"{\"client_name\":\"a\",\"redirect_uris\":[\"" + callback + "\"],\"\xed\xa0\x80\":1}",
	} {
		wantError(t, h.do("POST", "/register", body, header("Content-Type", asJSON)), http.StatusBadRequest, "invalid_client_metadata")
	}
	h.register("{\"client_name\":\"Größe 語\",\"redirect_uris\":[\"" + callback + "\"]}")
	wantError(t, h.do("POST", "/token", "{\"grant_type\":\"authorization_code\",\"code\":\"a\xff\"}", header("Content-Type", asJSON)), http.StatusBadRequest, "invalid_request")
	if _, err := parseDocument(documentID, []byte(strings.Replace(goodDocument(documentID), "Claude", "Cl\xffude", 1))); err == nil {
		t.Error("a document that is not valid UTF-8 is taken")
	}
}
