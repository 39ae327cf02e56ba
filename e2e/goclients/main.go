// Goclients drives a running wick with Go's MCP and OAuth clients: the official
// SDK, mcp-go and golang.org/x/oauth2. It prints one line per step, PASS or
// FAIL, which run.mjs reads. Usage: goclients http://localhost:9315
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

const redirect = "http://127.0.0.1:41005/callback"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	base := os.Args[1]
	officialSDK(ctx, base)
	mcpGo(ctx, base)
	plainOAuth2(ctx, base)
}

func check(client, step string, err error) {
	if err != nil {
		fmt.Printf("FAIL %s: %s\t%s\n", client, step, strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	fmt.Printf("PASS %s: %s\n", client, step)
}

// visit is the browser: it follows the authorization URL to the redirect and
// returns what the client would receive there.
func visit(ctx context.Context, authorize string) (url.Values, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, authorize, nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := browser.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	back, err := response.Location()
	if err != nil {
		return nil, fmt.Errorf("authorize answered %s", response.Status)
	}
	return back.Query(), nil
}

func officialSDK(ctx context.Context, base string) {
	const name = "Go SDK 1.8.0"
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "go-sdk", RedirectURIs: []string{redirect}},
		},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			q, err := visit(ctx, args.URL)
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, err
		},
	})
	check(name, "configure", err)
	if err != nil {
		return
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1"}, nil).
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: base + "/mcp", OAuthHandler: handler}, nil)
	check(name, "discovery, registration, login, connect", err)
	if err != nil {
		return
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err == nil && len(list.Tools) != 15 {
		err = fmt.Errorf("%d tools", len(list.Tools))
	}
	check(name, "tools/list", err)
	call := func(tool string, arguments map[string]any) (string, error) {
		r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			return "", err
		}
		switch c := r.Content[0].(type) {
		case *mcp.TextContent:
			if r.IsError {
				return "", errors.New(c.Text)
			}
			return c.Text, nil
		case *mcp.ImageContent:
			return string(c.Data), nil
		}
		return "", fmt.Errorf("content %T", r.Content[0])
	}
	everyTool(name, call)
}

// everyTool uses the tools as a client without special knowledge would.
func everyTool(name string, call func(tool string, arguments map[string]any) (string, error)) {
	text, err := call("generate_chart", map[string]any{"symbol": "BTCUSDT"})
	if err == nil && !strings.HasPrefix(text, "\x89PNG") {
		err = fmt.Errorf("%.20q is no picture", text)
	}
	check(name, "generate_chart png", err)
	text, err = call("generate_chart", map[string]any{"symbol": "BTCUSDT", "format": "summary"})
	if err == nil && !json.Valid([]byte(text)) {
		err = fmt.Errorf("%.20q is no JSON", text)
	}
	check(name, "generate_chart summary", err)
	_, err = call("list_indicators", map[string]any{"query": "rsi"})
	check(name, "list_indicators", err)
	_, err = call("get_indicators", map[string]any{"symbol": "BTCUSDT", "indicators": []string{"rsi"}})
	check(name, "get_indicators", err)
	_, err = call("place_order", map[string]any{"symbol": "BTCUSDT", "side": "buy", "type": "market", "quantity": 0.25, "client_order_id": name[:2] + time.Now().Format("150405.000")})
	check(name, "place_order", err)
	if _, err = call("get_balance", nil); err == nil {
		err = errors.New("get_balance succeeded")
	} else {
		err = nil
	}
	check(name, "get_balance refuses", err)
}

func mcpGo(ctx context.Context, base string) {
	const name = "mcp-go 1.2.1"
	c, err := client.NewOAuthStreamableHttpClient(base+"/mcp", client.OAuthConfig{
		RedirectURI: redirect, PKCEEnabled: true, TokenStore: client.NewMemoryTokenStore(),
	}, transport.WithContinuousListening())
	check(name, "configure", err)
	if err != nil {
		return
	}
	fired := make(chan string, 10)
	c.OnNotification(func(n mcpgo.JSONRPCNotification) { fired <- n.Method })
	initialize := mcpgo.InitializeRequest{}
	initialize.Params.ProtocolVersion = mcpgo.LATEST_PROTOCOL_VERSION
	initialize.Params.ClientInfo = mcpgo.Implementation{Name: "mcp-go", Version: "1"}
	connect := func() error {
		if err := c.Start(ctx); err != nil {
			return err
		}
		_, err := c.Initialize(ctx, initialize)
		return err
	}
	err = connect()
	if client.IsOAuthAuthorizationRequiredError(err) {
		if err = login(ctx, client.GetOAuthHandler(err)); err == nil {
			err = connect()
		}
	}
	check(name, "discovery, registration, login, connect", err)
	if err != nil {
		return
	}
	defer c.Close()
	list, err := c.ListTools(ctx, mcpgo.ListToolsRequest{})
	if err == nil && len(list.Tools) != 15 {
		err = fmt.Errorf("%d tools", len(list.Tools))
	}
	check(name, "tools/list", err)
	call := func(tool string, arguments map[string]any) (string, error) {
		request := mcpgo.CallToolRequest{}
		request.Params.Name, request.Params.Arguments = tool, arguments
		r, err := c.CallTool(ctx, request)
		if err != nil {
			return "", err
		}
		switch content := r.Content[0].(type) {
		case mcpgo.TextContent:
			if r.IsError {
				return "", errors.New(content.Text)
			}
			return content.Text, nil
		case mcpgo.ImageContent:
			return "\x89PNG" + content.Data, nil // it leaves the base64 to its caller
		}
		return "", fmt.Errorf("content %T", r.Content[0])
	}
	everyTool(name, call)
	_, err = call("subscribe_notifications", nil)
	if err == nil {
		_, err = call("set_alert", map[string]any{"symbol": "BTCUSDT", "condition": map[string]any{"price_above": 0.01}})
	}
	if err == nil {
		select {
		case method := <-fired:
			if method != "notifications/alert_triggered" {
				err = fmt.Errorf("got %s", method)
			}
		case <-time.After(20 * time.Second):
			err = errors.New("nothing arrived in 20 s")
		}
	}
	check(name, "an alert arrives as a push", err)
}

// login is what mcp-go leaves to its caller.
func login(ctx context.Context, h *transport.OAuthHandler) error {
	verifier, err := client.GenerateCodeVerifier()
	if err != nil {
		return err
	}
	state, err := client.GenerateState()
	if err != nil {
		return err
	}
	if err := h.RegisterClient(ctx, "mcp-go"); err != nil {
		return err
	}
	authorize, err := h.GetAuthorizationURL(ctx, state, client.GenerateCodeChallenge(verifier))
	if err != nil {
		return err
	}
	q, err := visit(ctx, authorize)
	if err != nil {
		return err
	}
	return h.ProcessAuthorizationResponse(ctx, q.Get("code"), q.Get("state"), verifier)
}

func plainOAuth2(ctx context.Context, base string) {
	const name = "x/oauth2 0.37"
	response, err := http.Post(base+"/register", "application/json", strings.NewReader(`{"redirect_uris":["`+redirect+`"],"token_endpoint_auth_method":"client_secret_post"}`))
	check(name, "registration", err)
	if err != nil {
		return
	}
	defer response.Body.Close()
	var registered struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err := json.NewDecoder(response.Body).Decode(&registered); err != nil {
		check(name, "registration", err)
		return
	}
	config := &oauth2.Config{ // no AuthStyle: the library finds out by trying
		ClientID: registered.ID, ClientSecret: registered.Secret, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: base + "/authorize", TokenURL: base + "/token"},
	}
	verifier := oauth2.GenerateVerifier()
	q, err := visit(ctx, config.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier)))
	check(name, "authorize", err)
	if err != nil {
		return
	}
	token, err := config.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(verifier))
	check(name, "exchange, HTTP Basic tried first", err)
	if err != nil {
		return
	}
	ping, err := config.Client(ctx, token).Post(base+"/mcp", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err == nil && ping.StatusCode != 200 {
		err = errors.New(ping.Status)
	}
	check(name, "the token opens a call", err)
}
