package oauth

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wick/internal/address"
	"wick/internal/limit"
)

// appSchemes are the schemes of apps that people connect to wick and that have
// no dot in them. Any other scheme of an app must have one, like the reversed
// domain name that RFC 8252 asks for: names without a dot belong to the system
// (search-ms:, jnlp:, smb: and many more start programs or send passwords).
var appSchemes = []string{"cursor", "vscode", "vscode-insiders", "windsurf", "zed", "claude"}

// parseRedirect checks a redirect URI that a client wants to register or use.
func parseRedirect(s string) (*url.URL, *refusal) {
	if s == "" || len(s) > maxRedirectLen {
		return nil, bad("invalid_redirect_uri", fmt.Sprintf("redirect URI of %d bytes: 1 to %d are allowed", len(s), maxRedirectLen))
	}
	// The URI ends up in a Location header. It must not hold characters that browsers
	// read differently from Go (for them a backslash is a slash).
	if strings.ContainsAny(s, "\"<>\\^`{|}") || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, badRedirect("redirect URI %q holds a character that must be percent-encoded", s)
	}
	if a := authority(s); !plainAuthority.MatchString(a) {
		return nil, badRedirect("redirect URI to %q: a host is written in letters, digits, dots and hyphens, with an optional port; other scripts as punycode (xn--…), no user name", a)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme == "":
		return nil, badRedirect("redirect URI %q is not an absolute URL", s)
	case strings.Contains(s, "#"):
		return nil, badRedirect("redirect URI %q has a fragment, where the code would get lost", s)
	case u.Opaque != "" || u.Host+u.Path == "":
		return nil, badRedirect("redirect URI %q is not complete: write it like scheme://host/path", s)
	case u.Scheme == "http" || u.Scheme == "https":
		return u, checkWeb(u)
	case !reversedDomain.MatchString(u.Scheme) && !slices.Contains(appSchemes, u.Scheme):
		return nil, badRedirect("redirect URI %q: the scheme %q is not allowed; use https, http on localhost, or a scheme of your app with a dot in it, like com.example.app", s, u.Scheme)
	}
	return u, nil
}

// badRedirect returns a refusal that quotes what was sent, shortened. The log does not: a URI
// may hold a code. The format has %q for each text.
func badRedirect(format string, sent ...string) *refusal {
	var quoted, hidden []any
	for _, text := range sent {
		quoted, hidden = append(quoted, limit.Clip(text)), append(hidden, "…")
	}
	ref := bad("invalid_redirect_uri", fmt.Sprintf(format, quoted...))
	ref.logged = fmt.Sprintf(format, hidden...)
	return ref
}

// plainAuthority is a host with a port in plain ASCII, or an IPv6 address, which alone has brackets.
var plainAuthority = regexp.MustCompile(`^([A-Za-z0-9.:-]*|\[[0-9A-Fa-f:.]+\](:[0-9]+)?)$`)

// reversedDomain is a scheme of several names with dots between.
var reversedDomain = regexp.MustCompile(`^[^.]+(\.[^.]+)+$`)

// authority returns the host and port of a URI as they were sent, before anyone
// decodes them: url.Parse turns %D1%81 in a host into a Cyrillic letter that
// looks like a "c", and the browser goes where the letter leads.
func authority(s string) string {
	_, rest, ok := strings.Cut(s, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// checkWeb checks what only web addresses must have: a host that browsers show as it was
// sent, https unless it is this machine, and a port that can exist.
func checkWeb(u *url.URL) *refusal {
	if ref := checkHost(u.Hostname()); ref != nil {
		return ref
	}
	if u.Scheme == "http" && !address.Loopback(u.Hostname()) {
		return badRedirect("redirect URI to %q must be https: plain http is for localhost, 127.0.0.1 and [::1]", u.Host)
	}
	if p := u.Port(); p != "" || strings.HasSuffix(u.Host, ":") {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 || p[0] == '0' {
			return badRedirect("redirect URI with port %q: 1 to 65535 are allowed", p)
		}
	}
	return nil
}

// checkHost refuses a host that browsers show differently from how it was sent, since
// the consent page shows it as sent. Browsers take a host whose last label looks like a
// number (2130706433, 0x7f.1, 127.1) for an IPv4 address, and rewrite IPv6 addresses.
func checkHost(host string) *refusal {
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && ip.Is4():
		return nil
	case err == nil && ip.String() == strings.ToLower(host) && !ip.Is4In6():
		return nil
	case err == nil || strings.Contains(host, ":"):
		return badRedirect("redirect URI to the address %q: write it in its shortest form, like [2001:db8::1], and IPv4 as IPv4", host)
	case slices.ContainsFunc(labels, func(l string) bool { return len(l) > 63 }):
		return badRedirect("redirect URI to %q: a part of a host name has at most 63 characters", host)
	case slices.Contains(labels, ""):
		return badRedirect("redirect URI to %q: a host has no empty part between or after its dots", host)
	case strings.Trim(last, "0123456789") == "" || strings.HasPrefix(strings.ToLower(last), "0x"):
		return badRedirect("redirect URI to %q: an IPv4 address is written with four decimal numbers, like 192.0.2.1", host)
	}
	return nil
}

// redirectMatches reports whether a client that registered one URI may be sent
// to the other: the same string, or, on a loopback address, the same but for the
// port, which a program on this machine gets only when it starts to listen (RFC
// 8252 section 7.3, which speaks of http; some programs there have a certificate).
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

// withoutPort returns a web address on loopback without its port, and true. Of any other
// text it returns the whole and false. The rest of the string stays as it was, so that
// comparing two results compares everything but the port.
func withoutPort(s string) (string, bool) {
	u, ref := parseRedirect(s)
	if ref != nil || u.Scheme != "http" && u.Scheme != "https" || !address.Loopback(u.Hostname()) {
		return s, false
	}
	scheme, rest, _ := strings.Cut(s, "://")
	host := authority(s)
	return scheme + "://" + strings.TrimSuffix(host, ":"+u.Port()) + rest[len(host):], true
}

// destination is where a redirect URI leads, in words for the owner. The parts
// make up the whole: Lead + Main + Port.
type destination struct {
	Lead     string // the labels of the host before the last two, each with its dot
	Main     string // the last two labels, an IP address, or the scheme of an app
	Port     string // with its colon; empty for the default
	Loopback bool   // a program on the owner's own machine
	App      bool   // an app that claimed the scheme
}

// String returns the parts as one text.
func (d destination) String() string { return d.Lead + d.Main + d.Port }

// destinationOf returns where the browser goes for a redirect URI that
// parseRedirect took. The host is lower case and without the default port, as
// a browser would show it; punycode stays punycode.
func destinationOf(redirect string) destination {
	u, ref := parseRedirect(redirect)
	if ref != nil { // not for a registered URI, which was checked before
		return destination{Main: "an unknown address"}
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return destination{Main: u.Scheme + ":", App: true}
	}
	d := destination{Main: strings.ToLower(u.Host), Loopback: address.Loopback(u.Hostname())}
	if port := u.Port(); port != "" {
		d.Main = strings.TrimSuffix(d.Main, ":"+port)
		if port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
			d.Port = ":" + port
		}
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil {
		if last := strings.LastIndexByte(d.Main, '.'); last >= 0 {
			cut := strings.LastIndexByte(d.Main[:last], '.') + 1
			d.Lead, d.Main = d.Main[:cut], d.Main[cut:]
		}
	}
	return d
}
