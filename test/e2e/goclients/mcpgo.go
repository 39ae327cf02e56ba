package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// mcpGo is github.com/mark3labs/mcp-go. It leaves the login to its caller.
type mcpGo struct {
	alerts *inbox
	client *client.Client
}

func (d *mcpGo) connect(ctx context.Context, url string) error {
	var err error
	config := client.OAuthConfig{RedirectURI: redirect, PKCEEnabled: true, TokenStore: client.NewMemoryTokenStore()}
	//lint:ignore SA1019 the stream of MCP 2025-03-26 is the one that wick has
	d.client, err = client.NewOAuthStreamableHttpClient(url, config, transport.WithContinuousListening())
	if err != nil {
		return err
	}
	d.client.OnNotification(func(n mcp.JSONRPCNotification) {
		if message, err := json.Marshal(n); err == nil {
			d.alerts.take(message)
		}
	})
	err = d.open(ctx)
	if !client.IsOAuthAuthorizationRequiredError(err) {
		return err
	}
	if err := login(ctx, client.GetOAuthHandler(err)); err != nil {
		return err
	}
	return d.open(ctx)
}

func (d *mcpGo) open(ctx context.Context) error {
	if err := d.client.Start(ctx); err != nil {
		return err
	}
	initialize := mcp.InitializeRequest{}
	initialize.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	initialize.Params.ClientInfo = mcp.Implementation{Name: "mcp-go", Version: "1"}
	_, err := d.client.Initialize(ctx, initialize)
	return err
}

// recover logs in within the session: the next call says that it must.
func (d *mcpGo) recover(ctx context.Context) error {
	_, err := d.call(ctx, "get_positions", nil)
	if !client.IsOAuthAuthorizationRequiredError(err) {
		return errors.Join(errors.New("no login was asked for"), err)
	}
	return login(ctx, client.GetOAuthHandler(err))
}

func (d *mcpGo) tools(ctx context.Context) (int, error) {
	list, err := d.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return 0, err
	}
	return len(list.Tools), nil
}

func (d *mcpGo) call(ctx context.Context, tool string, arguments map[string]any) (any, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = tool, arguments
	return d.client.CallTool(ctx, request)
}

func (d *mcpGo) close() { d.client.Close() }

// login registers the client and takes it through the browser.
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
