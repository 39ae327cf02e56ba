// Package etcd speaks to etcd's JSON gateway, with net/http alone: transactions and
// leases. A [Client] uses one member at a time, and the next when that one does not answer.
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
	"sync/atomic"
	"time"

	"wick/internal/address"
	"wick/internal/limit"
)

// The types below are the JSON of etcd's gateway. Keys and values are base64, as
// encoding/json writes []byte; 64-bit numbers are strings; members that are zero or
// false are left out of replies.

// KeyValue is a key with what it holds.
type KeyValue struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

// Compare is a condition of a transaction.
type Compare struct {
	Key      []byte `json:"key"`
	Target   string `json:"target"` // MOD or VERSION
	Result   string `json:"result"`
	Revision int64  `json:"mod_revision,string,omitempty"`
	Version  *int64 `json:"version,string,omitempty"`
}

// PutRequest sets a key. If it names a lease, etcd removes the key when the lease ends.
type PutRequest struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
	Lease int64  `json:"lease,string,omitempty"`
}

// RangeRequest reads a key, or all keys from it up to End, which is not included.
type RangeRequest struct {
	Key   []byte `json:"key"`
	End   []byte `json:"range_end,omitempty"`
	Limit int64  `json:"limit,string,omitempty"`
}

// DeleteRequest deletes a key, or all keys from it up to End, which is not included.
type DeleteRequest struct {
	Key []byte `json:"key"`
	End []byte `json:"range_end,omitempty"`
}

// Operation is one step of a transaction. Exactly one of its fields is set.
type Operation struct {
	Put    *PutRequest    `json:"request_put,omitempty"`
	Range  *RangeRequest  `json:"request_range,omitempty"`
	Delete *DeleteRequest `json:"request_delete_range,omitempty"`
}

// Txn is a transaction, the body of /v3/kv/txn. If all comparisons hold, the operations
// in Success are done, otherwise those in Failure. A transaction that only reads sees
// what a majority of the members has.
type Txn struct {
	Compare []Compare   `json:"compare,omitempty"`
	Success []Operation `json:"success,omitempty"`
	Failure []Operation `json:"failure,omitempty"`
}

// TxnReply is the answer to a transaction: whether its conditions held, and what the
// operations returned.
type TxnReply struct {
	Header struct {
		Revision int64 `json:"revision,string"`
	} `json:"header"`
	Succeeded bool `json:"succeeded"`
	Responses []struct {
		Range struct {
			Values []KeyValue `json:"kvs"`
		} `json:"response_range"`
	} `json:"responses"`
}

// Values returns what operation i, a range, has found.
func (r *TxnReply) Values(i int) []KeyValue {
	if i >= len(r.Responses) {
		return nil
	}
	return r.Responses[i].Range.Values
}

// Value returns the value of the first key that operation i has found, or nil.
func (r *TxnReply) Value(i int) []byte {
	if all := r.Values(i); len(all) > 0 {
		return all[0].Value
	}
	return nil
}

// Lease is a lease, in requests and in answers.
type Lease struct {
	ID  int64 `json:"ID,string,omitempty"`
	TTL int64 `json:"TTL,string,omitempty"` // seconds; 0 if the lease is gone
}

// IsNew returns the condition that a key does not exist.
func IsNew(key []byte) Compare {
	return Compare{Key: key, Target: "VERSION", Result: "EQUAL", Version: new(int64)}
}

// IsOurs returns the condition that a key has not changed since this process wrote it,
// at a revision.
func IsOurs(key []byte, revision int64) Compare {
	return Compare{Key: key, Target: "MOD", Result: "EQUAL", Revision: revision}
}

// Put returns the operation that writes one key.
func Put(key, value []byte) Operation { return Operation{Put: &PutRequest{Key: key, Value: value}} }

// Get returns the operation that reads one key.
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

// refusal is an answer whose status is not 200. IsRefusal says whether the request was
// certainly not done.
type refusal struct {
	status  int
	foreign bool   // the answer is not in etcd's format: nobody knows what was done
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error quotes etcd's message, or the answer of something that is not etcd.
func (e *refusal) Error() string {
	if e.foreign {
		return fmt.Sprintf("an answer that is not of etcd's gateway (%d): %.120q", e.status, e.Message)
	}
	return fmt.Sprintf("etcd refused (%d): %s", e.status, limit.Clip(e.Message))
}

// gRPC codes of refusals.
const (
	codeDeadline        = 4
	codeExhausted       = 8
	codeUnavailable     = 14
	codeUnauthenticated = 16
)

// IsRefusal reports whether etcd has answered that the request was not done. The answer that
// etcd is unavailable or out of time is no refusal, since the request may have been done. If
// IsFull holds too, it is not certain either.
func IsRefusal(err error) bool {
	r := (*refusal)(nil)
	return errors.As(err, &r) && !r.foreign && r.Code != codeUnavailable && r.Code != codeDeadline && r.status < 500
}

// IsFull reports whether etcd answered that it has no room. etcd gives this answer also to the
// request that uses up the room, which it does.
func IsFull(err error) bool {
	r := (*refusal)(nil)
	return errors.As(err, &r) && r.Code == codeExhausted
}

// IsFinal reports whether another attempt would fail in the same way: etcd does not
// accept the request, the user, the password or our certificate, or we do not accept
// etcd's certificate.
func IsFinal(err error) bool {
	r, ours, theirs := (*refusal)(nil), (*tls.CertificateVerificationError)(nil), (*net.OpError)(nil)
	if errors.As(err, &r) {
		return r.status < 500 && r.Code != codeExhausted && r.Code != codeUnavailable && r.Code != codeDeadline
	}
	return errors.As(err, &ours) || errors.As(err, &theirs) && theirs.Op == "remote error" // a TLS alert of etcd
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
	plain          []string // members on other machines that are reached without TLS
	http           *http.Client
	user, password string

	at    atomic.Int64 // of the members in turn, the one in use
	login sync.Mutex   // held while a token is fetched
	token atomic.Value // of the user, a string
}

// New returns a client. It opens no connection before it is used.
func New(o Options) (*Client, error) {
	c := &Client{user: o.User, password: o.Password}
	c.token.Store("")
	for _, text := range o.Endpoints {
		u, err := url.Parse(strings.TrimSpace(text))
		switch { // a password may be in text, so it is not quoted
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			return nil, errors.New("an address of etcd is a URL such as https://10.0.0.1:2379")
		case u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
			return nil, fmt.Errorf("the address of etcd at %.80q must be scheme, host and port alone: user and password belong in the cluster's file", u.Host)
		}
		// On this machine too: a program that takes the port while etcd is down would get the password.
		if u.Scheme == "http" && o.Password != "" {
			return nil, fmt.Errorf("etcd's password would go to %.80q for all to read: https:// is needed", u.Host)
		}
		if u.Scheme == "http" && !address.Loopback(u.Hostname()) {
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
		CheckRedirect: address.Stay,
	}
	return c, nil
}

// Plain returns the members on other machines that are reached without TLS.
func (c *Client) Plain() []string { return c.plain }

// Close closes the connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Once does a transaction at one member, once. After an error for which IsRefusal is false
// it may have been done or not.
func (c *Client) Once(ctx context.Context, txn Txn) (reply TxnReply, err error) {
	err = c.once(ctx, "/v3/kv/txn", txn, &reply)
	return reply, err
}

// Do does operations, all in one transaction, at one member after the other until one
// answers. So it is for those that may be repeated.
func (c *Client) Do(ctx context.Context, operations ...Operation) (reply TxnReply, err error) {
	err = c.call(ctx, "/v3/kv/txn", Txn{Success: operations}, &reply)
	return reply, err
}

// PutIf writes a key if a condition holds, and reports whether it did. Like Do it is for
// what may be repeated.
func (c *Client) PutIf(ctx context.Context, condition Compare, key, value []byte) (bool, error) {
	var reply TxnReply
	err := c.call(ctx, "/v3/kv/txn", Txn{Compare: []Compare{condition}, Success: []Operation{Put(key, value)}}, &reply)
	return reply.Succeeded, err
}

// Compact has etcd forget the revisions before one.
func (c *Client) Compact(ctx context.Context, revision int64) error {
	return c.call(ctx, "/v3/kv/compaction", struct {
		Revision int64 `json:"revision,string"`
	}{revision}, new(struct{}))
}

// once sends a request to one member, once. If etcd does not accept the token, it fetches a
// new one and tries once more.
func (c *Client) once(ctx context.Context, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, Attempt)
	defer cancel()
	token := c.token.Load().(string)
	err := c.send(ctx, path, token, in, out)
	if c.user != "" && wantsLogin(err) {
		if token, err = c.logIn(ctx, token); err == nil {
			err = c.send(ctx, path, token, in, out)
		}
	}
	return err
}

// call is once at one member after the other until one answers. A refusal is an answer, too.
func (c *Client) call(ctx context.Context, path string, in, out any) (err error) {
	for range c.endpoints {
		if err = c.once(ctx, path, in, out); err == nil || IsRefusal(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// leave makes the client use the member after this one, unless another request has done so.
func (c *Client) leave(at int64) { c.at.CompareAndSwap(at, at+1) }

// wantsLogin reports whether etcd refused a request because its token has ended, is
// missing, or was made before the users of etcd were changed.
func wantsLogin(err error) bool {
	r := (*refusal)(nil)
	return errors.As(err, &r) && (r.Code == codeUnauthenticated || r.status == http.StatusUnauthorized ||
		strings.Contains(r.Message, "user name is empty") || strings.Contains(r.Message, "revision of auth store is old"))
}

// logIn returns a token for the user to replace an old one. If many requests need one at
// the same time, one of them fetches it for all.
func (c *Client) logIn(ctx context.Context, old string) (string, error) {
	c.login.Lock()
	defer c.login.Unlock()
	if token := c.token.Load().(string); token != old {
		return token, nil // fetched while this one waited
	}
	var reply struct {
		Token string `json:"token"`
	}
	err := c.send(ctx, "/v3/auth/authenticate", "", map[string]string{"name": c.user, "password": c.password}, &reply)
	if err == nil {
		c.token.Store(reply.Token)
	}
	return reply.Token, err
}

// send sends a request to the member in use and decodes the answer. If that does not answer,
// or answers that it cannot do its work, the next request goes to another member.
func (c *Client) send(ctx context.Context, path, token string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	at := c.at.Load()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoints[at%int64(len(c.endpoints))]+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.GetBody = nil // with it the transport may send a request again by itself
	request.Header.Set("Content-Type", "application/json")
	// By this header etcd sees that its gateway passes on the request of somebody else.
	// Without it, etcd takes the gateway's own certificate for that of the user.
	request.Header.Set("Accept", "application/json")
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		c.leave(at)
		return err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(io.LimitReader(response.Body, maxReply))
	if response.StatusCode != http.StatusOK {
		refused := &refusal{status: response.StatusCode}
		if err != nil || json.Unmarshal(text, refused) != nil {
			refused.foreign, refused.Message = true, string(bytes.TrimSpace(text))
		}
		if !IsRefusal(refused) {
			c.leave(at)
		}
		return refused
	}
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		c.leave(at)
		return fmt.Errorf("etcd's answer to %s: %w", path, err)
	}
	return nil
}

// Grant makes a lease that lasts for a number of seconds.
func (c *Client) Grant(ctx context.Context, seconds int64) (lease Lease, err error) {
	err = c.call(ctx, "/v3/lease/grant", Lease{TTL: seconds}, &lease)
	return lease, err
}

// KeepAlive renews a lease and returns how long it lasts from now on, or zero if it is
// gone.
func (c *Client) KeepAlive(ctx context.Context, lease int64) (time.Duration, error) {
	var reply struct {
		Result Lease `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	err := c.once(ctx, "/v3/lease/keepalive", Lease{ID: lease}, &reply)
	if err == nil && reply.Error != nil {
		err = fmt.Errorf("etcd keeps no lease alive: %.200q", reply.Error.Message)
	}
	return time.Duration(reply.Result.TTL) * time.Second, err
}

// Revoke ends a lease, which removes the keys that use it.
func (c *Client) Revoke(ctx context.Context, lease int64) error {
	return c.call(ctx, "/v3/lease/revoke", Lease{ID: lease}, new(struct{}))
}
