package oauth

import (
	"crypto/subtle"
	"net/http"
	"sync"
)

// pageKey is how the owner gets to the owner's page where there is no passphrase: with a
// secret that is made at each start and printed inside the address of the page. The first
// login uses it up, and the browser of that login can log in again. Anybody else on this
// machine gets charts and the paper book, and never the owner's scope.
type pageKey struct {
	key, browser string // the secret, and the value of the browser's cookie

	mu   sync.Mutex
	used bool // guarded by mu
}

const pageCookie = "wick-owner"

var noPageKey = &refusal{status: http.StatusForbidden, code: "access_denied",
	text: "The owner's page opens with the address that wick prints when it starts, /app?key=…, in one browser. It was used, or this is another address. Start wick again for a new one, or set a passphrase (--passphrase-file)."}

// PageKey returns the secret for the address of the owner's page; empty if none is needed.
func (s *Server) PageKey() string {
	if s.page == nil {
		return ""
	}
	return s.page.key
}

// checkPage refuses a login of the owner's page by somebody who does not have the key.
func (s *Server) checkPage(r *http.Request, a *ask) *refusal {
	if !a.client.own || s.page == nil || s.page.known(s, r, a) {
		return nil
	}
	return noPageKey
}

// known reports whether a request comes from the owner: with the key, while that was not
// used, or from the browser that used it.
func (p *pageKey) known(s *Server, r *http.Request, a *ask) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return hasCookie(r, s.hostCookie(pageCookie), p.browser) || !p.used && subtle.ConstantTimeCompare([]byte(a.key), []byte(p.key)) == 1
}

// take is known, and uses the key up.
func (p *pageKey) take(s *Server, r *http.Request, a *ask) bool {
	ok := p.known(s, r, a)
	p.mu.Lock()
	defer p.mu.Unlock()
	again := p.used && !hasCookie(r, s.hostCookie(pageCookie), p.browser) // of two at once the first counts
	p.used = p.used || ok
	return ok && !again
}
