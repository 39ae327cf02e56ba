package sse

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"wick/sse/ssetest"
)

// client is the far end of a stream.
type client struct{ *ssetest.Client }

// ids returns the ids of the events received, without their label.
func (c *client) ids() string {
	var seqs []string
	for line := range strings.Lines(c.Read()) {
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			seqs = append(seqs, strings.TrimSpace(id[strings.LastIndexByte(id, '-')+1:]))
		}
	}
	return strings.Join(seqs, " ")
}

// connect opens a stream and waits until it is idle.
func connect(t *testing.T, h *Hub, caller, lastEventID string, expires time.Time) *client {
	return &client{ssetest.Open(t, func(ctx context.Context, w http.ResponseWriter) error {
		return h.Serve(w, request(ctx, lastEventID), Caller{ID: caller, Expires: expires}, nil)
	})}
}

// request returns one for a stream.
func request(ctx context.Context, lastEventID string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	return r
}

func open(t *testing.T, h *Hub, caller string) *client {
	t.Helper()
	return connect(t, h, caller, "", time.Time{})
}

// newHub returns a hub whose notes are texts, with subscriptions whose callers
// have the same names.
func newHub(t testing.TB, names ...string) *Hub {
	t.Helper()
	h := NewHub(func(note any) []byte { return []byte(note.(string)) })
	for _, name := range names {
		subscribe(t, h, name, name)
	}
	return h
}

func subscribe(t testing.TB, h *Hub, id, caller string) {
	t.Helper()
	apply(t, h, Record{Subscribed: &Subscription{ID: id, Caller: caller, Client: "client", CreatedAt: time.Now().UTC().Format(time.RFC3339)}})
}

// apply takes a step at the present time.
func apply(t testing.TB, h interface{ Apply(Record) error }, r Record) {
	t.Helper()
	r.At = time.Now()
	if err := h.Apply(r); err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
}

// fire lets alerts with the sequences from first to last fire to subscriptions.
func fire(t testing.TB, h interface{ Apply(Record) error }, first, last uint64, to ...string) {
	t.Helper()
	for seq := first; seq <= last; seq++ {
		apply(t, h, Record{Fired: &Entry{Seq: seq, At: time.Now(), Note: `{"n":` + strconv.FormatUint(seq, 10) + `}`}, To: to})
	}
}

// tidy does what the journal's owner does once a second: it writes down how far
// everyone has got.
func tidy(t testing.TB, h *Hub) {
	t.Helper()
	if marks := h.Settled(QueueCap); len(marks) > 0 {
		apply(t, h, Record{Marks: marks})
	}
}

// restart returns a hub with what the old one's journal remembers.
func restart(t testing.TB, old *Hub) *Hub {
	t.Helper()
	h := newHub(t)
	h.Load(restored(t, old.Clone()))
	apply(t, h, Record{}) // the record of the start
	return h
}

// waiting returns how many notifications wait for a caller.
func waiting(h *Hub, caller string) int {
	_, n, _ := h.Status(caller)
	return n
}

// span writes the numbers from first to last as ids does.
func span(first, last int) string {
	var b []string
	for i := first; i <= last; i++ {
		b = append(b, strconv.Itoa(i))
	}
	return strings.Join(b, " ")
}

// want compares the events a client received.
func (c *client) want(t *testing.T, what, ids string) {
	t.Helper()
	if got := c.ids(); got != ids {
		t.Errorf("%s: received %q, want %q", what, got, ids)
	}
}
