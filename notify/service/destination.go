package service

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/mail"
	"net/netip"
	"net/url"
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
	secrets []secret       // what Redact removes, in this order
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
	for _, secret := range d.secrets {
		text = secret.hide(text)
	}
	return limit.Line(text, maxShown)
}
