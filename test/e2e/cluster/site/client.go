package site

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

var web = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 256},
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Call calls a tool and returns the whole reply. A refusal of the tool is an error.
func Call(base, token, tool, arguments string) (string, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
	return Post(base+"/mcp", "application/json", token, []byte(body))
}

// Post sends a body and returns the answer. A refusal of a tool is an error.
func Post(address, kind, token string, body []byte) (string, error) {
	request, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", kind)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := web.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || bytes.Contains(text, []byte(`"isError":true`))) {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	return string(text), err
}

// Login registers, walks through the authorization with PKCE, and returns a token.
func Login(base string) (string, error) {
	const redirect = "http://127.0.0.1:1/callback"
	decode := func(response *http.Response, err error, into any) error {
		if err != nil {
			return err
		}
		defer response.Body.Close()
		return json.NewDecoder(response.Body).Decode(into)
	}
	var client struct {
		ID string `json:"client_id"`
	}
	response, err := web.Post(base+"/register", "application/json", bytes.NewReader([]byte(`{"client_name":"rate","redirect_uris":["`+redirect+`"],"token_endpoint_auth_method":"none"}`)))
	if err := decode(response, err, &client); err != nil {
		return "", err
	}
	verifier := rand.Text() + rand.Text()
	challenge := sha256.Sum256([]byte(verifier))
	response, err = web.Get(base + "/authorize?" + url.Values{"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {redirect},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"}}.Encode())
	if err != nil {
		return "", err
	}
	response.Body.Close()
	back, err := response.Location()
	if err != nil {
		return "", fmt.Errorf("authorize answered %s: %w", response.Status, err)
	}
	var token struct {
		Access string `json:"access_token"`
	}
	response, err = web.PostForm(base+"/token", url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {redirect},
		"client_id": {client.ID}, "code_verifier": {verifier}})
	err = decode(response, err, &token)
	return token.Access, err
}
