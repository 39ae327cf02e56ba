package oauth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// realClient is how a client in use registers and asks, as seen on the wire.
type realClient struct {
	name     string
	register string // the body it posts
	redirect string // where it then wants the code
	scope    string
	resource string // appended to the base URL; "-" for none
	secret   bool   // sends the client_secret in the token request
	method   string // what it must read back
}

var realClients = []realClient{
	{"claude.ai", `{"client_name":"Claude","redirect_uris":["https://claude.ai/api/mcp/auth_callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none","scope":"claudeai"}`,
		"https://claude.ai/api/mcp/auth_callback", "claudeai", "/mcp", false, "none"},
	{"claude.com", `{"client_name":"Claude","redirect_uris":["https://claude.com/api/mcp/auth_callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"client_secret_post"}`,
		"https://claude.com/api/mcp/auth_callback", "", "", true, "client_secret_post"},
	{"Claude Code", `{"client_name":"Claude Code (wick)","redirect_uris":["http://localhost:54212/callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"}`,
		"http://localhost:61034/callback", "charts trade", "/mcp", false, "none"},
	{"ChatGPT", `{"client_name":"ChatGPT","redirect_uris":["https://chatgpt.com/connector/oauth/aBc123","https://chatgpt.com/connector_platform_oauth_redirect"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"}`,
		"https://chatgpt.com/connector_platform_oauth_redirect", "charts trade", "/mcp", false, "none"},
	{"Cursor", `{"client_name":"Cursor","redirect_uris":["cursor://anysphere.cursor-mcp/oauth/callback","https://www.cursor.com/agents/mcp/oauth/callback","http://localhost:8787/callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"}`,
		"cursor://anysphere.cursor-mcp/oauth/callback", "", "/mcp", false, "none"},
	{"VS Code", `{"client_name":"Visual Studio Code","client_uri":"https://code.visualstudio.com","grant_types":["authorization_code","refresh_token","urn:ietf:params:oauth:grant-type:device_code"],"response_types":["code"],"redirect_uris":["https://insiders.vscode.dev/redirect","https://vscode.dev/redirect","http://127.0.0.1/","http://127.0.0.1:33418/"],"token_endpoint_auth_method":"none","application_type":"native"}`,
		"http://127.0.0.1:49731/", "charts trade", "/mcp", false, "none"},
	{"VS Code in the browser", `{"client_name":"Visual Studio Code","redirect_uris":["https://insiders.vscode.dev/redirect","https://vscode.dev/redirect","http://127.0.0.1/","http://127.0.0.1:33418/"],"token_endpoint_auth_method":"none"}`,
		"https://vscode.dev/redirect", "", "-", false, "none"},
	{"MCP Inspector", `{"redirect_uris":["http://localhost:6274/oauth/callback"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"],"response_types":["code"],"client_name":"MCP Inspector","client_uri":"https://github.com/modelcontextprotocol/inspector","scope":""}`,
		"http://localhost:6274/oauth/callback", "", "/mcp", false, "none"},
	{"mcp-remote", `{"redirect_uris":["http://localhost:14022/oauth/callback"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"],"response_types":["code"],"client_name":"MCP CLI Proxy","client_uri":"https://github.com/modelcontextprotocol/mcp-cli","software_id":"2e6dc280-f3c3-4e01-99a7-8181dbd1d23d","software_version":"0.15.1","scope":"openid email profile"}`,
		"http://localhost:14022/oauth/callback", "openid email profile", "/mcp", false, "none"},
	{"Gemini CLI", `{"client_name":"Gemini CLI MCP Client","redirect_uris":["http://localhost:7777/oauth/callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none","scope":""}`,
		"http://localhost:39127/oauth/callback", "", "/", false, "none"},
	{"a client that names no method", `{"client_name":null,"redirect_uris":["http://127.0.0.1:1234/callback"]}`,
		"http://127.0.0.1:1234/callback", "", "-", true, "none"},
}

// TestRealClients: each client that people use gets a token that works, in the way in which it
// logs in, on the owner's machine without a passphrase and on a public server with one.
func TestRealClients(t *testing.T) {
	for name, change := range map[string]func(*Options){"loopback": func(*Options) {}, "public": public} {
		shared := open(t, change, trading)
		for _, rc := range realClients {
			t.Run(name+"/"+rc.name, func(t *testing.T) {
				h := shared.with(t)
				c := h.register(rc.register)
				if c.AuthMethod != rc.method || c.Name == "" {
					t.Errorf("registered as %q by %q, want %q", c.Name, c.AuthMethod, rc.method)
				}
				q := query(c, rc.redirect)
				q.Set("state", "s-_~.=+/ &")
				q.Set("scope", rc.scope)
				if rc.resource != "-" {
					q.Set("resource", h.base+rc.resource)
				}
				form := exchangeForm(c, h.code(q), rc.redirect)
				if rc.secret {
					form.Set("client_secret", c.ClientSecret)
				}
				if q.Has("resource") {
					form.Set("resource", q.Get("resource"))
				}
				token := reply[tokenReply](t, h.exchange(form), http.StatusOK)
				if token.TokenType != "Bearer" || token.ExpiresIn != 604800 || token.Scope != "charts trade" {
					t.Errorf("token reply %+v", token)
				}
				if _, err := h.bearer(token.AccessToken); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestMcpRemoteProbe is what mcp-remote does with a registration it has cached:
// it asks /authorize as a JSON caller, and registers anew on invalid_client.
func TestMcpRemoteProbe(t *testing.T) {
	before, after := open(t, public), open(t, public)
	redirect := "http://localhost:14022/oauth/callback"
	c := before.registerURIs(redirect)
	if w := before.authorize(query(c, redirect), header("Accept", "application/json")); w.Code != http.StatusOK || before.codes.Load() != 0 {
		t.Errorf("probe of a good registration: status %d, %d codes; want the page and none", w.Code, before.codes.Load())
	}
	wantError(t, after.authorize(query(c, redirect), header("Accept", "application/json")), http.StatusBadRequest, "invalid_client")
}

// TestXOAuth2 makes the requests of golang.org/x/oauth2, which finds out by
// trying how a server wants its clients to authenticate, with one code: first
// HTTP Basic, and after any error the body. A wrong Basic must burn nothing.
func TestXOAuth2(t *testing.T) {
	h := open(t)
	c := h.register(`{"client_name":"x","redirect_uris":["` + callback + `"]}`)
	form := url.Values{"grant_type": {"authorization_code"}, "code": {h.code(query(c, callback))}, "redirect_uri": {callback}, "code_verifier": {rfcVerifier}}
	w := h.exchange(form, func(r *http.Request) { r.SetBasicAuth(url.QueryEscape(c.ClientID), "wrong") })
	wantError(t, w, http.StatusUnauthorized, "invalid_client")
	form.Set("client_id", c.ClientID)
	form.Set("client_secret", c.ClientSecret)
	reply[tokenReply](t, h.exchange(form), http.StatusOK)
}

// TestRestart: when the service restarts, every answer tells clients to start over,
// and a client that comes back has the same identity as before.
func TestRestart(t *testing.T) {
	before, after := open(t), open(t)
	c := before.registerURIs(callback)
	form := exchangeForm(c, before.code(query(c, callback)), callback)
	wantError(t, after.exchange(form), http.StatusUnauthorized, "invalid_client")
	token := before.login()
	old, err := before.bearer(token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := after.bearer(token); err != ErrInvalidToken {
		t.Errorf("an old token: %v", err)
	}
	again, err := after.bearer(after.login())
	if err != nil || again.Client != old.Client || again.ID == old.ID {
		t.Errorf("after the restart %+v, before %+v, want the same client and another token", again, old)
	}
}

// TestRegistrationHasNoNulls holds the reply to what SDK schemas accept.
func TestRegistrationHasNoNulls(t *testing.T) {
	for _, rc := range realClients {
		w := open(t).do("POST", "/register", rc.register, header("Content-Type", asJSON))
		var members map[string]json.RawMessage
		if err := json.Unmarshal(w.Body.Bytes(), &members); err != nil {
			t.Fatal(err)
		}
		for name, value := range members {
			if s := string(value); s == "null" || s == `""` || s == "[]" || strings.Contains(s, "null") {
				t.Errorf("%s: %s is %s", rc.name, name, s)
			}
		}
	}
}
