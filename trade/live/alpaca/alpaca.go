// Package alpaca speaks to the broker Alpaca: orders, reports of an account and
// the stream of what happens to orders, over HTTPS and server-sent events.
//
// A [Client] remembers only the rules of symbols and the hours of the exchange. It
// sends a request once. After an error that is no [live.Refused] the caller does not
// know whether the request was carried out, and asks with Lookup.
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
	"strconv"
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
	http   *http.Client // for requests
	stream *http.Client // the same without a time limit
	log    *slog.Logger
	budget budget

	mu     sync.Mutex
	assets map[string]known // by our spelling of the symbol; guarded by mu, like all below it
	clock  clock            // of the exchange, as last read
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
	c := &Client{base: o.URL, keys: o.Keys, paper: o.Paper, http: o.Client, log: o.Log, assets: make(map[string]known)}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.http == nil {
		c.http = address.Client(requestTimeout, address.Allowed(address.Loopback(u.Hostname())))
	}
	// A stream has no end, so it must not have the timeout of a request.
	endless := *c.http
	endless.Timeout = 0
	c.stream = &endless
	return c, nil
}

// apiError is the body of a refusal of Alpaca. The code is not used, but a reply whose
// code is no number is not from Alpaca itself.
type apiError struct {
	Code    json.Number `json:"code"`
	Message string      `json:"message"`
}

// do sends one request and decodes its reply into the value into, if that is not nil.
// After any error but a live.Refused and live.ErrUnknown nobody knows whether the
// request was carried out. Besides do only Stream sends anything.
func (c *Client) do(ctx context.Context, r limit.Rate, method, path string, query url.Values, body, into any) error {
	// Wait until Alpaca's rate limit allows the request.
	if err := c.budget.take(ctx, r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request, err := c.request(ctx, method, path, query, body)
	if err != nil { // a refusal, unlike the errors below: it is certain that nothing was sent
		return refusal("nothing was sent: %v", err)
	}
	response, text, err := c.send(request, path)
	switch {
	case err != nil:
		return fmt.Errorf("alpaca %s %s: %w", method, path, err)
	case response.StatusCode >= 300:
		return said(method, path, response, text)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil { // a page of HTML, for example
		return fmt.Errorf("alpaca %s %s: status %d and no JSON as expected: %w", method, path, response.StatusCode, err)
	}
	return nil
}

// send sends a request, and returns its reply and the body of it.
func (c *Client) send(request *http.Request, path string) (*http.Response, []byte, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	defer response.Body.Close()
	// The status of a request that changes something is logged even if the body is lost.
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	if request.Method != http.MethodGet {
		c.log.Info("alpaca", "method", request.Method, "path", path, "status", response.StatusCode, "request", limit.Clip(response.Header.Get("X-Request-ID")))
	}
	c.heed(response)
	if err == nil && len(text) > maxReply {
		err = fmt.Errorf("the reply has more than %d bytes", maxReply)
	}
	return response, text, err
}

// request builds a request with the keys in its headers. Without keys none are sent.
func (c *Client) request(ctx context.Context, method, path string, query url.Values, body any) (*http.Request, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	to := c.base + path
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, to, content)
	if err != nil {
		return nil, err
	}
	// net/http sends some requests a second time when a connection breaks. It does
	// not with a body that cannot be read again.
	r.GetBody = nil
	if k := c.keys.pair; k != nil {
		r.Header.Set("APCA-API-KEY-ID", k.id)
		r.Header.Set("APCA-API-SECRET-KEY", k.secret)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

// withoutURL takes the URL out of an error: the method and the path say enough.
func withoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// heed stops further requests for a while if Alpaca has answered that there were too
// many. It ignores other replies: the budget alone limits the rate then.
func (c *Client) heed(r *http.Response) {
	if r.StatusCode != http.StatusTooManyRequests {
		return
	}
	// Alpaca says in unix seconds when requests are allowed again.
	seconds, err := strconv.ParseInt(r.Header.Get("X-RateLimit-Reset"), 10, 64)
	reset := time.Unix(seconds, 0)
	if err != nil || !reset.After(time.Now()) {
		reset = time.Now().Add(time.Second)
	}
	// Retry-After, if it is given, decides. A proxy may send it too, so it counts for at
	// most a minute.
	if after, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && after > 0 {
		reset = time.Now().Add(time.Duration(min(after, 60)) * time.Second)
	}
	c.budget.pause(reset)
}

// said turns a reply that is no success into an error. The request was refused for
// certain only if the status says so and the body is from Alpaca itself: a reply may also
// come from a proxy on the way.
func said(method, path string, r *http.Response, text []byte) error {
	var e apiError
	own := json.Unmarshal(text, &e) == nil && e.Message != ""
	message := limit.Line(e.Message, maxSaid)
	switch {
	// A proxy may have answered, and Alpaca may have done what was asked.
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

// errDuplicate says that a client_order_id is taken. It is no refusal: the order that has
// it may be the one that was sent, by an attempt whose answer was lost.
var errDuplicate = errors.New("alpaca: the client_order_id was used before")
