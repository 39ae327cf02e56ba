package server

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"

	"wick/mcp/tools"
)

// The goal is the charts' bound and the base until more than four fifths of that
// are in use; then it follows, always a quarter ahead.
func TestMemoryGoal(t *testing.T) {
	const picture = 4096*4096 + 740_000
	const reply = 740_000 + 986_668 // base64: four bytes for three
	if got, want := tools.RenderBytes(2), 2*(picture+2*reply); got != want {
		t.Errorf("charts on two processors hold %d bytes, want %d", got, want)
	}
	base := int64(tools.RenderBytes(2) + 48<<20)
	for used, want := range map[int]int64{
		0: base, memoryBase: base, int(base) * 4 / 5: base,
		200 << 20: 250 << 20, 1 << 30: 5 << 28,
	} {
		if got := memoryGoal(used, 2); got != want {
			t.Errorf("with %d in use the goal is %d, want %d", used, got, want)
		}
	}
}

// Memory in use is at least what the test holds, wherever it lies.
func TestMemoryUsed(t *testing.T) {
	runtime.GC()
	before := memoryUsed()
	held := make([]byte, 64<<20)
	runtime.GC()
	if got := memoryUsed() - before; got < 48<<20 || got > 80<<20 {
		t.Errorf("64 MiB more are counted as %d bytes", got)
	}
	runtime.KeepAlive(held)
}

// The limit stands while the server runs, is gone afterwards, and an operator's
// own is left alone.
func TestHoldMemory(t *testing.T) {
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		go holdMemory(ctx)
		synctest.Wait()
		if got := limit(); got < int64(tools.RenderBytes(runtime.GOMAXPROCS(0))) || got == math.MaxInt64 {
			t.Errorf("the limit is %d", got)
		}
		stop()
		synctest.Wait()
		if got := limit(); got != math.MaxInt64 {
			t.Errorf("afterwards the limit is %d", got)
		}
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
		if holdMemory(t.Context()); limit() != 1<<40 {
			t.Errorf("the operator's limit has become %d", limit())
		}
	})
}
