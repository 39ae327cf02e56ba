package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
)

// plainOAuth2 is golang.org/x/oauth2, which speaks no MCP and discovers
// nothing: it is told the endpoints, gets the token and carries the requests.
// It is given no AuthStyle, so it tries HTTP Basic first.
type plainOAuth2 struct {
	alerts *inbox
	url    string // as it was given
	post   string // where messages go
	client *http.Client
	stream *http.Response
}

func (d *plainOAuth2) connect(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	base := u.Scheme + "://" + u.Host
	d.url, d.post = address, address
	events := base + "/mcp"
	if prefix, ok := strings.CutSuffix(address, "/sse"); ok { // the older pair of addresses
		d.post, events = prefix+"/message", address
	}
	if d.client, err = authorized(ctx, base); err != nil {
		return err
	}
	if d.stream, err = d.client.Get(events); err != nil {
		return err
	}
	if d.stream.StatusCode != http.StatusOK {
		return errors.New(d.stream.Status)
	}
	go d.alerts.listen(d.stream.Body)
	return nil
}

// authorized registers, logs in and returns a client that has the token.
func authorized(ctx context.Context, base string) (*http.Client, error) {
	metadata := `{"client_name":"x/oauth2","redirect_uris":["` + redirect + `"],"token_endpoint_auth_method":"client_secret_post"}`
	response, err := http.Post(base+"/register", "application/json", strings.NewReader(metadata))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var registered struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err := json.NewDecoder(response.Body).Decode(&registered); err != nil {
		return nil, err
	}
	config := &oauth2.Config{
		ClientID: registered.ID, ClientSecret: registered.Secret, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: base + "/authorize", TokenURL: base + "/token"},
	}
	verifier := oauth2.GenerateVerifier()
	q, err := visit(ctx, config.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier)))
	if err != nil {
		return nil, err
	}
	token, err := config.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, err
	}
	return config.Client(ctx, token), nil
}

func (d *plainOAuth2) rpc(ctx context.Context, method string, params any) (json.RawMessage, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.post, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := d.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("%s: %s", response.Status, answer.Error)
	}
	return answer.Result, nil
}

func (d *plainOAuth2) tools(ctx context.Context) (int, error) {
	result, err := d.rpc(ctx, "tools/list", struct{}{})
	if err != nil {
		return 0, err
	}
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	err = json.Unmarshal(result, &list)
	return len(list.Tools), err
}

func (d *plainOAuth2) call(ctx context.Context, tool string, arguments map[string]any) (any, error) {
	return d.rpc(ctx, "tools/call", map[string]any{"name": tool, "arguments": arguments})
}

// recover logs in once more, after the library, or the server, has said that
// the token is of no use.
func (d *plainOAuth2) recover(ctx context.Context) error {
	if _, err := d.rpc(ctx, "ping", struct{}{}); err == nil {
		return errors.New("no login was asked for")
	}
	d.close()
	return d.connect(ctx, d.url)
}

func (d *plainOAuth2) close() { d.stream.Body.Close() }
