package oauth

import (
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"wick/limit"
)

// tokenReply is the success of RFC 6749 section 5.1.
type tokenReply struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"` // seconds
	Scope       string `json:"scope"`
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	p, ref := readParams(w, r)
	if ref == nil {
		ref = p.twice()
	}
	if ref == nil {
		ref = checkBasic(r, p)
	}
	var reply tokenReply
	if ref == nil {
		reply, ref = s.exchange(p)
	}
	if ref != nil {
		s.log.Warn("token refused", "error", ref.code, "reason", ref.text, "from", s.ClientIP(r))
		writeRefusal(w, ref)
		return
	}
	writeJSON(w, http.StatusOK, reply)
}

// checkBasic answers a client that authenticates by HTTP Basic, which is not
// offered. Some try it first and the body next (golang.org/x/oauth2 does), so
// nothing may have happened to their code when this 401 goes out.
func checkBasic(r *http.Request, p params) *refusal {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case !strings.EqualFold(scheme, "Basic"):
		return nil
	case p.get("client_secret") != "":
		return bad("invalid_request", "two ways of client authentication in one request: send client_secret in the body only")
	}
	return &refusal{status: http.StatusUnauthorized, code: "invalid_client", challenge: `Basic realm="wick"`,
		text: "HTTP Basic is not offered: send client_id, and client_secret if you have one, in the body"}
}

// exchange turns a code into a token. All checks come first; only then is the
// code taken, so that a stranger's wrong attempt cannot burn it. A second right
// one fails and takes back what the first one got: one of the two was a thief.
func (s *Server) exchange(p params) (tokenReply, *refusal) {
	if ref := checkGrantType(p.get("grant_type")); ref != nil {
		return tokenReply{}, ref
	}
	cl, ref := s.authenticateClient(p)
	if ref != nil {
		return tokenReply{}, ref
	}
	if ref := s.checkResources(p.resources()); ref != nil {
		return tokenReply{}, ref
	}
	secret, verifier := p.get("code"), p.get("code_verifier")
	if secret == "" || verifier == "" {
		return tokenReply{}, bad("invalid_request", "code and code_verifier are required, in the body")
	}
	if !validVerifier(verifier) {
		return tokenReply{}, bad("invalid_request", "code_verifier must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~")
	}
	c, ok := s.codes.get(digestOf(secret))
	if !ok || c.client != cl.id {
		return tokenReply{}, bad("invalid_grant", "the code is unknown, expired or another client's: authorize again")
	}
	if uri := p.get("redirect_uri"); uri != "" && uri != c.redirect {
		return tokenReply{}, bad("invalid_grant", "redirect_uri is not the one of the authorization request")
	}
	verified := verifies(c.challenge, verifier)
	s.log.Info("pkce verified", "client", cl.identity.short(), "ok", verified)
	if !verified {
		return tokenReply{}, bad("invalid_grant", "code_verifier does not fit the code_challenge")
	}
	return s.redeem(cl, c)
}

func checkGrantType(kind string) *refusal {
	switch kind {
	case "authorization_code":
		return nil
	case "":
		return bad("invalid_request", "grant_type is missing: send authorization_code, in the body")
	}
	return bad("unsupported_grant_type", "only authorization_code is offered: there are no passwords, refresh tokens or client credentials here")
}

// authenticateClient finds the client and checks its secret: one that registered
// with a secret must send it, and whoever sends one must have it right. The 401
// tells a client whose registration is gone to register again.
func (s *Server) authenticateClient(p params) (*client, *refusal) {
	unknown := &refusal{status: http.StatusUnauthorized, code: "invalid_client",
		text: "unknown client_id or wrong client_secret: register again"}
	cl, ok := s.clients.get(digestOf(p.get("client_id")))
	if !ok {
		return nil, unknown
	}
	secret := p.get("client_secret")
	if secret == "" && cl.public {
		return cl, nil
	}
	given := digestOf(secret)
	if subtle.ConstantTimeCompare(given[:], cl.secret[:]) == 0 {
		return nil, unknown
	}
	return cl, nil
}

// redeem gives the token of a code that passed every check. The code's lock is
// held until its token is stored, or a replay could revoke it too early, before
// it is there, and it would live on.
func (s *Server) redeem(cl *client, c *code) (tokenReply, *refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spent {
		s.tokens.remove(c.gave)
		s.log.Warn("code used twice: its token is revoked", "client", cl.identity.short())
		return tokenReply{}, bad("invalid_grant", "the code was used before: authorize again")
	}
	now := time.Now()
	secret := newSecret()
	c.spent, c.gave = true, digestOf(secret)
	t := &token{grant: Grant{
		ID:      hex.EncodeToString(c.gave[:]),
		Client:  hex.EncodeToString(cl.identity[:]),
		Name:    cl.name,
		Scope:   c.scope,
		Expires: now.Add(tokenLife),
	}}
	t.used.Store(now.UnixNano())
	s.tokens.add(c.gave, t)
	cl.tokenAt.Store(now.UnixNano())
	s.log.Info("token issued", "client", cl.identity.short(), "name", limit.Clip(cl.name), "scope", c.scope)
	return tokenReply{secret, "Bearer", int(tokenLife.Seconds()), c.scope}, nil
}
