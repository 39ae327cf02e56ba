package mcp

import (
	"context"
	"runtime"
)

// maxWaiting is how many calls may wait for a slot. Each holds its body and
// nothing else, so the number bounds memory; it is far above what one owner's
// clients do.
const maxWaiting = 128

// gate bounds the tool calls of one kind in progress to twice the CPUs. More at
// once would finish no sooner and hold more pictures in memory.
type gate struct {
	slots chan struct{} // one element per call in progress
	queue chan struct{} // one element per call that waits
}

func newGate() gate {
	return gate{
		slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
		queue: make(chan struct{}, maxWaiting),
	}
}

// enter takes a slot, waiting for one if it must, and reports whether it got
// one. It does not when the queue is full or ctx ends first.
func (g gate) enter(ctx context.Context) bool {
	select {
	case g.slots <- struct{}{}:
		return true
	default:
	}
	select {
	case g.queue <- struct{}{}:
		defer func() { <-g.queue }()
	default:
		return false
	}
	select {
	case g.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave gives the slot back.
func (g gate) leave() { <-g.slots }
