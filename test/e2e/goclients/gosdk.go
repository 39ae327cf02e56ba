package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// officialSDK is github.com/modelcontextprotocol/go-sdk. Its handlers, and its
// middleware, get the notifications of the protocol only (checkRequest in
// mcp/shared.go drops others before), so ours are read off the stream that it
// opens, below it.
type officialSDK struct {
	alerts  *inbox
	url     string
	handler auth.OAuthHandler
	session *mcp.ClientSession
}

func (d *officialSDK) connect(ctx context.Context, url string) error {
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "go-sdk", RedirectURIs: []string{redirect}},
		},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			q, err := visit(ctx, args.URL)
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, err
		},
	})
	if err != nil {
		return err
	}
	d.url, d.handler = url, handler
	return d.open(ctx)
}

func (d *officialSDK) open(ctx context.Context) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: d.url, OAuthHandler: d.handler, HTTPClient: &http.Client{Transport: listener{d.alerts}}}
	var err error
	d.session, err = client.Connect(ctx, transport, nil)
	return err
}

// recover connects anew. After a restart of the server the handler that the
// program has is enough: the 401 makes it register and log in. When the token
// has expired by its own clock, the handler fails before it asks (setMCPHeaders
// in mcp/streamable.go passes on what oauth2 says about a missing refresh
// token), and the program needs another one.
func (d *officialSDK) recover(ctx context.Context) error {
	d.close()
	if err := d.open(ctx); err == nil {
		return nil
	}
	return d.connect(ctx, d.url)
}

func (d *officialSDK) tools(ctx context.Context) (int, error) {
	list, err := d.session.ListTools(ctx, nil)
	if err != nil {
		return 0, err
	}
	return len(list.Tools), nil
}

func (d *officialSDK) call(ctx context.Context, tool string, arguments map[string]any) (any, error) {
	return d.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
}

func (d *officialSDK) close() { d.session.Close() }

// listener carries requests and reads along where the answer is a stream.
type listener struct{ alerts *inbox }

func (l listener) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || response.Header.Get("Content-Type") != "text/event-stream" {
		return response, err
	}
	read, write := io.Pipe()
	go l.alerts.listen(read)
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(response.Body, write), response.Body}
	return response, nil
}

// listen notes the alerts of an event stream until it ends.
func (in *inbox) listen(stream io.Reader) {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			in.take(data)
		}
	}
}
