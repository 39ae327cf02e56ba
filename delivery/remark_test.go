package delivery

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// remarksIn returns the remarks that a client got, in order.
func remarksIn(c *client) (lines []string) {
	for line := range strings.Lines(c.Read()) {
		if data, ok := strings.CutPrefix(line, "data: remark "); ok {
			lines = append(lines, strings.TrimSpace(data))
		}
	}
	return lines
}

// A remark goes to the newest stream of its caller, or waits for the next one;
// of a kind only the newest waits, and it has no id that a client would resume
// from.
func TestTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		tell := func(key string, n int) { h.Tell("alice", key, fmt.Appendf(nil, "remark %s%d", key, n)) }
		want := func(c *client, want string) {
			t.Helper()
			synctest.Wait()
			if got := strings.Join(remarksIn(c), " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		tell("a", 1)
		tell("b", 1)
		tell("a", 2)
		first := open(t, h, "alice")
		want(first, "b1 a2")
		second := open(t, h, "alice")
		tell("a", 3)
		want(second, "a3")
		want(first, "b1 a2")
		fire(t, h, 1, 2, "alice")
		tell("a", 4)
		want(second, "a3 a4")
		second.want(t, "alerts beside remarks", "1 2")
		h.Tell("bob", "a", []byte("remark for bob"))
		want(second, "a3 a4")

		// What could not be written waits for the stream that is left.
		second.Break()
		tell("a", 5)
		want(first, "b1 a2 a5")
		first.Leave()

		// A caller that never listens does not fill memory.
		for i := range 2 * maxRemarks {
			tell("k", i)
			tell(fmt.Sprint("k", i), 0)
		}
		if n := len(h.remarks["alice"]); n != maxRemarks {
			t.Errorf("%d remarks wait", n)
		}
		h.Revoke("alice")
		if n := len(h.remarks["alice"]); n != 0 {
			t.Errorf("%d remarks wait for a revoked token", n)
		}
	})
}

// Many callers that never open a stream do not fill memory either, and others still get
// their remarks: those of the caller whose newest remark is oldest are dropped.
func TestTellBound(t *testing.T) {
	h := newHub(t)
	for i := range maxRemarked + 10 {
		h.Tell(fmt.Sprint("caller", i), "a", []byte("remark"))
		h.Tell("caller0", "a", []byte("remark"))
	}
	if n := len(h.remarks); n != maxRemarked {
		t.Errorf("remarks wait for %d", n)
	}
	for i, want := range map[int]int{0: 1, 1: 0, 10: 0, 11: 1, maxRemarked + 9: 1} {
		if n := len(h.remarks[fmt.Sprint("caller", i)]); n != want {
			t.Errorf("%d remarks wait for caller %d, want %d", n, i, want)
		}
	}
}
