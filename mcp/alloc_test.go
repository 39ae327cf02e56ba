//go:build !race

package mcp

import "testing"

// tools/list is what every client asks first, and must stay cheap. Under the
// race detector a pool drops what it is given at random, so that the number
// says nothing there.
func TestToolsListAllocations(t *testing.T) {
	if n := testing.AllocsPerRun(100, benchPost(t, benchList, 100)); n > 12 {
		t.Errorf("%v allocations, want at most 12", n)
	}
}
