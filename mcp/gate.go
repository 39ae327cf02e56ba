package mcp

import (
	"context"
	"net/http"
	"runtime"
	"slices"
	"sync"
)

// Bounds on the calls that wait for a slot: in all, per client and per token. Each holds
// its message, which the budget counts, and a goroutine, so these numbers bound memory.
// They are far above what the clients of one owner need.
const (
	maxWaiting       = 768
	maxWaitingClient = 384
	maxWaitingToken  = 256
)

// waitingSlots is how many calls may wait for the disk or another machine at once.
// They use no processor meanwhile, and what those that come together write to disk can
// be one write.
const waitingSlots = 128

// workSlots is how many calls of one kind may work at once: twice the CPUs. More
// would finish no sooner and hold more pictures in memory.
func workSlots() int { return 2 * runtime.GOMAXPROCS(0) }

// gate bounds how many calls of one kind run at the same time. The calls that wait form
// one line for each token, and the lines take turns: however many calls one token sends,
// a call of another token waits for one of them, not for all.
type gate struct {
	mu      sync.Mutex
	free    int     // slots that nobody has; guarded by mu, like every field below it
	waiting Shares  // calls in all lines
	away    int     // calls that have stepped aside
	lines   []*line // the next to be served first
}

// line is the waiting calls of one token, oldest first; there is at least one. A call waits
// on its channel, which is closed when it gets its slot.
type line struct {
	caller Caller
	key    string
	calls  []chan struct{}
}

// newGate returns a gate that lets slots calls run at a time.
func newGate(slots int) *gate {
	return &gate{free: slots, waiting: Shares{Token: maxWaitingToken, Client: maxWaitingClient, All: maxWaiting}}
}

// enter takes a slot for a call of c, and waits for one if none is free. It returns an error
// if too many wait already, or if ctx ended first.
func (g *gate) enter(ctx context.Context, c Caller) *Error {
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	refused := g.waiting.Fits(c, 1)
	var slot chan struct{}
	if refused == nil {
		slot = g.queue(c, false)
	}
	g.mu.Unlock()
	if refused != nil {
		return refused
	}
	select {
	case <-slot:
		return nil
	case <-ctx.Done():
	}
	if !g.abandon(slot) {
		g.leave() // the slot came at the same moment: the next one may have it
	}
	return errBusy
}

// Slot is what lets a call, or the reading of a resource, work: a gate has few of them. A
// call that needs none has an empty one, whose methods give nothing back.
type Slot struct {
	gate   *gate
	caller Caller
}

// GiveWay lets calls of other tokens that wait go first, and returns when it is this
// call's turn again: it is the next of its line. A handler with many parts calls it between
// two of them, from its own goroutine, so that others wait for a part of the call and not
// for all of it. A call that was cancelled meanwhile waits all the same, and then ends.
func (s Slot) GiveWay() {
	g, key := s.gate, s.caller.Key()
	if g == nil {
		return
	}
	g.mu.Lock()
	if !slices.ContainsFunc(g.lines, func(l *line) bool { return l.key != key }) {
		g.mu.Unlock()
		return
	}
	slot := g.queue(s.caller, true)
	at := slices.IndexFunc(g.lines, func(l *line) bool { return l.key == key })
	own := g.lines[at]
	g.lines = append(slices.Delete(g.lines, at, at+1), own) // the others come first
	g.mu.Unlock()
	g.leave()
	<-slot
}

// Aside gives the slot back, calls wait, and returns when the call has a slot again, before
// other calls of its line. A handler that has to wait for another machine before it begins
// does so here, so that others need not wait with it. Like GiveWay it does not return early
// for a call that was cancelled. While many are away, further ones keep their slots: each
// slot that is given back lets one more call in.
func (s Slot) Aside(wait func()) {
	g := s.gate
	if g == nil {
		wait()
		return
	}
	g.mu.Lock()
	if g.away >= maxWaitingToken {
		g.mu.Unlock()
		wait()
		return
	}
	g.away++
	g.mu.Unlock()
	g.leave()
	defer func() { // also if wait panics: the call gives its slot back once more
		g.mu.Lock()
		g.away--
		if g.free > 0 {
			g.free--
			g.mu.Unlock()
			return
		}
		slot := g.queue(s.caller, true)
		g.mu.Unlock()
		<-slot
	}()
	wait()
}

// queue adds a call to c's line, at its end or first of it, and returns what to wait on.
// The caller holds mu.
func (g *gate) queue(c Caller, first bool) chan struct{} {
	g.waiting.Add(c, 1)
	slot, key := make(chan struct{}), c.Key()
	at := slices.IndexFunc(g.lines, func(l *line) bool { return l.key == key })
	switch {
	case at < 0:
		g.lines = append(g.lines, &line{c, key, []chan struct{}{slot}})
	case first:
		g.lines[at].calls = slices.Insert(g.lines[at].calls, 0, slot)
	default:
		g.lines[at].calls = append(g.lines[at].calls, slot)
	}
	return slot
}

// leave gives a slot back. The oldest call of the line whose turn it is gets it, and that
// line moves to the end; if no call waits, the slot becomes free.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.lines) == 0 {
		g.free++
		return
	}
	// The slot is handed over, not freed: a call that comes now must not get it before
	// those that wait.
	l := g.lines[0]
	close(l.calls[0])
	l.calls = slices.Delete(l.calls, 0, 1)
	g.waiting.Add(l.caller, -1)
	if g.lines = slices.Delete(g.lines, 0, 1); len(l.calls) > 0 {
		g.lines = append(g.lines, l)
	}
}

// abandon takes a call out of its line. It returns false when the call has already got
// its slot.
func (g *gate) abandon(slot chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, l := range g.lines {
		if at := slices.Index(l.calls, slot); at >= 0 {
			l.calls = slices.Delete(l.calls, at, at+1)
			g.waiting.Add(l.caller, -1)
			if len(l.calls) == 0 {
				g.lines = slices.Delete(g.lines, i, i+1)
			}
			return true
		}
	}
	return false
}

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
