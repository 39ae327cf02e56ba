package server

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"wick/mcp/tools"
)

// TestMemoryLimit: the limit stands while the server runs and follows the
// number of streams; it is gone afterwards, and an operator's own stays as it is.
func TestMemoryLimit(t *testing.T) {
	const picture = 4096*4096 + 740_000
	const reply = 740_000 + 986_668 // base64: four bytes for three
	if got, want := tools.RenderBytes(2), 2*(picture+2*reply); got != want {
		t.Errorf("charts on two processors hold %d bytes, want %d", got, want)
	}
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	m := newMemory(true)
	base := limit()
	// 56 MiB of memoryBase beside the charts; a stream adds 32 KiB of memoryConn.
	least := int64(tools.RenderBytes(runtime.GOMAXPROCS(0)) + 56<<20)
	if base < least || base > least+100<<20 {
		t.Errorf("the limit is %d, want %d and what is in use", base, least)
	}
	for _, step := range []struct{ conns, want int64 }{{memoryStep - 1, 0}, {memoryStep, 8 << 20}, {10 * memoryStep, 80 << 20}, {3, 0}} {
		if m.connections(int(step.conns)); limit()-base != step.want {
			t.Errorf("with %d connections the limit is %d more, want %d", step.conns, limit()-base, step.want)
		}
	}
	if m.release(); limit() != math.MaxInt64 {
		t.Errorf("afterwards the limit is %d", limit())
	}
	if with, without := newMemory(false), base; with.base-without < memorySource-16<<20 {
		t.Errorf("a data service adds %d bytes, want %d", with.base-without, memorySource)
	} else {
		with.release()
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	m = newMemory(true)
	m.connections(10 * memoryStep)
	if m.release(); limit() != 1<<40 {
		t.Errorf("the operator's limit has become %d", limit())
	}
}
