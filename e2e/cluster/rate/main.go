// Rate measures what replicas do: orders acknowledged a second and charts a second,
// with many clients on all given addresses at once, and beside them the
// transactions a second of etcd itself. It logs in at the first address with its
// own client, so the servers must share a key file and a base URL.
//
// Usage: rate -clients 64 -for 10s [-etcd http://127.0.0.1:23471] http://127.0.0.1:9341 http://127.0.0.1:9342 …
package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

var web = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 256},
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func main() {
	clients := flag.Int("clients", 64, "clients at once")
	length := flag.Duration("for", 10*time.Second, "how long each measurement takes")
	etcd := flag.String("etcd", "", "an etcd member to measure by itself")
	flag.Parse()
	if err := run(flag.Args(), *clients, *length, *etcd); err != nil {
		fmt.Fprintln(os.Stderr, "rate:", err)
		os.Exit(1)
	}
}

func run(bases []string, clients int, length time.Duration, etcd string) error {
	if len(bases) == 0 {
		return fmt.Errorf("name the addresses of replicas")
	}
	token, err := login(bases[0])
	if err != nil {
		return err
	}
	call := func(tool, arguments string) func(i int) error {
		return func(i int) error {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, strings.ReplaceAll(arguments, "ID", rand.Text()))
			return post(bases[i%len(bases)]+"/mcp", "application/json", token, []byte(body), true)
		}
	}
	measure("orders", clients, length, call("place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.00000001","client_order_id":"ID"}`))
	measure("reads of positions", clients, length, call("get_positions", `{}`))
	measure("charts", clients, length, call("generate_chart", `{"symbol":"BTCUSDT","interval":"1h"}`))
	if etcd != "" {
		value := base64.StdEncoding.EncodeToString(make([]byte, 300))
		measure("transactions of etcd", clients, length, func(i int) error {
			key := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "rate/%d", i))
			body := fmt.Sprintf(`{"success":[{"request_put":{"key":%q,"value":%q}}]}`, key, value)
			return post(etcd+"/v3/kv/txn", "application/json", "", []byte(body), false)
		})
	}
	return nil
}

// measure calls do from many clients for a while and prints how often it worked and
// how long it took.
func measure(what string, clients int, length time.Duration, do func(i int) error) {
	var mu sync.Mutex
	var took []time.Duration
	failed := map[string]int{}
	var wg sync.WaitGroup
	began := time.Now()
	for i := range clients {
		wg.Go(func() {
			for time.Since(began) < length {
				start := time.Now()
				err := do(i)
				mu.Lock()
				if err != nil {
					failed[err.Error()]++
				} else {
					took = append(took, time.Since(start))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	n := len(took)
	if n == 0 {
		fmt.Printf("%s: none; %v\n", what, failed)
		return
	}
	fmt.Printf("%s: %.0f a second, p50 %s, p99 %s, %d clients", what, float64(n)/time.Since(began).Seconds(), took[n/2].Round(100*time.Microsecond), took[n*99/100].Round(100*time.Microsecond), clients)
	for text, times := range failed {
		fmt.Printf("; %d times %.120s", times, text)
	}
	fmt.Println()
}

// post sends a body and reads the answer. A refusal of a tool is an error.
func post(address, kind, token string, body []byte, tool bool) error {
	request, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", kind)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := web.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || tool && bytes.Contains(text, []byte(`"isError":true`))) {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	return err
}

// login registers and walks through the authorization with PKCE.
func login(base string) (string, error) {
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
