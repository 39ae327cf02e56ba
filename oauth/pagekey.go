package oauth

import (
	"crypto/subtle"
	"net/http"
	"sync"
)

// pageKey is how the owner gets to the owner's page where there is no passphrase: with a
// secret that is made at each start and printed inside the address of the page. The first
// login binds it to its browser by a cookie, and from then on it takes both: the key alone
// may be read in a log, and the cookie alone is sent to every port of this machine.
// Anybody else here gets charts and the paper book, and never the owner's scope.
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

// admits reports whether a login of the owner's page comes from the owner: with the key, and
// once that was used from the browser that used it. With bind it binds the key to this
// browser: of two at once the first counts.
func (p *pageKey) admits(s *Server, r *http.Request, a *ask, bind bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	ok := subtle.ConstantTimeCompare([]byte(a.key), []byte(p.key)) == 1 && (!p.used || hasCookie(r, s.hostCookie(pageCookie), p.browser))
	p.used = p.used || ok && bind
	return ok
}
