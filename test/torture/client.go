//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// client is one MCP client with its token.
type client struct {
	base, token string
	name, id    string    // what it calls itself, and its client_id
	ends        time.Time // of its token, or a little later
	lasting     bool      // it logs in anew before its token ends
	http        *http.Client
	stale       bool // the last reply says that it may be out of date
}

// looker returns a client that looks for as long as it takes, however busy the machine is.
func looker(base string) (*client, error) {
	c, err := login(base, "looker")
	if err == nil {
		c.lasting = true
	}
	return c, err
}

// login registers under name and walks through the authorization with PKCE. The
// redirect goes to loopback, so it is answered at once.
func login(base, name string) (*client, error) {
	c := &client{base: base, name: name, http: &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	const redirect = "http://127.0.0.1:1/callback"
	var registered struct {
		ID string `json:"client_id"`
	}
	body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{redirect}, "token_endpoint_auth_method": "none"})
	if err != nil {
		return nil, err
	}
	if err := c.post("/register", "application/json", body, &registered); err != nil {
		return nil, err
	}
	verifier := rand.Text() + rand.Text()
	challenge := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"response_type": {"code"}, "client_id": {registered.ID}, "redirect_uri": {redirect},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}
	answer, err := c.http.Get(base + "/authorize?" + query.Encode())
	if err != nil {
		return nil, err
	}
	answer.Body.Close()
	back, err := answer.Location()
	if err != nil {
		return nil, fmt.Errorf("authorize answered %s: %w", answer.Status, err)
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {redirect},
		"client_id": {registered.ID}, "code_verifier": {verifier},
	}
	var token struct {
		Access  string `json:"access_token"`
		Seconds int    `json:"expires_in"`
	}
	if err := c.post("/token", "application/x-www-form-urlencoded", []byte(form.Encode()), &token); err != nil {
		return nil, err
	}
	c.id, c.token, c.ends = registered.ID, token.Access, time.Now().Add(time.Duration(token.Seconds)*time.Second)
	return c, nil
}

// post sends a body and decodes the JSON that comes back.
func (c *client) post(path, kind string, body []byte, into any) error {
	r, err := http.NewRequest("POST", c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		return fmt.Errorf("%s answered %s: %s", path, answer.Status, text)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

// unknown is what wick says when it does not know whether something was done.
const unknown = "outcome unknown"

// errTool is a refusal by the tool: the process runs and nothing was done.
var errTool = errors.New("tool refused")

// call runs a tool and decodes its first text. An error that is not errTool
// means that the outcome is unknown.
func (c *client) call(tool string, arguments map[string]any, into any) error {
	if c.lasting && time.Until(c.ends) < 5*time.Second {
		next, err := login(c.base, c.name)
		if err != nil {
			return err
		}
		c.id, c.token, c.ends = next.id, next.token, next.ends
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		return err
	}
	var reply struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	if err := c.post("/mcp", "application/json", body, &reply); err != nil {
		return err
	}
	switch {
	case reply.Error != nil:
		return fmt.Errorf("%w: %s", errTool, reply.Error.Message)
	case len(reply.Result.Content) == 0:
		return fmt.Errorf("%w: no content", errTool)
	case reply.Result.IsError && strings.Contains(reply.Result.Content[0].Text, unknown):
		return errors.New(reply.Result.Content[0].Text)
	case reply.Result.IsError:
		return fmt.Errorf("%w: %s", errTool, reply.Result.Content[0].Text)
	}
	c.stale = slices.ContainsFunc(reply.Result.Content[1:], func(more struct{ Text string }) bool { return strings.Contains(more.Text, "out of date") })
	return json.Unmarshal([]byte(reply.Result.Content[0].Text), into)
}

// stream reads pushed notifications until the connection ends.
func (c *client) stream(ctx context.Context, lastID string, got func(id, alert string)) {
	r, err := http.NewRequestWithContext(ctx, "GET", c.base+"/mcp", nil)
	if err != nil {
		return
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+c.token)
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	id := ""
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = text
		}
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var frame struct {
				Params struct {
					Alert string `json:"alert_id"`
				}
			}
			if json.Unmarshal([]byte(text), &frame) == nil {
				got(id, frame.Params.Alert)
			}
		}
	}
}

// pageSize is the most that wick lists in one reply.
const pageSize = 500

// list reads a whole list, page by page. Pages overlap by overlap items: when an item
// leaves the list meanwhile, the others move up, and none may be missed. It stops when it has
// most of them.
func list[T any](c *client, tool string, arguments map[string]any, overlap, most int) ([]T, error) {
	var all []T
	seen := make(map[string]bool)
	for offset := 0; ; offset += pageSize - overlap {
		given := map[string]any{"limit": pageSize, "offset": offset}
		maps.Copy(given, arguments)
		var page []json.RawMessage
		if err := c.call(tool, given, &page); err != nil {
			return nil, err
		}
		for _, text := range page {
			var item T
			if err := json.Unmarshal(text, &item); err != nil {
				return nil, err
			}
			if !seen[string(text)] {
				all = append(all, item)
			}
			seen[string(text)] = overlap > 0
		}
		if len(page) < pageSize || len(all) >= most {
			return all, nil
		}
	}
}
