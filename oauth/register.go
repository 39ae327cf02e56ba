package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"wick/internal/strictjson"
)

// registered is the reply: what was registered, and the credentials. No member
// is ever null or missing: several clients fail if one is.
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
	var reg registration
	var reply registered
	// Forms and plain text are refused because a page of any site can post them without
	// asking first (CORS). A missing Content-Type is taken for JSON.
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body, ref := readBody(w, r)
	if kind != "application/json" && r.Header.Get("Content-Type") != "" {
		ref = bad("invalid_client_metadata", "Content-Type must be application/json")
	}
	if ref == nil {
		ref = reg.read(body, "the body")
	}
	if ref == nil {
		reply, ref = s.enroll(reg)
	}
	if ref != nil {
		s.logRefusal(r, "registration refused", ref)
		writeRefusal(w, ref)
		return
	}
	made := client{identity: identity(reply.Name, reply.RedirectURIs), name: reply.Name}
	s.log.Info("client registered", made.who(), "redirects", len(reply.RedirectURIs), "auth", reply.AuthMethod, "from", s.ClientIP(r))
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusCreated, reply)
}

// enroll returns a client's credentials. Nothing is kept: the id is the registration
// itself, sealed, and the secret is derived from the id. So a flood of registrations costs
// no memory and pushes nobody out. All registrations end with the key; without a key file
// that is when the process ends. A client that asked for a secret, by whatever method, is
// asked to post it; every other one is public.
func (s *Server) enroll(reg registration) (registered, *refusal) {
	name, method := cleanName(reg.Name), authNone
	if strings.HasPrefix(reg.AuthMethod, "client_secret_") {
		method = authPost
	}
	if passesForOwn(name) {
		return registered{}, bad("invalid_client_metadata", "client_name is the name of this server's own page: choose another")
	}
	id := s.seal(forClient, sealedClient{method, name, reg.RedirectURIs})
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

// sealedClient is what a client_id holds.
type sealedClient struct {
	Method    string   `json:"m"` // of authentication; the names are short, since the id stands in addresses
	Name      string   `json:"n"`
	Redirects []string `json:"r"`
}

// client reads the registration out of a client_id. It returns unknown if the id was sealed with
// none of this server's keys. If the id is the address of a document, it returns the client that
// the document describes; from is the visitor whose rate a fetch counts against.
func (s *Server) client(id string, from visitor, unknown *refusal) (*client, *refusal) {
	switch {
	case id == OwnClient && s.options.OwnPage != "":
		// A client that registers the same name and address does not get its identity.
		return &client{id: digestOf(OwnClient), identity: digestOf("the owner's own page"), name: ownName,
			redirect: []string{s.base + s.options.OwnPage}, public: true, own: true}, nil
	case strings.Contains(id, "://"): // no sealed id has a colon
		return s.documents.get(id, from, unknown)
	case len(id) > maxClientID:
		return nil, unknown
	}
	var reg sealedClient
	key := s.open(forClient, id, &reg)
	if key == nil {
		return nil, unknown
	}
	return &client{id: digestOf(id), identity: identity(reg.Name, reg.Redirects), name: reg.Name, redirect: reg.Redirects,
		public: reg.Method == authNone, key: key}, nil
}

// OwnClient is the client_id of the owner's own page. It is not a registration: the
// server knows it, and sends its codes to the page and nowhere else.
const OwnClient = "wick-app"

// client is a registration, read from its client_id.
type client struct {
	id       digest // of the client_id
	identity digest // of name and redirect URIs: the same after a restart
	name     string // a stranger's words, cleaned for display
	redirect []string
	public   bool // registered with "none": its secret is not asked for
	own      bool // the owner's own page

	key *Key // the key that sealed the client_id, and from which its secret is derived; nil for a client that did not register
}

// The ways in which a client may authenticate at /token, as RFC 7591 names them.
const (
	authNone = "none"
	authPost = "client_secret_post"
)

// registration is what we read of an RFC 7591 request. Everything else a client
// may say of itself is ignored, even if it is of a wrong type; above all its addresses
// (logo_uri, jwks_uri …) are never fetched.
type registration struct {
	ClientID     strictjson.Lenient[string] `json:"client_id"` // of a document; a registration has none
	Name         string                     `json:"client_name"`
	RedirectURIs []string                   `json:"redirect_uris"`
	AuthMethod   string                     `json:"token_endpoint_auth_method"`
}

// read reads a registration from the object text. A refusal calls the object by the name in
// what. One bad redirect URI makes it refuse the whole: if that were left out silently, the login
// would fail later, without a reason.
func (r *registration) read(text []byte, what string) *refusal {
	wrong := strictjson.Unmarshal(text, r, "")
	switch n := len(r.RedirectURIs); {
	case wrong != nil && (wrong.Kind == strictjson.Twice || wrong.Kind == strictjson.Case):
		return bad("invalid_client_metadata", wrong.Error())
	case wrong != nil:
		return bad("invalid_client_metadata", what+" is not client metadata as RFC 7591 has it")
	case n < 1 || n > maxRedirects:
		return bad("invalid_redirect_uri", fmt.Sprintf("%d redirect_uris: 1 to %d are allowed", n, maxRedirects))
	}
	for _, uri := range r.RedirectURIs {
		if _, ref := parseRedirect(uri); ref != nil {
			return ref
		}
	}
	return nil
}

// mayUse reports whether the client may be sent to an address. For the owner's page
// the port must match too: another program may listen on another port of this machine.
func (c *client) mayUse(redirect string) bool {
	if c.own {
		return slices.Contains(c.redirect, redirect)
	}
	return slices.ContainsFunc(c.redirect, func(registered string) bool { return redirectMatches(registered, redirect) })
}

// clientSecret returns the secret of a client_id that this key sealed. It is not stored:
// whoever has the key can compute it, and nobody else.
func (k *Key) clientSecret(id string) string {
	return base64.RawURLEncoding.EncodeToString(k.derive(forSecret, []byte(id)))
}

// hasSecret reports whether secret is that of the client, whose client_id is id. A client
// that did not register has no secret.
func (c *client) hasSecret(id, secret string) bool {
	return c.key != nil && subtle.ConstantTimeCompare([]byte(secret), []byte(c.key.clientSecret(id))) == 1
}

// identity digests what makes a client the same one after a restart. The port
// of a loopback address changes from run to run and is left out; the length
// before each part keeps two different lists from running into one. The digest is
// stored on disk with the client's subscription, so this function must not change.
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

// cleanName makes a client's name fit to be shown: at most maxName characters, one
// line, and none of the invisible ones that turn the direction of writing and
// could make the page read otherwise than it is.
func cleanName(name string) string {
	name = strings.Join(strings.FieldsFunc(name, blank), " ")
	if name == "" {
		return "unnamed client"
	}
	if runes := []rune(name); len(runes) > maxName {
		return string(runes[:maxName-1]) + "…"
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

// ownName is what the owner's own page is called in the list of logins.
const ownName = "The owner's page"

// passesForOwn reports whether a client calls itself by the name of the owner's own page. A
// name can look like it in many ways; what proves the page is its scope, which is shown beside
// the name.
func passesForOwn(name string) bool { return strings.EqualFold(cleanName(name), ownName) }
