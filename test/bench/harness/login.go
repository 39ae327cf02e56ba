package harness

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// client follows no redirect: the one after the login carries the code.
var client = &http.Client{
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

const redirect = "http://127.0.0.1:41001/callback"

// Login is a client that is registered and can get tokens.
type Login struct {
	base, client string
}

// Register enrols a client with a wick that has no passphrase.
func Register(base, name string) (*Login, error) {
	body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{redirect}, "token_endpoint_auth_method": "none"})
	if err != nil {
		return nil, err
	}
	r, err := client.Post(base+"/register", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	var reply struct {
		ID string `json:"client_id"`
	}
	if err := read(r, http.StatusCreated, &reply); err != nil {
		return nil, err
	}
	return &Login{base, reply.ID}, nil
}

// Token authorizes the client once more.
func (l *Login) Token() (string, error) {
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"response_type": {"code"}, "client_id": {l.client}, "redirect_uri": {redirect}, "state": {"s"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	r, err := client.Get(l.base + "/authorize?" + query.Encode())
	if err != nil {
		return "", err
	}
	r.Body.Close()
	to, err := r.Location()
	if err != nil {
		return "", fmt.Errorf("authorize answered %s: %w", r.Status, err)
	}
	r, err = client.PostForm(l.base+"/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "redirect_uri": {redirect},
		"client_id": {l.client}, "code_verifier": {verifier},
	})
	if err != nil {
		return "", err
	}
	var reply struct {
		Token string `json:"access_token"`
	}
	return reply.Token, read(r, http.StatusOK, &reply)
}

func read(r *http.Response, status int, into any) error {
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.StatusCode != status {
		return fmt.Errorf("%s answered %s: %.300s", r.Request.URL, r.Status, text)
	}
	return json.Unmarshal(text, into)
}

// Post sends one JSON-RPC message with a token and returns the status and the
// whole reply.
func Post(base, token, message string) (int, []byte, error) {
	q, err := http.NewRequest(http.MethodPost, base+"/mcp", bytes.NewReader([]byte(message)))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range Headers(token) {
		q.Header.Set(name, value)
	}
	r, err := client.Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, text, err
}

// Headers returns what an MCP client sends with a message.
func Headers(token string) map[string]string {
	return map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-03-26",
	}
}

// Call returns a tools/call message.
func Call(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
}
