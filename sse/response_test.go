package sse

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/sse/ssetest"
)

// TestStreamText: the head and the framing, byte for byte.
func TestStreamText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newList()
		c := openSource(t, q)
		open := ": open\n\n"
		if got := c.Read(); got != open || c.Status != http.StatusOK {
			t.Errorf("before any event: status %d, %q; want 200, %q", c.Status, got, open)
		}
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Connection": "close", "Content-Length": "",
		} {
			if got := c.Header().Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		q.add(7, 8)
		want := open + "id: a-7\nevent: message\ndata: {\"n\":7}\n\nid: a-8\nevent: message\ndata: {\"n\":8}\n\n"
		if got := c.Read(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if c.Writes != 2 || !slices.Equal(q.wrote, []int{2}) {
			t.Errorf("%d writes, Wrote %v; want the head and both events at once", c.Writes, q.wrote)
		}
		c.Leave()
		if got := c.Read(); got != want+"retry: 2000\n\n" || c.Err != nil {
			t.Errorf("at the end: %q, %v", strings.TrimPrefix(got, want), c.Err)
		}
	})
}

// TestHeartbeat: a stream says something every fifteen seconds.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openSource(t, newList())
		time.Sleep(15*time.Second - 1)
		if got := c.Read(); got != ": open\n\n" {
			t.Errorf("before fifteen seconds: %q", got)
		}
		time.Sleep(time.Nanosecond)
		if got := c.Read(); got != ": open\n\n:\n\n" {
			t.Errorf("after fifteen seconds: %q", got)
		}
		time.Sleep(9 * 15 * time.Second)
		if got := strings.Count(c.Read(), "\n:\n"); got != 10 {
			t.Errorf("%d heartbeats in 150 s, want 10", got)
		}
		c.Leave()
	})
}

// slept is a context whose timer has not noticed that its deadline is over: timers do not count
// the time for which the machine slept.
type slept struct {
	context.Context
	end time.Time
}

func (s slept) Deadline() (time.Time, bool) { return s.end, true }

// TestEndsByTheClock: a stream whose time is over by the clock tells nothing more, and ends with
// the next heartbeat.
func TestEndsByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, end := newList(), time.Now().Add(20*time.Second)
		over := false
		c := ssetest.Open(t, func(ctx context.Context, w http.ResponseWriter) error {
			err := Serve(slept{ctx, end}, w, q)
			over = true
			return err
		})
		time.Sleep(31 * time.Second)
		if synctest.Wait(); !over {
			t.Errorf("the stream goes on after its end: %q", c.Read())
		}
	})
}

// TestBatches: large events go out in several writes, so that each can keep
// its deadline; one that is larger than a batch goes alone.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []Event
		for range 6 {
			events = append(events, Event{"half", bytes.Repeat([]byte("x"), maxBatch/2-100)})
		}
		q := newList(append(events, Event{"large", bytes.Repeat([]byte("y"), 3*maxBatch)})...)
		c := openSource(t, q)
		if want := []int{2, 2, 2, 1}; !slices.Equal(q.wrote, want) || q.len() != 0 {
			t.Errorf("wrote %v, %d left; want %v, 0", q.wrote, q.len(), want)
		}
		c.Leave()
	})
}

// TestKeptMemory: a stream keeps the memory of a small write for the next one, and not
// that of a burst.
func TestKeptMemory(t *testing.T) {
	w := httptest.NewRecorder()
	s := &response{w: w, control: http.NewResponseController(w)}
	for _, c := range []struct {
		events int
		kept   bool
	}{{1, true}, {1000, false}, {1, true}} {
		q := newList()
		q.add(1, c.events)
		if err := s.send(q); err != nil || q.len() != 0 {
			t.Fatalf("%d events: %v, %d left", c.events, err, q.len())
		}
		if kept := cap(s.text); kept > 1<<10 || (kept > 0) != c.kept {
			t.Errorf("after %d events it keeps %d bytes, want some: %v, and at most 1 KiB", c.events, kept, c.kept)
		}
	}
}

// TestSlowResponse: a client that does not read is cut off after ten seconds, and what was
// being written does not count as written.
func TestSlowResponse(t *testing.T) {
	for _, pause := range []time.Duration{0, 400 * time.Millisecond, 5 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			q := newList()
			c := openSource(t, q)
			time.Sleep(pause)
			c.Stall()
			start := time.Now()
			q.add(1, 3)
			<-c.Done
			if took := time.Since(start); took != 10*time.Second || !errors.Is(c.Err, os.ErrDeadlineExceeded) {
				t.Errorf("%v after the last write: cut off after %v with %v, want 10s and a deadline", pause, took, c.Err)
			}
			if q.len() != 3 {
				t.Errorf("%d events left, want 3", q.len())
			}
		})
	}
}

// TestEndWhileStuck: a stream that is ended while its client does not read is
// over a second later, whether the write began before or is the farewell.
func TestEndWhileStuck(t *testing.T) {
	for _, stuckBefore := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			q := newList()
			c := openSource(t, q)
			c.Stall()
			if stuckBefore {
				q.add(1, 1)
				synctest.Wait()
				time.Sleep(3 * time.Second)
			}
			start := time.Now()
			c.Leave()
			if took := time.Since(start); took != time.Second {
				t.Errorf("stuck before %v: ended after %v, want 1s", stuckBefore, took)
			}
		})
	}
}

// TestBrokenConnection: a write that fails ends the stream with its error, the
// head's too.
func TestBrokenConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := ssetest.New()
		dead.Break()
		if err := Serve(t.Context(), dead, newList()); !errors.Is(err, ssetest.ErrBroken) {
			t.Errorf("head: error %v, want %v", err, ssetest.ErrBroken)
		}
		q := newList()
		c := openSource(t, q)
		c.Break()
		q.add(1, 1)
		<-c.Done
		if !errors.Is(c.Err, ssetest.ErrBroken) || q.len() != 1 {
			t.Errorf("event: error %v, %d left; want %v, 1", c.Err, q.len(), ssetest.ErrBroken)
		}
		idle := openSource(t, newList())
		idle.Break()
		time.Sleep(15 * time.Second)
		<-idle.Done
		if !errors.Is(idle.Err, ssetest.ErrBroken) {
			t.Errorf("comment: error %v, want %v", idle.Err, ssetest.ErrBroken)
		}
	})
}

// TestLineBreaks: without this check an id or data could forge an event.
func TestLineBreaks(t *testing.T) {
	for _, e := range []Event{
		{"1\nid: 2", []byte("{}")}, {"1\r", []byte("{}")}, {"1\x00", []byte("{}")}, {"1", []byte("{}\n\ndata: x")}, {"1", []byte("\r")},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q %q: no panic", e.ID, e.Data)
				}
			}()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			appendEvent(nil, e)
			Serve(ctx, ssetest.New(), newList(e))
		}()
	}
}

// FuzzEvent: an event is refused, or a reader of the standard's format gets
// exactly its id and its data back. One without an id has no line for it.
func FuzzEvent(f *testing.F) {
	f.Add("s-1-2", []byte(`{"n":1}`))
	f.Add("a\nb", []byte("x\r"))
	f.Add("", []byte("0"))
	f.Fuzz(func(t *testing.T, id string, data []byte) {
		if strings.ContainsAny(id, "\r\n\x00") || bytes.ContainsAny(data, "\r\n\x00") {
			return // TestLineBreaks
		}
		want := "event: message\ndata: " + string(data) + "\n\n"
		if id != "" {
			want = "id: " + id + "\n" + want
		}
		if got := string(appendEvent(nil, Event{id, data})); got != want {
			t.Errorf("id %q, data %q: %q, want %q", id, data, got, want)
		}
	})
}
