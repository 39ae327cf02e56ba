package sse

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestReplay: after an abrupt end the client names what it saw last and gets
// the rest, once, in order, even while the server still believes in the old
// stream.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		lost := open(t, h, "alice")
		fire(t, h, 1, 5, "alice")
		lost.want(t, "written", "1 2 3 4 5")
		c := connect(t, h, "alice", "alice-2", time.Time{})
		c.want(t, "after the second", "3 4 5")
		if !lost.Ended() {
			t.Error("the stream that the client gave up is still open")
		}
		fire(t, h, 6, 6, "alice")
		c.want(t, "and on", "3 4 5 6")
		c.Leave()
		all := connect(t, h, "alice", "alice-6", time.Time{})
		all.want(t, "after the last", "")
		all.Leave()
	})
}

// TestReplayDuringWrite: a client gives up a stream while the server is still writing to
// it. The write succeeds although nobody reads it; its events are sent again.
func TestReplayDuringWrite(t *testing.T) {
	for id, want := range map[string]string{"alice-2": "3 4 5", "alice-99": "1 2 3 4 5"} { // one that is held, and one that is not
		synctest.Test(t, func(t *testing.T) {
			h := newHub(t, "alice")
			lost := open(t, h, "alice")
			fire(t, h, 1, 3, "alice")
			synctest.Wait()
			resume := lost.Stall()
			fire(t, h, 4, 5, "alice")
			synctest.Wait()
			c := connect(t, h, "alice", id, time.Time{})
			resume()
			c.want(t, "after "+id, want)
			if n := waiting(h, "alice"); n != 0 {
				t.Errorf("%d wait", n)
			}
			lost.Leave()
			c.Leave()
		})
	}
}

// TestReplayTwice: a connection may die twice before the client sees another
// event. It names the same event both times, and what the second stream was
// given is not lost. The same after a restart, when nobody knows which stream
// brought the event.
func TestReplayTwice(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHub(t, "alice")
			first := open(t, h, "alice")
			fire(t, h, 1, 2, "alice")
			synctest.Wait()
			time.Sleep(2 * time.Second)
			tidy(t, h)
			if restarted {
				h.Close()
				h = restart(t, h)
			}
			second := connect(t, h, "alice", "alice-2", time.Time{})
			fire(t, h, 3, 4, "alice")
			second.want(t, "written to a dead connection", "3 4")
			third := connect(t, h, "alice", "alice-2", time.Time{})
			third.want(t, "come back", "3 4")
			if !second.Ended() || third.Ended() {
				t.Errorf("ended %v, %v; want the second only", second.Ended(), third.Ended())
			}
			h.Close()
			first.Leave()
			third.Leave()
		})
	}
}

// TestReplayOfTwoAtOnePlace: two clients on one token that saw the same event last do not
// end each other's streams.
func TestReplayOfTwoAtOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		fire(t, h, 1, 1, "alice")
		open(t, h, "alice").Leave()
		a := connect(t, h, "alice", "alice-1", time.Time{})
		b := connect(t, h, "alice", "alice-1", time.Time{})
		if a.Ended() || b.Ended() {
			t.Errorf("ended %v, %v; want both open", a.Ended(), b.Ended())
		}
		h.Close()
	})
}

// TestReplaySeenBeforeTheWriteReturns: a client may see an event before the server knows
// that the write succeeded, or although it failed. It has then seen all events before
// that one, too.
func TestReplaySeenBeforeTheWriteReturns(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHub(t, "alice")
			lost := open(t, h, "alice")
			resume := lost.Stall()
			fire(t, h, 1, 5, "alice")
			synctest.Wait()
			if fails {
				lost.Break()
				resume()
				<-lost.Done
			}
			c := connect(t, h, "alice", "alice-1", time.Time{})
			c.want(t, "after the first", "2 3 4 5")
			if !fails {
				resume()
			}
			if !lost.Ended() {
				t.Error("the stream that the client gave up is still open")
			}
			fire(t, h, 6, 6, "alice")
			c.want(t, "and on", "2 3 4 5 6")
			c.Leave()
		})
	}
}

// TestReplayUnknown: for an event that the queue does not hold, the client gets
// everything that it holds.
func TestReplayUnknown(t *testing.T) {
	for _, id := range []string{"alice-99", "alice-", "-", "nonsense", "alice--1", "alice-1e3", "alice-99999999999999999999", "11", "bob-11", "alice-011"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHub(t, "alice")
			fire(t, h, 10, 12, "alice")
			open(t, h, "alice").Leave()
			c := connect(t, h, "alice", id, time.Time{})
			c.want(t, id, "10 11 12")
			c.Leave()
		})
	}
}

// TestReplayLeavesOthersAlone: what an open stream was given is not given to
// another one that comes back: mcp-remote holds two streams of one token.
func TestReplayLeavesOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		first := open(t, h, "alice")
		fire(t, h, 1, 2, "alice")
		first.want(t, "the first", "1 2")
		second := open(t, h, "alice")
		fire(t, h, 3, 4, "alice")
		second.want(t, "the second", "3 4")
		first.Leave()
		back := connect(t, h, "alice", "alice-1", time.Time{})
		back.want(t, "the first, come back after 1", "2")
		fire(t, h, 5, 5, "alice")
		back.want(t, "now the newest", "2 5")
		second.want(t, "the second", "3 4")
		second.Leave()
		back.Leave()
	})
}

// TestSettled: what was written counts as delivered when its stream has stayed
// open for another second, and not before.
func TestSettled(t *testing.T) {
	for _, c := range []struct {
		name  string
		stays time.Duration // how long the stream stays open after the write
		later time.Duration // when the marks are taken, after that
		again string        // what comes after a restart, without Last-Event-ID
	}{
		{"open for almost a second", settleAfter - 1, 0, "1 2"},
		{"open for a second", settleAfter, 0, ""},
		{"closed too early", settleAfter - 1, time.Minute, "1 2"},
		{"closed after a second, marks only then", settleAfter, time.Minute, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHub(t, "alice")
			s := open(t, h, "alice")
			fire(t, h, 1, 2, "alice")
			s.want(t, c.name, "1 2")
			time.Sleep(c.stays)
			if c.later > 0 {
				s.Leave()
				time.Sleep(c.later)
			}
			tidy(t, h)
			s.Leave()
			h = restart(t, h)
			again := open(t, h, "alice")
			again.want(t, c.name+", after the restart", c.again)
			again.Leave()
			named := connect(t, h, "alice", "alice-1", time.Time{})
			named.want(t, c.name+", with Last-Event-ID", "2")
			named.Leave()
		})
	}
}

// TestSettledAfterEarlyEnd: entries of a stream that ended too early do not hold back the
// mark for ever: once later entries have settled, these count as delivered, too.
func TestSettledAfterEarlyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		short := open(t, h, "alice")
		fire(t, h, 1, 1, "alice")
		synctest.Wait()
		short.Leave()
		long := open(t, h, "alice")
		fire(t, h, 2, 3, "alice")
		synctest.Wait()
		time.Sleep(time.Second)
		fire(t, h, 4, 4, "alice")
		synctest.Wait()
		if got := h.Settled(10); len(got) != 1 || got["alice"] != 3 {
			t.Errorf("settled %v, want alice up to 3", got)
		}
		if got := h.Settled(0); len(got) != 0 {
			t.Errorf("settled %v, though none was asked for", got)
		}
		tidy(t, h)
		if got := h.Settled(10); len(got) != 0 {
			t.Errorf("settled %v, all of which the book knows", got)
		}
		long.Leave()
	})
}

// TestFrozenReader: a client whose machine sleeps takes what is written into
// its socket for a while. Whatever the server believes to have delivered, and
// however it stops, with Last-Event-ID the client gets exactly what it missed.
func TestFrozenReader(t *testing.T) {
	for _, stop := range []string{"none", "clean", "crash"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHub(t, "alice")
			asleep := open(t, h, "alice")
			fire(t, h, 1, 1, "alice") // the last that it sees
			synctest.Wait()
			fire(t, h, 2, 6, "alice")
			for range 45 {
				time.Sleep(time.Second)
				tidy(t, h)
			}
			switch stop {
			case "clean":
				<-h.Close()
				tidy(t, h)
				h = restart(t, h)
			case "crash": // the marks of the last second are lost
				fire(t, h, 7, 7, "alice")
				synctest.Wait()
				h = restart(t, h)
			}
			want := "2 3 4 5 6"
			if stop == "crash" {
				want += " 7"
			}
			awake := connect(t, h, "alice", "alice-1", time.Time{})
			awake.want(t, stop, want)
			awake.Leave()
			asleep.Leave()
		})
	}
}

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

// reconnect gives the stream up and opens another. A client that has seen no event cannot
// name one when it comes back, and would lose what was written to the stream. So it first
// sees one event, or stays until the stream is cut.
func (f *faultyClient) reconnect(t *testing.T, h *Hub) {
	last := ""
	if len(f.seen) == 0 {
		f.see(1)
	}
	if len(f.seen) > 0 {
		last = "alice-" + f.seen[len(f.seen)-1]
	} else if !f.Ended() {
		return
	}
	f.ghosts = append(f.ghosts, f.client)
	f.client, f.counted = connect(t, h, "alice", last, time.Time{}), 0
}

// TestReplayRandomly: whatever the network does, and however often the server
// stops, cleanly or by a crash, the client sees every event once, in order.
func TestReplayRandomly(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { replayRandomly(t, seed) })
	}
}

func replayRandomly(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	h := newHub(t, "alice")
	f := &faultyClient{client: open(t, h, "alice")}
	sent := uint64(0)
	resume := func() {}
	for range 60 {
		switch r.IntN(9) {
		case 0, 1, 2:
			n := uint64(1 + r.IntN(5))
			fire(t, h, sent+1, sent+n, "alice")
			sent += n
		case 3:
			f.see(1 + r.IntN(4))
		case 4:
			resume() // the one before
			resume = f.Stall()
		case 5:
			resume()
			resume = func() {}
		case 6:
			f.reconnect(t, h)
		case 7: // the server notices that a stream is dead
			if len(f.ghosts) > 0 {
				f.ghosts[r.IntN(len(f.ghosts))].Break()
			}
		case 8:
			if f.see(1); len(f.seen) == 0 {
				continue
			}
			old := h
			if r.IntN(2) == 0 {
				<-h.Close()
				tidy(t, h)
			}
			h = restart(t, h)
			old.Close()
			f.reconnect(t, h)
		}
		if r.IntN(4) == 0 {
			time.Sleep(time.Duration(r.IntN(20)) * time.Second) // heartbeats, deadlines
			tidy(t, h)
		}
	}
	resume()
	if f.Ended() {
		f.reconnect(t, h) // cut off for reading too slowly
	}
	f.see(int(sent))
	if f.Ended() || f.Err != nil {
		t.Fatalf("seed %d: the last stream ended: %v", seed, f.Err)
	}
	if want := strings.Fields(span(1, int(sent))); !slices.Equal(f.seen, want) {
		t.Fatalf("seed %d: saw %v, want 1 to %d", seed, f.seen, sent)
	}
	h.Close()
	f.Leave()
	for _, ghost := range f.ghosts {
		ghost.Leave()
	}
	if left := h.streams["alice"]; h.open != 0 || len(left) != 0 {
		t.Errorf("seed %d: %d streams and %v are left", seed, h.open, left)
	}
	if apply(t, h, Record{Unsubscribed: "alice"}); len(h.streams) != 0 {
		t.Errorf("seed %d: without stream and subscription, %v are left", seed, h.streams)
	}
}

// FuzzLastEventID: Last-Event-ID is a stranger's text; whatever it is, what
// waits afterwards is the end of what is held: everything, or exactly what follows an event
// that is held.
func FuzzLastEventID(f *testing.F) {
	for _, id := range []string{"", "alice-5", "bob-5", "-5", "5", "alice-", "alice--5", "alice-05", "alice-+5", "alice-5 ", "a\nid: 1-5", "alice-18446744073709551615", "-18446744073709551616"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		b := NewBook()
		b.Apply(made("alice", "alice", time.Now()))
		for seq := uint64(3); seq <= 9; seq += 2 {
			b.Apply(fired(seq, time.Now(), "alice"))
		}
		b.Apply(Record{At: time.Now(), Marks: map[string]uint64{"alice": 9}})
		q := b.queues["alice"]
		q.resume(id, &stream{chain: 1}, nil, time.Now())
		var waiting []uint64
		for _, e := range q.waits(time.Now(), nil) {
			waiting = append(waiting, e.Seq)
		}
		if len(waiting) != q.waiting {
			t.Fatalf("%q: %d wait, %d are taken", id, q.waiting, len(waiting))
		}
		at := slices.Index([]string{"alice-3", "alice-5", "alice-7", "alice-9"}, id)
		if !slices.Equal(waiting, []uint64{3, 5, 7, 9}[at+1:]) {
			t.Fatalf("%q: %v wait", id, waiting)
		}
	})
}
