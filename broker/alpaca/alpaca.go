// Package alpaca speaks to the broker Alpaca: orders, reports of an account and
// the stream of what happens to orders, over HTTPS and server-sent events.
//
// A [Client] keeps nothing but the rules of the symbols it was asked about. It
// sends a request once. After an error that is no [broker.Refused] the caller does
// not know what became of it, and asks with Lookup.
//
// # Security considerations
//
// The keys go into the headers of requests to one address, which is one of
// Alpaca's two or, for tests, on this machine, and nowhere else: redirects are not
// followed, no proxy is used, and errors quote at most a line of what Alpaca said.
// Everything that comes back is bounded and checked before it is believed.
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

	"wick/address"
	"wick/broker"
	"wick/limit"
)

// The addresses of the two services. The keys of one do not work on the other.
const (
	LiveURL  = "https://api.alpaca.markets"
	PaperURL = "https://paper-api.alpaca.markets"
)

const (
	requestTimeout = 10 * time.Second // of one request, its reply included
	maxReply       = 8 << 20          // bytes: 500 orders with their legs have some 2 MB
	maxSaid        = 200              // bytes of a refusal that are passed on
)

// Client speaks to one account. Its methods may be called from many goroutines.
type Client struct {
	base   string
	keys   Keys
	http   *http.Client // for requests
	stream *http.Client // the same without a time limit
	log    *slog.Logger
	budget budget

	mu     sync.Mutex
	assets map[string]known // by our spelling of the symbol; guarded by mu, like all below it
	clock  clock            // of the exchange, as it was last told

	sessions    []session // of its calendar
	calendarDue time.Time // when that is to be read again
}

// Options configure a Client.
type Options struct {
	URL    string // LiveURL or PaperURL; tests have it on loopback
	Keys   Keys
	Client *http.Client // nil means one that connects to public addresses, or to this machine if the URL does
	Log    *slog.Logger // gets a line for every request that changes something; nil discards
}

// New returns a client. It asks nothing yet.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && address.Loopback(u.Hostname())) {
		return nil, fmt.Errorf("alpaca: %q is not an https address", limit.Clip(o.URL))
	}
	c := &Client{base: o.URL, keys: o.Keys, http: o.Client, log: o.Log, assets: make(map[string]known)}
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

// apiError is how Alpaca says no. The code is not used, but a reply whose code is no
// number is not Alpaca's own.
type apiError struct {
	Code    json.Number `json:"code"`
	Message string      `json:"message"`
}

// do sends one request and decodes its reply into a value, nil for none. Every error
// but a broker.Refused and broker.ErrUnknown leaves open what became of it. It is the
// only function besides Stream that has anything sent.
func (c *Client) do(ctx context.Context, r limit.Rate, method, path string, query url.Values, body, into any) error {
	// Waits until the request fits into the rate that Alpaca allows.
	if err := c.budget.take(ctx, r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request, err := c.request(ctx, method, path, query, body)
	if err != nil { // definite, unlike what follows: what could not be built was not sent
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
	// The status is logged for whatever changes something, also if the body is lost.
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

// withoutURL takes the address out of an error: it says nothing that the method
// and the path do not.
func withoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// heed keeps further requests back when Alpaca has asked for it, or will. Other
// replies change nothing: the budget alone spaces requests out.
func (c *Client) heed(r *http.Response) {
	// Alpaca says in unix seconds when its limit begins anew.
	seconds, err := strconv.ParseInt(r.Header.Get("X-RateLimit-Reset"), 10, 64)
	reset := time.Unix(seconds, 0)
	if r.StatusCode != http.StatusTooManyRequests {
		return
	}
	if err != nil || !reset.After(time.Now()) {
		reset = time.Now().Add(time.Second)
	}
	// Retry-After, where it is given, wins; a proxy may send it too, so it counts for a
	// minute at most.
	if after, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && after > 0 {
		reset = time.Now().Add(time.Duration(min(after, 60)) * time.Second)
	}
	c.budget.pause(reset)
}

// said turns a reply that is no success into an error. Only a status by which
// Alpaca itself refuses, with a body of its own, is definite: what a proxy on the
// way makes up is not.
func said(method, path string, r *http.Response, text []byte) error {
	var e apiError
	// A page of a proxy has no message in this form.
	own := json.Unmarshal(text, &e) == nil && e.Message != ""
	message := limit.Line(e.Message, maxSaid)
	switch {
	// No body of Alpaca's own: a proxy may have answered, and Alpaca done what was
	// asked.
	case !own:
	case r.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %s", broker.ErrUnknown, message)
	// There is no code for it: the text is all that tells it from other refusals.
	case r.StatusCode == http.StatusUnprocessableEntity && strings.Contains(e.Message, "client_order_id must be unique"):
		return errDuplicate
	case r.StatusCode >= 400 && r.StatusCode < 500 && r.StatusCode != http.StatusRequestTimeout:
		return refusal("Alpaca refused it: %s (status %d)", message, r.StatusCode)
	}
	return fmt.Errorf("alpaca %s %s: status %d", method, path, r.StatusCode)
}

// errDuplicate says that a client_order_id is taken. It is no refusal: the order
// that has it may be the very one that was sent, by a try whose answer was lost.
var errDuplicate = errors.New("alpaca: the client_order_id was used before")
