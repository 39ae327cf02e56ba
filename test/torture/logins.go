//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	"wick/test/harness"
)

// logins are what outlives the process: a key file, an address, which is part of every
// token, and the clients that are logged in. Tokens end after as long as the binary says,
// seven days, or 40 seconds of the one that `make torture` builds.
type logins struct {
	wick, dir string
	flags     []string

	mu      sync.Mutex
	clients map[string]*client // by name; guarded by mu, like all below

	kept, expired, revoked, others int
}

func (l *logins) String() string {
	return fmt.Sprintf("logins: the listener kept its token over %d starts, had %d that expired and %d that were revoked, and kept its subscription from %d other logins of its program", l.kept, l.expired, l.revoked, l.others)
}

// newLogins makes a key file and chooses an address.
func newLogins(wick, dir, data string) (*logins, error) {
	key := filepath.Join(dir, "key")
	if err := harness.Run(wick, "key", key); err != nil {
		return nil, err
	}
	free, err := harness.FreePorts(1)
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(free[0])
	return &logins{wick: wick, dir: data, flags: []string{"--key-file", key, "--port", port}, clients: make(map[string]*client)}, nil
}

// longest is how long a life of the process takes at most, on a busy machine too.
const longest = 20 * time.Second

// trader returns a client whose token works for a whole life: the one that it had in an
// earlier life, or a new login.
func (l *logins) trader(p *harness.Process, name string) (c *client, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c = l.clients[name]; c != nil && time.Until(c.Ends) > longest {
		return c, nil
	}
	if c, err = login(p.Base, name); err == nil {
		l.clients[name] = c
	}
	return c, err
}

// listener returns the client that listens, logged in again if its token has ended.
func (l *logins) listener(base string) (*client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.clients["listener"]
	switch {
	case c == nil:
	case time.Now().After(c.Ends):
		l.expired++
	default:
		l.kept++
		return c, nil
	}
	c, err := login(base, "listener")
	if err == nil {
		l.clients["listener"] = c
	}
	return c, err
}

// change does at times what ends the listener's token before its time, and at times lets
// its program log in once more, which must not cost the listener its subscription. Nobody
// else uses the logins meanwhile.
func (l *logins) change(p *harness.Process, n int) error {
	c := l.clients["listener"]
	if c == nil || time.Until(c.Ends) < longest {
		return nil
	}
	switch n {
	case 0:
		l.revoked++
		delete(l.clients, "listener")
		return c.Revoke()
	case 1:
		l.revoked++
		clear(l.clients)
		return harness.Run(l.wick, "revoke", "all", "--data-dir", l.dir)
	case 2, 3, 4:
		// The listener may have logged in again right before the kill, and not been back since:
		// this is when it takes its subscription over from the token that has ended.
		var sub struct{ Subscribed bool }
		if err := c.call("list_subscriptions", nil, &sub); err != nil {
			return err
		}
		if !sub.Subscribed {
			return errors.New("the listener's program has lost its subscription")
		}
		other, err := login(p.Base, "listener")
		if err != nil {
			return err
		}
		sub.Subscribed = false
		if err := other.call("list_subscriptions", nil, &sub); err != nil {
			return err
		}
		if sub.Subscribed {
			return errors.New("another login of the listener's program has its subscription, and its token works")
		}
		l.others++
	}
	return nil
}

// listen reads the push stream until ctx ends, under a new login when the token has ended.
func (l *logins) listen(ctx context.Context, o *oracle, c *client, base string) {
	for ctx.Err() == nil {
		o.listen(ctx, c)
		if ctx.Err() == nil && time.Now().After(c.Ends) {
			if next, err := l.listener(base); err == nil {
				c = next
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
}
