package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// client is a registration, read from its client_id.
type client struct {
	id       digest // of the client_id
	identity digest // of name and redirect URIs: the same after a restart
	name     string // a stranger's words, cleaned for display
	redirect []string
	public   bool // registered with "none": its secret is not asked for
	own      bool // the owner's own page

	key *sealKey // the key that sealed the client_id, and from which its secret is derived; nil for a client that did not register
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
	Name         string
	RedirectURIs []string
	AuthMethod   string
}

// members returns the fields under their names in the request, for strictjson.Members.
func (r *registration) members() map[string]any {
	return map[string]any{"client_name": &r.Name, "redirect_uris": &r.RedirectURIs, "token_endpoint_auth_method": &r.AuthMethod}
}

// checkRedirects refuses the whole registration for one bad URI: left out
// silently, it would fail later where nobody can tell why.
func checkRedirects(uris []string) *refusal {
	if len(uris) < 1 || len(uris) > maxRedirects {
		return bad("invalid_redirect_uri", fmt.Sprintf("%d redirect_uris: 1 to %d are allowed", len(uris), maxRedirects))
	}
	for _, uri := range uris {
		if _, err := parseRedirect(uri); err != nil {
			ref := bad("invalid_redirect_uri", err.Error())
			if quoted, ok := errors.AsType[*redirectError](err); ok {
				ref.logged = quoted.reason
			}
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
func (k *sealKey) clientSecret(id string) string {
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

// ownName is what the owner's own page is called in the list of logins.
const ownName = "The owner's page"

// passesForOwn reports whether a client calls itself by the name of the owner's own page. A
// name can look like it in many ways; what proves the page is its scope, which is shown beside
// the name.
func passesForOwn(name string) bool { return strings.EqualFold(cleanName(name), ownName) }
