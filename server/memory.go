package server

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	rtmetrics "runtime/metrics"
	"time"

	"wick/mcp/tools"
)

// memoryBase is what the program may take beside charts before the garbage
// collector works harder, as long as no more is in use. Under everything that
// strangers can do at once half of it is.
const memoryBase = 48 << 20 // bytes

// ballast is a part of the heap, in bytes, that is never touched and so takes no
// memory. The collector runs when the heap has doubled; with our few MiB alive
// that was nineteen times a second under load, and a seventh of all CPU time.
// A higher GOGC would help as much but multiply what many streams or large
// pictures leave behind; this adds its own size at most.
const ballast = 8 << 20

// memoryGoal returns the soft limit of memory for so much in use: what charts
// can hold and the base, or a quarter more than is in use if that is more. A
// limit near what is in use would keep the collector busy for nothing.
func memoryGoal(used, processors int) int64 {
	return int64(max(tools.RenderBytes(processors)+memoryBase, used+used/4))
}

// memoryUsed returns what no collection can free: what lives on the heap but
// for the ballast, and what the runtime has beside the heap, stacks above all.
func memoryUsed() int {
	of := func(name string) rtmetrics.Sample { return rtmetrics.Sample{Name: name} }
	s := []rtmetrics.Sample{
		of("/gc/heap/live:bytes"), of("/memory/classes/total:bytes"),
		of("/memory/classes/heap/objects:bytes"), of("/memory/classes/heap/free:bytes"), of("/memory/classes/heap/released:bytes"),
	}
	rtmetrics.Read(s)
	live, total := s[0].Value.Uint64(), s[1].Value.Uint64()
	for _, heap := range s[2:] {
		total -= heap.Value.Uint64()
	}
	return int(live+total) - ballast
}

// holdMemory keeps the soft limit at the goal until ctx ends. Without it the
// collector lets garbage grow as large as what is in use, pictures included,
// and a crowd of the largest charts costs twice their memory. Where the operator
// has set GOMEMLIMIT it changes nothing.
func holdMemory(ctx context.Context) error {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return nil
	}
	defer debug.SetMemoryLimit(math.MaxInt64)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for last := int64(0); ; {
		// Setting it stops the world for a moment: only when it changes.
		if goal := memoryGoal(memoryUsed(), runtime.GOMAXPROCS(0)); goal != last {
			debug.SetMemoryLimit(goal)
			last = goal
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
