package oauth

import (
	_ "embed"
	"net/http"
)

// Routes adds the server's addresses to mux. Each takes every method, so that a
// wrong one is answered in JSON with Allow. The caller adds CORS to every path but
// [AuthorizePath] and [ApprovePath].
func (s *Server) Routes(mux *http.ServeMux) {
	s.discoveryRoutes(mux)
	mux.Handle("/register", methods{http.MethodPost: s.limited(&s.registrations, s.register)})
	mux.Handle(AuthorizePath, methods{
		http.MethodGet:  s.limited(&s.authorizations, s.authorize),
		http.MethodPost: s.limited(&s.authorizations, s.decide),
	})
	if s.options.Questions != nil {
		mux.Handle(ApprovePath, methods{
			http.MethodGet:  s.limited(&s.authorizations, s.approvePage),
			http.MethodPost: s.limited(&s.authorizations, s.approve),
		})
	}
	mux.Handle("/token", methods{http.MethodPost: s.limited(&s.exchanges, s.posted(s.token))})
	mux.Handle("/revoke", methods{http.MethodPost: s.limited(&s.exchanges, s.posted(s.revoke))})
	mux.Handle("/favicon.svg", methods{http.MethodGet: favicon, http.MethodHead: favicon})
}

//go:embed favicon.svg
var faviconSVG []byte

// favicon serves the logo that clients and browsers show.
func favicon(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=86400")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	w.Write(faviconSVG)
}
