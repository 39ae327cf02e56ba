// Package service sends a message to one of the services that reach people, once:
// ntfy, Telegram, Discord, Slack, Gotify, Pushover, Matrix, e-mail, or a webhook.
// When to send, and when to try again, is decided by package notify.
//
// # Security considerations
//
// A [Destination] comes from the owner. Connections go to public addresses only,
// unless it allows private ones; redirects are not followed; an attempt takes at
// most [Timeout], and its reply is read within a bound. Secrets are in no error:
// URLs are taken out of the network's errors, and every text about a destination
// passes through a filter that knows its secrets. The texts of messages may quote
// strangers, and are escaped for each service's markup.
package service

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"wick/address"
	"wick/limit"
)

const (
	// Timeout bounds one attempt, the upload of its picture included.
	Timeout  = 10 * time.Second
	maxReply = 64 << 10       // bytes read of a reply
	maxAfter = 24 * time.Hour // that a service can ask to wait
	maxShown = 400            // bytes of a reason
)

// Message is what a destination is sent.
type Message struct {
	ID      string // by which a receiver can drop repeats
	At      time.Time
	Kind    string // what it is about, in a word
	Text    string
	Urgent  bool   // should make more noise than others
	Events  int    // how many it stands for
	Symbol  string // may be empty, like Client
	Client  string
	Detail  json.RawMessage // the same as a program reads it; nil for none
	Picture []byte          // PNG; nil for none
}

// Destination is an account, a channel or an address at a service.
type Destination struct {
	service service
	url     *url.URL
	keys    map[string]string // what the service needs besides the URL
	key     []byte            // that signs a webhook; nil for none
	private bool              // may be at a private address
	client  *http.Client
	roots   *x509.CertPool // nil means the system's; tests have their own
}

// New returns a destination at a service of a kind, with the keys that such one
// needs. It may be at a private address if private is set. Errors quote neither
// the address nor a key's value.
func New(kind, at string, keys map[string]string, private bool) (*Destination, error) {
	s, known := services[kind]
	if !known {
		return nil, fmt.Errorf("the kind %q: one of %s", limit.Clip(kind), strings.Join(slices.Sorted(maps.Keys(services)), ", "))
	}
	d := &Destination{service: s, keys: keys, private: private}
	for _, key := range s.needs {
		if keys[key] == "" {
			return nil, fmt.Errorf("%s needs %s=", kind, key)
		}
	}
	for key := range keys {
		if !slices.Contains(s.needs, key) && !slices.Contains(s.takes, key) {
			return nil, fmt.Errorf("the key %q is not one of %s", limit.Clip(key), kind)
		}
	}
	if secret := keys["secret"]; secret != "" {
		var err error
		if d.key, err = signingKey(secret); err != nil {
			return nil, err
		}
	}
	return d, d.setURL(at)
}

// TakesPictures reports whether the service can show a picture.
func (d *Destination) TakesPictures() bool { return d.service.pictures }

// may says which addresses the line allows. What is not encrypted must stay in
// the private network.
func (d *Destination) may() func(netip.Addr) bool {
	switch {
	case !d.private:
		return address.Public
	case d.url.Scheme == "http":
		return func(ip netip.Addr) bool { return !address.Public(ip) }
	}
	return func(netip.Addr) bool { return true }
}

// Failure says why an attempt failed.
type Failure struct {
	Reason string        // without secrets, once Send returned it
	Retry  bool          // whether the same message may be taken later
	After  time.Duration // how long the service asks to wait; 0 if it does not
}

// Error returns the reason.
func (f *Failure) Error() string { return f.Reason }

// Send makes one attempt to deliver m. It returns nil if the service took it. An
// error that no service spoke of is the network's, and may pass.
func (d *Destination) Send(ctx context.Context, m Message) *Failure {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	err := d.service.send(ctx, d, m)
	if err == nil {
		return nil
	}
	f := &Failure{Reason: err.Error(), Retry: true}
	errors.As(err, &f)
	f.Reason = d.Redact(f.Reason)
	return f
}

// setURL checks the address. Outside of private networks it is encrypted, so that
// no line sends its secrets in the clear.
func (d *Destination) setURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Fragment != "" || u.User != nil && !d.service.mail {
		return errors.New("the URL: write scheme://host/path, without a fragment, and with a user for mail only")
	}
	want := []string{"https", "http"}
	if d.service.mail {
		want = []string{"smtps", "smtp"}
	}
	switch {
	case !slices.Contains(want, u.Scheme):
		return fmt.Errorf("the URL: its scheme must be %s", want[0])
	case u.Scheme == "http" && !d.private:
		return errors.New("the URL: http is for private addresses, with the flag allow-private; write https")
	}
	d.url = u
	d.client = address.Client(Timeout, d.may())
	return nil
}

// signingKey returns the bytes of a webhook's secret: base64 after whsec_, as
// Standard Webhooks writes it, 24 to 64 bytes.
func signingKey(secret string) ([]byte, error) {
	coded, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("secret=: write whsec_ and 24 to 64 bytes in base64, such as the output of: echo whsec_$(openssl rand -base64 32)")
	}
	return key, nil
}

// Redact makes a text fit to be shown: one line, without the destination's
// secrets. These are the values of its keys, and of its URL all but scheme and
// host: a topic or a path is often the only secret there is.
func (d *Destination) Redact(text string) string {
	password, _ := d.url.User.Password()
	secrets := append(slices.Collect(maps.Values(d.keys)), password, d.url.User.Username(), d.url.RawQuery, strings.Trim(d.url.Path, "/"))
	for part := range strings.SplitSeq(d.url.Path, "/") {
		if len(part) >= 8 { // shorter ones are words of the service's own
			secrets = append(secrets, part)
		}
	}
	for _, secret := range secrets {
		secrets = append(secrets, url.PathEscape(secret), url.QueryEscape(secret))
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be part of another
	for _, secret := range secrets {
		if len(secret) >= 3 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return limit.Line(text, maxShown)
}
