package sse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wick/sse/ssetest"
)

// TestQueueWhileAway: what waits while nobody reads is delivered in order, in
// one write, and not again.
func TestQueueWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		fire(t, h, 1, 3, "alice")
		if s, n, connected := h.Status("alice"); s == nil || n != 3 || connected {
			t.Errorf("status %v, %d, %v; want 3 waiting, not connected", s, n, connected)
		}
		if s, n, connected := h.Status("bob"); s != nil || n != 0 || connected {
			t.Errorf("bob, who has no subscription: %v, %d, %v", s, n, connected)
		}
		c := open(t, h, "alice")
		c.want(t, "on connecting", "1 2 3")
		if got, want := c.Read(), "id: alice-3\nevent: message\ndata: {\"n\":3}\n\n"; !strings.HasSuffix(got, want) || c.Writes != 2 {
			t.Errorf("%d writes, %q; want the head, and all events together", c.Writes, got)
		}
		if _, n, connected := h.Status("alice"); n != 0 || !connected {
			t.Errorf("%d waiting, connected %v; want 0, true", n, connected)
		}
		c.Leave()
		again := open(t, h, "alice")
		again.want(t, "without Last-Event-ID", "")
		again.Leave()
		if subs, streams, n := h.Stats(); subs != 1 || streams != 0 || n != 0 {
			t.Errorf("%d subscriptions, %d streams, %d waiting at the end", subs, streams, n)
		}
	})
}

// TestGoneClient: once a client has closed its connection nothing more is written to it.
// Such a write could succeed and be lost; the entries wait for the client's next stream.
func TestGoneClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		c := open(t, h, "alice")
		resume := c.Stall()
		long := strings.Repeat("x", 40<<10) // of which one write takes one
		for seq := range uint64(3) {
			apply(t, h, Record{Fired: &Entry{Seq: seq + 1, At: time.Now(), Note: long}, To: []string{"alice"}})
		}
		synctest.Wait()
		c.Cancel()
		synctest.Wait()
		resume()
		<-c.Done
		c.want(t, "the write that was under way", "1")
		open(t, h, "alice").want(t, "the next stream", "2 3")
	})
}

// TestAge: an entry lives an hour to the nanosecond, delivered or not.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		fire(t, h, 1, 1, "alice")
		time.Sleep(time.Minute)
		fire(t, h, 2, 2, "alice")
		time.Sleep(QueueTTL - time.Minute - 1)
		if got := waiting(h, "alice"); got != 2 {
			t.Errorf("a nanosecond before the hour: %d wait, want 2", got)
		}
		time.Sleep(time.Nanosecond)
		if got := waiting(h, "alice"); got != 1 {
			t.Errorf("after the hour: %d wait, want 1", got)
		}
		c := open(t, h, "alice")
		c.want(t, "after the hour", "2")
		c.Leave()
		time.Sleep(QueueTTL)
		late := connect(t, h, "alice", "alice-1", time.Time{})
		late.want(t, "an hour after the delivery", "")
		late.Leave()
		apply(t, h, Record{}) // a record without any part removes what is old
		if n := len(h.book.queues["alice"].entries); n != 0 {
			t.Errorf("%d entries are kept", n)
		}
	})
}

// TestCapacity: of 1,001 entries the oldest goes, and what was delivered makes
// room for what was not.
func TestCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		fire(t, h, 1, 1000, "alice")
		if n := waiting(h, "alice"); n != 1000 {
			t.Fatalf("%d wait, want 1000", n)
		}
		fire(t, h, 1001, 1002, "alice")
		c := open(t, h, "alice")
		c.want(t, "all that is held", span(3, 1002))
		c.Leave()
		fire(t, h, 1003, 2002, "alice")
		if n := waiting(h, "alice"); n != 1000 {
			t.Errorf("%d wait after a thousand were delivered, want 1000", n)
		}
	})
}

// TestExpiry: a stream ends with its token and writes no event after.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		const life = 7 * 24 * time.Hour
		c := connect(t, h, "alice", "", time.Now().Add(life))
		time.Sleep(life - 1)
		fire(t, h, 1, 1, "alice")
		c.want(t, "before the end", "1")
		time.Sleep(time.Nanosecond)
		fire(t, h, 2, 2, "alice")
		c.want(t, "after the end", "1")
		if !c.Ended() || c.Err != nil || !strings.HasSuffix(c.Read(), "retry: 2000\n\n") {
			t.Errorf("ended %v, error %v, text %q", c.Ended(), c.Err, c.Read())
		}
	})
}

// TestNewToken: a stream that ends with its token leaves the queue to the next token.
func TestNewToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice", "bob")
		a, b := open(t, h, "alice"), open(t, h, "bob")
		a.Leave()
		fire(t, h, 1, 1, "alice")
		ended, end := context.WithCancel(t.Context())
		end()
		late := &client{ssetest.New()}
		err := h.Serve(late, request(ended, ""), Caller{ID: "alice"}, nil)
		if got := late.Read(); err != nil || strings.Contains(got, "data:") || !strings.HasSuffix(got, "retry: 2000\n\n") {
			t.Errorf("a token that is revoked while its stream is opened: %v, %q", err, got)
		}
		subscribe(t, h, "alice", "alice's new token")
		c := open(t, h, "alice's new token")
		c.want(t, "the queue with its old ids", "1")
		if !strings.Contains(c.Read(), "id: alice-1\n") {
			t.Errorf("another id: %q", c.Read())
		}
		c.Leave()
		b.Leave()
	})
}

// TestChanges: lines of another part of the program come on the newest stream of a caller
// after its notifications, and those that were not written come again.
func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		lines := [][]byte{[]byte("changed one"), []byte("changed two")}
		h.Changes = func(caller string) ([][]byte, func(int)) {
			if caller != "alice" {
				return nil, nil
			}
			return lines, func(n int) { lines = lines[n:] }
		}
		a, b := open(t, h, "alice"), open(t, h, "bob")
		synctest.Wait()
		if got := a.Read(); !strings.Contains(got, "data: changed one\n\nevent: message\ndata: changed two\n") || len(lines) != 0 || strings.Contains(b.Read(), "changed") {
			t.Errorf("%q, and %d wait", got, len(lines))
		}
		newer := open(t, h, "alice")
		lines = [][]byte{[]byte("changed three")}
		h.Ring("alice")
		synctest.Wait()
		if strings.Contains(a.Read(), "three") || !strings.Contains(newer.Read(), "data: changed three\n") {
			t.Errorf("the older stream %q, the newer %q", a.Read(), newer.Read())
		}
		a.Leave()
		b.Leave()
		newer.Leave()
	})
}

// TestStreamBeforeSubscription: a stream of a caller without a subscription stays open.
// It receives entries as soon as there is a subscription, and later from the next one.
func TestStreamBeforeSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		c := connect(t, h, "alice", "alice-3", time.Time{})
		if got := c.Read(); got != ": open\n\n" {
			t.Errorf("without a subscription: %q", got)
		}
		subscribe(t, h, "first", "alice")
		fire(t, h, 2, 2, "first")
		c.want(t, "with a subscription", "2")
		resume := c.Stall()
		fire(t, h, 3, 3, "first")
		synctest.Wait()
		apply(t, h, Record{Unsubscribed: "first"}) // while its entry is being written
		subscribe(t, h, "second", "alice")
		fire(t, h, 4, 4, "second")
		resume()
		c.want(t, "over both", "2 3 4")
		c.Leave()
	})
}

// TestNewestReads: of two streams the newer gets every event, and when it ends the older
// takes over. An event goes to one stream only.
func TestNewestReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		older := open(t, h, "alice")
		fire(t, h, 1, 2, "alice")
		synctest.Wait()
		newer := open(t, h, "alice")
		fire(t, h, 3, 4, "alice")
		older.want(t, "the older", "1 2")
		newer.want(t, "the newer", "3 4")
		newer.Leave()
		fire(t, h, 5, 5, "alice")
		older.want(t, "taking over", "1 2 5")
		older.Leave()
	})
}

// TestClaimBeforeStream: the subscription of an earlier token is claimed before
// the stream is written, and Last-Event-ID means an event of it. Of two streams
// that are opened together the second is the newer, however long its claim or
// that of the first takes: mcp-remote opens two and reads the second.
func TestClaimBeforeStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "old")
		fire(t, h, 1, 3, "old")
		var clients []*client
		for i := range 2 {
			c := &client{ssetest.New()}
			clients = append(clients, c)
			go func() {
				defer close(c.Done)
				c.Err = h.Serve(c, request(t.Context(), "old-1"), Caller{ID: "new token"}, func() error {
					time.Sleep(time.Duration(2-i) * time.Second) // the first takes longer
					if i == 1 {
						subscribe(t, h, "old", "new token")
					}
					return nil
				})
			}()
			synctest.Wait()
		}
		time.Sleep(3 * time.Second)
		clients[0].want(t, "the first", "")
		clients[1].want(t, "the second", "2 3")
		failed := &client{ssetest.New()}
		err := h.Serve(failed, request(t.Context(), ""), Caller{ID: "new token"}, func() error { return ssetest.ErrBroken })
		if err != ssetest.ErrBroken || failed.Status != http.StatusServiceUnavailable || failed.Header().Get("Retry-After") == "" {
			t.Errorf("a claim that fails: %v, status %d", err, failed.Status)
		}
		<-h.Close()
	})
}

// TestFailedWrite: after a write that fails its entries wait for the next stream.
func TestFailedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		older, newer := open(t, h, "alice"), open(t, h, "alice")
		fire(t, h, 1, 1, "alice")
		synctest.Wait()
		newer.Break()
		fire(t, h, 2, 3, "alice")
		newer.want(t, "the broken one", "1")
		if !newer.Ended() || !errors.Is(newer.Err, ssetest.ErrBroken) {
			t.Errorf("ended %v with %v, want %v", newer.Ended(), newer.Err, ssetest.ErrBroken)
		}
		older.want(t, "the one that took over", "2 3")
		older.Leave()
	})
}

// TestSlowReader: a client that does not read is cut off after ten seconds; its
// entries still wait, and other clients do not notice.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "slow", "quick")
		slow, quick := open(t, h, "slow"), open(t, h, "quick")
		slow.Stall()
		start := time.Now()
		fire(t, h, 1, 3, "slow", "quick")
		quick.want(t, "beside a slow one", "1 2 3")
		if time.Since(start) != 0 {
			t.Error("the quick client had to wait")
		}
		<-slow.Done
		if took := time.Since(start); took != 10*time.Second || !errors.Is(slow.Err, os.ErrDeadlineExceeded) {
			t.Errorf("cut off after %v with %v, want 10s and a deadline", took, slow.Err)
		}
		if n := waiting(h, "slow"); n != 3 {
			t.Errorf("%d wait, want 3", n)
		}
		quick.Leave()
	})
}

// TestNoOvertaking: a newer stream waits for a write of an older one that is under way.
// Otherwise both could get the same event, or the client a later event first.
func TestNoOvertaking(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHub(t, "alice")
			older := open(t, h, "alice")
			resume := older.Stall()
			fire(t, h, 1, 1, "alice")
			synctest.Wait()
			newer := open(t, h, "alice")
			fire(t, h, 2, 2, "alice")
			newer.want(t, "while the older writes", "")
			if fails {
				older.Break()
			}
			resume()
			if fails {
				newer.want(t, "after the older failed", "1 2")
			} else {
				older.want(t, "the older", "1")
				newer.want(t, "the newer", "2")
			}
			newer.Leave()
			older.Leave()
		})
	}
}

// TestMaxPerCaller: a stream more than a caller may have ends the oldest, so
// that connections which died unnoticed keep nobody out.
func TestMaxPerCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		var all []*client
		for range 4 {
			all = append(all, open(t, h, "alice"))
		}
		if all[0].Ended() {
			t.Fatal("the fourth stream ended the first")
		}
		all = append(all, open(t, h, "alice"))
		if _, streams, _ := h.Stats(); !all[0].Ended() || all[1].Ended() || streams != 4 {
			t.Errorf("ended %v %v, %d streams; want true false, 4", all[0].Ended(), all[1].Ended(), streams)
		}
		for _, c := range all {
			c.Leave()
		}
	})
}

// TestManyOnThisMachine: streams without HTTP end when their readers do, so that
// none of them ends another.
func TestManyOnThisMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "stdio")
		ctx, cancel := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		for range MaxPerCaller + 1 {
			readers.Go(func() { h.Push(ctx, "stdio", func(Event) error { return nil }) })
		}
		synctest.Wait()
		if _, streams, _ := h.Stats(); streams != MaxPerCaller+1 {
			t.Errorf("%d streams, want %d", streams, MaxPerCaller+1)
		}
		cancel()
		readers.Wait()
	})
}

// TestMaxStreams: past the bound a stream is refused with 503 and Retry-After.
func TestMaxStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		h.open = 16384 - 1
		a := open(t, h, "a")
		b := open(t, h, "b")
		if !b.Ended() || !errors.Is(b.Err, ErrTooMany) || b.Status != http.StatusServiceUnavailable || b.Header().Get("Retry-After") == "" {
			t.Errorf("one too many: error %v, status %d, header %v", b.Err, b.Status, b.Header())
		}
		a.Leave()
		c := open(t, h, "c")
		if c.Ended() {
			t.Error("a place that became free was not given")
		}
		c.Leave()
	})
}

// TestHeadFails: a client that is gone before its head could be written leaves
// nothing behind.
func TestHeadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		c := &client{ssetest.New()}
		c.Break()
		if err := h.Serve(c, request(t.Context(), ""), Caller{ID: "alice"}, nil); !errors.Is(err, ssetest.ErrBroken) {
			t.Errorf("error %v, want %v", err, ssetest.ErrBroken)
		}
		if h.open != 0 || len(h.streams) != 0 {
			t.Errorf("%d streams are left", h.open)
		}
	})
}

// TestClose: Close ends every stream, a stuck one within a second, and lets
// none begin; queues stay.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice", "bob")
		idle, stuck := open(t, h, "alice"), open(t, h, "bob")
		stuck.Stall()
		fire(t, h, 1, 1, "bob")
		start := time.Now()
		<-h.Close()
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("a stuck client held the shutdown for %v", waited)
		}
		if got := idle.Read(); got != ": open\n\nretry: 2000\n\n" {
			t.Errorf("farewell: %q", got)
		}
		if late := open(t, h, "alice"); !errors.Is(late.Err, ErrClosed) || late.Status != http.StatusServiceUnavailable {
			t.Errorf("after Close: %v, status %d", late.Err, late.Status)
		}
		if n := waiting(h, "bob"); n != 1 {
			t.Errorf("%d wait, want 1: the write failed", n)
		}
		<-h.Close() // a second one has nothing to do
		<-newHub(t).Close()
	})
}

// TestPush: the same stream for a writer that is no connection.
func TestPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "stdio")
		fire(t, h, 1, 2, "stdio")
		var got []string
		full := errors.New("full")
		done := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		push := func(most int) {
			done <- h.Push(ctx, "stdio", func(e Event) error {
				if len(got) == most {
					return full
				}
				got = append(got, e.ID+" "+string(e.Data))
				return nil
			})
		}
		go push(3)
		synctest.Wait()
		fire(t, h, 3, 4, "stdio")
		if err := <-done; err != full {
			t.Errorf("error %v, want the writer's", err)
		}
		want := `stdio-1 {"n":1}, stdio-2 {"n":2}, stdio-3 {"n":3}`
		if got := strings.Join(got, ", "); got != want || waiting(h, "stdio") != 1 {
			t.Errorf("got %s, %d wait; want %s, 1", got, waiting(h, "stdio"), want)
		}
		go push(9)
		synctest.Wait()
		cancel()
		if err := <-done; err != nil || len(got) != 4 {
			t.Errorf("error %v, got %q", err, got)
		}
		h.Close()
		if err := h.Push(t.Context(), "stdio", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// TestTenThousandStreams: one alert reaches each of ten thousand streams once,
// and one that does not read changes nothing for the others.
func TestTenThousandStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams := 10_000
		if testing.Short() {
			streams = 1000
		}
		names := make([]string, streams)
		for i := range names {
			names[i] = fmt.Sprint("subscriber", i)
		}
		h := newHub(t, names...)
		clients := make([]*client, streams)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range streams {
			c := &client{ssetest.New()}
			clients[i] = c
			go func() {
				defer close(c.Done)
				c.Err = h.Serve(c, request(ctx, ""), Caller{ID: names[i]}, nil)
			}()
		}
		synctest.Wait()
		clients[0].Stall()
		start := time.Now()
		fire(t, h, 1, 1, names...)
		synctest.Wait()
		for _, c := range clients[1:] {
			if got, want := c.Read(), "data: {\"n\":1}\n\n"; strings.Count(got, "data:") != 1 || !strings.HasSuffix(got, want) {
				t.Fatalf("received %q", got)
			}
		}
		if _, n, _ := h.Stats(); time.Since(start) != 0 || n != streams {
			t.Errorf("after %v, %d streams", time.Since(start), n)
		}
		cancel()
		for _, c := range clients {
			<-c.Done
		}
	})
}

// TestMarksFromElsewhere: what another process with the same book has delivered
// does not wait here any more, and what came later does.
func TestMarksFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		fire(t, h, 1, 3, "alice")
		if err := h.Apply(Record{At: time.Now(), Marks: map[string]uint64{"alice": 2}}); err != nil {
			t.Fatal(err)
		}
		if got := waiting(h, "alice"); got != 1 {
			t.Errorf("%d wait, want 1", got)
		}
		c := open(t, h, "alice")
		c.want(t, "after another process's marks", "3")
		c.Leave()
	})
}

// TestLoadWhileOpen: a hub that gets another book ends its streams, so that each client
// comes back and says what it saw last.
func TestLoadWhileOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, "alice")
		fire(t, h, 1, 3, "alice")
		c := open(t, h, "alice")
		c.want(t, "before", "1 2 3")
		h.Load(h.Clone())
		synctest.Wait()
		if _, streams, _ := h.Stats(); streams != 0 {
			t.Errorf("%d streams are open", streams)
		}
		again := open(t, h, "alice")
		again.want(t, "what the new book does not know to be delivered", "1 2 3")
		again.Leave()
	})
}
