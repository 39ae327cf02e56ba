package oauth

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"wick/internal/limit"
	"wick/internal/strictjson"
)

// maxClientID bounds a client_id, which holds the whole registration, in
// characters: it travels in the address of every authorization request.
const maxClientID = 2 << 10

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
	reg, ref := readRegistration(w, r)
	if ref == nil {
		ref = checkRedirects(reg.RedirectURIs)
	}
	var reply registered
	if ref == nil {
		reply, ref = s.enroll(reg)
	}
	if ref != nil {
		s.log.Warn("registration refused", "error", ref.code, "reason", ref.reason(), "from", s.ClientIP(r))
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
	// Forms and plain text are refused because a page of any site can post them without
	// asking first (CORS).
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/json" && r.Header.Get("Content-Type") != "" {
		return reg, bad("invalid_client_metadata", "Content-Type must be application/json")
	}
	body, ref := readBody(w, r)
	if ref != nil {
		return reg, ref
	}
	if !utf8.Valid(body) {
		return reg, bad("invalid_client_metadata", "the body is not valid UTF-8")
	}
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return reg, bad("invalid_client_metadata", "the body is not a JSON object")
	}
	err := strictjson.Members(body, reg.members())
	if e, ok := errors.AsType[*strictjson.Error](err); ok && e.Kind == strictjson.Twice {
		return reg, bad("invalid_client_metadata", e.Error())
	}
	if err != nil {
		return reg, bad("invalid_client_metadata", "the body is not client metadata as RFC 7591 has it")
	}
	return reg, nil
}

// enroll returns a client's credentials. Nothing is kept: the id is the registration
// itself, sealed, and the secret is derived from the id. So a flood of registrations costs
// no memory and pushes nobody out. All registrations end with the key; without a key file
// that is when the process ends. A client that asked for a secret, by whatever method, is
// told to post it; every other one is public.
func (s *Server) enroll(reg registration) (registered, *refusal) {
	name, method := cleanName(reg.Name), authNone
	if strings.HasPrefix(reg.AuthMethod, "client_secret_") {
		method = authPost
	}
	if passesForOwn(name) {
		return registered{}, bad("invalid_client_metadata", "client_name is the name of this server's own page: choose another")
	}
	id := s.seal(forClient, append([]string{method, name}, reg.RedirectURIs...)...)
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

// errUnknownClient is the error of a client_id that was sealed with none of this
// server's keys.
var errUnknownClient = errors.New("unknown client_id")

// client reads the registration out of a client_id, or returns errUnknownClient. If the
// id is the address of a document, it returns the client that the document describes, or
// a [documentError]; from is the visitor whose rate a fetch counts against.
func (s *Server) client(id string, from visitor) (*client, error) {
	if id == OwnClient {
		return s.ownClient()
	}
	if strings.Contains(id, "://") { // no sealed id has a colon
		return s.documents.get(id, from)
	}
	if len(id) > maxClientID {
		return nil, errUnknownClient
	}
	texts, key := s.open(forClient, id)
	if len(texts) < 3 {
		return nil, errUnknownClient
	}
	c := &client{id: digestOf(id), public: texts[0] == authNone, name: texts[1], redirect: texts[2:], key: key}
	c.identity = identity(c.name, c.redirect)
	return c, nil
}

// refuseClient returns the refusal for an error of [Server.client]: one that says what is
// wrong with the client's document, if the error is about that, else unknown.
func refuseClient(err error, unknown *refusal) *refusal {
	if document, ok := errors.AsType[*documentError](err); ok {
		return document.refusal(*unknown)
	}
	return unknown
}

// OwnClient is the client_id of the owner's own page. It is not a registration: the
// server knows it, and sends its codes to the page and nowhere else.
const OwnClient = "wick-app"

// ownClient returns the owner's own page as a client, or errUnknownClient if there is
// none. A client that registers the same name and address does not get its identity.
func (s *Server) ownClient() (*client, error) {
	if s.options.OwnPage == "" {
		return nil, errUnknownClient
	}
	return &client{
		id: digestOf(OwnClient), identity: digestOf("the owner's own page"), name: ownName,
		redirect: []string{s.base + s.options.OwnPage}, public: true, own: true,
	}, nil
}
