package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// This file binds what runs to the token that it runs for.

// Caller says on whose behalf a message came. The names are opaque.
type Caller struct {
	ID      string    // the token, as a digest; "stdio" for the local client
	Client  string    // the client, as a digest that outlives its token
	Name    string    // the client, as it calls itself: a stranger's text
	Scope   string    // scopes held, separated by blanks
	Door    string    // by which way it came, for [Options.May]
	Address string    // where it came from; empty for the local client
	Token   string    // the bearer token, to pass a request on with; never written anywhere
	Login   string    // by which the login knows the token after a restart; empty if it does not
	Expires time.Time // when the token ends; zero for never

	// Conversation tells apart the conversations that one caller holds over stdio:
	// each has its own calls in progress, watched resources and turns. Empty over
	// HTTP, where requests of one token belong together.
	Conversation string
}

// Key returns a name of the caller's conversation; over HTTP that is the ID. Options.Ring
// is called with it.
func (c Caller) Key() string {
	if c.Conversation == "" {
		return c.ID
	}
	return c.ID + "/" + c.Conversation
}

// short returns the first characters of the ID: enough to tell tokens apart in a
// log, too few to be useful to somebody who steals the log.
func (c Caller) short() string { return c.ID[:min(8, len(c.ID))] }

// ErrRevoked is the cause with which the context of a session ends when its token does.
var ErrRevoked = errors.New("the token was revoked")

// Sessions are what callers have under way: requests, calls that can be cancelled, streams, and
// watched resources. A session is added before its token is checked. So a revocation comes either
// before the check, which then fails, or after it, and then ends the session's context. Nothing
// has to ask later whether its token still works.
type Sessions struct {
	valid func(caller string) bool // see Options

	mu   sync.Mutex
	open map[string][]*Session // by Caller.ID; guarded by mu
}

// Session is something that ends with its token.
type Session struct {
	// Context ends with the one that Begin got, with End, and with the token: then its
	// cause is [ErrRevoked].
	Context context.Context

	of     *Sessions
	token  string // Caller.ID
	caller string // Caller.Key
	cancel context.CancelCauseFunc
	call   string // the id of the request, of a call that can be cancelled; else empty; guarded by of.mu
}

// Begin begins a session of a caller. It returns [ErrRevoked] if the caller's token does not
// work now. The caller of Begin calls End.
func (s *Sessions) Begin(ctx context.Context, c Caller) (*Session, error) {
	one := s.begin(ctx, c)
	if s.valid != nil && !s.valid(c.ID) {
		one.End()
		return nil, ErrRevoked
	}
	return one, nil
}

// begin is Begin for a request whose caller has been checked.
func (s *Sessions) begin(ctx context.Context, c Caller) *Session {
	ctx, cancel := context.WithCancelCause(ctx)
	one := &Session{Context: ctx, of: s, token: c.ID, caller: c.Key(), cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[string][]*Session)
	}
	s.open[c.ID] = append(s.open[c.ID], one)
	return one
}

// cancellable lets the client cancel the session by the id of its request, and returns its
// context.
func (one *Session) cancellable(id json.RawMessage) context.Context {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	one.call = string(id)
	return one.Context
}

// End ends a session and its context.
func (one *Session) End() {
	s := one.of
	s.mu.Lock()
	all := s.open[one.token]
	if at := slices.Index(all, one); len(all) == 1 && at == 0 {
		delete(s.open, one.token)
	} else if at >= 0 {
		s.open[one.token] = slices.Delete(all, at, at+1)
	}
	s.mu.Unlock()
	one.cancel(nil)
}

// end ends the contexts of those sessions of a token that fit, unless there are more than most.
func (s *Sessions) end(token string, why error, most int, fits func(*Session) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*Session
	for _, one := range s.open[token] {
		if fits(one) {
			found = append(found, one)
		}
	}
	if len(found) <= most {
		for _, one := range found {
			one.cancel(why)
		}
	}
}

// Revoke ends all sessions of a token. It is called after the token has ended.
func (s *Sessions) Revoke(caller string) {
	s.end(caller, ErrRevoked, math.MaxInt, func(*Session) bool { return true })
}

// cancelCall cancels the caller's call of that id, which is compared by its bytes, as the
// client spelled it. A caller can cancel only its own calls. Two clients that share a token may
// use the same id at the same time: then nobody can tell which of the calls is meant, and none
// is cancelled.
func (s *Sessions) cancelCall(c Caller, id json.RawMessage) {
	key := c.Key()
	s.end(c.ID, errCancelled, 1, func(one *Session) bool { return one.call == string(id) && one.caller == key })
}
