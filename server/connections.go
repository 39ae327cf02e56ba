package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"wick/mcp"
)

// Bounds on open connections. One that is idle costs about 20 KiB, and one in
// use up to 40 KiB more, for its head, its body and its reply. Where the process
// may open few files, the bounds are lower: see newConnections.
const (
	maxAnonymousConns = 512 // that have shown no valid token, half of them with a request in progress
	maxTokenConns     = 400 // of one token
	maxClientConns    = 800 // of all tokens of one client
)

// Numbers of files that a process may open: the number that is assumed if the system
// does not say, and the most that is used.
const (
	fewFiles  = 1024
	manyFiles = 65536
)

// maxUnread is how many accepted connections may wait for their first read. How long
// they wait depends on this process alone, not on their peers: a connection that was
// accepted is read from as soon as a processor is free.
const maxUnread = 64

// reservedFiles are the descriptors kept for everything but connections: the
// journal, its rotation, data services, metrics.
const reservedFiles = 128

// connections knows every open connection and whose it is. A connection that has shown
// no valid token is anonymous. When one more of those comes than there is room
// for, the oldest is closed: an honest client has long sent its request, and a connection
// that is only there to keep others out is the first to go.
//
// Anonymous connections with a request in progress have half of the room, and push out
// only each other: the owner's login takes a moment, and connections that send nothing
// must not end it. The one that goes is the oldest of those that wait for their peer:
// a request that has arrived is answered, however busy the machine is. For the same
// reason no connection goes before it was read from once.
//
// A request with a valid token makes its connection that token's, so strangers cannot
// push it out. If a token, or a client with all its tokens, has too many connections, its
// oldest idle one is closed; if none is idle, the request is refused.
//
// The registry learns of all this in four ways: from the listener (a connection is there),
// from its Read, Write and Close, from the hooks of http.Server (a request begins or is
// over), and from claim, which is called when a token was checked. No connection is closed
// under mu.
type connections struct {
	anonymous int             // how many have shown no token at most
	known     mcp.Shares      // of those that have
	dropped   atomic.Uint64   // closed to make room
	changed   func(known int) // called, under mu, with how many have shown a token, when that changes; may be nil
	unread    chan struct{}   // holds one for each connection that waits for its first read

	mu   sync.Mutex
	open map[holder][]*conn // oldest first; guarded by mu
}

// holder says whose a connection is. Strangers have no client: all of them together are
// two holders, silent and, with a request in progress, asking. The zero holder is of
// connections that are not registered yet, or were closed or dropped.
type holder struct{ client, token string }

var silent, asking = holder{token: "strangers"}, holder{token: "requests of strangers"}

// caller returns the holder as its connections are counted.
func (h holder) caller() mcp.Caller { return mcp.Caller{ID: h.token, Client: h.client} }

// conn is one connection. It leaves the registry when either side closes it.
type conn struct {
	net.Conn
	registry *connections
	idle     atomic.Bool // it waits for a next request
	read     atomic.Bool // it was read from, or closed
	waits    atomic.Bool // it waits for its peer: for a head, for a body, or for an answer to be read
	handling atomic.Bool // the head of a request was read, and the request is not yet answered
	body     body        // the body of its request
	holder   holder      // guarded by registry.mu
}

// newConnections returns a registry for a process that may open so many files.
// Strangers get at most a quarter of them, and so does one client.
func newConnections(files int) *connections {
	// A process that may open very few keeps half of them for the rest.
	room := max(files-reservedFiles, files/2)
	anonymous := min(maxAnonymousConns, room/4)
	return &connections{
		anonymous: anonymous,
		known:     mcp.Shares{Token: min(maxTokenConns, room/8), Client: min(maxClientConns, room/4), All: room - anonymous},
		unread:    make(chan struct{}, maxUnread),
		open:      make(map[holder][]*conn),
	}
}

// listener returns ln with every connection registered.
func (c *connections) listener(ln net.Listener) net.Listener { return &countingListener{ln, c} }

// listenFew listens on an address that few have reason to reach. It keeps half of most
// connections, because to its registry all of them are strangers without a request in
// progress; for one more the oldest is closed. An error names the flag that gave the
// address.
func listenFew(flag, address string, most int) (net.Listener, error) {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	conns := newConnections(manyFiles)
	conns.anonymous = most
	return conns.listener(ln), nil
}

// countingListener hands out connections that register themselves.
type countingListener struct {
	net.Listener
	registry *connections
}

// Accept accepts a connection. If too many wait for their first read, it waits first;
// new ones stay in the queue of the operating system meanwhile.
func (l *countingListener) Accept() (net.Conn, error) {
	l.registry.unread <- struct{}{}
	accepted, err := l.Listener.Accept()
	if err != nil {
		<-l.registry.unread
		return nil, err
	}
	return &conn{Conn: accepted, registry: l.registry}, nil
}

// Read reads from the connection. The first read registers it as anonymous: net/http
// reads in the connection's own goroutine, so the first read shows that this runs.
func (one *conn) Read(p []byte) (int, error) {
	if !one.read.Swap(true) {
		one.registry.strange(one, holder{}, silent)
		<-one.registry.unread
	}
	if one.handling.Load() { // reads a body, and body.Read sets waits; or watches whether the peer has gone
		return one.Conn.Read(p)
	}
	one.waits.Store(true)
	n, err := one.Conn.Read(p)
	one.waits.Store(false)
	return n, err
}

// Write writes to the connection. While it does, the connection waits for its peer: one
// that does not read its reply may be closed for another.
func (one *conn) Write(p []byte) (int, error) {
	one.waits.Store(true)
	n, err := one.Conn.Write(p)
	one.waits.Store(false)
	return n, err
}

// body is the body of a request. A read of it waits for the peer.
type body struct {
	io.ReadCloser
	of *conn
}

// Read notes that the handler waits for the peer while it reads.
func (b *body) Read(p []byte) (int, error) {
	b.of.waits.Store(true)
	n, err := b.ReadCloser.Read(p)
	b.of.waits.Store(false)
	return n, err
}

// handler returns next, with the body of each request wrapped and the end of its handling
// noted, so that the registry knows who waits: the server or the peer. The wrapper is a
// field of the connection and needs no allocation.
func (c *connections) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if one, ok := r.Context().Value(connKey{}).(*conn); ok {
			defer one.handling.Store(false)
			if r.Body != http.NoBody {
				one.body = body{r.Body, one}
				r.Body = &one.body
			}
		}
		next.ServeHTTP(w, r)
	})
}

// strange moves a connection that has shown no token to the group without a request in progress,
// or to the group with one. If the latter then takes more than half of the room, one of it is
// closed: the oldest that waits for its peer, or, if none does, the oldest.
func (c *connections) strange(one *conn, from, to holder) {
	c.mu.Lock()
	var out *conn
	if one.holder == from { // it has shown no token, and was not closed
		c.move(one, to)
	}
	if strangers := c.open[to]; len(strangers) > max(1, c.anonymous/2) {
		if out = oldest(strangers, func(one *conn) bool { return one.waits.Load() }); out == nil {
			out = strangers[0]
		}
		c.move(out, holder{})
	}
	c.mu.Unlock()
	c.drop(out)
}

// claim makes the connection of a request that of its token. It reports false when
// the token or its client has too many and none of them is idle. The caller then refuses
// the request; its connection still counts as the token's. claim is called for every
// request with a valid token; most of them come on a connection that is the token's
// already.
func (c *connections) claim(r *http.Request, token, client string) bool {
	this, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return true // not our connection: a test
	}
	c.mu.Lock()
	whose := holder{client, token}
	if this.holder == whose || this.holder == (holder{}) { // unchanged, or just closed
		c.mu.Unlock()
		return true
	}
	// First the connection gets its new holder, then another one may have to make room.
	c.move(this, whose)
	victim, fits := c.victim(whose)
	if victim != nil {
		c.move(victim, holder{})
	}
	c.mu.Unlock()
	c.drop(victim)
	return fits
}

// victim returns the connection that has to go for the newest one of a token, if one has
// to, and whether that one fits. The caller holds mu.
func (c *connections) victim(whose holder) (victim *conn, fits bool) {
	idle := func(one *conn) bool { return one.idle.Load() }
	switch c.known.Over(whose.caller(), 0) {
	// A token or client above its bound gives up a connection of its own that is idle.
	case mcp.TokenBound:
		victim = oldest(c.open[whose], idle)
	case mcp.ClientBound:
		victim = oldest(c.largest(whose.client), idle)
	case mcp.AllBound:
		// The files of the process are used up. The token with most connections gives
		// up one, even if it is a stream: its client will come back.
		most := c.largest("")
		if victim = oldest(most, idle); victim == nil {
			victim = most[0]
		}
	default:
		return nil, true
	}
	return victim, victim != nil
}

// oldest returns the first of some connections that fits, or nil.
func oldest(conns []*conn, fits func(*conn) bool) *conn {
	if i := slices.IndexFunc(conns, fits); i >= 0 {
		return conns[i]
	}
	return nil
}

// largest returns the connections of the token of a client that has most, or of all tokens
// if client is empty. The caller holds mu.
func (c *connections) largest(client string) (most []*conn) {
	for whose, conns := range c.open {
		if whose.client != "" && (client == "" || whose.client == client) && len(conns) > len(most) {
			most = conns
		}
	}
	return most
}

// move gives a connection to a holder, as the newest, or takes it out of the registry: then
// to is zero. The caller holds mu.
func (c *connections) move(one *conn, to holder) {
	before, from := c.known.InUse(), one.holder
	if from.client != "" {
		c.known.Add(from.caller(), -1)
	}
	if c.open[from] = slices.DeleteFunc(c.open[from], func(other *conn) bool { return other == one }); len(c.open[from]) == 0 {
		delete(c.open, from)
	}
	if one.holder = to; to != (holder{}) {
		c.open[to] = append(c.open[to], one)
	}
	if to.client != "" {
		c.known.Add(to.caller(), 1)
	}
	if known := c.known.InUse(); known != before && c.changed != nil {
		c.changed(known)
	}
}

// drop closes a connection that had to make room. It does nothing for nil.
func (c *connections) drop(one *conn) {
	if one != nil {
		c.dropped.Add(1)
		one.Conn.Close() // its goroutine notices
	}
}

// Close closes the connection and takes it out of the registry.
func (one *conn) Close() error {
	c := one.registry
	// A connection that was never read from gives back its place among the unread ones.
	if !one.read.Swap(true) {
		<-c.unread
	}
	c.mu.Lock()
	c.move(one, holder{})
	c.mu.Unlock()
	return one.Conn.Close()
}

// count returns how many connections have shown no valid token, and how many
// there are in all.
func (c *connections) count() (anonymous, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	anonymous = len(c.open[silent]) + len(c.open[asking])
	return anonymous, anonymous + c.known.InUse()
}

// state is the ConnState hook of an http.Server: it notes which connections are idle and
// which have a request in progress. net/http calls it with StateActive once it has read
// the head of a request, and with StateIdle once the reply is written. Connections with a
// token stay where they are: they are counted by their token.
func (c *connections) state(accepted net.Conn, state http.ConnState) {
	one, ok := accepted.(*conn)
	if !ok {
		return
	}
	one.idle.Store(state == http.StateIdle)
	one.handling.Store(state == http.StateActive) // before net/http begins to watch whether the peer goes
	switch state {
	case http.StateActive:
		c.strange(one, silent, asking)
	case http.StateIdle:
		c.strange(one, asking, silent)
	}
}

// connKey is the key under which a request's context has its connection.
type connKey struct{}

// context is the ConnContext hook: it lets a request find its connection.
func (c *connections) context(ctx context.Context, accepted net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, accepted)
}
