// Package etcd speaks to etcd's JSON gateway, with net/http alone: transactions,
// leases, and a watch that only rings. A [Client] uses one member at a time, and
// the next when that one does not answer.
//
// # Security considerations
//
// What comes back is bounded before it is decoded. The password goes to the
// members that the operator has named and to nobody else: redirects are not
// followed.
package etcd

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"wick/address"
	"wick/limit"
)

// This file is the wire: etcd's JSON gateway. Keys and values are base64, which
// []byte is in JSON anyway; 64-bit numbers are strings; members that are zero or
// false are left out of replies.

// KeyValue is a key with what it holds.
type KeyValue struct {
	Key      []byte `json:"key"`
	Value    []byte `json:"value"`
	Revision int64  `json:"mod_revision,string"`
}

// Compare is a condition of a transaction.
type Compare struct {
	Key      []byte `json:"key"`
	Target   string `json:"target"` // MOD or VERSION
	Result   string `json:"result"`
	Revision int64  `json:"mod_revision,string,omitempty"`
	Version  *int64 `json:"version,string,omitempty"`
}

// PutRequest sets a key, which goes with its lease if it has one.
type PutRequest struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
	Lease int64  `json:"lease,string,omitempty"`
}

// RangeRequest reads a key, or all from it up to End.
type RangeRequest struct {
	Key   []byte `json:"key"`
	End   []byte `json:"range_end,omitempty"`
	Limit int64  `json:"limit,string,omitempty"`
}

// DeleteRequest deletes a key, or all from it up to End.
type DeleteRequest struct {
	Key []byte `json:"key"`
	End []byte `json:"range_end,omitempty"`
}

// Operation is one step of a transaction; one part is set.
type Operation struct {
	Put    *PutRequest    `json:"request_put,omitempty"`
	Range  *RangeRequest  `json:"request_range,omitempty"`
	Delete *DeleteRequest `json:"request_delete_range,omitempty"`
}

// Txn is a transaction, the body of /v3/kv/txn: if all comparisons hold Success is
// done, else Failure. One that only reads sees what a majority has.
type Txn struct {
	Compare []Compare   `json:"compare,omitempty"`
	Success []Operation `json:"success,omitempty"`
	Failure []Operation `json:"failure,omitempty"`
}

// TxnReply is the answer to a transaction: whether its conditions held, and what the
// operations returned.
type TxnReply struct {
	Header    header `json:"header"`
	Succeeded bool   `json:"succeeded"`
	Responses []struct {
		Range struct {
			Values []KeyValue `json:"kvs"`
		} `json:"response_range"`
	} `json:"responses"`
}

type header struct {
	Revision int64 `json:"revision,string"`
}

// Values returns what the range at a place of the reply has found.
func (r *TxnReply) Values(i int) []KeyValue {
	if i >= len(r.Responses) {
		return nil
	}
	return r.Responses[i].Range.Values
}

// Value returns the first of them, or nil.
func (r *TxnReply) Value(i int) []byte {
	if all := r.Values(i); len(all) > 0 {
		return all[0].Value
	}
	return nil
}

// Lease is what grants and renewals answer.
type Lease struct {
	ID  int64 `json:"ID,string"`
	TTL int64 `json:"TTL,string"` // seconds; absent if the lease is gone
}

// IsNew compares that a key does not exist, and IsOurs that it has not changed
// since a revision.
func IsNew(key []byte) Compare {
	return Compare{Key: key, Target: "VERSION", Result: "EQUAL", Version: new(int64)}
}

// IsOurs holds while the key is as this process wrote it.
func IsOurs(key []byte, revision int64) Compare {
	return Compare{Key: key, Target: "MOD", Result: "EQUAL", Revision: revision}
}

// Put writes one key.
func Put(key, value []byte) Operation { return Operation{Put: &PutRequest{Key: key, Value: value}} }

// Get reads one key.
func Get(key []byte) Operation { return Operation{Range: &RangeRequest{Key: key}} }

// After returns the key that ends the range of all keys that begin with prefix.
func After(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	end[len(end)-1]++
	return end
}

// maxReply bounds what is read of one reply, in bytes: a full page of batches.
const maxReply = 64 << 20

// Attempt is how long one request to one member may take.
const Attempt = 2 * time.Second

// refusal is an error that etcd itself has answered with: the request was not
// done.
type refusal struct {
	status  int
	foreign bool   // it is not in etcd's format: nobody knows what was done
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error quotes etcd's message, or an answer that something else gave in its place.
func (e *refusal) Error() string {
	if e.foreign {
		return fmt.Sprintf("an answer that is not of etcd's gateway (%d): %.120q", e.status, e.Message)
	}
	return fmt.Sprintf("etcd refused (%d): %s", e.status, limit.Clip(e.Message))
}

// Codes of gRPC in refusals.
const (
	codeDeadline        = 4
	codeExhausted       = 8
	codeUnavailable     = 14
	codeUnauthenticated = 16
)

// IsRefusal reports whether err says for certain that the request was not done:
// etcd has answered, and not that it does not know.
func IsRefusal(err error) bool {
	r := (*refusal)(nil)
	return errors.As(err, &r) && !r.foreign && r.Code != codeUnavailable && r.Code != codeDeadline && r.status < 500
}

// IsFinal reports whether another try would fail like this one: the user, the
// password or a certificate is not accepted, here or there.
func IsFinal(err error) bool {
	r, ours, theirs := (*refusal)(nil), (*tls.CertificateVerificationError)(nil), (*net.OpError)(nil)
	if errors.As(err, &r) {
		return r.status < 500 && r.Code != codeExhausted && r.Code != codeUnavailable && r.Code != codeDeadline
	}
	return errors.As(err, &ours) || errors.As(err, &theirs) && theirs.Op == "remote error" // an alert of TLS
}

// Options configure a Client.
type Options struct {
	Endpoints      []string    // URLs of the members
	TLS            *tls.Config // for https; nil means the system's certificates
	User, Password string      // empty if etcd has no users
}

// Client speaks to etcd through one member at a time, and to the next when that
// one does not answer.
type Client struct {
	endpoints      []string
	plain          []string // those on other machines that are reached without TLS
	http           *http.Client
	user, password string

	login sync.Mutex // held while a token is fetched

	mu    sync.Mutex
	at    int    // the member in use; guarded by mu, like all below
	token string // of the user
}

// New returns a client. It opens no connection before it is used.
func New(o Options) (*Client, error) {
	c := &Client{user: o.User, password: o.Password}
	for _, text := range o.Endpoints {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%.80q is no address of etcd, such as https://10.0.0.1:2379", text)
		}
		if u.Scheme == "http" && !address.Loopback(u.Hostname()) {
			if o.Password != "" {
				return nil, fmt.Errorf("etcd's password would go to %.80q for all to read: https:// is needed", text)
			}
			c.plain = append(c.plain, u.Host)
		}
		c.endpoints = append(c.endpoints, u.Scheme+"://"+u.Host)
	}
	if len(c.endpoints) == 0 {
		return nil, errors.New("a cluster needs the address of etcd, such as https://10.0.0.1:2379")
	}
	// Redirects are not followed: the password and the data are for etcd alone.
	c.http = &http.Client{
		Transport: &http.Transport{
			TLSClientConfig: o.TLS, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: Attempt,
			ForceAttemptHTTP2: false,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Plain returns the members on other machines that are reached without TLS.
func (c *Client) Plain() []string { return c.plain }

// Close closes the connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// endpoint returns the member in use and its number.
func (c *Client) endpoint() (string, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.endpoints[c.at], c.at
}

// leave goes on to the member after the one with this number, if nobody has yet.
func (c *Client) leave(at int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == at {
		c.at = (at + 1) % len(c.endpoints)
	}
}

// Once sends a request to one member, once. After an error that is no refusal it
// is not known whether it was done.
func (c *Client) Once(ctx context.Context, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, Attempt)
	defer cancel()
	body, at, err := c.open(ctx, path, in)
	if err != nil {
		return err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxReply))
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		c.leave(at)
		return fmt.Errorf("etcd's answer to %s: %w", path, err)
	}
	return nil
}

// Call is Once at every member in turn until one does not fail, for requests that
// may be repeated. A refusal is an answer.
func (c *Client) Call(ctx context.Context, path string, in, out any) (err error) {
	for range c.endpoints {
		if err = c.Once(ctx, path, in, out); err == nil || IsRefusal(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// open sends a request and returns the body of the answer, and the number of the
// member that gave it. A token that has ended is made anew, once.
func (c *Client) open(ctx context.Context, path string, in any) (io.ReadCloser, int, error) {
	token := c.present()
	body, at, err := c.send(ctx, path, in, token)
	if c.user != "" && wantsLogin(err) {
		if token, err = c.logIn(ctx, token); err == nil {
			body, at, err = c.send(ctx, path, in, token)
		}
	}
	return body, at, err
}

// wantsLogin reports whether etcd refused because the token has ended, was of the
// time before the users changed, or is missing.
func wantsLogin(err error) bool {
	r := (*refusal)(nil)
	return errors.As(err, &r) && (r.Code == codeUnauthenticated || r.status == http.StatusUnauthorized ||
		strings.Contains(r.Message, "user name is empty") || strings.Contains(r.Message, "revision of auth store is old"))
}

// present returns the token in use.
func (c *Client) present() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token
}

// logIn returns a token for the user in place of an old one. Of many requests that
// find theirs ended at the same time, one fetches the next for all.
func (c *Client) logIn(ctx context.Context, old string) (string, error) {
	c.login.Lock()
	defer c.login.Unlock()
	// Another request has fetched one while this one waited.
	if token := c.present(); token != old {
		return token, nil
	}
	body, _, err := c.send(ctx, "/v3/auth/authenticate", struct {
		Name     string `json:"name"`
		Password string `json:"password"`
	}{c.user, c.password}, "")
	if err != nil {
		return "", err
	}
	defer body.Close()
	var reply struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(io.LimitReader(body, 64<<10)).Decode(&reply); err != nil {
		return "", fmt.Errorf("etcd's answer to the login: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = reply.Token
	return reply.Token, nil
}

// send sends a request to the member in use. One that does not answer, or only
// that it cannot, is left.
func (c *Client) send(ctx context.Context, path string, in any, token string) (io.ReadCloser, int, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, 0, err
	}
	endpoint, at := c.endpoint()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint+path, bytes.NewReader(text))
	if err != nil {
		return nil, 0, err
	}
	request.GetBody = nil // the transport would repeat a request by itself
	request.Header.Set("Content-Type", "application/json")
	// By this header etcd tells that the gateway speaks for somebody. Without it, it
	// takes the gateway's own certificate for the user's, if it asks for any.
	request.Header.Set("Accept", "application/json")
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		c.leave(at)
		return nil, at, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, at, nil
	}
	defer response.Body.Close()
	refused := readRefusal(response)
	if !IsRefusal(refused) {
		c.leave(at)
	}
	return nil, at, refused
}

// readRefusal reads an answer that is not OK.
func readRefusal(response *http.Response) *refusal {
	refused := &refusal{status: response.StatusCode}
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil || json.Unmarshal(text, refused) != nil {
		refused.foreign, refused.Message = true, string(bytes.TrimSpace(text))
	}
	return refused
}

// Grant makes a lease of so many seconds.
func (c *Client) Grant(ctx context.Context, seconds int64) (lease Lease, err error) {
	err = c.Call(ctx, "/v3/lease/grant", struct {
		TTL int64 `json:"TTL"`
	}{seconds}, &lease)
	return lease, err
}

// KeepAlive renews a lease and returns how long it lasts from now; zero if it is
// gone.
func (c *Client) KeepAlive(ctx context.Context, lease int64) (time.Duration, error) {
	var reply struct {
		Result Lease `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	err := c.Once(ctx, "/v3/lease/keepalive", leaseID{lease}, &reply)
	if err == nil && reply.Error != nil {
		err = fmt.Errorf("etcd keeps no lease alive: %.200q", reply.Error.Message)
	}
	return time.Duration(reply.Result.TTL) * time.Second, err
}

// Revoke ends a lease, and with it the keys that it has.
func (c *Client) Revoke(ctx context.Context, lease int64) error {
	return c.Call(ctx, "/v3/lease/revoke", leaseID{lease}, new(struct{}))
}

// leaseID is the body of a request about one lease.
type leaseID struct {
	ID int64 `json:"ID,string"`
}

// Watch calls ring whenever a key that begins with prefix changes, until ctx ends. It
// says nothing of the change itself: the caller reads that, and because it also does
// so from time to time, an event lost between two connections is only late.
func (c *Client) Watch(ctx context.Context, prefix []byte, ring func()) {
	for ctx.Err() == nil {
		c.watchOnce(ctx, prefix, ring)
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// watchLife is how long one watch lasts: a member that has lost the others keeps
// its watches open and silent.
const watchLife = 30 * time.Second

// watchOnce watches the keys with a prefix until the stream ends, and calls ring for
// every message. It says nothing of what changed: the caller reads that.
func (c *Client) watchOnce(ctx context.Context, prefix []byte, ring func()) {
	ctx, cancel := context.WithTimeout(ctx, watchLife)
	defer cancel()
	type create struct {
		Key []byte `json:"key"`
		End []byte `json:"range_end"`
	}
	body, at, err := c.open(ctx, "/v3/watch", struct {
		Create create `json:"create_request"`
	}{create{prefix, After(prefix)}})
	if err != nil {
		return
	}
	defer body.Close()
	// One message is at most some small values; a stream has no end, so each
	// message is bounded by itself.
	bounded := &io.LimitedReader{R: body}
	for messages := json.NewDecoder(bounded); ; ring() {
		bounded.N = 1 << 20
		var message struct {
			Result struct {
				Canceled bool `json:"canceled"`
			} `json:"result"`
			Error json.RawMessage `json:"error"`
		}
		if err := messages.Decode(&message); err != nil || message.Result.Canceled || message.Error != nil {
			if ctx.Err() == nil {
				c.leave(at)
			}
			return
		}
	}
}
