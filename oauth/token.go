package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"time"
)

// code is an authorization code: all that a request to exchange it must match. Its text
// is this struct, sealed. It does not say whether it was used or its login revoked: the
// ledger does, under the id of the login, which a code passes on to its token.
type code struct {
	Login     string // id of the login that it begins
	Epoch     string // of the ledger when it was given
	Client    string // digest of the client_id
	Redirect  string // digest of the address as it was asked for, not as it was registered
	Challenge string
	Scope     string
	Issued    time.Time
}

// codeLife is how long a code may be exchanged.
const codeLife = 5 * time.Minute

// expires returns when the code can no longer be exchanged.
func (c *code) expires() time.Time { return c.Issued.Add(codeLife) }

// tokenReply is the success of RFC 6749 section 5.1.
type tokenReply struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"` // seconds
	Scope       string `json:"scope"`
}

// token answers the token endpoint: it turns a code into a token. All checks come first;
// only then is the code marked as used, so that a stranger's wrong attempt cannot use it up.
func (s *Server) token(r *http.Request, p params) (any, *refusal) {
	switch p.get("grant_type") {
	case "authorization_code":
	case "":
		return nil, bad("invalid_request", "grant_type is missing: send authorization_code, in the body")
	default:
		return nil, bad("unsupported_grant_type", "only authorization_code is offered: there are no passwords, refresh tokens or client credentials here")
	}
	cl, ref := s.authenticateClient(r, p)
	if ref != nil {
		return nil, ref
	}
	c, ref := s.checkCode(cl, p)
	if ref != nil {
		return nil, ref
	}
	reply, ref := s.redeem(cl, c, s.ClientIP(r))
	if ref != nil {
		return nil, ref
	}
	if s.options.OnLogin != nil {
		s.options.OnLogin(cl.name, c.Scope, s.ClientIP(r))
	}
	return reply, nil
}

// checkCode finds the code that a client sends and checks all that came with it.
func (s *Server) checkCode(cl *client, p params) (*code, *refusal) {
	if ref := s.checkResources(p); ref != nil {
		return nil, ref
	}
	text, proof := p.get("code"), p.get("code_verifier")
	if text == "" || proof == "" {
		return nil, bad("invalid_request", "code and code_verifier are required, in the body")
	}
	if !verifier.MatchString(proof) {
		return nil, bad("invalid_request", "code_verifier must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~")
	}
	// One text for unknown codes, expired ones and those of another client: a stranger
	// learns nothing about a code.
	c := new(code)
	if len(text) > maxSealed || s.open(forCode, text, c) == nil || c.Client != cl.id.String() || !time.Now().Before(c.expires()) || s.ledger.Revoked(c.Login, c.Epoch) {
		return nil, bad("invalid_grant", "the code is unknown, expired or another client's: authorize again")
	}
	if uri := p.get("redirect_uri"); uri != "" && digestOf(uri).String() != c.Redirect {
		return nil, bad("invalid_grant", "redirect_uri is not the one of the authorization request")
	}
	verified := verifies(c.Challenge, proof)
	s.log.Info("pkce verified", "client", cl.identity.short(), "ok", verified)
	if !verified {
		return nil, bad("invalid_grant", "code_verifier does not fit the code_challenge")
	}
	return c, nil
}

// authenticateClient finds the client and checks its secret: one that registered
// with a secret must send it, and whoever sends one must have it right. The 401
// tells a client whose registration is gone to register again. HTTP Basic is not
// announced but taken: some libraries use nothing else once they hold a secret.
func (s *Server) authenticateClient(r *http.Request, p params) (*client, *refusal) {
	id, secret := p.get("client_id"), p.get("client_secret")
	unknown := &refusal{status: http.StatusUnauthorized, code: "invalid_client",
		text: "unknown client_id or wrong client_secret: register again"}
	// As in Authenticate: a proxy may have checked the other one.
	if len(r.Header.Values("Authorization")) > 1 {
		return nil, bad("invalid_request", "the Authorization header was sent more than once")
	}
	if scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Basic") {
		unknown.challenge = `Basic realm="wick"`
		if secret != "" {
			return nil, bad("invalid_request", "two ways of client authentication in one request: send the secret in the body or by HTTP Basic, not both")
		}
		// RFC 6749 section 2.3.1 wants both parts form-encoded first, which
		// changes nothing in the base64url that ours are made of.
		user, password, _ := r.BasicAuth()
		if id != "" && id != user {
			return nil, bad("invalid_request", "client_id in the body is not the one of HTTP Basic")
		}
		id, secret = user, password
	}
	cl, ref := s.client(id, s.visitor(r), unknown)
	switch {
	case ref != nil:
		return nil, ref
	case (secret != "" || !cl.public) && !cl.hasSecret(id, secret):
		return nil, unknown
	}
	return cl, nil
}

// redeem returns a token for a code that passed every check. A second attempt fails and
// revokes the token that the first one got: one of the two was a thief.
func (s *Server) redeem(cl *client, c *code, from netip.Addr) (reply tokenReply, ref *refusal) {
	first, err := s.ledger.TakeOnce("code-"+c.Login, c.expires())
	if err != nil {
		s.log.Error("code not taken", "client", cl.identity.short(), "error", err)
		return reply, unavailable()
	}
	if !first {
		s.log.Warn("code used twice: its token is revoked", "client", cl.identity.short())
		// The login, and not the token: another process may have given it.
		if err := s.ledger.Revoke(c.Login, c.expires().Add(TokenLife)); err != nil {
			s.log.Error("a login is revoked, but that could not be written down", "error", err)
		}
		s.Sweep()
		return reply, bad("invalid_grant", "the code was used before: authorize again")
	}
	st := statement{ClientID: cl.id.String(), Grant: Grant{Login: c.Login + "." + c.Epoch + "." + s.issuers[0],
		Client: cl.identity.String(), Name: cl.name, Scope: c.Scope, Expires: wallClock().Add(TokenLife)}}
	text := s.seal(forToken, st)
	t := newToken(st, digestOf(text), from)
	s.keep(t)
	// The token is in the table first and checked then, so that a revocation which came
	// after the code was taken either finds it there or is found here.
	if !s.Works(t.Login) {
		return reply, bad("invalid_grant", "the login was revoked meanwhile: authorize again")
	}
	s.log.Info("token issued", cl.who(), "scope", c.Scope)
	return tokenReply{text, "Bearer", int(TokenLife.Seconds()), c.Scope}, nil
}

// wallClock returns the time by the wall clock, which goes on while the machine sleeps.
func wallClock() time.Time { return time.Now().Round(0) }

// PKCE (RFC 7636) is done with S256 only: "plain" would hand the verifier to
// whoever reads the authorization request.
var (
	challenge = regexp.MustCompile(`^[A-Za-z0-9._~-]{43}$`) // a SHA-256 in base64url without padding
	verifier  = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)
)

// verifies reports whether verifier is the one that challenge was made from.
func verifies(challenge, verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	want := base64.RawURLEncoding.EncodeToString(sum[:])
	return subtle.ConstantTimeCompare([]byte(want), []byte(challenge)) == 1
}
