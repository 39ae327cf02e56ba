// Package harness starts the binary as a process of its own and speaks to it as a client
// does, for the programs that torture, load and measure it.
package harness

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
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Client is a client with its registration and its token, if it has them. Copies may be
// changed: a copy with another Token or From is another client.
type Client struct {
	Base      string    // of the server
	Host      string    // that the server answers for, if Base is not its published address
	Name      string    // what it calls itself
	From      string    // the address that a proxy says it comes from; empty for none
	ID, Token string    // its client_id and its token
	Ends      time.Time // of the token, or a little later
	Lasting   bool      // Call logs in anew before the token ends

	// HTTP must follow no redirect: the one after a login carries the code.
	HTTP *http.Client
}

// New returns a client that is not registered.
func New(base, name string) *Client {
	return &Client{Base: base, Name: name, HTTP: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 256}, CheckRedirect: NoRedirect}}
}

// NoRedirect is the CheckRedirect of a client.
func NoRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Login returns a client that has registered and has a token. There is no passphrase.
func Login(base, name string) (*Client, error) {
	c := New(base, name)
	return c, c.LogIn("")
}

// LogIn registers the client and gets a token.
func (c *Client) LogIn(passphrase string) error {
	if err := c.Register(); err != nil {
		return err
	}
	return c.Authorize(passphrase)
}

// StatusError is an answer whose status is not that of a success.
type StatusError struct {
	Path   string
	Status int
	Body   []byte
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answered %d: %.400s", e.Path, e.Status, e.Body)
}

// Status returns the status of the answer that an error is about: 200 for nil, and 0 if there
// was no answer.
func Status(err error) int {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Status
	}
	if err != nil {
		return 0
	}
	return http.StatusOK
}

// Answer is an answer over HTTP.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Send sends a request and reads the answer. More headers are pairs.
func (c *Client) Send(method, path, kind string, body io.Reader, more ...string) (Answer, error) {
	r, err := c.request(context.Background(), method, path, body)
	if err != nil {
		return Answer{}, err
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	answer, err := c.HTTP.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return Answer{answer.StatusCode, answer.Header, text}, err
}

// request returns a request that bears the token.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.Base+path, body)
	if err != nil {
		return nil, err
	}
	r.Host = c.Host // empty for that of Base
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if c.From != "" {
		r.Header.Set("X-Forwarded-For", c.From)
	}
	return r, nil
}

// Post sends a body and decodes the JSON that comes back, unless into is nil.
func (c *Client) Post(path, kind string, body []byte, into any) error {
	answer, err := c.Send(http.MethodPost, path, kind, bytes.NewReader(body))
	switch {
	case err != nil:
		return err
	case answer.Status >= 300:
		return &StatusError{path, answer.Status, answer.Body}
	case into == nil:
		return nil
	}
	return json.Unmarshal(answer.Body, into)
}

const (
	form     = "application/x-www-form-urlencoded"
	callback = "http://127.0.0.1:1/callback"
)

// Register registers the client.
func (c *Client) Register() error {
	body, err := json.Marshal(map[string]any{"client_name": c.Name, "redirect_uris": []string{callback}, "token_endpoint_auth_method": "none"})
	if err != nil {
		return err
	}
	var registered struct {
		ID string `json:"client_id"`
	}
	err = c.Post("/register", "application/json", body, &registered)
	c.ID = registered.ID
	return err
}

// AuthorizePath returns the address of the page on which the owner allows the client, for a
// verifier of PKCE.
func (c *Client) AuthorizePath(verifier string) string {
	challenge := sha256.Sum256([]byte(verifier))
	return "/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {c.ID}, "redirect_uri": {callback},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}.Encode()
}

// Authorize gets a token, and types the passphrase if the page asks for one.
func (c *Client) Authorize(passphrase string) error {
	asking := *c
	asking.Token = ""
	verifier := rand.Text() + rand.Text()
	page, err := asking.Send(http.MethodGet, c.AuthorizePath(verifier), "", nil)
	if err == nil && page.Status == http.StatusOK {
		page, err = asking.consent(page, passphrase)
	}
	if err != nil {
		return err
	}
	back, err := url.Parse(page.Header.Get("Location"))
	if err != nil || page.Status != http.StatusSeeOther {
		return &StatusError{"/authorize", page.Status, page.Body}
	}
	var token struct {
		Access  string `json:"access_token"`
		Seconds int    `json:"expires_in"`
	}
	err = asking.Post("/token", form, []byte(url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {callback}, "client_id": {c.ID}, "code_verifier": {verifier},
	}.Encode()), &token)
	if err == nil {
		c.Token, c.Ends = token.Access, time.Now().Add(time.Duration(token.Seconds)*time.Second)
	}
	return err
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// consent answers the page of the login as a browser does, with its cookies.
func (c *Client) consent(page Answer, passphrase string) (Answer, error) {
	answer := url.Values{"decision": {"allow"}, "grant": {"trade"}, "passphrase": {passphrase}}
	for _, field := range hidden.FindAllSubmatch(page.Body, -1) {
		answer.Set(string(field[1]), html.UnescapeString(string(field[2])))
	}
	var cookies []string
	for _, line := range page.Header["Set-Cookie"] {
		if cookie, err := http.ParseSetCookie(line); err == nil {
			cookies = append(cookies, cookie.Name+"="+cookie.Value)
		}
	}
	return c.Send(http.MethodPost, "/authorize", form, strings.NewReader(answer.Encode()), "Cookie", strings.Join(cookies, "; "))
}

// Revoke gives the token back.
func (c *Client) Revoke() error {
	return c.Post("/revoke", form, []byte(url.Values{"token": {c.Token}, "client_id": {c.ID}}.Encode()), nil)
}

// Message returns a call of a tool; the arguments are JSON.
func Message(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
}

// Reply is what a tool answers.
type Reply struct {
	Texts   []string // one for each item of the content, empty for a picture
	Refused string   // by the protocol, or by the tool: its first text
	IsError bool     // it was the tool
}

// Call calls a tool; the arguments are JSON. An error says that there is no reply.
func (c *Client) Call(tool, arguments string) (Reply, error) {
	if c.Lasting && time.Until(c.Ends) < 5*time.Second {
		if err := c.LogIn(""); err != nil {
			return Reply{}, err
		}
	}
	var answer struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	if err := c.Post("/mcp", "application/json", []byte(Message(tool, arguments)), &answer); err != nil {
		return Reply{}, err
	}
	r := Reply{IsError: answer.Result.IsError}
	for _, item := range answer.Result.Content {
		r.Texts = append(r.Texts, item.Text)
	}
	switch {
	case answer.Error != nil:
		r.Refused = answer.Error.Message
	case len(r.Texts) == 0:
		r.Refused = "no content"
	case r.IsError:
		r.Refused = r.Texts[0]
	}
	return r, nil
}

// Stream reads what is pushed after lastID, which may be empty, until the connection ends.
func (c *Client) Stream(ctx context.Context, lastID string, got func(id, data string)) error {
	r, err := c.request(ctx, http.MethodGet, "/mcp", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return &StatusError{Path: "/mcp", Status: answer.StatusCode}
	}
	id := ""
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = text
		}
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			got(id, text)
		}
	}
	return lines.Err()
}
