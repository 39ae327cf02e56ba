package mcp

import (
	"net/http"
	"sync"
)

// Shares bound how much of something is in use at a time: by one token, by all tokens of
// one client, and by all together. A bound of zero is none.
type Shares struct {
	Token, Client, All int

	mu      sync.Mutex
	all     int            // guarded by mu, like every field below it
	tokens  map[string]int // by Caller.Key; an entry that reaches zero is deleted
	clients map[string]int // by Caller.Client, in the same way
}

// The two refusals of a request for which there is no room: the caller has used up its own
// share, or all callers together have used up the server's.
var (
	errCrowded = &Error{Code: codeBusy, Status: http.StatusTooManyRequests,
		Message: "too much of this client is under way: let it finish, or take the replies that wait, then try again"}
	errBusy = &Error{Code: codeBusy, Status: http.StatusServiceUnavailable,
		Message: "the server is busy with other calls: try again in a second"}
)

// Bound is one of the bounds of [Shares].
type Bound int

const (
	NoBound Bound = iota
	TokenBound
	ClientBound
	AllBound
)

// Over returns which bound c would exceed with n more, the narrowest first.
func (s *Shares) Over(c Caller, n int) Bound {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over(c, n)
}

// over is Over for callers that hold mu.
func (s *Shares) over(c Caller, n int) Bound {
	switch {
	case s.Token > 0 && s.tokens[c.Key()]+n > s.Token:
		return TokenBound
	case s.Client > 0 && s.clients[c.Client]+n > s.Client:
		return ClientBound
	case s.All > 0 && s.all+n > s.All:
		return AllBound
	}
	return NoBound
}

// Fits returns an error if c may not have n more.
func (s *Shares) Fits(c Caller, n int) *Error { return refusedBy[s.Over(c, n)] }

var refusedBy = [...]*Error{NoBound: nil, TokenBound: errCrowded, ClientBound: errCrowded, AllBound: errBusy}

// Take counts n more for c if they fit, and returns what Fits returns.
func (s *Shares) Take(c Caller, n int) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused := refusedBy[s.over(c, n)]; refused != nil {
		return refused
	}
	s.add(c, n)
	return nil
}

// Add counts n more for c, or fewer if n is negative, whether they fit or not.
func (s *Shares) Add(c Caller, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(c, n)
}

// InUse returns how much is in use by all together.
func (s *Shares) InUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// add is Add for callers that hold mu.
func (s *Shares) add(c Caller, n int) {
	if s.tokens == nil {
		s.tokens, s.clients = make(map[string]int), make(map[string]int)
	}
	s.all += n
	change := func(counts map[string]int, name string) {
		if counts[name] += n; counts[name] == 0 {
			delete(counts, name)
		}
	}
	change(s.tokens, c.Key())
	change(s.clients, c.Client)
}
