// Goclients puts Go's MCP and OAuth clients at the hand of the end-to-end
// checks: the official SDK, mcp-go and golang.org/x/oauth2. It takes the name
// of one, reads a line of JSON per request from standard input and answers
// each with a line: {"do":"connect","url":…}, {"do":"tools"},
// {"do":"call","tool":…,"arguments":…}, {"do":"pushed"}, {"do":"recover"},
// {"do":"close"}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

const redirect = "http://127.0.0.1:41005/callback"

// driver is one client, as the steps of walk.mjs use it.
type driver interface {
	connect(ctx context.Context, url string) error // logs in where that is needed
	tools(ctx context.Context) (int, error)
	call(ctx context.Context, tool string, arguments map[string]any) (any, error)
	recover(ctx context.Context) error // after the token's end, or a restart of the server
	close()
}

type request struct {
	Do        string         `json:"do"`
	URL       string         `json:"url"`
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

type reply struct {
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

func main() {
	var alerts inbox
	drivers := map[string]driver{
		"go-sdk": &officialSDK{alerts: &alerts},
		"mcp-go": &mcpGo{alerts: &alerts},
		"oauth2": &plainOAuth2{alerts: &alerts},
	}
	d := drivers[os.Args[1]]
	out := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r request
		var answer reply
		err := json.Unmarshal(in.Bytes(), &r)
		if err == nil {
			answer.Result, err = do(d, &alerts, r)
		}
		if err != nil {
			answer.Error = err.Error()
		}
		if err := out.Encode(answer); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func do(d driver, alerts *inbox, r request) (any, error) {
	// A session lives as long as the context of its connect, so only the
	// process ends that one.
	ctx := context.Background()
	switch r.Do {
	case "connect":
		return true, d.connect(ctx, r.URL)
	case "recover":
		return true, d.recover(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	switch r.Do {
	case "tools":
		return d.tools(ctx)
	case "call":
		return d.call(ctx, r.Tool, r.Arguments)
	case "pushed":
		return alerts.list(), nil
	case "close":
		d.close()
		return true, nil
	}
	return nil, fmt.Errorf("unknown request %q", r.Do)
}

// inbox holds the ids of the alerts that were pushed.
type inbox struct {
	mu  sync.Mutex
	ids []string
}

// take notes a notification that is an alert.
func (in *inbox) take(message []byte) {
	var n struct {
		Method string `json:"method"`
		Params struct {
			AlertID string `json:"alert_id"`
		} `json:"params"`
	}
	if json.Unmarshal(message, &n) != nil || n.Method != "notifications/alert_triggered" {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ids = append(in.ids, n.Params.AlertID)
}

func (in *inbox) list() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]string{}, in.ids...)
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
