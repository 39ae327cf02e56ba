package oauth

import (
	"bytes"
	"crypto/sha256"
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

// registration is what we read of an RFC 7591 request. Everything else a client
// may say of itself is ignored, wrong types included; above all its addresses
// (logo_uri, jwks_uri …) are never fetched.
type registration struct {
	Name         string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
	AuthMethod   string   `json:"token_endpoint_auth_method"`
}

// registered is the reply: what was stored, and the credentials. No member is
// ever null or missing, which several clients do not survive.
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

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	reg, ref := readRegistration(w, r)
	if ref == nil {
		ref = checkRedirects(reg.RedirectURIs)
	}
	if ref != nil {
		s.log.Warn("registration refused", "error", ref.code, "reason", ref.text, "from", s.ClientIP(r))
		writeRefusal(w, ref)
		return
	}
	c, reply := s.enroll(reg)
	s.log.Info("client registered", "client", c.identity.short(), "name", limit.Clip(c.name),
		"redirects", len(c.redirect), "auth", reply.AuthMethod, "from", s.ClientIP(r))
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusCreated, reply)
}

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

// enroll stores a client under an id of our choosing and returns it with its
// credentials. A client that asked for no way to authenticate is public; one
// that asked for a secret in a form we do not take is told to post it.
func (s *Server) enroll(reg registration) (*client, registered) {
	id, secret := newSecret(), newSecret()
	c := &client{
		id:       digestOf(id),
		secret:   digestOf(secret),
		name:     cleanName(reg.Name),
		redirect: reg.RedirectURIs,
		public:   !strings.HasPrefix(reg.AuthMethod, "client_secret_"),
		created:  time.Now(),
	}
	c.identity = identity(c.name, c.redirect)
	s.clients.add(c.id, c)
	method := "client_secret_post"
	if c.public {
		method = "none"
	}
	return c, registered{
		ClientID:      id,
		ClientSecret:  secret,
		IssuedAt:      c.created.Unix(),
		Name:          c.name,
		RedirectURIs:  c.redirect,
		GrantTypes:    []string{"authorization_code"},
		ResponseTypes: []string{"code"},
		AuthMethod:    method,
		LogoURI:       s.base + "/favicon.svg",
	}
}

// cleanName makes a client's name fit to be shown: at most 64 characters, one
// line, and none of the invisible ones that turn the direction of writing and
// could make the page read otherwise than it is.
func cleanName(name string) string {
	name = strings.Join(strings.FieldsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsGraphic(c) }), " ")
	if name == "" {
		return "unnamed client"
	}
	if runes := []rune(name); len(runes) > 64 {
		return string(runes[:63]) + "…"
	}
	return name
}

// identity digests what makes a client the same one after a restart. The port
// of a loopback address changes from run to run and is left out; the length
// before each part keeps two different lists from running into one.
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
