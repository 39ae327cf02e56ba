package oauth

import (
	"cmp"
	"log/slog"
	"net/http"

	"wick/internal/limit"
)

// This file decides what the log says of strangers. Their texts are attributes, never messages,
// so that the log quotes them. Of a client it says a digest and the name, clipped; of a redirect
// URI, which may hold a code, the host, clipped; of a refusal our own words. Ids of clients,
// codes, tokens, forms, secrets, passphrases, states and bodies are never attributes.

// who returns the attributes of a client.
func (c *client) who() slog.Attr {
	return slog.Group("", "client", c.identity.short(), "name", limit.Clip(c.name))
}

// leadsTo returns the attribute of where a redirect URI leads.
func leadsTo(redirect string) slog.Attr {
	return slog.String("to", limit.Clip(destinationOf(redirect).String()))
}

// logRefusal writes the line about a request that is refused, with the path or the client that it
// is about, if there is one.
func (s *Server) logRefusal(r *http.Request, what string, ref *refusal, about ...slog.Attr) {
	attrs := append(about, slog.String("error", ref.code), slog.String("reason", ref.reason()), slog.Any("from", s.ClientIP(r)))
	s.log.LogAttrs(r.Context(), slog.LevelWarn, what, attrs...)
}

// reason returns what the log says of a refusal: logged if it is set, else text.
func (e *refusal) reason() string { return cmp.Or(e.logged, e.text) }
