package mcp

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Bounds on what is watched for clients.
const (
	maxWatchedToken = 64    // URIs of one token, and of one listener
	maxWatched      = 20000 // URIs of all tokens and listeners, each counted as often as it is watched
	maxListeners    = 8     // of one token; one more ends the oldest, whose connection may be gone
	maxAllListeners = 4096
)

// watchPeriod is how often watched resources are checked for a change.
const watchPeriod = time.Second

// watch knows which resources are watched, and by whom: by subscribers of the older era,
// one per token, and by listeners of the newer one. It is kept in memory only.
type watch struct {
	tell func(caller, key string, line []byte) // nil if callers of the older era cannot be told

	mu        sync.Mutex
	uris      map[string]*watched    // guarded by mu, like all below
	tokens    map[string]*subscriber // by Caller.Key
	listeners []*Listener            // oldest first
	count     int                    // of URIs, for maxWatched
	closed    bool
}

// watched is one URI that somebody watches.
type watched struct {
	resource *Resource
	reading  Reading
	state    string // the last one that was seen; empty until the first
	watchers int
	broken   bool // State panicked, and is not called again; owned by tellChanges
}

// subscriber is a token that watches something.
type subscriber struct {
	expires time.Time // zero for never
	uris    []string
}

// tellChanges forgets the tokens that have ended, and tells the watchers of every resource
// that has changed. It calls ask, which returns the state of a resource, or an error if its
// State panicked, without holding mu, since that may wait for locks of other packages.
func (w *watch) tellChanges(now time.Time, ask func(*Resource, Reading) (string, error)) {
	w.mu.Lock()
	for id, sub := range w.tokens {
		if !sub.expires.IsZero() && !now.Before(sub.expires) {
			w.dropToken(id)
		}
	}
	all := maps.Clone(w.uris)
	w.mu.Unlock()
	for uri, of := range all {
		if of.resource.State == nil || of.broken {
			continue
		}
		state, err := ask(of.resource, of.reading)
		if of.broken = err != nil; of.broken {
			continue
		}
		if callers := w.changed(uri, state); len(callers) > 0 {
			line := updatedLine(uri, nil)
			for _, caller := range callers {
				w.tell(caller, uri, line)
			}
		}
	}
}

// changed notes the state of a URI. If it differs from the last one, changed wakes the
// listeners and returns the keys of the subscribers that watch the URI.
func (w *watch) changed(uri, state string) (callers []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.uris[uri]
	if of == nil || of.state == state {
		return nil
	}
	first := of.state == "" // the watch has just begun
	if of.state = state; first {
		return nil
	}
	for id, sub := range w.tokens {
		if slices.Contains(sub.uris, uri) {
			callers = append(callers, id)
		}
	}
	for _, l := range w.listeners {
		if slices.Contains(l.uris, uri) {
			l.add(uri)
		}
	}
	return callers
}

// add counts one more watcher of a URI, and begins to watch it if this is the first. It
// returns false if maxWatched is reached. The caller holds mu.
func (w *watch) add(uri string, r *Resource, reading Reading) bool {
	if w.count >= maxWatched {
		return false
	}
	if w.uris == nil {
		w.uris, w.tokens = make(map[string]*watched), make(map[string]*subscriber)
	}
	of := w.uris[uri]
	if of == nil {
		of = &watched{resource: r, reading: reading}
		w.uris[uri] = of
	}
	of.watchers++
	w.count++
	return true
}

// remove counts one watcher of a URI less, and forgets the URI after the last. The
// caller holds mu.
func (w *watch) remove(uri string) {
	w.count--
	if of := w.uris[uri]; of.watchers > 1 {
		of.watchers--
	} else {
		delete(w.uris, uri)
	}
}

// begin sets the state of a URI that later states are compared with, unless another
// watcher has set it already.
func (w *watch) begin(uri, state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if of := w.uris[uri]; of != nil && of.state == "" {
		of.state = state
	}
}

// dropToken forgets a subscriber, by the key of its caller. The caller of dropToken holds
// mu.
func (w *watch) dropToken(id string) {
	if sub := w.tokens[id]; sub != nil {
		for _, uri := range sub.uris {
			w.remove(uri)
		}
		delete(w.tokens, id)
	}
}

// subscribe makes a token watch a resource, or returns why it cannot. Subscribing to the
// same resource again changes nothing.
func (w *watch) subscribe(c Caller, r *Resource, reading Reading) *Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	sub := w.tokens[c.Key()]
	switch {
	case sub != nil && slices.Contains(sub.uris, reading.URI):
		return nil
	case sub != nil && len(sub.uris) >= maxWatchedToken:
		return &Error{codeBusy, "a client watches at most " + strconv.Itoa(maxWatchedToken) + " resources: unsubscribe from one first"}
	case !w.add(reading.URI, r, reading):
		return &Error{codeBusy, "too many resources are watched: try again later"}
	}
	if sub == nil {
		sub = &subscriber{expires: c.Expires}
		w.tokens[c.Key()] = sub
	}
	sub.uris = append(sub.uris, reading.URI)
	return nil
}

// join adds a listener. If its caller has too many already, it ends the oldest of them.
func (w *watch) join(l *Listener) *Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.listeners) >= maxAllListeners {
		return &Error{codeBusy, "no further listener can be served now: try again later"}
	}
	var own []*Listener
	for _, other := range w.listeners {
		if other.caller == l.caller && other.ctx.Err() == nil {
			own = append(own, other)
		}
	}
	if len(own) >= maxListeners {
		// This only ends its context. Its stream then calls leave, which takes it off the
		// list.
		own[0].end()
	}
	w.listeners = append(w.listeners, l)
	return nil
}

// listen makes a listener watch a resource. It returns false if the listener watches it
// already or there are too many.
func (w *watch) listen(l *Listener, r *Resource, reading Reading) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(l.uris, reading.URI) || len(l.uris) >= maxWatchedToken || !w.add(reading.URI, r, reading) {
		return false
	}
	l.uris = append(l.uris, reading.URI)
	return true
}

// leave ends a listener and its watching.
func (w *watch) leave(l *Listener) {
	l.end()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, uri := range l.uris {
		w.remove(uri)
	}
	w.listeners = slices.DeleteFunc(w.listeners, func(other *Listener) bool { return other == l })
}
