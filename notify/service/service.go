// Package service sends a message to one of the services that reach people, once:
// ntfy, Telegram, Discord, Slack, Gotify, Pushover, Matrix, e-mail, or a webhook.
// When to send, and when to try again, is decided by package notify.
//
// # Security considerations
//
// A [Destination] comes from the owner. Connections go to public addresses only,
// unless it allows private ones; redirects are not followed; an attempt takes at
// most [Timeout], and its reply is read up to a bound. No error contains a secret: URLs
// are removed from the errors of the network, and the reasons of failures pass through a
// filter that knows the secrets of the destination. The texts of messages may quote
// strangers, and are escaped for each service's markup.
package service

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"wick/internal/address"
	"wick/internal/limit"
)

// Bounds on what the owner's line may hold and on what a service may answer.
const (
	// Timeout bounds one attempt, the upload of its picture included.
	Timeout  = 10 * time.Second
	maxReply = 64 << 10       // bytes read of a reply
	maxAfter = 24 * time.Hour // longest wait that a service can ask for
	maxShown = 400            // bytes of a reason
	maxURL   = 2000           // bytes of a URL
	maxValue = 1000           // bytes of a key's value
)

// Message is what a destination is sent. Its JSON is the data of a webhook.
type Message struct {
	ID     string    `json:"-"` // the same for each attempt, so that a receiver can drop repeats
	At     time.Time `json:"-"`
	Kind   string    `json:"-"` // what it is about, in one word
	Urgent bool      `json:"-"` // it should get more attention than others

	Text    string          `json:"text"`
	Symbol  string          `json:"symbol,omitempty"`
	Client  string          `json:"client,omitempty"`
	Detail  json.RawMessage `json:"detail,omitempty"`  // the same for programs
	Events  int             `json:"events"`            // how many events it is about
	Picture []byte          `json:"picture,omitempty"` // PNG; nil for none
}

// Failure says why an attempt failed, and whether another one may succeed.
type Failure struct {
	Reason string        // in the result of Send without secrets
	Retry  bool          // whether the service may well take the same message later: after a failure, not after a refusal
	After  time.Duration // how long the service asks to wait; 0 if it does not
}

// service is a kind of destination: what its line must have and how a message is sent.
// Its send makes one attempt and returns nil if the service took the message.
type service struct {
	needs, takes []string // keys that a line must have, and may have
	pictures     bool     // whether it takes pictures
	mail         bool     // whether its URL is that of a mail server
	send         func(ctx context.Context, d *Destination, m Message) *Failure
}

// Destination is an account, a channel or an address at a service. [New] makes one and
// nothing changes it after that, so Send may be called from many goroutines.
type Destination struct {
	service service
	url     *url.URL
	keys    map[string]string // what the service needs besides the URL
	key     []byte            // signs a webhook; nil if it is not signed
	from    *mail.Address     // sender of mails
	to      []*mail.Address   // recipients of mails
	private bool              // may be at a private address
	client  *http.Client
	secrets *regexp.Regexp // what Redact removes; nil for nothing
	roots   *x509.CertPool // nil means the system's; set only in tests
}

// may returns a function that reports whether a connection may go to an address. Without
// allow-private only public addresses are allowed. With it all are, but http, which is
// not encrypted, only to private ones. The dialer calls the function with the address
// that a name was resolved to, so no name can lead elsewhere.
func (d *Destination) may() func(netip.Addr) bool {
	switch {
	case !d.private:
		return address.Public
	case d.url.Scheme == "http":
		return func(ip netip.Addr) bool { return !address.Public(ip) }
	}
	return func(netip.Addr) bool { return true }
}

// TakesPictures reports whether the service can show a picture.
func (d *Destination) TakesPictures() bool { return d.service.pictures }

// Redact makes a text fit to be shown: one line, without the destination's secrets. It
// shortens the text last, since it could not find a secret that was cut in two.
func (d *Destination) Redact(text string) string {
	if d.secrets != nil {
		text = d.secrets.ReplaceAllString(text, "***")
	}
	return limit.Line(text, maxShown)
}

// New returns a destination at a service of a kind, at a URL, with the keys that this
// kind needs. It may be at a private address if private is set; otherwise the URL must be
// encrypted, so that no secret is sent in the clear. Errors do not quote the arguments: if a
// line has a word too few or too many, a secret may be in the place of the kind or a key.
func New(kind, at string, keys map[string]string, private bool) (d *Destination, err error) {
	s, known := services[kind]
	if !known {
		return nil, fmt.Errorf("the kind must be one of %s", strings.Join(slices.Sorted(maps.Keys(services)), ", "))
	}
	for _, key := range s.needs {
		if keys[key] == "" {
			return nil, fmt.Errorf("%s needs %s=", kind, key)
		}
	}
	all := slices.Concat(s.needs, s.takes)
	for key, value := range keys {
		switch {
		case !slices.Contains(all, key):
			return nil, fmt.Errorf("the keys of %s itself are: %s", kind, cmp.Or(strings.Join(all, ", "), "none"))
		case len(value) > maxValue || limit.Line(value, maxValue) != value: // it could end a header
			return nil, fmt.Errorf("%s=: at most %d bytes, without control characters", key, maxValue)
		}
	}
	d = &Destination{service: s, keys: keys, private: private}
	// A webhook without a secret is sent unsigned.
	if secret := keys["secret"]; secret != "" {
		if d.key, err = signingKey(secret); err != nil {
			return nil, err
		}
	}
	schemes := []string{"https", "http"}
	if s.mail { // a bad address is found now and not with the first message
		var err1, err2 error
		d.from, err1 = mail.ParseAddress(keys["from"])
		d.to, err2 = mail.ParseAddressList(keys["to"])
		if err1 != nil || err2 != nil {
			return nil, errors.New("from= and to=: write addresses such as me@example.com")
		}
		schemes = []string{"smtps", "smtp"}
	}
	switch d.url, err = url.Parse(at); {
	case err != nil || len(at) > maxURL || d.url.Hostname() == "" || d.url.Fragment != "" || d.url.User != nil && !s.mail:
		return nil, fmt.Errorf("the URL: write scheme://host/path, of at most %d bytes, without a fragment, and with a user for mail only", maxURL)
	case !slices.Contains(schemes, d.url.Scheme):
		return nil, fmt.Errorf("the URL: its scheme must be %s", schemes[0])
	case d.url.Scheme == "http" && !private:
		return nil, errors.New("the URL: http is for private addresses, with the flag allow-private; write https")
	}
	d.client, d.secrets = address.Client(Timeout, d.may()), d.findSecrets()
	return d, nil
}

// Send makes one attempt to deliver m, within [Timeout]. It returns nil if the service
// took it. The reason of a failure is without secrets and may be logged.
func (d *Destination) Send(ctx context.Context, m Message) *Failure {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	f := d.service.send(ctx, d, m)
	if f != nil {
		f.Reason = d.Redact(f.Reason)
	}
	return f
}

// signingKey returns the bytes of a webhook's secret, which is written as Standard
// Webhooks does: whsec_ and then 24 to 64 bytes in base64.
func signingKey(secret string) ([]byte, error) {
	coded, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("secret=: write whsec_ and 24 to 64 bytes in base64, such as the output of: echo whsec_$(openssl rand -base64 32)")
	}
	return key, nil
}

// findSecrets returns an expression that finds the destination's secrets in a text, nil if it
// has none. Secrets are the values of the keys, and everything in the URL but scheme and host:
// a topic or a path is often the only secret there is. A short one, such as the topic redir,
// may also be a part of a usual word; there it is left as it is.
func (d *Destination) findSecrets() *regexp.Regexp {
	// The values of keys, the whole query, the whole path, and a webhook's secret without
	// whsec_.
	secrets := append(slices.Collect(maps.Values(d.keys)), d.url.RawQuery, strings.Trim(d.url.Path, "/"), strings.TrimPrefix(d.keys["secret"], "whsec_"))
	if d.service.mail {
		// The last one is both as PLAIN sends them, which a server may quote in its answer.
		user, password := d.login()
		secrets = append(secrets, user, password, base64.StdEncoding.EncodeToString([]byte("\x00"+user+"\x00"+password)))
	}
	for name, values := range d.url.Query() {
		if secrets = append(secrets, values...); values[0] == "" { // ?TOKEN, without a name
			secrets = append(secrets, name)
		}
	}
	for part := range strings.SplitSeq(d.url.Path, "/") {
		if len(part) >= 8 { // shorter parts are words of the service, such as api or hooks
			secrets = append(secrets, part)
		}
	}
	// The longest first, since one secret may be part of another. Those of less than three
	// bytes would be found in every text.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	secrets = slices.DeleteFunc(secrets, func(text string) bool { return len(text) < 3 })
	for i, text := range secrets {
		if secrets[i] = anyForm(text); len(text) < 12 && plain(rune(text[0])) && plain(rune(text[len(text)-1])) {
			secrets[i] = `\b` + secrets[i] + `\b`
		}
	}
	if len(secrets) == 0 {
		return nil
	}
	return regexp.MustCompile(strings.Join(secrets, "|"))
}

// plain reports whether a character is written in the same way everywhere.
func plain(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// anyForm returns an expression that matches a text even if characters that are not plain
// are escaped in it: by a backslash or as \u002f, as in JSON, as %2F, as in
// URLs, or by a name or number, as in HTML.
func anyForm(text string) string {
	var b strings.Builder
	for _, r := range text {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		raw := string(r)
		fmt.Fprintf(&b, `(?:\\?%s|(?i:%s|%s|\\u%04x)|&#?\w+;)`, regexp.QuoteMeta(raw), regexp.QuoteMeta(url.PathEscape(raw)), regexp.QuoteMeta(url.QueryEscape(raw)), r)
	}
	return b.String()
}

// services are the kinds of destinations, by their names in the owner's file.
var services = map[string]service{
	"webhook":  {takes: []string{"secret"}, pictures: true, send: webhook},
	"ntfy":     {takes: []string{"token"}, pictures: true, send: ntfy},
	"telegram": {needs: []string{"token", "chat"}, pictures: true, send: telegram},
	"discord":  {pictures: true, send: discord},
	"slack":    {send: slack},
	"gotify":   {needs: []string{"token"}, send: gotify},
	"pushover": {needs: []string{"token", "user"}, pictures: true, send: pushover},
	"matrix":   {needs: []string{"token", "room"}, pictures: true, send: matrix},
	"email":    {needs: []string{"from", "to"}, takes: []string{"password"}, pictures: true, mail: true, send: email},
}
