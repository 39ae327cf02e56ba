package mcp

import (
	"context"
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
