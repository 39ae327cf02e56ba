package server

import (
	linked "container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// maxGuests is how many connections may be open that have shown no valid token.
// Each costs about 20 KiB, and up to 16 KiB more while it sends a body.
const maxGuests = 1024

// guests bounds the connections of strangers. When one more comes than there is
// room for, the oldest guest is closed: an honest one has long sent its
// request, and one that sits there to keep others out is the first to go. A
// connection whose request bore a valid token is no guest any more, so streams
// and the owner's calls stay whatever strangers do.
type guests struct {
	most    int
	dropped atomic.Uint64 // closed to make room

	mu    sync.Mutex
	byAge linked.List                  // of net.Conn, oldest first; guarded by mu, like the next
	at    map[net.Conn]*linked.Element // where each stands in byAge
}

func newGuests(most int) *guests { return &guests{most: most, at: make(map[net.Conn]*linked.Element)} }

// state is the ConnState hook of an http.Server.
func (g *guests) state(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if oldest := g.add(conn); oldest != nil {
			g.dropped.Add(1)
			oldest.Close() // its goroutine notices, and tells us that it is closed
		}
	case http.StateClosed, http.StateHijacked:
		g.remove(conn)
	}
}

// add takes a guest in and returns the one that must go for it, if one must.
func (g *guests) add(conn net.Conn) (oldest net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.at[conn] = g.byAge.PushBack(conn)
	if g.byAge.Len() <= g.most {
		return nil
	}
	oldest = g.byAge.Remove(g.byAge.Front()).(net.Conn)
	delete(g.at, oldest)
	return oldest
}

func (g *guests) remove(conn net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.at[conn]; e != nil {
		g.byAge.Remove(e)
		delete(g.at, conn)
	}
}

func (g *guests) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.byAge.Len()
}

type connKey struct{}

// guest is a connection as its requests find it.
type guest struct {
	conn  net.Conn
	known atomic.Bool // it is no guest any more, so nobody need look for it
}

// context is the ConnContext hook: it lets a request find its connection.
func (g *guests) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, &guest{conn: conn})
}

// known takes a request's connection out of the guests: its token is valid.
func (g *guests) known(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*guest); ok && !c.known.Swap(true) {
		g.remove(c.conn)
	}
}
