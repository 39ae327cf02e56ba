package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// This file tells clients that a resource has changed: the events of the protocol.

// Bounds on what is watched for clients.
const (
	maxWatchedToken = 64    // URIs of one stream
	maxWatched      = 20000 // URIs of all streams, each counted as often as it is watched
	maxListeners    = 8     // of one token; one more ends the oldest, whose connection may be gone
	maxAllListeners = 4096
)

// watchPeriod is how often watched resources are checked for a change.
const watchPeriod = time.Second

var errWatched = &Error{Code: codeBusy, Message: "a client watches at most " + strconv.Itoa(maxWatchedToken) + " resources: unsubscribe from one first"}

// watch knows which resources are watched, and by whom. It is kept in memory only.
type watch struct {
	ring func(caller string) // see Options

	mu        sync.Mutex
	uris      map[string]*watched  // guarded by mu, like all below
	count     int                  // watched URIs, each counted as often as it is watched
	own       map[string]*Stream   // what a caller has subscribed to, by Caller.Key
	listeners map[string][]*Stream // by Caller.Key, oldest first
	listening int                  // how many listeners there are
	closed    bool
}

// watched is one URI that somebody watches.
type watched struct {
	resource *Resource
	reading  Reading
	state    string // the last one that was seen; empty if there is none
	streams  map[*Stream]bool
	broken   bool // State panicked, and is not called again; owned by tellChanges
}

// Stream has the lines for a client that watches resources: those of all subscriptions of a
// caller, or those of one listener. A listener gets a line that says what was accepted, then a
// line for each change, and last, once its context has ended, its reply. The transport that
// writes the stream calls Next and Wrote from one goroutine, until the reply is written.
type Stream struct {
	watch  *watch
	caller Caller
	ctx    context.Context // ends with the stream
	end    context.CancelFunc
	meta   *resultMeta // names the listener in each line; nil for subscriptions
	bell   chan struct{}
	wrote  func(n int) // of the last Next

	uris    map[string]bool // guarded by watch.mu, like all below
	pending []*note         // that the client has not been told, oldest first
	last    []byte          // the reply to a listener; nil for subscriptions
}

// note is a notification that a resource has changed, or another line.
type note struct {
	uri  string // empty for another line
	text []byte
}

// Watch checks the watched resources once a second and tells the streams of those that
// have changed, until ctx ends. Polling is simpler than having every part of a program
// announce what it changes, and costs nothing while nobody watches.
func (s *Server) Watch(ctx context.Context) error {
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			s.tellChanges()
		}
	}
}

// tellChanges tells the streams of every resource that has changed. It calls State without
// holding a lock, since that may wait for locks of other packages.
func (s *Server) tellChanges() {
	w := &s.watch
	w.mu.Lock()
	all := maps.Clone(w.uris)
	w.mu.Unlock()
	for uri, of := range all {
		if of.resource.State == nil || of.broken {
			continue
		}
		state, bug := s.state(of.resource, of.reading)
		if of.broken = bug != nil; of.broken {
			continue
		}
		var tell []*Stream
		w.mu.Lock()
		if of.state != "" && of.state != state {
			tell = slices.Collect(maps.Keys(of.streams))
		}
		of.state = state
		w.mu.Unlock()
		for _, one := range tell {
			one.add(uri)
			if w.ring != nil {
				w.ring(one.caller.Key())
			}
		}
	}
}

// add notes that a resource has changed. A change that waits already is replaced: one line
// is enough. So is one that is being written, and another line follows: the client may have
// read the resource before this change.
func (s *Stream) add(uri string) {
	changed := &note{uri, notification("notifications/resources/updated", struct {
		Meta *resultMeta `json:"_meta,omitempty"`
		URI  string      `json:"uri"`
	}{s.meta, uri})}
	s.watch.mu.Lock()
	s.pending = append(s.without(uri), changed)
	s.watch.mu.Unlock()
	s.wake()
}

// without returns the lines that wait, without those about a resource. The caller holds mu.
func (s *Stream) without(uri string) []*note {
	return slices.DeleteFunc(s.pending, func(l *note) bool { return l.uri == uri })
}

// wake rings the bell.
func (s *Stream) wake() {
	select {
	case s.bell <- struct{}{}:
	default: // a value is in the channel already
	}
}

// Bell returns a channel that receives a value when Next may have lines. The goroutine
// that writes the stream may also send to it.
func (s *Stream) Bell() chan struct{} { return s.bell }

// Next returns the lines to be written now.
func (s *Stream) Next() (lines [][]byte) {
	lines, s.wrote = s.next()
	return lines
}

// Wrote tells the stream that the first n lines which the last Next returned have been
// written. The next Next returns the others again.
func (s *Stream) Wrote(n int) { s.wrote(n) }

// next returns the lines that wait for the client, and the function to be called once the
// first n of them are written. A client whose token has ended gets no further change.
// The context may not have ended then: its timer does not count the time for which the
// machine slept, nor a clock that was set.
func (s *Stream) next() (lines [][]byte, wrote func(n int)) {
	expired := !s.caller.Expires.IsZero() && !time.Now().Before(s.caller.Expires)
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if expired {
		s.pending = slices.DeleteFunc(s.pending, func(l *note) bool { return l.uri != "" })
	}
	if s.last != nil && (expired || s.ctx.Err() != nil) {
		s.pending, s.last = append(s.pending, &note{text: s.last}), nil
	}
	taken := slices.Clone(s.pending)
	for _, l := range taken {
		lines = append(lines, l.text)
	}
	return lines, func(n int) {
		s.watch.mu.Lock()
		defer s.watch.mu.Unlock()
		s.pending = slices.DeleteFunc(s.pending, func(l *note) bool { return slices.Contains(taken[:n], l) })
		if n < len(taken) {
			s.wake()
		}
	}
}

// Changes returns the lines that wait for the stream of a caller, and the function to be
// called once the first n of them are written. Both are nil if nothing waits.
func (s *Server) Changes(caller string) (lines [][]byte, wrote func(n int)) {
	if own := s.watch.subscriptions(caller); own != nil {
		return own.next()
	}
	return nil, nil
}

// Close ends all listeners, each with its reply, and refuses new ones.
func (s *Server) Close() {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, all := range w.listeners {
		for _, one := range all {
			one.end()
		}
	}
}

// state returns the state of a resource, "" for one that never changes, or why it cannot be
// watched.
func (s *Server) state(r *Resource, reading Reading) (state string, refused *Error) {
	if r.State == nil {
		return "", nil
	}
	var err error
	if refused = s.guard(r.URI, func() { state, err = r.State(reading) }); err != nil {
		refused = unread(reading.URI, err)
	}
	return state, refused
}

// observe adds the resource of a URI to a stream, or returns why it cannot. Watching the
// same resource again changes nothing.
func (s *Server) observe(ctx context.Context, one *Stream, uri string) Reply {
	found, reading := s.find(uri)
	if found == nil {
		return refuse(unread(uri, ErrNoResource))
	}
	if err := s.may(ctx, one.caller, found.URI); err != nil {
		return Reply{err: forbidden(err), name: found.URI}
	}
	state, refused := s.state(found, reading) // asked now, so that no change from now on is missed
	if refused == nil {
		refused = one.watches(found, reading, state)
	}
	return Reply{result: &empty{}, err: refused, name: found.URI}
}

// watches adds a resource in some state to the stream, or returns why it cannot.
func (s *Stream) watches(r *Resource, reading Reading, state string) *Error {
	w := s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s.uris == nil:
		return errUnauthorized // it has ended meanwhile
	case s.uris[reading.URI]:
		return nil
	case len(s.uris) >= maxWatchedToken:
		return errWatched
	case w.count >= maxWatched:
		return &Error{Code: codeBusy, Message: "too many resources are watched: try again later"}
	}
	of := w.uris[reading.URI]
	if of == nil {
		of = &watched{resource: r, reading: reading, state: state, streams: make(map[*Stream]bool)}
		w.uris[reading.URI] = of
	}
	of.streams[s], s.uris[reading.URI] = true, true
	w.count++
	return nil
}

// drop makes the stream watch a URI no longer. The URI is forgotten after its last stream. The
// caller holds mu.
func (s *Stream) drop(uri string) {
	if !s.uris[uri] {
		return
	}
	delete(s.uris, uri)
	s.pending = s.without(uri)
	s.watch.count--
	of := s.watch.uris[uri]
	if delete(of.streams, s); len(of.streams) == 0 {
		delete(s.watch.uris, uri)
	}
}

// close ends a stream: it watches nothing any longer.
func (s *Stream) close() {
	s.end()
	w, key := s.watch, s.caller.Key()
	w.mu.Lock()
	defer w.mu.Unlock()
	for uri := range s.uris {
		s.drop(uri)
	}
	s.uris = nil
	if w.own[key] == s {
		delete(w.own, key)
	}
	if i := slices.Index(w.listeners[key], s); i >= 0 {
		w.listening--
		if w.listeners[key] = slices.Delete(w.listeners[key], i, i+1); len(w.listeners[key]) == 0 {
			delete(w.listeners, key)
		}
	}
}

// open returns a new stream, which lives as long as ctx and the caller's token.
func (s *Server) open(ctx context.Context, c Caller) (*Stream, error) {
	session, err := s.Sessions.Begin(ctx, c)
	if err != nil {
		return nil, err
	}
	one := &Stream{watch: &s.watch, caller: c, ctx: session.Context, end: session.End, bell: make(chan struct{}, 1), uris: make(map[string]bool)}
	if !c.Expires.IsZero() {
		var stop context.CancelFunc
		one.ctx, stop = context.WithDeadline(one.ctx, c.Expires)
		one.end = func() { stop(); session.End() }
	}
	return one, nil
}

// subscriptions returns the stream with all subscriptions of a caller, or nil.
func (w *watch) subscriptions(caller string) *Stream {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.own[caller]
}

// subscriber returns the stream with all subscriptions of a caller, and begins it if there
// is none. It ends with ctx.
func (s *Server) subscriber(ctx context.Context, c Caller) (*Stream, error) {
	if own := s.watch.subscriptions(c.Key()); own != nil {
		return own, nil
	}
	own, err := s.open(ctx, c)
	if err != nil {
		return nil, err
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if other := s.watch.own[c.Key()]; other != nil { // two requests at the same time
		own.end()
		return other, nil
	}
	s.watch.own[c.Key()] = own
	context.AfterFunc(own.ctx, own.close)
	return own, nil
}

// subscribe answers resources/subscribe.
func (s *Server) subscribe(ctx context.Context, c Caller, r *request) Reply {
	own, err := s.subscriber(context.Background(), c) // it outlives the request
	if err != nil {
		return refuse(errUnauthorized)
	}
	return s.observe(ctx, own, r.Params.URI)
}

// unsubscribe answers resources/unsubscribe. A URI that is not watched is no error.
func (s *Server) unsubscribe(_ context.Context, c Caller, r *request) Reply {
	if own := s.watch.subscriptions(c.Key()); own != nil {
		s.watch.mu.Lock()
		defer s.watch.mu.Unlock()
		own.drop(r.Params.URI)
	}
	return Reply{result: &empty{}}
}

// filter is what a subscriptions/listen asks for. Our lists do not change while
// the program runs, so of its members only the resources mean anything here.
type filter struct {
	Resources []string `json:"resourceSubscriptions,omitempty"`
}

// listen answers subscriptions/listen with a stream. Resources that are unknown, not
// allowed or cannot be watched are left out, not refused: the first line tells the client
// which ones were accepted.
func (s *Server) listen(ctx context.Context, c Caller, r *request) Reply {
	if !r.events {
		return refuse(&Error{Code: codeInvalidRequest, Status: http.StatusNotAcceptable, Message: "subscriptions/listen answers with text/event-stream, which the Accept header excludes"})
	}
	one, err := s.open(ctx, c)
	if err != nil {
		return refuse(errUnauthorized)
	}
	one.meta = &resultMeta{Subscription: bytes.Clone(r.ID)} // r.ID would keep the whole message
	if !one.join() {
		one.end()
		return refuse(&Error{Code: codeBusy, Status: http.StatusServiceUnavailable, Message: "no further listener can be served now: try again later"})
	}
	var accepted []string
	for _, uri := range r.Params.Notifications.Value.Resources {
		if !slices.Contains(accepted, uri) && s.observe(ctx, one, uri).err == nil {
			accepted = append(accepted, uri)
		}
	}
	var last output
	s.write(&last, r, Reply{result: &empty{head{Meta: &resultMeta{Subscription: r.ID}}}}, true)
	s.watch.mu.Lock()
	one.last = last.Bytes()
	one.pending = slices.Insert(one.pending, 0, &note{text: notification("notifications/subscriptions/acknowledged", struct {
		Meta          *resultMeta `json:"_meta"`
		Notifications filter      `json:"notifications"`
	}{one.meta, filter{accepted}})})
	s.watch.mu.Unlock()
	one.wake()
	return Reply{stream: one}
}

// join makes the stream a listener, unless there are too many. If its caller has too many
// already, it ends the oldest of them.
func (s *Stream) join() bool {
	w, key := s.watch, s.caller.Key()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.listening >= maxAllListeners {
		return false
	}
	w.listening++
	w.listeners[key] = append(w.listeners[key], s)
	if older := len(w.listeners[key]) - 1 - maxListeners; older >= 0 {
		w.listeners[key][older].end() // whoever writes it then calls close, which takes it off the list
	}
	return true
}

// Notification returns the JSON-RPC notification of method with params, which
// must encode to an object. It is one line without a line feed. Like [Encode] it
// panics if params cannot be encoded: their types are ours and always can.
func Notification(method string, params any) []byte {
	body, err := json.Marshal(params) // with HTML escaping, which a page can put anywhere
	if err != nil {
		panic("mcp: " + err.Error())
	}
	return notification(method, json.RawMessage(body))
}

// notification is Notification without HTML escaping.
func notification(method string, params any) []byte {
	return Encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
}
