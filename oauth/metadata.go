package oauth

import (
	"net/http"
	"slices"
	"strings"
)

// resourcePaths are the addresses below the base URL that a client may be
// given. Each has its own document, because clients compare its resource with
// the address they were given and stop when it differs. The empty path is the
// base URL itself.
var resourcePaths = []string{"", "/mcp", "/message", "/sse"}

const (
	serverDocument   = "/.well-known/oauth-authorization-server"
	resourceDocument = "/.well-known/oauth-protected-resource"
)

// serverMetadata is the document of RFC 8414.
type serverMetadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	RegistrationEndpoint  string   `json:"registration_endpoint"`
	ResponseTypes         []string `json:"response_types_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	LogoURI               string   `json:"logo_uri"`
	RevocationEndpoint    string   `json:"revocation_endpoint"` // RFC 7009
	RevocationAuth        []string `json:"revocation_endpoint_auth_methods_supported"`
	Scopes                []string `json:"scopes_supported"`
	Iss                   bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207
	Documents             bool     `json:"client_id_metadata_document_supported,omitempty"`
}

// resourceMetadata is the document of RFC 9728.
type resourceMetadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	Scopes               []string `json:"scopes_supported"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name"`
}

// discoveryRoutes serves the documents by which a client that knows only the endpoint
// finds out where to log in: the authorization server's (RFC 8414) and one for each
// address of the endpoint (RFC 9728).
func (s *Server) discoveryRoutes(mux *http.ServeMux) {
	server := serverMetadata{
		Issuer:                s.base,
		AuthorizationEndpoint: s.base + AuthorizePath,
		TokenEndpoint:         s.base + "/token",
		RegistrationEndpoint:  s.base + "/register",
		ResponseTypes:         []string{"code"},
		GrantTypes:            []string{"authorization_code"},
		ChallengeMethods:      []string{"S256"},
		AuthMethods:           []string{authNone, authPost},
		LogoURI:               s.base + "/favicon.svg",
		RevocationEndpoint:    s.base + "/revoke",
		RevocationAuth:        []string{authNone, authPost},
		Scopes:                s.scopes(),
		Iss:                   true,
		Documents:             len(s.documents.hosts) > 0,
	}
	s.document(mux, serverDocument, server)
	s.document(mux, serverDocument+"/mcp", server) // asked for by clients that append the path they were given
	for _, path := range resourcePaths {
		s.document(mux, resourceDocument+path, resourceMetadata{
			Resource:             s.base + path,
			AuthorizationServers: []string{s.base},
			Scopes:               s.scopes(),
			BearerMethods:        []string{"header"},
			Name:                 "wick",
		})
	}
	// Clients probe for documents of other protocols. They must hear that there
	// is none: a 401 would send them into a login to learn it.
	mux.HandleFunc("/.well-known/", func(w http.ResponseWriter, r *http.Request) {
		boundBody(w, r)
		writeRefusal(w, &refusal{status: http.StatusNotFound, code: "not_found",
			text: "no such document here: see " + s.base + serverDocument})
	})
}

// document serves v as JSON at path, within the rate for discovery.
func (s *Server) document(mux *http.ServeMux, path string, v any) {
	h := s.limited(&s.discoveries, func(w http.ResponseWriter, r *http.Request) {
		s.log.Info("metadata served", "path", path, "from", s.ClientIP(r))
		w.Header().Set("Cache-Control", "no-cache") // a changed base URL shows at once
		writeJSON(w, http.StatusOK, v)
	})
	mux.Handle(path, methods{http.MethodGet: h, http.MethodHead: h})
}

// scopes returns the scopes that this server can grant.
func (s *Server) scopes() []string {
	if s.options.Trade {
		return []string{ScopeCharts, ScopeTrade}
	}
	return []string{ScopeCharts}
}

// checkResources refuses resource parameters (RFC 8707) that are not ours. There
// may be several, the one exception to "no parameter twice"; none is fine, and so
// are empty ones. All of ours are one service, so a token for one of them is good for
// all.
func (s *Server) checkResources(p params) *refusal {
	for _, resource := range p["resource"] {
		path, ours := strings.CutPrefix(strings.TrimSuffix(resource, "/"), s.base)
		if resource != "" && (!ours || !slices.Contains(resourcePaths, path)) {
			return bad("invalid_target", "resource must be "+s.base+" or "+s.base+"/mcp, the address of this server")
		}
	}
	return nil
}
