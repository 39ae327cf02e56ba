package mcp

import (
	"context"
	"errors"
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

// Sessions are what the holders of tokens have under way: requests, streams, and watched
// resources. What has begun is in the list before its token is checked. So a revocation
// comes either before the check, which then fails, or after it, and ends the context:
// nothing has to ask later whether its token still works.
type Sessions struct {
	valid func(caller string) bool // see Options

	mu   sync.Mutex
	open map[string][]*Session // by Caller.ID; guarded by mu
}

// Session is something that its token's end ends.
type Session struct {
	// Context ends with the one that Begin got, with End, and with the token: then its
	// cause is [ErrRevoked].
	Context context.Context

	of     *Sessions
	id     string
	cancel context.CancelCauseFunc
	at     int // its index in of.open
}

// Begin begins a session of a caller. It returns [ErrRevoked] if the caller's token does not
// work now. The caller of Begin calls End.
func (s *Sessions) Begin(ctx context.Context, c Caller) (*Session, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	one := &Session{Context: ctx, of: s, id: c.ID, cancel: cancel}
	s.mu.Lock()
	if s.open == nil {
		s.open = make(map[string][]*Session)
	}
	one.at = len(s.open[c.ID])
	s.open[c.ID] = append(s.open[c.ID], one)
	s.mu.Unlock()
	if s.valid != nil && !s.valid(c.ID) {
		one.End()
		return nil, ErrRevoked
	}
	return one, nil
}

// End takes a session off the list, and ends its context.
func (one *Session) End() {
	s := one.of
	s.mu.Lock()
	open := s.open[one.id]
	if one.at < len(open) && open[one.at] == one { // no revocation has taken it
		last := open[len(open)-1]
		open[one.at], last.at = last, one.at
		open[len(open)-1] = nil
		if open = open[:len(open)-1]; len(open) > 0 {
			s.open[one.id] = open
		} else {
			delete(s.open, one.id)
		}
	}
	s.mu.Unlock()
	one.cancel(nil)
}

// Revoke ends all sessions of a token. It is called after the token has ended.
func (s *Sessions) Revoke(caller string) {
	s.mu.Lock()
	open := s.open[caller]
	delete(s.open, caller)
	s.mu.Unlock()
	for _, one := range open {
		one.cancel(ErrRevoked)
	}
}
