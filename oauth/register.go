package oauth

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"wick/limit"
)

// maxClientID bounds a client_id, which holds the whole registration, in
// characters: it travels in the address of every authorization request.
const maxClientID = 2 << 10

// client is a registration, read from its client_id.
type client struct {
	id       digest // of the client_id
	identity digest // of name and redirect URIs: the same after a restart
	name     string // a stranger's words, cleaned for display
	redirect []string
	public   bool // registered with "none": its secret is not asked for
	own      bool // the owner's own page

	key *sealKey // that sealed the client_id, and from which its secret follows; nil for one that was not registered
}

// The ways in which a client may authenticate at /token, as RFC 7591 names them.
const (
	authNone = "none"
	authPost = "client_secret_post"
)

// registration is what we read of an RFC 7591 request. Everything else a client
// may say of itself is ignored, wrong types included; above all its addresses
// (logo_uri, jwks_uri …) are never fetched.
type registration struct {
	Name         string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
	AuthMethod   string   `json:"token_endpoint_auth_method"`
}

// registered is the reply: what was registered, and the credentials. No member
// is ever null or missing: several clients fail then.
type registered struct {
	ClientID        string   `json:"client_id"`
	ClientSecret    string   `json:"client_secret"`
	IssuedAt        int64    `json:"client_id_issued_at"`
	SecretExpiresAt int64    `json:"client_secret_expires_at"` // 0: never
	Name            string   `json:"client_name"`
	RedirectURIs    []string `json:"redirect_uris"`
	GrantTypes      []string `json:"grant_types"`
	ResponseTypes   []string `json:"response_types"`
	AuthMethod      string   `json:"token_endpoint_auth_method"`
	LogoURI         string   `json:"logo_uri"`
}

// register answers a client that registers itself (RFC 7591).
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	reg, ref := readRegistration(w, r)
	if ref == nil {
		ref = checkRedirects(reg.RedirectURIs)
	}
	var reply registered
	if ref == nil {
		reply, ref = s.enroll(reg)
	}
	if ref != nil {
		s.log.Warn("registration refused", "error", ref.code, "reason", ref.text, "from", s.ClientIP(r))
		writeRefusal(w, ref)
		return
	}
	s.log.Info("client registered", "client", identity(reply.Name, reply.RedirectURIs).short(), "name", limit.Clip(reply.Name),
		"redirects", len(reply.RedirectURIs), "auth", reply.AuthMethod, "from", s.ClientIP(r))
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusCreated, reply)
}

// readRegistration reads the body of a registration, a JSON object. A missing
// Content-Type is taken for JSON.
func readRegistration(w http.ResponseWriter, r *http.Request) (reg registration, ref *refusal) {
	// Forms and text are what a page of any site can post without asking first.
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/json" && r.Header.Get("Content-Type") != "" {
		return reg, bad("invalid_client_metadata", "Content-Type must be application/json")
	}
	body, ref := readBody(w, r)
	if ref != nil {
		return reg, ref
	}
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return reg, bad("invalid_client_metadata", "the body is not a JSON object")
	}
	if err := json.Unmarshal(body, &reg); err != nil {
		return reg, bad("invalid_client_metadata", "the body is not client metadata as RFC 7591 has it")
	}
	return reg, nil
}

// checkRedirects refuses the whole registration for one bad URI: left out
// silently, it would fail later where nobody can tell why.
func checkRedirects(uris []string) *refusal {
	if len(uris) < 1 || len(uris) > maxRedirects {
		return bad("invalid_redirect_uri", fmt.Sprintf("%d redirect_uris: 1 to %d are allowed", len(uris), maxRedirects))
	}
	for _, uri := range uris {
		if _, err := parseRedirect(uri); err != nil {
			return bad("invalid_redirect_uri", err.Error())
		}
	}
	return nil
}

// enroll returns a client's credentials. Nothing is kept: the id is the registration
// itself, sealed, and the secret follows from the id. So a flood of registrations costs
// no memory and pushes nobody out; all of them end with the key, which without a key
// file is with the process. A client that asked for no way to authenticate is public;
// one that asked for a secret in any form is told to post it.
func (s *Server) enroll(reg registration) (registered, *refusal) {
	name, method := cleanName(reg.Name), authNone
	if strings.HasPrefix(reg.AuthMethod, "client_secret_") {
		method = authPost
	}
	if passesForOwn(name) {
		return registered{}, bad("invalid_client_metadata", "client_name is the name of this server's own page: choose another")
	}
	id := s.seal(forClient, pack(append([]string{method, name}, reg.RedirectURIs...)...))
	if len(id) > maxClientID {
		return registered{}, bad("invalid_client_metadata",
			fmt.Sprintf("name and redirect_uris are too long: together they make a client_id of %d characters, and %d are allowed", len(id), maxClientID))
	}
	return registered{
		ClientID:      id,
		ClientSecret:  s.keys[0].clientSecret(id),
		IssuedAt:      time.Now().Unix(),
		Name:          name,
		RedirectURIs:  reg.RedirectURIs,
		GrantTypes:    []string{"authorization_code"},
		ResponseTypes: []string{"code"},
		AuthMethod:    method,
		LogoURI:       s.base + "/favicon.svg",
	}, nil
}

// clientSecret returns the secret of a client_id that this key sealed. It needs no
// storing, because only who has the key can compute it.
func (k *sealKey) clientSecret(id string) string {
	return base64.RawURLEncoding.EncodeToString(k.derive(forSecret, []byte(id)))
}

// hasSecret reports whether secret is the client's, whose client_id is id. One that
// was not registered has none.
func (c *client) hasSecret(id, secret string) bool {
	return c.key != nil && subtle.ConstantTimeCompare([]byte(secret), []byte(c.key.clientSecret(id))) == 1
}

// client reads the registration out of a client_id, or returns false if it was
// sealed with none of this server's keys. An id that is the address of a
// document is looked up there, if its host is one that may be asked, as often as the
// visitor may.
func (s *Server) client(id string, from visitor) (*client, bool) {
	if id == OwnClient {
		return s.ownClient()
	}
	if len(id) > maxClientID {
		return nil, false
	}
	if strings.HasPrefix(id, "https://") { // no sealed id has a colon
		return s.documents.get(id, from)
	}
	plain, key, ok := s.open(forClient, id)
	if !ok {
		return nil, false
	}
	texts, ok := unpack(plain)
	if !ok || len(texts) < 3 {
		return nil, false
	}
	c := &client{id: digestOf(id), public: texts[0] == authNone, name: texts[1], redirect: texts[2:], key: key}
	c.identity = identity(c.name, c.redirect)
	return c, true
}

// cleanName makes a client's name fit to be shown: at most 64 characters, one
// line, and none of the invisible ones that turn the direction of writing and
// could make the page read otherwise than it is.
func cleanName(name string) string {
	name = strings.Join(strings.FieldsFunc(name, blank), " ")
	if name == "" {
		return "unnamed client"
	}
	if runes := []rune(name); len(runes) > 64 {
		return string(runes[:63]) + "…"
	}
	return name
}

// blank reports whether a character shows nothing or draws over its neighbours:
// spaces, controls, bidirectional and other format characters, enclosing marks,
// and the letters that look like spaces.
func blank(c rune) bool {
	return unicode.IsSpace(c) || !unicode.IsGraphic(c) || unicode.Is(unicode.Me, c) ||
		slices.Contains([]rune{'\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0', '\ufffc', '\ufffd'}, c)
}

// identity digests what makes a client the same one after a restart. The port
// of a loopback address changes from run to run and is left out; the length
// before each part keeps two different lists from running into one. The digest
// is on disk, with the client's subscription: it must not change.
func identity(name string, redirects []string) digest {
	parts := make([]string, 0, len(redirects))
	for _, uri := range redirects {
		uri, _ = withoutPort(uri)
		parts = append(parts, uri)
	}
	slices.Sort(parts)
	h := sha256.New()
	for _, part := range append([]string{name}, parts...) {
		binary.Write(h, binary.BigEndian, uint32(len(part)))
		h.Write([]byte(part))
	}
	return digest(h.Sum(nil))
}
