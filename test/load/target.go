package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// target is the wick under load.
type target struct {
	base, metrics string
	proc          string // its directory under /proc
	passphrase    string // the owner's; empty if there is none
	client        *http.Client
}

func newTarget(base, metrics, pid string) (*target, error) {
	if base == "" || metrics == "" || pid == "" {
		return nil, fmt.Errorf("WICK_URL, WICK_METRICS_URL and WICK_PID must be set: use scripts/with-wick")
	}
	t := &target{base: base, metrics: metrics, proc: "/proc/" + pid, passphrase: os.Getenv("WICK_PASSPHRASE")}
	t.client = &http.Client{
		Timeout:       10 * time.Minute,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return t, nil
}

// sample is what the server uses at a moment.
type sample struct {
	memory      int64 // resident, in bytes
	descriptors int
	goroutines  int
}

func (s sample) String() string {
	return fmt.Sprintf("%6.1f MiB resident, %5d descriptors, %5d goroutines", mib(s.memory), s.descriptors, s.goroutines)
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

var resident = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// memory returns the server's resident memory in bytes.
func (t *target) memory() (int64, error) {
	status, err := os.ReadFile(t.proc + "/status")
	if err != nil {
		return 0, err
	}
	found := resident.FindSubmatch(status)
	if found == nil {
		return 0, fmt.Errorf("%s/status has no VmRSS", t.proc)
	}
	kb, err := strconv.ParseInt(string(found[1]), 10, 64)
	return kb << 10, err
}

func (t *target) sample() (s sample, err error) {
	if s.memory, err = t.memory(); err != nil {
		return s, err
	}
	open, err := os.ReadDir(t.proc + "/fd")
	if err != nil {
		return s, err
	}
	s.descriptors = len(open)
	n, err := t.metric("wick_goroutines")
	s.goroutines = int(n)
	return s, err
}

// rest samples the server when all our connections are closed except the one that asks, so
// that two samples can be compared.
func (t *target) rest() (sample, error) {
	t.client.CloseIdleConnections()
	time.Sleep(100 * time.Millisecond) // for the server to notice
	return t.sample()
}

// metric reads one number of the server's metrics.
func (t *target) metric(name string) (float64, error) {
	r, err := t.client.Get(t.metrics)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", t.metrics, name)
}

// send makes a request from the given address and returns status and body. An
// empty address sends no X-Forwarded-For. More headers are pairs.
func (t *target) send(method, path, kind, from, token string, body io.Reader, more ...string) (int, []byte, http.Header, error) {
	request, err := http.NewRequest(method, t.base+path, body)
	if err != nil {
		return 0, nil, nil, err
	}
	for name, value := range map[string]string{"Content-Type": kind, "X-Forwarded-For": from} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	for i := 0; i < len(more); i += 2 {
		request.Header.Set(more[i], more[i+1])
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	r, err := t.client.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, text, r.Header, err
}

const callback = "http://127.0.0.1:1/callback"

// register registers a client of that name and returns its id.
func (t *target) register(name, from string) (id string, status int, err error) {
	status, text, _, err := t.send("POST", "/register", "application/json", from, "",
		strings.NewReader(fmt.Sprintf(`{"client_name":%q,"redirect_uris":[%q]}`, name, callback)))
	var client struct {
		ID string `json:"client_id"`
	}
	if err == nil && status == http.StatusCreated {
		err = json.Unmarshal(text, &client)
	}
	return client.ID, status, err
}

// failure is the error of a request that was not answered as it should be.
func failure(what string, status int, err error) error {
	if err == nil {
		return fmt.Errorf("%s: status %d", what, status)
	}
	return fmt.Errorf("%s: status %d, %w", what, status, err)
}

// login goes the whole way from a registration to a token.
func (t *target) login(name, from string) (string, error) {
	id, status, err := t.register(name, from)
	if err != nil || id == "" {
		return "", failure("register", status, err)
	}
	return t.authorize(id, from, t.passphrase)
}

// authorize gets a token for a registered client, typing the passphrase if the
// server asks for one.
func (t *target) authorize(id, from, passphrase string) (string, error) {
	verifier := strings.Repeat("v", 43)
	challenge := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"client_id": {id}, "redirect_uri": {callback}, "response_type": {"code"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}
	status, page, header, err := t.send("GET", "/authorize?"+query.Encode(), "", from, "", nil)
	if err == nil && status == http.StatusOK {
		status, header, err = t.consent(page, header, from, passphrase)
	}
	if err != nil {
		return "", err
	}
	back, err := url.Parse(header.Get("Location"))
	if err != nil || status != http.StatusSeeOther {
		return "", failure("authorize", status, err)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {id}, "redirect_uri": {callback}, "code_verifier": {verifier}}
	status, text, _, err := t.send("POST", "/token", "application/x-www-form-urlencoded", from, "", strings.NewReader(form.Encode()))
	var token struct {
		Token string `json:"access_token"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(text, &token) != nil {
		return "", failure("token", status, err)
	}
	return token.Token, nil
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// consent answers the login page as a browser would, with its cookies.
func (t *target) consent(page []byte, header http.Header, from, passphrase string) (int, http.Header, error) {
	form := url.Values{"decision": {"allow"}, "grant": {"trade"}, "passphrase": {passphrase}}
	for _, field := range hidden.FindAllSubmatch(page, -1) {
		form.Set(string(field[1]), html.UnescapeString(string(field[2])))
	}
	var cookies []string
	for _, line := range header["Set-Cookie"] {
		if c, err := http.ParseSetCookie(line); err == nil {
			cookies = append(cookies, c.Name+"="+c.Value)
		}
	}
	status, _, header, err := t.send("POST", "/authorize", "application/x-www-form-urlencoded", from, "", strings.NewReader(form.Encode()),
		"Cookie", strings.Join(cookies, "; "))
	return status, header, err
}

// ping asks whether the server runs and the token works.
func (t *target) ping(token string) (status int, err error) {
	status, _, _, err = t.send("POST", "/mcp", "application/json", "", token, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	return status, err
}

// call calls a tool and returns its first text and the HTTP status.
func (t *target) call(token, tool, arguments string) (text string, status int, err error) {
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
	status, body, _, err := t.send("POST", "/mcp", "application/json", "", token, strings.NewReader(message))
	if err != nil || status != http.StatusOK {
		return "", status, err
	}
	var reply struct {
		Result struct {
			Content []struct{ Text, Data string }
		}
	}
	if err := json.Unmarshal(body, &reply); err != nil || len(reply.Result.Content) == 0 {
		return "", status, fmt.Errorf("%s answered %.200q", tool, body)
	}
	return reply.Result.Content[0].Text, status, nil
}
