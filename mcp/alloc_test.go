//go:build !race

package mcp

import "testing"

// tools/list is what every client asks first, and a small call what it asks most:
// both must stay cheap. Under the race detector a pool drops what it is given at
// random, so that the number says nothing there.
func TestHandlerAllocations(t *testing.T) {
	for _, body := range []string{benchList, benchCall} {
		if n := testing.AllocsPerRun(100, benchPost(t, body, 100)); n > 12 {
			t.Errorf("%s: %v allocations, want at most 12", body, n)
		}
	}
}
