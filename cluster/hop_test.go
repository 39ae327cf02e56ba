package cluster

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"wick/cluster/etcdtest"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// pair returns a leader that answers with what it was asked, and a follower that
// knows where it is. Sealed has what was sent last.
func pair(t *testing.T) (leading, follower *Node, web *httptest.Server, sealed *[]byte) {
	s := etcdtest.New(t)
	leading, follower = node(t, s), node(t, s)
	sealed = new([]byte)
	handler := leading.Handler(func(_ context.Context, op string, in json.RawMessage) (any, error) {
		if op == "fail" {
			return nil, errors.New("refused: " + string(in))
		}
		if op == "die" {
			panic(http.ErrAbortHandler)
		}
		return map[string]any{"op": op, "in": in}, nil
	})
	web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*sealed, r.Body = body, io.NopCloser(bytes.NewReader(body))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	leading.options.Advertise = web.URL
	lead(t, leading, &journaltest.Notes{})
	if _, err := follower.Read(&journaltest.Notes{}); err != nil {
		t.Fatal(err)
	}
	return leading, follower, web, sealed
}

// TestAsk: a follower's question reaches the leader and its answer comes back, and
// so does a refusal. If no answer comes, the error fits any question: it may have been a halt.
func TestAsk(t *testing.T) {
	t.Parallel()
	_, follower, web, sealed := pair(t)
	var out struct {
		Op string
		In []int
	}
	if err := follower.Ask(t.Context(), "add", []int{1, 2}, &out); err != nil || out.Op != "add" || len(out.In) != 2 {
		t.Errorf("answer %+v, %v", out, err)
	}
	if bytes.Contains(*sealed, []byte("add")) {
		t.Error("the question can be read on the way")
	}
	if err := follower.Ask(t.Context(), "fail", "x", nil); err == nil || err.Error() != `refused: "x"` {
		t.Errorf("a refusal comes back as %v", err)
	}
	if err := follower.Ask(t.Context(), "die", "x", nil); !errors.Is(err, ErrNoAnswer) || !errors.Is(err, journal.ErrUnknown) || strings.Contains(err.Error(), "order") {
		t.Errorf("a leader that dies: %v", err)
	}
	web.Close()
	hopClient.CloseIdleConnections() // one that is used again may end before or after the question was read
	if err := follower.Ask(t.Context(), "add", 1, nil); !errors.Is(err, errNoLeader) {
		t.Errorf("a leader that is not there: %v", err)
	}
}

// TestAskAttacks: a question that was not sealed by a replica, or that came before, is
// refused. Otherwise a stranger could place orders.
func TestAskAttacks(t *testing.T) {
	t.Parallel()
	_, follower, web, sealed := pair(t)
	if err := follower.Ask(t.Context(), "add", 1, nil); err != nil {
		t.Fatal(err)
	}
	other, err := newSealer([]byte(strings.Repeat("o", minSecret)))
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(*sealed)
	changed[len(changed)-1] ^= 1
	question, err := json.Marshal(ask{Op: "add"})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{
		"a changed one":      changed,
		"another's secret":   other.seal(question, aboutAsk),
		"an answer as a ask": follower.sealer.seal(question, aboutAnswer("")),
		"nothing":            nil,
		"a huge one":         follower.sealer.seal(make([]byte, maxQuestion), aboutAsk),
		"not sealed":         []byte(`{"op":"add"}`),
	} {
		if status, _ := post(t, web.URL, follower.sealer.pass(body, time.Now()), bytes.NewReader(body)); status != http.StatusForbidden {
			t.Errorf("%s: status %d, want 403", name, status)
		}
	}
}

// post sends a question as it is and returns the answer.
func post(t *testing.T, to, pass string, body io.Reader) (status int, answer []byte) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, to+askPath, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(passHeader, pass)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

// TestPass: a sender that does not prove that it knows the secret is refused before any
// of its question is read, and so is one that announces no length, or comes while too much
// is being read.
func TestPass(t *testing.T) {
	t.Parallel()
	leader, follower, _, _ := pair(t)
	web := httptest.NewServer(leader.Handler(func(context.Context, string, json.RawMessage) (any, error) { return nil, nil }))
	defer web.Close()
	other, err := newSealer([]byte(strings.Repeat("o", minSecret)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(ask{To: follower.leader.ID, Op: "add", In: json.RawMessage("1")})
	if err != nil {
		t.Fatal(err)
	}
	good := follower.sealer.seal(text, aboutAsk)
	for name, pass := range map[string]string{
		"none": "", "not sealed": "AAAA", "another's secret": other.pass(good, time.Now()), "an old one": follower.sealer.pass(good, time.Now().Add(-2*maxSkew)),
		"an early one": follower.sealer.pass(good, time.Now().Add(2*maxSkew)), "without a length": follower.sealer.pass(good, time.Now()),
		"a question": base64.StdEncoding.EncodeToString(good), "nothing": base64.StdEncoding.EncodeToString(follower.sealer.seal(nil, aboutPass)),
	} {
		// The body never comes, so there is an answer only if nobody waits for it.
		waits, hold := io.Pipe()
		if status, _ := post(t, web.URL, pass, waits); status != http.StatusForbidden {
			t.Errorf("%s: status %d, want 403", name, status)
		}
		hold.Close()
	}
	leader.reading.Store(maxReading)
	if status, _ := post(t, web.URL, follower.sealer.pass(good, time.Now()), bytes.NewReader(good)); status != http.StatusServiceUnavailable {
		t.Errorf("while too much is read: status %d", status)
	}
	leader.reading.Store(0)
	if status, _ := post(t, web.URL, follower.sealer.pass(good, time.Now()), bytes.NewReader(good)); status != http.StatusOK {
		t.Errorf("with the right one: status %d", status)
	}
	if n := leader.reading.Load(); n != 0 {
		t.Errorf("%d bytes are still counted as being read", n)
	}
}

// TestAskOtherSecret: a leader that refuses a replica has done nothing, and the replica
// says so, and that it is refused, until it is not.
func TestAskOtherSecret(t *testing.T) {
	t.Parallel()
	_, follower, _, _ := pair(t)
	var log bytes.Buffer
	follower.log = slog.New(slog.NewTextHandler(&log, nil))
	good := follower.sealer
	var err error
	if follower.sealer, err = newSealer([]byte("another secret of thirty-two bytes")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := follower.Ask(t.Context(), "add", 1, nil); err == nil || !strings.HasPrefix(err.Error(), "nothing was done: the leader refuses this replica") {
			t.Errorf("a write is answered with %v", err)
		}
	}
	if !follower.Status().Refused || strings.Count(log.String(), "level=WARN") != 1 {
		t.Errorf("status %+v, log %q", follower.Status(), &log)
	}
	follower.sealer = good
	if err := follower.Ask(t.Context(), "add", 1, nil); err != nil || follower.Status().Refused {
		t.Errorf("with the right secret: %v, status %+v", err, follower.Status())
	}
}

// TestAskNextLeader: a question that somebody has recorded does nothing at a leader
// that it was not for, such as the next one, which has not seen it before.
func TestAskNextLeader(t *testing.T) {
	t.Parallel()
	_, follower, _, sealed := pair(t)
	if err := follower.Ask(t.Context(), "add", 1, nil); err != nil {
		t.Fatal(err)
	}
	next, _, web, _ := pair(t)
	status, body := post(t, web.URL, next.sealer.pass(*sealed, time.Now()), bytes.NewReader(*sealed))
	text, _, err := next.sealer.open(body, aboutAnswer(string((*sealed)[:next.sealer.aead.NonceSize()])))
	var reply answer
	if err != nil || json.Unmarshal(text, &reply) != nil || !reply.Follow || len(reply.Out) > 0 {
		t.Errorf("a recorded question: %d %s, %v", status, text, err)
	}
}

// TestAskFollower: a replica that does not lead says so, and does nothing.
func TestAskFollower(t *testing.T) {
	t.Parallel()
	leading, follower, _, _ := pair(t)
	leading.leading().end(errDeposed)
	if err := follower.Ask(t.Context(), "add", 1, nil); !errors.Is(err, errNoLeader) {
		t.Errorf("got %v, want %v", err, errNoLeader)
	}
}

// TestAskPausedLeader: a question to a leader that does not answer ends when that replica
// leads no more, and says so: what it had under way is in the log by then, or never will be.
func TestAskPausedLeader(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	s.Lengthen(10 * time.Minute) // until it expires below
	leading, follower := node(t, s), node(t, s)
	paused := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(paused)
		<-r.Context().Done()
	}))
	t.Cleanup(web.Close)
	leading.options.Advertise = web.URL
	lead(t, leading, &journaltest.Notes{})
	if _, err := follower.Read(&journaltest.Notes{}); err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() { asked <- follower.Ask(t.Context(), "add", 1, nil) }()
	<-paused
	if _, err := follower.Read(&journaltest.Notes{}); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-asked:
		t.Fatalf("the question has ended while its leader leads: %v", err)
	default:
	}
	s.ExpireLeases()
	if _, err := follower.Read(&journaltest.Notes{}); err != nil {
		t.Fatal(err)
	}
	if err := <-asked; !errors.Is(err, ErrLeaderChanged) || !errors.Is(err, journal.ErrUnknown) {
		t.Errorf("got %v, want %v", err, ErrLeaderChanged)
	}
}

// FuzzAsk: what a stranger sends is refused, whatever it is.
func FuzzAsk(f *testing.F) {
	f.Add([]byte("x"))
	s := etcdtest.New(f)
	n := node(f, s)
	handler := n.Handler(func(context.Context, string, json.RawMessage) (any, error) {
		f.Error("a stranger's question was answered")
		return nil, nil
	})
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, askPath, bytes.NewReader(body)))
		if w.Code != http.StatusForbidden {
			t.Errorf("%q is answered with %d", body, w.Code)
		}
	})
}
