package server

import (
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"wick/mcp/tools"
)

// How much memory the program may use before the garbage collector works harder. By
// default the collector lets garbage grow as large as what is in use, pictures included,
// and many of the largest charts at once would cost twice their memory.
const (
	memoryBase   = 56 << 20 // in addition to charts, to what was in use at the start, and to connections with a token
	memorySource = 64 << 20 // more with a data service, whose answers are remembered
	memoryConn   = 32 << 10 // for each connection with a token, most of them streams
	memoryStep   = 256      // the limit changes only with every so many connections: setting it stops the program for a moment

	// gcPercent is of what is in use. With the runtime's own 100 a small heap is collected so often
	// that a small call over HTTP takes a quarter more of the processor, with 200 a tenth; after a
	// thousand charts 49 MiB are resident with 400, 36 with 200 and 30 with 100.
	gcPercent = 400
)

// memory sets the soft memory limit of the Go runtime (GOMEMLIMIT). The limit is chosen
// at the start and then follows only the number of connections with a token, most of
// which are streams: a limit below what is in use would keep the collector busy for
// nothing.
type memory struct {
	base int64 // zero leaves the operator's own limit alone
	step atomic.Int64
}

// newMemory sets the limit and the rate of the collector for a program that has just
// started. If the operator has set GOMEMLIMIT or GOGC, that stays as it is.
func newMemory(synthetic bool) *memory {
	m := &memory{}
	// The rate can only be read by setting it. If it was not the default, it is set back.
	if old := debug.SetGCPercent(gcPercent); old != 100 {
		debug.SetGCPercent(old)
	}
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return m
	}
	// What is in use: indicators, fonts, and with --trade the books, which differ from one data
	// directory to the next. Some of it is garbage, at most half. To collect that first would
	// take a fifth of a start.
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.base = memoryBase + int64(tools.RenderBytes(runtime.GOMAXPROCS(0))) + int64(stats.HeapAlloc)
	if !synthetic {
		m.base += memorySource
	}
	debug.SetMemoryLimit(m.base)
	return m
}

// release lifts the limit again.
func (m *memory) release() {
	if m.base > 0 {
		debug.SetMemoryLimit(math.MaxInt64)
	}
}

// connections takes the number of connections with a token, and raises or lowers the
// limit when that number has reached another step.
func (m *memory) connections(n int) {
	if step := int64(n / memoryStep); m.base > 0 && m.step.Swap(step) != step {
		debug.SetMemoryLimit(m.base + step*memoryStep*memoryConn)
	}
}
