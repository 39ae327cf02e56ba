package oauth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"wick/address"
	"wick/limit"
)

const (
	maxRedirects   = 16   // Cursor registers three at once, VS Code four
	maxRedirectLen = 1024 // bytes
)

// dangerous schemes run code in the page that follows them, read local files,
// or belong to the browser itself. Any other scheme that is not http or https
// is an app's own (RFC 8252), such as cursor: or com.example.app:.
var dangerous = []string{
	"javascript", "data", "file", "vbscript", "blob", "about",
	"filesystem", "view-source", "jar", "intent", "chrome", "edge", "resource", "ws", "wss", "ftp", "mailto",
}

// parseRedirect checks a redirect URI that a client wants to register or use.
func parseRedirect(s string) (*url.URL, error) {
	if s == "" || len(s) > maxRedirectLen {
		return nil, fmt.Errorf("redirect URI of %d bytes: 1 to %d are allowed", len(s), maxRedirectLen)
	}
	// The URI ends up in a Location header. Characters that browsers read
	// otherwise than Go does (a backslash is a slash to them) have no place in it.
	if strings.ContainsAny(s, "\"<>\\^`{|}") || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, fmt.Errorf("redirect URI %q holds a character that must be percent-encoded", limit.Clip(s))
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme == "":
		return nil, fmt.Errorf("redirect URI %q is not an absolute URL", limit.Clip(s))
	case strings.Contains(s, "#"):
		return nil, fmt.Errorf("redirect URI %q has a fragment, where the code would get lost", limit.Clip(s))
	case u.User != nil:
		return nil, fmt.Errorf("redirect URI %q has a user name, which disguises the host", limit.Clip(s))
	case u.Opaque != "" || u.Host+u.Path == "":
		return nil, fmt.Errorf("redirect URI %q is not complete: write it like scheme://host/path", limit.Clip(s))
	case slices.Contains(dangerous, u.Scheme):
		return nil, fmt.Errorf("redirect URI %q: the scheme %s is not allowed", limit.Clip(s), u.Scheme)
	}
	return u, checkWeb(u)
}

// checkWeb checks what only web addresses must have.
func checkWeb(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	if u.Hostname() == "" {
		return errors.New("redirect URI without a host")
	}
	if u.Scheme == "http" && !address.Loopback(u.Hostname()) {
		return fmt.Errorf("redirect URI to %q must be https: plain http is for localhost, 127.0.0.1 and [::1]", limit.Clip(u.Host))
	}
	if p := u.Port(); p != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("redirect URI with port %q: 1 to 65535 are allowed", limit.Clip(p))
		}
	}
	return nil
}

// redirectMatches reports whether a client that registered one URI may be sent
// to the other: the same string, or, on a loopback address over http, the same
// but for the port, which a program on this machine gets only when it starts to
// listen (RFC 8252 section 7.3).
func redirectMatches(registered, asked string) bool {
	if registered == asked {
		return true
	}
	a, loopback := withoutPort(registered)
	if !loopback {
		return false
	}
	b, loopback := withoutPort(asked)
	return loopback && a == b
}

// withoutPort returns a loopback http URI less its port. The rest of the string
// stays as it was, so that comparing two results compares everything else.
func withoutPort(s string) (string, bool) {
	u, err := parseRedirect(s)
	if err != nil || u.Scheme != "http" {
		return s, false
	}
	scheme, authority, rest := s[:len("http://")], s[len("http://"):], ""
	if i := strings.IndexAny(authority, "/?"); i >= 0 {
		authority, rest = authority[:i], authority[i:]
	}
	return scheme + strings.TrimSuffix(authority, ":"+u.Port()) + rest, true
}

// destination is where a redirect URI leads, in words for the owner.
type destination struct {
	Where    string // the host, or the scheme of an app
	Loopback bool   // a program on the owner's own machine
	App      bool   // an app that claimed the scheme
}

func destinationOf(redirect string) destination {
	u, err := parseRedirect(redirect)
	switch {
	case err != nil: // registered URIs were parsed before
		return destination{Where: "an unknown address"}
	case u.Scheme == "https":
		return destination{Where: u.Host}
	case u.Scheme == "http":
		return destination{Where: u.Host, Loopback: true}
	}
	return destination{Where: u.Scheme + ":", App: true}
}

// isLoopbackHost reports whether a Host header names this machine: the name a
// browser on it used, and not one that an attacker's DNS pointed here.
func isLoopbackHost(host string) bool {
	u, err := url.Parse("http://" + host)
	return err == nil && address.Loopback(u.Hostname())
}
