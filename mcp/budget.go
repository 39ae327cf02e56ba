package mcp

import (
	"net/http"
	"sync"
)

// Bounds on the bytes that requests hold: bodies while they arrive and are
// processed, and replies until their clients have received them. A reply of a tool
// has at most about 1 MiB.
const (
	maxHeldToken     = 4 << 20
	maxHeldClient    = 8 << 20  // all tokens of one client
	maxHeld          = 16 << 20 // all tokens
	maxHeldAnonymous = 12 << 20 // all requests without a valid token
)

// freeBytes is what a body or a reply may hold without being counted. It is
// part of what a connection costs, and most requests need no more.
const freeBytes = 4 << 10

// budget counts the bytes that requests hold, over all connections. Strangers have
// a share of their own, so nothing they do takes bytes from the holders of tokens. All
// strangers have one share together, since one of them can use as many addresses as
// he likes. The zero budget is ready for use.
type budget struct {
	mu        sync.Mutex
	all       int            // by holders of tokens; guarded by mu, like every field below it
	anonymous int            // by all others
	tokens    map[string]int // by Caller.ID; an entry that reaches zero is deleted
	clients   map[string]int // by Caller.Client, in the same way
}

// fits returns 0 if c may hold n bytes more, and the HTTP status of the refusal
// otherwise: 429 when c's own share is used up, 503 when the server's is. A caller
// without an ID is a stranger. Anything fits a nil budget.
func (g *budget) fits(c Caller, n int) int {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.check(c, n)
}

// check is fits for callers that hold mu.
func (g *budget) check(c Caller, n int) int {
	switch {
	case c.ID == "" && g.anonymous+n > maxHeldAnonymous:
		return http.StatusServiceUnavailable
	case c.ID == "":
		return 0
	case g.tokens[c.ID]+n > maxHeldToken || g.clients[c.Client]+n > maxHeldClient:
		return http.StatusTooManyRequests
	case g.all+n > maxHeld:
		return http.StatusServiceUnavailable
	}
	return 0
}

// take counts n bytes more for c, if they fit. It returns what fits returns.
func (g *budget) take(c Caller, n int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if status := g.check(c, n); status != 0 {
		return status
	}
	g.count(c, n)
	return 0
}

// add counts n bytes more for c, or fewer if n is negative, whether they fit or
// not. A call starts only while its caller has room left, but its reply is sent even if
// it needs more than that: the work is done by then.
func (g *budget) add(c Caller, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count(c, n)
}

// count is add for callers that hold mu.
func (g *budget) count(c Caller, n int) {
	if c.ID == "" {
		g.anonymous += n
		return
	}
	if g.tokens == nil {
		g.tokens, g.clients = make(map[string]int), make(map[string]int)
	}
	g.all += n
	change(g.tokens, c.ID, n)
	change(g.clients, c.Client, n)
}

// change adds n to an entry and deletes it when nothing is left.
func change(counts map[string]int, name string, n int) {
	if counts[name] += n; counts[name] == 0 {
		delete(counts, name)
	}
}
