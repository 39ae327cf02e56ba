package sse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// faultyClient is a subscriber on a bad network. It sees some of what is
// written to it, loses its connection without the server noticing, and comes
// back with the last event it saw.
type faultyClient struct {
	*client
	seen    []string // ids, over all streams
	counted int      // events of the current stream that are in seen
	ghosts  []*client
}

// see takes note of at most n further events of the current stream.
func (f *faultyClient) see(n int) {
	ids := strings.Fields(f.ids())[f.counted:]
	ids = ids[:min(n, len(ids))]
	f.seen = append(f.seen, ids...)
	f.counted += len(ids)
}

// reconnect gives the stream up and opens another. A client that has not seen
// any event has nothing to come back with, and what was written to a stream it
// gives up is lost to it; so it sees the first one, or stays until it is cut.
func (f *faultyClient) reconnect(t *testing.T, h *Hub) {
	last := ""
	if len(f.seen) == 0 {
		f.see(1)
	}
	if len(f.seen) > 0 {
		last = "alice-" + f.seen[len(f.seen)-1]
	} else if !f.ended() {
		return
	}
	f.ghosts = append(f.ghosts, f.client)
	f.client, f.counted = connect(t, h, "alice", last, time.Time{}), 0
}

// Whatever the network does, the client sees every event once, in order.
func TestReplayRandomly(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var h Hub
			h.Open("alice")
			f := &faultyClient{client: open(t, &h, "alice")}
			sent := uint64(0)
			resume := func() {}
			for range 60 {
				switch r.IntN(8) {
				case 0, 1, 2:
					n := uint64(1 + r.IntN(5))
					send(&h, sent+1, sent+n, "alice")
					sent += n
				case 3:
					f.see(1 + r.IntN(4))
				case 4:
					resume() // the one before
					resume = f.stall()
				case 5:
					resume()
					resume = func() {}
				case 6:
					f.reconnect(t, &h)
				case 7: // the server notices that a stream is dead
					if len(f.ghosts) > 0 {
						f.ghosts[r.IntN(len(f.ghosts))].breakConnection()
					}
				}
				if r.IntN(4) == 0 {
					time.Sleep(time.Duration(r.IntN(20)) * time.Second) // heartbeats, deadlines
				}
			}
			resume()
			if f.ended() {
				f.reconnect(t, &h) // cut for reading too slowly
			}
			f.see(int(sent))
			if f.ended() || f.err != nil {
				t.Fatalf("seed %d: the last stream ended: %v", seed, f.err)
			}
			if want := strings.Fields(span(1, int(sent))); !slices.Equal(f.seen, want) {
				t.Fatalf("seed %d: saw %v, want 1 to %d", seed, f.seen, sent)
			}
			h.Close()
			f.leave()
			for _, ghost := range f.ghosts {
				ghost.leave()
			}
			if n := h.Streams(); n != 0 || len(h.boxes) != 1 {
				t.Errorf("seed %d: %d streams and %s are left", seed, n, fmt.Sprint(h.boxes))
			}
		})
	}
}
