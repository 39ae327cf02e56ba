package oauth

import (
	"net/http"
	"net/url"
	"strings"

	"wick/internal/address"
)

// This file decides what a web page may make the owner's browser do at the login, by what the
// browser says of the page. Nothing else here reads Sec-Fetch-Site:
//
//   - [embedded]: another site's page may not load one of ours into itself.
//   - [sentByPage]: without a passphrase no page gets a code by sending the browser here.
//   - [Server.checkOrigin]: a form is taken from our own page alone.
//   - [Server.checkNear]: without a passphrase nothing is answered that may come from elsewhere.
//
// What a page may post to the endpoints of clients, such as /token, package mcp decides
// (Policy.Wrap), which checks Host everywhere, and Origin on all paths but our pages.

// siteOf returns the header Sec-Fetch-Site: what the browser says of the site that a
// request comes from, and "" only if there is no such header. If there are two lines, or
// an empty one, something on the way has changed what the browser sent: that counts as a
// foreign site.
func siteOf(r *http.Request) string {
	switch lines := r.Header["Sec-Fetch-Site"]; {
	case len(lines) == 0:
		return ""
	case len(lines) == 1 && lines[0] != "":
		return lines[0]
	}
	return "cross-site"
}

// embedded reports whether, as the browser says, another site's page asks for an address as
// an image, a frame or the like, and no person has opened it. A page can do so a thousand
// times in a second, unseen.
func embedded(r *http.Request) bool {
	site, dest := siteOf(r), r.Header.Get("Sec-Fetch-Dest")
	return site != "" && site != "same-origin" && site != "none" && dest != "" && dest != "document"
}

// sentByPage reports whether a web page may have caused a request. Browsers send the
// Sec-Fetch-Site "none" if the person typed the address or another program opened it;
// programs other than browsers send no such header. Any other value means a page, even
// "same-site": a page on another port of localhost is another program, which could
// otherwise log in a client of its choice. A request with Origin or Referer comes from a
// page too, and so does one with Sec-Fetch-Dest (an image, a frame) but no Sec-Fetch-Site.
// Sec-Fetch-Mode does not count: fetch in Node sends it alone.
func sentByPage(r *http.Request) bool {
	h := r.Header
	switch siteOf(r) {
	case "none":
		return h["Origin"] != nil || h["Referer"] != nil
	case "":
		return h["Origin"] != nil || h["Referer"] != nil || h["Sec-Fetch-Dest"] != nil
	}
	return true
}

// checkOrigin refuses a form that, as the browser says, another site's page posted.
// Browsers send Origin with every post; other programs send none, and no page can make
// them post. The origin "null" may be any page, unless Sec-Fetch-Site says that the post
// comes from this site's own.
func (s *Server) checkOrigin(r *http.Request, follows string) *refusal {
	site, origins := siteOf(r), r.Header.Values("Origin")
	// What Sec-Fetch-Site says: nothing, a page of ours, or the person and no page.
	own := site == "" || site == "same-origin" || site == "none"
	switch {
	case len(origins) > 1:
		own = false
	case len(origins) == 1 && origins[0] == "null":
		own = site == "same-origin"
	case len(origins) == 1:
		// The base URL, or the loopback address that a browser on this machine used.
		own = own && (origins[0] == s.base || origins[0] == "http://"+r.Host && isLoopbackHost(r.Host))
	}
	if own {
		return nil
	}
	return &refusal{status: http.StatusForbidden, code: "invalid_request", text: "Another site's page posted this form. " + follows}
}

// checkNear refuses requests that may come from elsewhere than this machine, if there is
// no passphrase:
//
//   - Those that a proxy or a tunnel passed on: whoever is at its other end could read the
//     code from the redirect. HTTP/1.0 counts too, since old proxies speak it and no client.
//   - Those of a page whose site pointed its own DNS name at this machine: such a page could
//     read the consent page as its own and click for the owner.
//
// A forwarder that adds no header looks like a program on this machine, and is let through.
func (s *Server) checkNear(r *http.Request) *refusal {
	switch {
	case s.owner != nil:
		return nil
	case forwarded(r) || !r.ProtoAtLeast(1, 1):
		return &refusal{status: http.StatusForbidden, code: "invalid_request",
			text: "This came through a proxy or a tunnel, and by the same way strangers could log in: set a passphrase where wick runs (--passphrase-file), or use wick on its own machine, at " + s.base}
	case !strings.EqualFold(r.Host, strings.TrimPrefix(strings.TrimPrefix(s.base, "http://"), "https://")):
		return &refusal{status: http.StatusForbidden, code: "invalid_request",
			text: "Without a passphrase this server answers at its own address only: " + s.base}
	}
	return nil
}

// isLoopbackHost reports whether a Host header names this machine: the name a
// browser on it used, and not one that an attacker's DNS pointed here.
func isLoopbackHost(host string) bool {
	u, err := url.Parse("http://" + host)
	return err == nil && address.Loopback(u.Hostname())
}
