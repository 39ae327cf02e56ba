package sse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The head and the framing, byte for byte.
func TestStreamText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("alice")
		c := open(t, &h, "alice")
		defer c.leave()
		if got, want := c.read(), ": open\n\n"; got != want || c.status != http.StatusOK {
			t.Errorf("before any event: status %d, %q; want 200, %q", c.status, got, want)
		}
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Length": "",
		} {
			if got := c.header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		send(&h, 7, 7, "alice")
		want := ": open\n\nid: alice-7\nevent: message\ndata: {\"n\":7}\n\n"
		if got := c.read(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// What waits while nobody reads is delivered in order, in one write.
func TestQueueWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("alice")
		send(&h, 1, 3, "alice", "bob") // bob has no mailbox
		if got := h.Pending("alice"); got != 3 {
			t.Errorf("pending: %d, want 3", got)
		}
		if h.Connected("alice") || h.Pending("bob") != 0 {
			t.Error("alice counts as connected, or bob has a queue")
		}
		c := open(t, &h, "alice")
		c.want(t, "on connecting", "1 2 3")
		if c.writes != 2 { // the head, and all events together
			t.Errorf("%d writes, want 2", c.writes)
		}
		if h.Pending("alice") != 0 || !h.Connected("alice") || h.Streams() != 1 {
			t.Errorf("pending %d, connected %v, streams %d; want 0, true, 1", h.Pending("alice"), h.Connected("alice"), h.Streams())
		}
		c.leave()
		if h.Connected("alice") || h.Streams() != 0 {
			t.Error("still connected after leaving")
		}
		open(t, &h, "alice").leave()
		again := open(t, &h, "alice")
		again.want(t, "without Last-Event-ID", "")
		again.leave()
	})
}

// An entry lives an hour to the nanosecond, delivered or not.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dropped []uint64
		h := Hub{Dropped: func(_ string, seq uint64) { dropped = append(dropped, seq) }}
		h.Open("alice")
		send(&h, 1, 1, "alice")
		time.Sleep(time.Minute)
		send(&h, 2, 2, "alice")
		time.Sleep(QueueTTL - time.Minute - 1)
		if got := h.Pending("alice"); got != 2 {
			t.Errorf("a nanosecond before the hour: %d pending, want 2", got)
		}
		time.Sleep(time.Nanosecond)
		if got := h.Pending("alice"); got != 1 || !slices.Equal(dropped, []uint64{1}) {
			t.Errorf("after the hour: %d pending, dropped %v; want 1, [1]", got, dropped)
		}
		c := open(t, &h, "alice")
		c.want(t, "after the hour", "2")
		c.leave()
		time.Sleep(QueueTTL)
		late := connect(t, &h, "alice", "alice-1", time.Time{})
		late.want(t, "an hour after the delivery", "")
		late.leave()
		if len(dropped) != 1 {
			t.Errorf("dropped %v: an entry that was delivered is not dropped", dropped)
		}
	})
}

// Of 1,001 entries the oldest goes; so it does when a mailbox is full of bytes.
func TestCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dropped []uint64
		h := Hub{Dropped: func(_ string, seq uint64) { dropped = append(dropped, seq) }}
		h.Open("alice")
		send(&h, 1, QueueCap, "alice")
		if h.Pending("alice") != QueueCap || dropped != nil {
			t.Fatalf("%d pending, dropped %v; want 1000 and none", h.Pending("alice"), dropped)
		}
		send(&h, QueueCap+1, QueueCap+2, "alice")
		if h.Pending("alice") != QueueCap || !slices.Equal(dropped, []uint64{1, 2}) {
			t.Errorf("%d pending, dropped %v; want 1000, [1 2]", h.Pending("alice"), dropped)
		}
		c := open(t, &h, "alice")
		c.want(t, "all that is held", span(3, QueueCap+2))
		c.leave()

		h.Open("bob")
		big := []byte(strings.Repeat("x", QueueBytes/4))
		for seq := range uint64(5) {
			h.Send(Entry{Seq: 2000 + seq, Frame: big}, "bob")
		}
		b := open(t, &h, "bob")
		b.want(t, "four quarters of the bytes", "2001 2002 2003 2004")
		b.leave()
	})
}

// A stream says something every fifteen seconds, whatever else it says.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		c := open(t, &h, "alice")
		time.Sleep(heartbeat - 1)
		if got := c.read(); got != ": open\n\n" {
			t.Errorf("before fifteen seconds: %q", got)
		}
		time.Sleep(time.Nanosecond)
		if got := c.read(); got != ": open\n\n:\n\n" {
			t.Errorf("after fifteen seconds: %q", got)
		}
		time.Sleep(9 * heartbeat)
		if got := strings.Count(c.read(), "\n:\n"); got != 10 {
			t.Errorf("%d heartbeats in 150 s, want 10", got)
		}
		c.leave()
		// The next stream starts the clock again after a pause without any.
		time.Sleep(time.Hour)
		d := open(t, &h, "alice")
		time.Sleep(heartbeat)
		if got := d.read(); got != ": open\n\n:\n\n" {
			t.Errorf("after a pause: %q", got)
		}
		d.leave()
	})
}

// A stream ends with its token, within a heartbeat, and writes no event after.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("alice")
		const life = 7 * 24 * time.Hour
		c := connect(t, &h, "alice", "", time.Now().Add(life))
		time.Sleep(life - 1)
		send(&h, 1, 1, "alice")
		c.want(t, "before the end", "1")
		time.Sleep(time.Nanosecond)
		send(&h, 2, 2, "alice")
		c.want(t, "after the end", "1")
		if !c.ended() || c.err != nil || !strings.HasSuffix(c.read(), "retry: 2000\n\n") {
			t.Errorf("ended %v, error %v, text %q", c.ended(), c.err, c.read())
		}
		d := connect(t, &h, "alice", "", time.Now().Add(time.Second))
		d.want(t, "with another token", "2")
		time.Sleep(heartbeat)
		if !d.ended() {
			t.Error("an idle stream outlived its token by a heartbeat")
		}
	})
}

// Without a mailbox a stream is kept alive, and receives once there is one.
func TestStreamBeforeMailbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		c := connect(t, &h, "alice", "alice-3", time.Time{})
		send(&h, 1, 1, "alice")
		if got := c.read(); got != ": open\n\n" {
			t.Errorf("without a mailbox: %q", got)
		}
		h.Open("alice")
		send(&h, 2, 2, "alice")
		c.want(t, "with a mailbox", "2")
		h.Forget("alice")
		send(&h, 3, 3, "alice")
		c.want(t, "after Forget", "2")
		h.Open("alice")
		c.want(t, "opened again", "2")
		if h.Pending("alice") != 0 || c.ended() {
			t.Error("Forget kept entries, or ended the stream")
		}
		c.leave()
		h.Forget("alice")
		if len(h.boxes) != 0 {
			t.Errorf("%d boxes are left of nobody", len(h.boxes))
		}
	})
}

// Of two streams the newest gets all, and the older takes over from it: an
// event goes to one stream only.
func TestNewestReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("alice")
		older := open(t, &h, "alice")
		send(&h, 1, 2, "alice")
		synctest.Wait()
		newer := open(t, &h, "alice")
		send(&h, 3, 4, "alice")
		older.want(t, "the older", "1 2")
		newer.want(t, "the newer", "3 4")
		newer.leave()
		send(&h, 5, 5, "alice")
		older.want(t, "taking over", "1 2 5")
		older.leave()
	})
}

// A write that fails leaves its entries waiting, for whoever comes next.
func TestFailedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var delivered []uint64
		h := Hub{Delivered: func(_ string, seq uint64) { delivered = append(delivered, seq) }}
		h.Open("alice")
		older := open(t, &h, "alice")
		newer := open(t, &h, "alice")
		send(&h, 1, 1, "alice")
		synctest.Wait()
		newer.breakConnection()
		send(&h, 2, 3, "alice")
		newer.want(t, "the broken one", "1")
		if !newer.ended() || !errors.Is(newer.err, errBroken) {
			t.Errorf("ended %v with %v, want %v", newer.ended(), newer.err, errBroken)
		}
		older.want(t, "the one that took over", "2 3")
		// Two and three may have gone in one write or in two.
		if delivered[0] != 1 || delivered[len(delivered)-1] != 3 || slices.Contains(delivered[1:], 1) {
			t.Errorf("delivered %v", delivered)
		}
		older.leave()
	})
}

// After an abrupt end the client names what it saw last and gets the rest,
// once, in order, even while the server still believes in the old stream.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("alice")
		lost := open(t, &h, "alice")
		send(&h, 1, 5, "alice")
		lost.want(t, "written", "1 2 3 4 5")
		c := connect(t, &h, "alice", "alice-2", time.Time{})
		c.want(t, "after the second", "3 4 5")
		if !lost.ended() {
			t.Error("the stream that the client gave up is still open")
		}
		send(&h, 6, 6, "alice")
		c.want(t, "and on", "3 4 5 6")
		if strings.Contains(c.read(), "resumed-from") {
			t.Error("nothing was missing, but the stream says so")
		}
		c.leave()
		all := connect(t, &h, "alice", "alice-6", time.Time{})
		all.want(t, "after the last", "")
		all.leave()
	})
}

// A client gives a stream up while the server is still writing to it: what that
// write holds is not lost, even though it succeeds, for nobody reads it.
func TestReplayDuringWrite(t *testing.T) {
	for _, id := range []string{"alice-2", "alice-99"} { // one that is held, and one that is not
		synctest.Test(t, func(t *testing.T) {
			var delivered []uint64
			h := Hub{Delivered: func(_ string, seq uint64) { delivered = append(delivered, seq) }}
			h.Open("alice")
			lost := open(t, &h, "alice")
			send(&h, 1, 3, "alice")
			synctest.Wait()
			before := len(delivered)
			resume := lost.stall()
			send(&h, 4, 5, "alice")
			synctest.Wait()
			c := connect(t, &h, "alice", id, time.Time{})
			resume()
			want := "3 4 5"
			if id == "alice-99" {
				want = "1 2 3 4 5"
			}
			c.want(t, "after "+id, want)
			if len(delivered) != before+1 || h.Pending("alice") != 0 {
				t.Errorf("delivered %v, %d pending", delivered, h.Pending("alice"))
			}
			lost.leave()
			c.leave()
		})
	}
}

// A connection may die twice before the client sees another event. It names the
// same event both times, and what the second stream was given is not lost.
func TestReplayTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		at := time.Now()
		h.Restore("restored", []Entry{{1, at, []byte("{}")}, {2, at, []byte("{}")}}, 2)
		h.Open("live")
		open(t, &h, "live")
		send(&h, 1, 2, "live")
		synctest.Wait()
		for _, name := range []string{"live", "restored"} {
			second := connect(t, &h, name, "x-2", time.Time{})
			send(&h, 3, 4, name)
			second.want(t, name+", written to a dead connection", "3 4")
			third := connect(t, &h, name, "x-2", time.Time{})
			third.want(t, name+", come back", "3 4")
			if !second.ended() || third.ended() {
				t.Errorf("%s: ended %v, %v; want the second only", name, second.ended(), third.ended())
			}
		}
		h.Close()
	})
}

// Two clients on one token that saw the same event do not throw each other out.
func TestReplayOfTwoAtOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Restore("alice", []Entry{{1, time.Now(), []byte("{}")}}, 1)
		a := connect(t, &h, "alice", "alice-1", time.Time{})
		b := connect(t, &h, "alice", "alice-1", time.Time{})
		if a.ended() || b.ended() {
			t.Errorf("ended %v, %v; want both open", a.ended(), b.ended())
		}
		h.Close()
	})
}

// A client may see an event before the server knows that the write succeeded,
// or although it failed: it has seen all before it, too.
func TestReplaySeenBeforeTheWriteReturns(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var h Hub
			h.Open("alice")
			lost := open(t, &h, "alice")
			resume := lost.stall()
			send(&h, 1, 5, "alice")
			synctest.Wait()
			if fails {
				lost.breakConnection()
				resume()
				<-lost.done
			}
			c := connect(t, &h, "alice", "alice-1", time.Time{})
			c.want(t, "after the first", "2 3 4 5")
			if !fails {
				resume()
			}
			if !lost.ended() {
				t.Error("the stream that the client gave up is still open")
			}
			send(&h, 6, 6, "alice")
			c.want(t, "and on", "2 3 4 5 6")
			c.leave()
		})
	}
}

// An id that is not held: everything that is, and a word that there is a gap.
func TestReplayUnknown(t *testing.T) {
	for _, id := range []string{"alice-99", "alice-", "-", "nonsense", "alice--1", "alice-1e3", "alice-99999999999999999999", "3"} {
		synctest.Test(t, func(t *testing.T) {
			var h Hub
			h.Open("alice")
			send(&h, 10, 12, "alice")
			open(t, &h, "alice").leave()
			c := connect(t, &h, "alice", id, time.Time{})
			c.want(t, id, "10 11 12")
			if !strings.HasPrefix(c.read(), ": open\n\n: resumed-from earliest\n\n") {
				t.Errorf("%q: %q", id, c.read())
			}
			c.leave()
		})
	}
}

// What an open stream was given is not given to another one that comes back:
// mcp-remote holds two streams of one token.
func TestReplayLeavesOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("alice")
		first := open(t, &h, "alice")
		send(&h, 1, 2, "alice")
		first.want(t, "the first", "1 2")
		second := open(t, &h, "alice")
		send(&h, 3, 4, "alice")
		second.want(t, "the second", "3 4")
		first.leave()
		back := connect(t, &h, "alice", "alice-1", time.Time{})
		back.want(t, "the first, come back after 1", "2")
		send(&h, 5, 5, "alice")
		back.want(t, "now the newest", "2 5")
		second.want(t, "the second", "3 4")
		second.leave()
		back.leave()
	})
}

// A stream more than a name may have ends the oldest, so that connections
// which died unnoticed keep nobody out.
func TestMaxPerName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("alice")
		var all []*client
		for range MaxPerName {
			all = append(all, open(t, &h, "alice"))
		}
		if all[0].ended() {
			t.Fatal("the fourth stream ended the first")
		}
		all = append(all, open(t, &h, "alice"))
		if !all[0].ended() || all[1].ended() || h.Streams() != MaxPerName {
			t.Errorf("ended %v %v, %d streams; want true false, 4", all[0].ended(), all[1].ended(), h.Streams())
		}
		for _, c := range all {
			c.leave()
		}
	})
}

// Past MaxStreams a stream is refused with 503 and Retry-After.
func TestMaxStreams(t *testing.T) {
	full := Hub{streams: 16384}
	if _, err := full.attach("a", "", nil); !errors.Is(err, ErrTooMany) {
		t.Errorf("when not told, stream 16385: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		h := Hub{MaxStreams: 2}
		a, b := open(t, &h, "a"), open(t, &h, "b")
		c := open(t, &h, "c")
		if !c.ended() || !errors.Is(c.err, ErrTooMany) || c.status != http.StatusServiceUnavailable || c.header.Get("Retry-After") == "" {
			t.Errorf("third stream: error %v, status %d, header %v", c.err, c.status, c.header)
		}
		a.leave()
		d := open(t, &h, "d")
		if d.ended() {
			t.Error("a place that became free was not given")
		}
		b.leave()
		d.leave()
	})
}

// A client that is gone before its head could be written leaves nothing behind.
func TestHeadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		c := &client{header: make(http.Header), moved: make(chan struct{}), broken: true}
		if err := h.Serve(c, request(t.Context(), ""), "alice", time.Time{}); !errors.Is(err, errBroken) {
			t.Errorf("error %v, want %v", err, errBroken)
		}
		if h.Streams() != 0 || h.Connected("alice") || len(h.boxes) != 0 {
			t.Errorf("%d streams and %d boxes are left", h.Streams(), len(h.boxes))
		}
	})
}

// Close sends every stream home, and nobody in; queues stay.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("alice")
		idle := open(t, &h, "alice")
		stuck := open(t, &h, "bob")
		h.Open("bob")
		stuck.stall()
		send(&h, 1, 1, "bob")
		start := time.Now()
		h.Close()
		<-idle.done
		<-stuck.done
		if waited := time.Since(start); waited > 2*farewellTimeout {
			t.Errorf("a stuck client held the shutdown for %v", waited)
		}
		if got := idle.read(); got != ": open\n\nretry: 2000\n\n" {
			t.Errorf("goodbye: %q", got)
		}
		if late := open(t, &h, "alice"); !errors.Is(late.err, ErrClosed) || late.status != http.StatusServiceUnavailable {
			t.Errorf("after Close: %v, status %d", late.err, late.status)
		}
		if h.Pending("bob") != 1 {
			t.Errorf("%d pending, want 1: the write failed", h.Pending("bob"))
		}
		h.Close() // a second one has nothing to do
	})
}

// A client that does not read is cut after the deadline; its entry waits on,
// and nobody else has noticed.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("slow")
		h.Open("quick")
		slow, quick := open(t, &h, "slow"), open(t, &h, "quick")
		slow.stall()
		start := time.Now()
		send(&h, 1, 3, "slow", "quick")
		quick.want(t, "beside a slow one", "1 2 3")
		if time.Since(start) != 0 {
			t.Error("the quick client had to wait")
		}
		<-slow.done
		if took := time.Since(start); took != writeTimeout || !errors.Is(slow.err, os.ErrDeadlineExceeded) {
			t.Errorf("cut after %v with %v, want %v and a deadline", took, slow.err, writeTimeout)
		}
		if got := h.Pending("slow"); got != 3 {
			t.Errorf("%d pending, want 3", got)
		}
		quick.leave()
	})
}

// A newer stream waits for a write that is under way: neither may both be
// given an event nor may a later one overtake it.
func TestNoOvertaking(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var h Hub
			h.Open("alice")
			older := open(t, &h, "alice")
			resume := older.stall()
			send(&h, 1, 1, "alice")
			synctest.Wait()
			newer := open(t, &h, "alice")
			send(&h, 2, 2, "alice")
			newer.want(t, "while the older writes", "")
			if fails {
				older.breakConnection()
			}
			resume()
			if fails {
				newer.want(t, "after the older failed", "1 2")
			} else {
				older.want(t, "the older", "1")
				newer.want(t, "the newer", "2")
			}
			newer.leave()
			older.leave()
		})
	}
}

// A mailbox that changes its owner keeps its entries, their ids and their
// state; two that meet become one in order.
func TestMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("old")
		send(&h, 1, 2, "old")
		open(t, &h, "old").leave()
		send(&h, 3, 3, "old")
		c := open(t, &h, "new")
		h.Move("old", "new")
		c.want(t, "what waited", "3")
		if !strings.Contains(c.read(), "id: old-3\n") {
			t.Errorf("the event has another id: %q", c.read())
		}
		c.leave()
		back := connect(t, &h, "new", "old-1", time.Time{})
		back.want(t, "by an id of before", "2 3")
		back.leave()
		if h.lookup("old") != nil {
			t.Error("the old box is still there")
		}
		h.Open("other")
		send(&h, 4, 4, "new")
		send(&h, 5, 5, "other")
		send(&h, 6, 6, "new")
		h.Move("new", "other")
		h.Move("other", "other")
		h.Move("nobody", "other")
		d := open(t, &h, "other")
		d.want(t, "merged", "4 5 6")
		d.leave()
		h.Move("nobody", "fresh")
		e := open(t, &h, "stream-only")
		h.Move("stream-only", "fresh")
		if h.lookup("fresh") != nil {
			t.Error("a mailbox was made of nothing")
		}
		e.leave()
	})
}

// After a restart the journal's entries are back: those delivered can be asked
// for again, the others wait, those too old are gone.
func TestRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dropped []string
		h := Hub{Dropped: func(name string, seq uint64) { dropped = append(dropped, fmt.Sprint(name, seq)) }}
		var entries []Entry
		for seq := range uint64(5) {
			entries = append(entries, Entry{Seq: seq, At: time.Now().Add(-QueueTTL + time.Duration(seq)), Frame: []byte("{}")})
		}
		h.Restore("alice", entries, 2)
		if got := h.Pending("alice"); got != 2 || dropped != nil {
			t.Errorf("%d pending, dropped %v; want 2: the fourth and the fifth", got, dropped)
		}
		h.Restore("alice", entries, 2) // again: nothing is doubled
		c := connect(t, &h, "alice", "alice-1", time.Time{})
		c.want(t, "after the second", "2 3 4")
		c.leave()

		h.Restore("bob", entries[:1], 0)
		h.Restore("carol", []Entry{{Seq: 9, At: time.Now().Add(-2 * QueueTTL), Frame: []byte("{}")}}, 0)
		if !slices.Equal(dropped, []string{"carol9"}) {
			t.Errorf("dropped %v, want carol9: it aged while the server was down, bob's was delivered", dropped)
		}
	})
}

// An entry that comes twice is held once; one that comes late is put in its
// place.
func TestSendOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("alice")
		for _, seq := range []uint64{5, 3, 5, 4, 3} {
			send(&h, seq, seq, "alice")
		}
		c := open(t, &h, "alice")
		c.want(t, "sorted", "3 4 5")
		send(&h, 1, 1, "alice")
		c.want(t, "late", "3 4 5 1")
		send(&h, 3, 5, "alice")
		c.want(t, "repeated", "3 4 5 1")
		c.leave()
	})
}

// Large entries go out in several writes, so that each can keep its deadline.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("alice")
		frame := []byte(strings.Repeat("x", maxBatch/2))
		for seq := range uint64(6) {
			h.Send(Entry{Seq: seq, Frame: frame}, "alice")
		}
		h.Send(Entry{Seq: 6, Frame: []byte(strings.Repeat("y", 3*maxBatch))}, "alice")
		c := open(t, &h, "alice")
		c.want(t, "all", span(0, 6))
		if c.writes != 1+3+1 {
			t.Errorf("%d writes, want the head, three of two frames, and the large one", c.writes)
		}
		c.leave()
	})
}

// Deliver is the same stream for a writer that is no connection.
func TestDeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hub
		h.Open("stdio")
		send(&h, 1, 2, "stdio")
		var got []string
		full := errors.New("full")
		done := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		deliver := func(most int) {
			done <- h.Deliver(ctx, "stdio", func(id string, frame []byte) error {
				if len(got) == most {
					return full
				}
				got = append(got, id+" "+string(frame))
				return nil
			})
		}
		go deliver(3)
		synctest.Wait()
		time.Sleep(time.Minute) // heartbeats write nothing here
		send(&h, 3, 4, "stdio")
		if err := <-done; err != full {
			t.Errorf("error %v, want the writer's", err)
		}
		if got, want := strings.Join(got, ", "), `stdio-1 {"n":1}, stdio-2 {"n":2}, stdio-3 {"n":3}`; got != want || h.Pending("stdio") != 1 {
			t.Errorf("got %s, pending %d; want %s, 1", got, h.Pending("stdio"), want)
		}
		go deliver(9)
		synctest.Wait()
		cancel()
		if err := <-done; err != nil || len(got) != 4 {
			t.Errorf("error %v, got %q", err, got)
		}
		h.Close()
		if err := h.Deliver(t.Context(), "stdio", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// Broken promises of the caller panic instead of breaking the framing.
func TestPanics(t *testing.T) {
	for name, f := range map[string]func(*Hub){
		"empty name":         func(h *Hub) { h.Open("") },
		"name with newline":  func(h *Hub) { h.Open("a\nid: 1") },
		"name with blank":    func(h *Hub) { h.Open("a b") },
		"frame with newline": func(h *Hub) { h.Send(Entry{Frame: []byte("a\n\nb")}, "a") },
		"frame with CR":      func(h *Hub) { h.Send(Entry{Frame: []byte("a\rb")}, "a") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f(new(Hub))
		}()
	}
}

// Ten thousand streams at once: one entry reaches each of them once, and one
// that does not read changes nothing for the others.
func TestTenThousandStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const streams = 10_000
		var h Hub
		names := make([]string, streams)
		clients := make([]*client, streams)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range streams {
			names[i] = fmt.Sprint("subscriber", i)
			h.Open(names[i])
			c := &client{header: make(http.Header), done: make(chan struct{}), moved: make(chan struct{})}
			clients[i] = c
			go func() {
				defer close(c.done)
				c.err = h.Serve(c, request(ctx, ""), names[i], time.Time{})
			}()
		}
		synctest.Wait()
		clients[0].stall()
		start := time.Now()
		send(&h, 1, 1, names...)
		synctest.Wait()
		for _, c := range clients[1:] {
			if got, want := c.text.String(), "data: {\"n\":1}\n\n"; strings.Count(got, "data:") != 1 || !strings.HasSuffix(got, want) {
				t.Fatalf("received %q", got)
			}
		}
		if time.Since(start) != 0 || h.Streams() != streams {
			t.Errorf("after %v, %d streams", time.Since(start), h.Streams())
		}
		cancel()
		for _, c := range clients {
			<-c.done
		}
	})
}

// TestWaiting: the sum over all names of what no stream has been given.
func TestWaiting(t *testing.T) {
	var h Hub
	for _, name := range []string{"a", "b"} {
		h.Open(name)
	}
	h.Send(Entry{Seq: 1, Frame: []byte("1")}, "a", "b")
	h.Send(Entry{Seq: 2, Frame: []byte("2")}, "a")
	if n := h.Waiting(); n != 3 {
		t.Errorf("%d entries wait, want 3", n)
	}
	h.Forget("a")
	if n := h.Waiting(); n != 1 {
		t.Errorf("%d entries wait after one name was forgotten, want 1", n)
	}
}

// A mailbox may go while its entry is being written: the stream goes on.
func TestForgetWhileWriting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{}
		h.Open("alice")
		c := open(t, h, "alice")
		defer c.leave()
		resume := c.stall()
		send(h, 1, 1, "alice")
		synctest.Wait()
		h.Forget("alice")
		h.Open("alice")
		resume()
		send(h, 2, 2, "alice")
		c.want(t, "over both mailboxes", "1 2")
	})
}
