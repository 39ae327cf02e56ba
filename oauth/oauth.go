// Package oauth is an OAuth 2.1 authorization server for a service with one
// owner, and the check of the bearer tokens it gives out.
//
// A client registers itself (RFC 7591), sends the owner's browser to the
// consent page, and exchanges the code it gets back for a token, proving with
// PKCE that it is the one who asked. Codes live five minutes and work once; tokens
// live seven days. What a token allows is its scope: [ScopeCharts], or [ScopeTrade]
// on top of it.
//
// Registrations, codes and tokens are not stored: each is its own content, sealed
// with a key. A [Ledger] records the little that a sealed text does not contain:
// which codes were used and which logins were revoked. Unless Options.Keys are given,
// which outlive the process, the key is made at the start and the ledger is in
// memory: a restart ends everything, and clients start over; only a client whose
// client_id is the address of a document about it need not register again.
//
// Clients find the addresses of this server in metadata documents (RFC 8414 and
// RFC 9728). The challenge of a 401 reply points to them; [Server.Challenge] writes
// it. Clients can give a token back (RFC 7009), and the owner can list and end logins
// ([Server.Logins], [Server.Revoke]). Options.OnRevoke is called for each token that
// ends early.
//
// # Security considerations
//
// Every address served here is open to strangers. What they send is bounded
// before it costs anything: bodies, parameters, rates per address and per IPv6
// site, and the number of everything kept. A registration leaves nothing behind,
// so a flood of them pushes nobody out.
//
// A token is the owner's permission. With a passphrase nobody gets a code
// without it. Strangers share one small budget of guesses, so that a botnet
// guesses no faster than one machine; this machine, and each place where the
// owner logged in before, have budgets of their own, so that strangers cannot
// keep the owner out of them. From a new place the owner may have to wait while
// someone guesses; tokens in use are not touched. Without a passphrase the
// service must be out of strangers' reach: [New] refuses any other setup, and a request
// that a proxy or a tunnel brings all the same gets no code and no page to click on.
//
// The consent page shows where the browser will go as the browser reads it: the
// host of a redirect URI is plain ASCII as sent. An answer on the page counts once,
// and only if the page itself posts it, from the browser it was shown in. Errors are
// redirected only to loopback addresses and to the address that the owner saw when
// approving the client; otherwise they stay on the page.
//
// Secrets are looked up by their SHA-256 or compared in constant time, and none is ever
// logged. Addresses in a registration are text and never fetched. Only documents of
// clients are fetched, and only from hosts that the operator named: bounded in size,
// time and rate, never redirected, never from an address that is not public. What
// strangers say about themselves reaches the page and the log as quoted text only.
package oauth

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"wick/internal/address"
	"wick/internal/limit"
)

// Scopes. A token always holds ScopeCharts; ScopeTrade comes on top of it when
// the owner allows trading, and is offered only where Options.Trade is set.
// ScopeOwner is for the owner's own page alone: no registered client can get it.
const (
	ScopeCharts = "charts"
	ScopeTrade  = "trade"
	ScopeOwner  = "owner"

	chartsAndTrade = ScopeCharts + " " + ScopeTrade
)

// TokenLife is how long a token works, as the specification fixes it.
const TokenLife = 7 * 24 * time.Hour

// AuthorizePath is the path of the consent page, which the owner's browser opens.
// Scripts of other origins must not reach it (RFC 9700 section 2.1), and neither
// [ApprovePath]; all other addresses here are for programs.
const AuthorizePath = "/authorize"

// Options configure a [Server].
type Options struct {
	// BaseURL is the published address and the issuer: scheme and host, and
	// nothing after them. It is https unless its host is a loopback name.
	BaseURL string

	// Passphrase is what the owner types on the consent page. New keeps a slow
	// hash of it and overwrites these bytes. Empty means that no one is asked,
	// which New accepts only with Loopback, a base URL on a loopback name and no
	// TrustedProxies.
	Passphrase []byte

	// FewRounds makes the hash a fast one. Only tests set it, which start many servers.
	FewRounds int

	// PassphraseFrom says where the passphrase was set, such as
	// "--passphrase-file". The page tells the owner; empty says nothing.
	PassphraseFrom string

	// Loopback says that the service listens on loopback addresses only.
	Loopback bool

	// Trade offers the trade scope. Money is what the page says about the money that
	// trading moves; empty says nothing.
	Trade bool
	Money string

	// OwnPage is the path of the owner's own page, such as "/app", which logs in
	// as the client [OwnClient] and gets [ScopeOwner]. Empty means that there is
	// none.
	OwnPage string

	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix

	// Documents are the hosts whose clients may have the address of a document
	// as their client_id. Nil means that there are none, and nothing is fetched.
	Documents []string

	// Keys outlive the process and may be shared by several: what was sealed with
	// any of them is taken, and the first one seals. Empty means one key that is
	// made now and ends with the process.
	Keys []Key

	// Ledger records what was used and revoked. It is required with Keys, and must be
	// nil without them: then it is in memory, and ends with the process too.
	Ledger Ledger

	// Questions are asked of the owner on a page of their own, apart from logins.
	// Nil means that there are no questions, and no such page.
	Questions Questions

	// OnRevoke is called with the [Grant.ID] of each token that ends before its
	// time: revoked by the owner or its client, pushed out, or given for a code
	// that was used twice. A token that is pushed out still works, and its client
	// can open its streams again. OnRevoke must not block. Nil tells nobody.
	OnRevoke func(id string)

	// OnLogin is called when a client gets a token, with what the client calls
	// itself, what the token allows and where the request came from. It must not
	// block. Nil tells nobody.
	OnLogin func(name, scope string, from netip.Addr)

	// Log gets one line per step, without secrets; nil discards them.
	Log *slog.Logger
}

// Questions holds what the owner may be asked. The id of a question is a secret: a
// question can be seen and answered only with the id.
type Questions interface {
	// Question returns the text of a question, one fact per line, and whether the owner
	// has said yes to it already, which a no can take back. It returns false if there is
	// no such question, or its answer can no longer be changed.
	Question(id string) (lines []string, approved, ok bool)

	// Answer takes what the owner said, from an address. It returns an error if that
	// changes nothing: the question is gone, the owner has said yes before, or the answer
	// could not be written down.
	Answer(ctx context.Context, id string, yes bool, from string) error
}

// Server is the authorization server. Its methods may be called at once from
// many goroutines; it starts none itself.
type Server struct {
	options   Options      // as New was given them, without the passphrase and the keys
	base      string       // Options.BaseURL
	log       *slog.Logger // never nil
	owner     *passphrase  // nil: nobody is asked
	page      *pageKey     // nil with a passphrase, or without the owner's page
	keys      []Key        // the first one seals; what any of them sealed can be opened
	issuers   []string     // of each key, as issuer returns it
	ledger    Ledger       // never nil
	kept      bool         // keys and ledger outlive the process
	untrusted sync.Once    // logs the warning about X-Forwarded-For

	tokens    table[*token] // those that were given or presented here
	documents documents

	answered table[mark] // answered forms, by the digest of what they hold
	approved table[mark] // clients that the owner allowed, by ask.approval

	discoveries, registrations, authorizations, exchanges limiter
}

// New returns a server. It knows the clients of an earlier server only if it has that
// server's keys. New refuses a base URL that clients could not use. It also refuses to go
// without a passphrase where a stranger could reach the server: a code can be read from a
// redirect without any browser, so on a public address only the passphrase tells the
// owner from everybody else. The passphrase is wiped from the options.
func New(o Options) (*Server, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Server{base: o.BaseURL, log: o.Log, ledger: o.Ledger, keys: slices.Clone(o.Keys), kept: o.Ledger != nil}
	if !s.kept {
		// A key that ends with the process, and with it everything that it sealed.
		s.ledger, s.keys = NewLedger(NewBook(), func(Book) error { return nil }), []Key{randomKey()}
	}
	for i := range s.keys {
		s.issuers = append(s.issuers, s.issuer(&s.keys[i]))
	}
	s.tokens.max, s.answered.max, s.approved.max = maxTokens, maxAnswered, maxApproved
	s.discoveries.rate, s.registrations.rate = discoveryRate, registrationRate
	s.authorizations.rate, s.exchanges.rate = authorizationRate, exchangeRate
	if err := s.documents.init(o.Documents); err != nil {
		return nil, err
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.documents.log = s.log
	if len(o.Passphrase) > 0 {
		s.owner = newPassphrase(o.Passphrase, o.FewRounds)
		clear(o.Passphrase)
	} else if o.OwnPage != "" {
		s.page = &pageKey{key: newSecret(), browser: newSecret()}
	}
	s.options = o
	s.options.Passphrase, s.options.Keys = nil, nil
	s.options.TrustedProxies = slices.Clone(o.TrustedProxies) // the caller may change its own
	return s, nil
}

// check refuses options that would let strangers in, and a base URL that is no issuer as RFC
// 8414 wants it. A path is refused because clients look for the metadata of
// https://host/path where this server would never be asked.
func (o *Options) check() error {
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != o.BaseURL {
		return fmt.Errorf("base URL %q is not scheme and host alone: write it like https://charts.example.com", limit.Clip(o.BaseURL))
	}
	local := address.Loopback(u.Hostname())
	switch {
	case u.Scheme != "https" && !(u.Scheme == "http" && local):
		return fmt.Errorf("base URL %q must be https: over plain http anyone on the way reads passphrase and tokens", limit.Clip(o.BaseURL))
	case len(o.Passphrase) == 0 && !o.Loopback:
		return errors.New("without a passphrase anyone who reaches the service could get a token: set a passphrase, or listen on a loopback address")
	case len(o.Passphrase) == 0 && len(o.TrustedProxies) > 0:
		return errors.New("behind a proxy a stranger could read the code from the redirect: set a passphrase, or name no trusted proxy")
	case len(o.Passphrase) == 0 && !local:
		return fmt.Errorf("base URL %q is not a loopback name, so strangers may reach the service: set a passphrase", limit.Clip(o.BaseURL))
	case (len(o.Keys) == 0) != (o.Ledger == nil):
		return errors.New("keys and a ledger go together: without a ledger a code could be used twice, and a revoked token come back")
	}
	return nil
}

// issuer returns a name of this server with one of its keys: what it seals, no server with
// another key or base URL opens.
func (s *Server) issuer(key *Key) string {
	return hex.EncodeToString(key.derive("issuer "+s.base, nil)[:8])
}

// secure reports whether browsers reach the server over https.
func (s *Server) secure() bool { return strings.HasPrefix(s.base, "https://") }
