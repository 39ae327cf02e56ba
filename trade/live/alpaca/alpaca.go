// Package alpaca speaks to the broker Alpaca: orders, reports of an account and
// the stream of what happens to orders, over HTTPS and server-sent events.
//
// A [Client] remembers only the rules of symbols. It sends a request once. After an error
// that is no [live.Refused] the caller does not know whether the request was carried out, and
// asks with Lookup.
//
// # Security considerations
//
// The keys go into the headers of requests to one address and nowhere else. That is one
// of Alpaca's two addresses or, for tests, one on this machine. Redirects are not
// followed, no proxy is used, and errors quote at most a line of what Alpaca said.
// Everything that comes back is bounded and checked before it is used.
package alpaca

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"wick/internal/address"
	"wick/internal/limit"
	"wick/trade/book"
	"wick/trade/live"
)

// The addresses of the two services. The keys of one do not work on the other.
const (
	LiveURL  = "https://api.alpaca.markets"
	PaperURL = "https://paper-api.alpaca.markets"
)

const (
	requestTimeout = 10 * time.Second // of one request, its reply included
	maxReply       = 8 << 20          // bytes of a reply; 500 orders with their legs have about 2 MB
	maxSaid        = 200              // bytes of a refusal that are passed on
)

// Client speaks to one account. Its methods may be called from many goroutines.
type Client struct {
	base   string
	keys   Keys
	paper  bool
	http   http.Client // for requests
	stream http.Client // the same without a time limit
	log    *slog.Logger
	budget budget

	mu      sync.Mutex
	symbols map[string]rules // by our spelling; guarded by mu
}

// Options configure a Client.
type Options struct {
	URL    string // LiveURL or PaperURL; in tests an address on loopback
	Keys   Keys
	Paper  bool         // the account is a paper account: no real money moves
	Client *http.Client // nil means one that connects to public addresses only, or to this machine if the URL names it
	Log    *slog.Logger // gets a line for every request that changes something; nil discards
}

// Money says whether the account holds real money.
func (c *Client) Money() book.Money {
	if c.paper {
		return book.NoMoney
	}
	return book.RealMoney
}

// New returns a client. It sends nothing yet.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && address.Loopback(u.Hostname())) {
		return nil, fmt.Errorf("alpaca: its URL is not an https address") // it may have a secret in it
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Client == nil {
		o.Client = address.Client(requestTimeout, address.Allowed(address.Loopback(u.Hostname())))
	}
	c := &Client{base: o.URL, keys: o.Keys, paper: o.Paper, http: *o.Client, stream: *o.Client, log: o.Log, symbols: make(map[string]rules)}
	c.http.Timeout, c.stream.Timeout = requestTimeout, 0
	return c, nil
}

// do sends one request and decodes its reply into the value into, if that is not nil.
// After any error but a live.Refused and live.ErrUnknown nobody knows whether the
// request was carried out.
func (c *Client) do(ctx context.Context, r limit.Rate, method, path string, query url.Values, body, into any) error {
	response, err := c.send(ctx, &c.http, r, method, path, query, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	if err == nil && len(text) > maxReply {
		err = fmt.Errorf("the reply has more than %d bytes", maxReply)
	}
	switch {
	case err == nil && response.StatusCode >= 300:
		return said(method, path, response, text)
	case err == nil && into != nil:
		err = json.Unmarshal(text, into) // fails for a page of HTML, for example
	}
	if err != nil {
		return fmt.Errorf("alpaca %s %s: status %d: %w", method, path, response.StatusCode, err)
	}
	return nil
}

// send sends one request with the keys in its headers, once Alpaca's rate limit allows it.
// Errors do not name the URL: the method and the path say enough.
func (c *Client) send(ctx context.Context, client *http.Client, r limit.Rate, method, path string, query url.Values, body any) (*http.Response, error) {
	if err := c.budget.take(ctx, r); err != nil {
		return nil, err
	}
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, refusal("nothing was sent: %v", err)
		}
		content = bytes.NewReader(text)
	}
	to := c.base + path
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, to, content)
	if err != nil { // a refusal, unlike the errors below: it is certain that nothing was sent
		return nil, refusal("nothing was sent: %v", err)
	}
	// net/http sends some requests a second time when a connection breaks. It does
	// not with a body that cannot be read again.
	request.GetBody = nil
	if k := c.keys.pair; k != nil {
		request.Header.Set("APCA-API-KEY-ID", k.id)
		request.Header.Set("APCA-API-SECRET-KEY", k.secret)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := client.Do(request)
	if err != nil {
		if at := (*url.Error)(nil); errors.As(err, &at) {
			err = at.Err
		}
		return nil, fmt.Errorf("alpaca %s %s: %w", method, path, err)
	}
	// The status of a request that changes something is logged even if the body is lost.
	if method != http.MethodGet {
		c.log.Info("alpaca", "method", method, "path", path, "status", response.StatusCode, "request", limit.Clip(response.Header.Get("X-Request-ID")))
	}
	if response.StatusCode == http.StatusTooManyRequests {
		c.budget.pause(response.Header)
	}
	return response, nil
}

// said turns a reply that is no success into an error. The request was refused for
// certain only if the status says so and the body is from Alpaca itself, with a code that is a
// number: a reply may also come from a proxy on the way, and Alpaca may have done what was asked.
func said(method, path string, r *http.Response, text []byte) error {
	var e struct {
		Code    json.Number `json:"code"`
		Message string      `json:"message"`
	}
	own := json.Unmarshal(text, &e) == nil && e.Message != ""
	message := limit.Line(e.Message, maxSaid)
	switch {
	case !own:
	case r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %s", live.ErrUnknown, message)
	// Alpaca has no code for this: only the text tells it from other refusals.
	case r.StatusCode == http.StatusUnprocessableEntity && strings.Contains(e.Message, "client_order_id must be unique"):
		return errDuplicate
	case r.StatusCode >= 400 && r.StatusCode < 500 && r.StatusCode != http.StatusRequestTimeout:
		return &live.Refused{Text: fmt.Sprintf("Alpaca refused it: %s (status %d)", message, r.StatusCode), Keys: r.StatusCode == http.StatusUnauthorized}
	}
	return fmt.Errorf("alpaca %s %s: status %d", method, path, r.StatusCode)
}

// refusal returns a live.Refused: it is certain that nothing was done.
func refusal(format string, args ...any) error {
	return &live.Refused{Text: fmt.Sprintf(format, args...)}
}

// errDuplicate says that a client_order_id is taken. It is no refusal: the order that has
// it may be the one that was sent, by an attempt whose answer was lost.
var errDuplicate = errors.New("alpaca: the client_order_id was used before")
