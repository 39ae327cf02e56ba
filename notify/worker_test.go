package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/notify/service"
)

// harness is a notifier over a journal in memory, with destinations whose attempts
// the test decides.
type harness struct {
	*Notifier
	mu      sync.Mutex
	seq     uint64
	records [][]byte // all that Write was given
	broken  bool     // Write fails from now on
	sent    []string // "destination id text" of what was taken
	tries   int
	fate    func(to string, m service.Message) *service.Failure // nil takes everything
}

// newHarness returns a notifier for the lines of a file.
func newHarness(t *testing.T, lines string) *harness {
	t.Helper()
	destinations, err := Parse([]byte(lines))
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{}
	h.Notifier = New(Options{Destinations: destinations, Write: h.write, Log: slog.New(slog.DiscardHandler)})
	h.wire()
	return h
}

func (h *harness) wire() {
	for name, w := range h.workers {
		w.deliver = func(_ context.Context, m service.Message) *service.Failure {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.tries++
			if h.fate != nil {
				if f := h.fate(name, m); f != nil {
					return f
				}
			}
			h.sent = append(h.sent, name+" "+m.ID+" "+m.Text)
			return nil
		}
	}
}

func (h *harness) write(record []byte) error {
	h.mu.Lock()
	if h.broken {
		h.mu.Unlock()
		return errors.New("the disk is gone")
	}
	h.seq++
	seq := h.seq
	h.records = append(h.records, record)
	h.mu.Unlock()
	return h.Apply(fmt.Sprintf("n-%d", seq), seq, record)
}

// happen queues an event, as the journal's owner would.
func (h *harness) happen(kind Kind, text string) {
	h.mu.Lock()
	h.seq++
	e := Event{ID: fmt.Sprintf("n-%d", h.seq), Seq: h.seq, At: time.Now(), Kind: kind, Text: text}
	h.mu.Unlock()
	h.Happened(e)
}

func (h *harness) took() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sent)
}

// running calls test in a bubble while the notifier runs.
func (h *harness) running(t *testing.T, test func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { h.Run(ctx) })
	synctest.Wait()
	test()
	cancel()
	run.Wait()
}

// rest lets time pass and waits until nobody works any more.
func rest(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

const oneHook = "hook webhook https://example.com/in"

// TestBeforeRun: what happens between Open and Run is sent.
func TestBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook)
		h.Open()
		h.happen(Fill, "early")
		h.running(t, func() {
			rest(time.Minute)
			if got, want := h.took(), []string{"hook n-2 early"}; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	})
}

func TestOrderKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook+" rate=1000")
		fails := 0
		h.fate = func(_ string, m service.Message) *service.Failure {
			if m.Text == "b" && fails < 3 {
				fails++
				return &service.Failure{Reason: "answered 503", Retry: true}
			}
			return nil
		}
		h.running(t, func() {
			for _, text := range []string{"a", "b", "c"} {
				h.happen(Alert, text)
			}
			rest(time.Minute)
			want := []string{"hook n-2 a", "hook n-3 b", "hook n-4 c"}
			if got := h.took(); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	})
}

// TestRetryForADay: a destination that fails is tried for 24 hours, ever less
// often; then the message is a dead letter and the next one has its turn.
func TestRetryForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook)
		began := time.Now()
		h.fate = func(_ string, m service.Message) *service.Failure {
			return &service.Failure{Reason: "answered 500", Retry: true}
		}
		h.running(t, func() {
			h.happen(Alert, "a")
			rest(retryFor - time.Minute)
			if _, dead := h.Status(); len(dead) != 0 {
				t.Errorf("given up after less than a day: %v", dead)
			}
			rest(longest + 2*time.Minute)
			waiting, dead := h.Status()
			if len(dead) != 1 || dead[0].ID != "n-2" || dead[0].To != "hook" || dead[0].Reason != "answered 500" || dead[0].At.Sub(began) < retryFor || waiting["hook"] != 0 {
				t.Errorf("after a day: %+v, waiting %v", dead, waiting)
			}
			// 1 s doubled to 15 min takes 11 attempts, then one in 7.5 to 15 minutes.
			if h.tries < 100 || h.tries > 210 {
				t.Errorf("%d attempts in a day", h.tries)
			}
		})
	})
}

// TestRefusedForMinutes: a service that redirects or knows no such address for some minutes,
// as while it is set up anew, gets every message.
func TestRefusedForMinutes(t *testing.T) {
	for _, answer := range []string{"answered 302 Found", "answered 404 Not Found"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, oneHook+" rate=1000")
			began := time.Now()
			h.fate = func(string, service.Message) *service.Failure {
				if time.Since(began) < 5*time.Minute {
					return &service.Failure{Reason: answer}
				}
				return nil
			}
			h.running(t, func() {
				h.happen(Alert, "a")
				rest(time.Hour)
				if _, dead := h.Status(); len(h.took()) != 1 || len(dead) != 0 {
					t.Errorf("%s: sent %q, dead: %v", answer, h.took(), dead)
				}
			})
		})
	}
}

// TestRefusedForLong: a service that refuses for longer is tried once with each further
// message. The other destinations hear of it once, until it has taken one.
func TestRefusedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook+" rate=1000\nphone webhook https://example.com/phone kinds=undelivered")
		refuses := true
		h.fate = func(to string, _ service.Message) *service.Failure {
			if to == "hook" && refuses {
				return &service.Failure{Reason: "answered 404 Not Found"}
			}
			return nil
		}
		h.running(t, func() {
			h.happen(Alert, "a")
			rest(refusedFor - time.Minute)
			if _, dead := h.Status(); len(dead) != 0 {
				t.Errorf("given up early: %v", dead)
			}
			rest(longest)
			before := h.tries
			for _, text := range []string{"b", "c"} {
				h.happen(Alert, text)
				rest(time.Second)
			}
			waiting, dead := h.Status()
			if len(dead) != 3 || waiting["hook"] != 0 || h.tries != before+2 {
				t.Errorf("%d attempts on two messages, waiting %v, dead: %v", h.tries-before, waiting, dead)
			}
			if got := h.took(); len(got) != 1 || !strings.HasPrefix(got[0], "phone ") || !strings.Contains(got[0], `hook took no message for 10 minutes (answered 404 Not Found), and this one was given up: "a"`) {
				t.Errorf("the other destination got %q", got)
			}
			refuses = false
			h.happen(Alert, "d")
			rest(time.Second)
			refuses = true
			h.happen(Alert, "e")
			rest(refusedFor + longest)
			if got := h.took(); len(got) != 3 || !strings.HasSuffix(got[2], `"e"`) {
				t.Errorf("after it had taken one: %q", got)
			}
		})
	})
}

func TestRetryAfterObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook)
		var at []time.Time
		h.fate = func(string, service.Message) *service.Failure {
			if at = append(at, time.Now()); len(at) == 1 {
				return &service.Failure{Reason: "answered 429", Retry: true, After: 17 * time.Minute}
			}
			return nil
		}
		h.running(t, func() {
			h.happen(Alert, "a")
			rest(time.Hour)
			if len(at) != 2 || at[1].Sub(at[0]) != 17*time.Minute {
				t.Errorf("attempts at %v, want the second 17 minutes after the first", at)
			}
		})
	})
}

// TestStorm: 37 at once are one message; beyond the rate of a minute the rest of
// the minute is one too.
func TestStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook)
		h.Restore([]byte(`{"queues":{"hook":{}}}`))
		for i := range 37 {
			h.happen(Alert, fmt.Sprint("alert ", i))
		}
		h.running(t, func() {
			rest(time.Second)
			got := h.took()
			if len(got) != 1 || !strings.HasPrefix(got[0], "hook n-1-to-37 37 alerts fired in a minute: alert 0; alert 1; alert 2; alert 3; alert 4; and 32 more") {
				t.Fatalf("37 at once became %q", got)
			}
			rest(2 * time.Minute)
			for i := range 60 {
				h.happen(Fill, fmt.Sprint("fill ", i))
				synctest.Wait()
			}
			if n := len(h.took()); n != 1+defaultRate {
				t.Errorf("%d messages in a minute, want %d", n-1, defaultRate)
			}
			rest(window + time.Second)
			got = h.took()
			if last := got[len(got)-1]; len(got) != 1+defaultRate+1 || !strings.Contains(last, "30 messages in a minute: fill 30; ") {
				t.Errorf("%d messages, the last %q", len(got), last)
			}
		})
	})
}

// TestQuietHours: nothing is sent at night; the morning brings one summary. The
// bubble's clock begins at midnight UTC, 2000-01-01.
func TestQuietHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook+" quiet=22:00-07:30 zone=Europe/Berlin")
		h.running(t, func() { // it is 01:00 in Berlin
			for i := range 3 {
				h.happen(Alert, fmt.Sprint("night ", i))
				rest(time.Hour)
			}
			rest(3*time.Hour + 29*time.Minute)
			if got := h.took(); len(got) != 0 {
				t.Errorf("at 07:29 there were %q", got)
			}
			rest(2 * time.Minute)
			if got := h.took(); len(got) != 1 || !strings.Contains(got[0], "3 alerts fired in 120 minutes: night 0; night 1; night 2") {
				t.Errorf("at 07:31 there were %q", got)
			}
			h.happen(Alert, "day")
			synctest.Wait()
			if got := h.took(); len(got) != 2 {
				t.Errorf("by day: %q", got)
			}
		})
	})
}

func TestQuietEnd(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ hours, at, want string }{
		{"22:00-07:30", "2026-07-01T21:59:00+02:00", "2026-07-01T21:59:00+02:00"},
		{"22:00-07:30", "2026-07-01T22:00:00+02:00", "2026-07-02T07:30:00+02:00"},
		{"22:00-07:30", "2026-07-31T23:00:00+02:00", "2026-08-01T07:30:00+02:00"},
		{"22:00-07:30", "2026-07-02T07:29:59+02:00", "2026-07-02T07:30:00+02:00"},
		{"22:00-07:30", "2026-07-02T07:30:00+02:00", "2026-07-02T07:30:00+02:00"},
		{"22:00-07:30", "2026-10-24T23:00:00+02:00", "2026-10-25T07:30:00+01:00"}, // the clock is set back that night
		{"12:00-13:00", "2026-07-02T12:30:00+02:00", "2026-07-02T13:00:00+02:00"},
		{"12:00-13:00", "2026-07-02T11:30:00+02:00", "2026-07-02T11:30:00+02:00"},
		{"00:00-00:00", "2026-07-02T00:00:00+02:00", "2026-07-02T00:00:00+02:00"},
	} {
		q := quiet{zone: berlin}
		if q.from, q.to, err = parseHours(c.hours); err != nil {
			t.Fatal(err)
		}
		at, _ := time.Parse(time.RFC3339, c.at)
		want, _ := time.Parse(time.RFC3339, c.want)
		if got := q.end(at); !got.Equal(want) {
			t.Errorf("%s at %s ends %s, want %s", c.hours, c.at, got, want)
		}
	}
}

// TestRestart: after a restart messages that were not marked as sent are sent again under
// the same id, also a summary that was written down, and nothing else.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook+" rate=5")
		var first []string // what the service got though it seemed to fail
		h.fate = func(_ string, m service.Message) *service.Failure {
			first = append(first, m.ID)
			return &service.Failure{Reason: "connection reset", Retry: true}
		}
		h.Open()
		for range 9 { // before the worker begins, or it may try the first by itself
			h.happen(Alert, "x")
		}
		h.running(t, func() { rest(time.Second) })
		snapshot, err := h.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		again := newHarness(t, oneHook+" rate=5")
		again.seq = h.seq
		if err := again.Restore(snapshot); err != nil {
			t.Fatal(err)
		}
		again.running(t, func() {
			again.happen(Alert, "y")
			rest(2 * time.Minute)
		})
		got := again.took()
		for _, id := range first {
			if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "hook "+id+" ") }) {
				t.Errorf("%s is not sent again under its id: %q", id, got)
			}
		}
		if waiting, _ := again.Status(); waiting["hook"] != 0 {
			t.Errorf("%d wait", waiting["hook"])
		}
	})
}

// TestReplay: the records alone give the same book as having lived through them.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook+" rate=2\nphone ntfy https://example.com/topic kinds=login")
		h.fate = func(to string, m service.Message) *service.Failure {
			if to == "phone" {
				return &service.Failure{Reason: "answered 403 Forbidden"}
			}
			return nil
		}
		h.running(t, func() {
			for i := range 7 {
				h.Tell(Event{Kind: Login, Text: fmt.Sprint("login ", i)})
				rest(11 * time.Second)
			}
		})
		lived, err := h.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		replayed := newHarness(t, oneHook)
		for i, r := range h.records {
			if err := replayed.Apply(fmt.Sprintf("n-%d", i+1), uint64(i+1), r); err != nil {
				t.Fatal(err)
			}
		}
		if text, _ := replayed.Snapshot(); string(text) != string(lived) {
			t.Errorf("replayed: %s\nlived:    %s", text, lived)
		}
	})
}

// TestBrokenJournal: the owner is told that the journal is broken although nothing can be
// written, and what was queued before is sent once, not again and again.
func TestBrokenJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook)
		h.running(t, func() {
			h.mu.Lock()
			h.broken = true
			h.mu.Unlock()
			h.happen(Alert, "last")
			h.Tell(Event{Kind: Storage, Text: "storage failed"})
			rest(time.Hour)
			got := h.took()
			if len(got) != 2 || got[0] != "hook n-2 last" || !strings.HasPrefix(got[1], "hook unwritten-") || !strings.HasSuffix(got[1], " storage failed") {
				t.Errorf("got %q", got)
			}
		})
	})
}

// TestHangingDestination: one destination that hangs costs the others nothing, the
// journal nothing, and no more memory than maxQueue events. 10,000 fire in a
// minute, and then more.
func TestHangingDestination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, "stuck webhook https://example.com/a\nfine webhook https://example.com/b rate=100000")
		release := make(chan struct{})
		h.workers["stuck"].deliver = func(ctx context.Context, m service.Message) *service.Failure {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return &service.Failure{Reason: "timeout", Retry: true}
		}
		h.running(t, func() {
			const n = maxQueue + 500
			for i := range n {
				before := time.Now()
				h.happen(Alert, fmt.Sprint("alert ", i))
				if took := time.Since(before); took != 0 {
					t.Fatalf("event %d waited %s", i, took)
				}
				rest(time.Minute / 10_000)
			}
			synctest.Wait()
			waiting, dead := h.Status()
			if waiting["stuck"] != maxQueue || waiting["fine"] != 0 {
				t.Errorf("waiting: %v", waiting)
			}
			if len(dead) != 1 || dead[0].To != "stuck" || dead[0].Events != 500 || dead[0].Reason != "the queue was full" {
				t.Errorf("dead: %+v", dead)
			}
			if got := len(h.took()); got != n {
				t.Errorf("the other got %d of %d", got, n)
			}
		})
		close(release)
	})
}

// TestFullQueueIsTold: when messages are dropped because too many wait for a destination, the
// others hear of it: once, until it has taken one.
func TestFullQueueIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook+"\nphone webhook https://example.com/phone kinds=undelivered")
		var fails atomic.Bool
		fails.Store(true)
		h.fate = func(to string, _ service.Message) *service.Failure {
			if to == "hook" && fails.Load() {
				return &service.Failure{Reason: "answered 503", Retry: true}
			}
			return nil
		}
		// told fills the queue and more, and returns what the phone got.
		told := func() (got []string) {
			for range maxQueue + 3 {
				h.happen(Alert, "x")
			}
			rest(2 * longest)
			for _, message := range h.took() {
				if strings.HasPrefix(message, "phone ") {
					got = append(got, message)
				}
			}
			return got
		}
		h.running(t, func() {
			const want = "10000 messages wait for hook, as many as are kept: the oldest are dropped as further ones come"
			for round := range 2 {
				if got := told(); len(got) != 1 || !strings.HasSuffix(got[0], want) {
					t.Errorf("round %d: %q, want %q", round, got, want)
				}
			}
			fails.Store(false)
			rest(time.Hour)
			fails.Store(true)
			if got := told(); len(got) != 2 {
				t.Errorf("after it had taken some: %q", got)
			}
		})
	})
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		options string
		event   Event
		want    bool
	}{
		{"", Event{Kind: Login}, true},
		{" kinds=alert,fill", Event{Kind: Fill}, true},
		{" kinds=alert,fill", Event{Kind: Login}, false},
		{" kinds=cancel", Event{Kind: Fill, Also: Cancel}, true},
		{" kinds=fill", Event{Kind: Fill, Also: Cancel}, true},
		{" kinds=reject", Event{Kind: Fill, Also: Cancel}, false},
		{" symbols=btcusdt,ETHUSDT", Event{Kind: Alert, Symbol: "BTCUSDT"}, true},
		{" symbols=ETHUSDT", Event{Kind: Alert, Symbol: "BTCUSDT"}, false},
		{" symbols=ETHUSDT", Event{Kind: Halt}, true},
		{" clients=claude", Event{Kind: Fill, Client: "claude"}, true},
		{" clients=claude", Event{Kind: Fill, Client: "other"}, false},
		{" clients=claude", Event{Kind: Storage}, true},
	} {
		all, err := Parse([]byte(oneHook + c.options))
		if err != nil {
			t.Fatal(err)
		}
		if got := all[0].Filter.matches(&c.event); got != c.want {
			t.Errorf("%q lets %+v through: %t, want %t", c.options, c.event, got, c.want)
		}
	}
}

// TestDeadLettersBound: the newest maxDead are remembered.
func TestDeadLettersBound(t *testing.T) {
	b := &book{}
	for i := range maxDead + 20 {
		b.apply("", uint64(i+1), record{To: "x", Dead: &Dead{To: "x", ID: fmt.Sprint(i)}})
	}
	if len(b.Dead) != maxDead || b.Dead[0].ID != "20" {
		t.Errorf("%d kept, the first %v", len(b.Dead), b.Dead[0])
	}
}

// TestNewDestination: a destination hears of what happens after it was added, one
// that is removed loses its queue, one that stays keeps it.
func TestNewDestination(t *testing.T) {
	b := &book{}
	b.apply("", 1, record{Open: map[string]Filter{"a": {}}})
	b.apply("n-2", 2, record{Event: &Event{Kind: Alert, Text: "x"}})
	b.apply("", 3, record{Open: map[string]Filter{"a": {Kinds: []Kind{Fill}}, "b": {}}})
	if n, m := len(b.Queues["a"].Events), len(b.Queues["b"].Events); n != 1 || m != 0 {
		t.Errorf("a has %d, b %d", n, m)
	}
	b.apply("", 4, record{Open: map[string]Filter{"b": {}}})
	b.apply("", 5, record{To: "a", Through: 2})
	if b.Queues["a"] != nil {
		t.Error("a is still there")
	}
}

// TestPicture: a message of one event gets its picture, a failed drawing leaves
// the text, and a destination without the flag gets none.
func TestPicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook+" picture\nplain webhook https://example.com/p")
		pictures := make(map[string]string)
		h.fate = func(to string, m service.Message) *service.Failure {
			pictures[to+" "+m.Text] = string(m.Picture)
			return nil
		}
		h.options.Picture = func(_ context.Context, e Event) ([]byte, error) {
			switch e.Text {
			case "bad":
				return nil, errors.New("no bars")
			case "worse":
				panic("a bug")
			}
			return []byte("PNG of " + string(e.Chart)), nil
		}
		h.running(t, func() {
			for i, text := range []string{"good", "bad", "worse"} {
				h.Happened(Event{ID: text, Seq: uint64(10 + i), At: time.Now(), Kind: Alert, Text: text, Chart: json.RawMessage(`{}`)})
				synctest.Wait()
			}
		})
		if pictures["hook good"] != "PNG of {}" || pictures["hook bad"] != "" || pictures["hook worse"] != "" || pictures["plain good"] != "" || len(pictures) != 6 {
			t.Errorf("%q", pictures)
		}
	})
}

// TestTellDoesNotWait: before Run, or in a flood, up to maxTold events are kept and the
// others dropped; Tell never waits.
func TestTellDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, oneHook+" rate=1000")
		for i := range maxTold + 10 {
			h.Tell(Event{Kind: Login, Text: fmt.Sprint("login ", i)})
		}
		h.running(t, func() {})
		if got := len(h.took()); got != maxTold {
			t.Errorf("%d sent, want %d", got, maxTold)
		}
	})
}

// TestSendNow: an event that cannot wait is sent at once, to those that want it and have no
// quiet hours. Nothing of it is queued, a failure is only logged, and a destination that
// hangs is waited for for three seconds. The bubble's clock begins at midnight UTC.
func TestSendNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, `all webhook https://example.com/in
day webhook https://example.com/in kinds=journal quiet=06:00-07:00
night webhook https://example.com/in quiet=22:00-06:00
fills webhook https://example.com/in kinds=fill
bad webhook https://example.com/in kinds=journal
hangs webhook https://example.com/in kinds=journal`)
		h.fate = func(to string, _ service.Message) *service.Failure {
			if to == "bad" {
				return &service.Failure{Reason: "answered 503", Retry: true}
			}
			return nil
		}
		h.workers["hangs"].deliver = func(ctx context.Context, _ service.Message) *service.Failure {
			<-ctx.Done()
			return &service.Failure{Reason: ctx.Err().Error(), Retry: true}
		}
		h.running(t, func() {})
		start := time.Now()
		h.SendNow(Event{ID: "x", Kind: Journal, Text: "the last word"})
		got := h.took()
		slices.Sort(got)
		if !slices.Equal(got, []string{"all x the last word", "day x the last word"}) || time.Since(start) != 3*time.Second {
			t.Errorf("after %v: %q", time.Since(start), got)
		}
		if waiting, dead := h.Status(); len(dead) > 0 || waiting["bad"]+waiting["night"] > 0 {
			t.Errorf("%v wait, dead: %v", waiting, dead)
		}
	})
}

// TestSummaryKeepsHash: the newest hash of the journal is whole in a summary, however much
// else is.
func TestSummaryKeepsHash(t *testing.T) {
	hash := strings.Repeat("0123456789abcdef", 4) + " is the hash of the journal after record 7: keep it"
	var events []*Event
	for i := range 8 {
		events = append(events, &Event{Kind: Fill, Text: fmt.Sprint("fill ", i)})
	}
	events[2] = &Event{Kind: Journal, Text: "an earlier one"}
	events = append(events, &Event{Kind: Journal, Text: hash}, &Event{Kind: Fill, Text: "fill 9"})
	if got, want := NewMessage(events).Text, "10 messages in a minute: fill 0; fill 1; fill 3; fill 4; fill 5; and 3 more; "+hash; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// planted are lines of every kind, with secrets that must not be seen again.
const planted = `
a webhook %s/PLANTEDpath?q=PLANTEDquery secret=whsec_UExBTlRFRFBMQU5URURQTEFOVEVEUExBTlRFRA== allow-private
b ntfy %s/PLANTEDtopic token=PLANTEDtoken allow-private
c telegram %s token=PLANTEDtoken chat=PLANTEDchat allow-private
d discord %s/api/webhooks/1/PLANTEDtoken allow-private
e slack %s/services/T/B/PLANTEDtoken allow-private
f gotify %s token=PLANTEDtoken allow-private
g pushover %s token=PLANTEDtoken user=PLANTEDuser allow-private
h matrix %s token=PLANTEDtoken room=!PLANTEDroom:x allow-private
`

// TestSecretsHidden makes a destination of every kind fail, by a service that
// repeats what it was sent, and looks for the secrets in the log, the records, the
// snapshot and the dead letters.
func TestSecretsHidden(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		fmt.Fprint(w, r.URL, r.Header)
	}))
	defer server.Close()
	h := newHarness(t, strings.ReplaceAll(planted, "%s", server.URL))
	var log bytes.Buffer
	h.Notifier = New(Options{Destinations: h.options.Destinations, Write: h.write, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Picture: func(context.Context, Event) ([]byte, error) { return nil, errors.New("no picture") }})
	for _, w := range h.workers {
		w.refused = time.Now().Add(-refusedFor) // so that each message is given up at once
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- h.Run(ctx) }()
	h.Tell(Event{Kind: Login, Text: "x", At: time.Now()})
	for {
		if _, dead := h.Status(); len(dead) >= 8 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	<-done
	snapshot, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	_, dead := h.Status()
	for what, text := range map[string]string{"log": log.String(), "records": string(bytes.Join(h.records, nil)), "snapshot": string(snapshot), "dead letters": fmt.Sprint(dead)} {
		if strings.Contains(text, "PLANTED") || strings.Contains(text, "UExBTlRFR") {
			t.Errorf("a secret is in the %s: %s", what, text)
		}
	}
}
