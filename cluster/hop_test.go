package cluster

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"wick/cluster/etcd"
	"wick/cluster/etcdtest"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// pair returns a leader that answers with what it was asked, and a follower that knows where
// it is.
func pair(t *testing.T) (leading, follower *Node, web *httptest.Server) {
	s := etcdtest.New(t)
	leading, follower = node(t, s), node(t, s)
	web = serve(t, leading, leading.Handler(func(_ context.Context, op string, in json.RawMessage) (any, error) {
		if op == "fail" {
			return nil, errors.New("refused: " + string(in))
		}
		if op == "die" {
			panic(http.ErrAbortHandler)
		}
		return map[string]any{"op": op, "in": in}, nil
	}))
	lead(t, leading, &journaltest.Notes{})
	if _, err := follower.Read(&journaltest.Notes{}); err != nil {
		t.Fatal(err)
	}
	return leading, follower, web
}

// serve serves what a replica answers, at the address that it publishes.
func serve(t *testing.T, n *Node, handler http.Handler) *httptest.Server {
	web := httptest.NewUnstartedServer(handler)
	web.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	web.Listener = n.Listener(web.Listener)
	web.Start()
	t.Cleanup(web.Close)
	n.options.Advertise = web.Listener.Addr().String()
	return web
}

// TestAsk: a follower's question reaches the leader and its answer comes back, and
// so does a refusal. If no answer comes, the error fits any question: it may have been a halt.
func TestAsk(t *testing.T) {
	t.Parallel()
	_, follower, web := pair(t)
	var out struct {
		Op string
		In []int
	}
	if err := follower.Ask(t.Context(), "add", []int{1, 2}, &out); err != nil || out.Op != "add" || len(out.In) != 2 {
		t.Errorf("answer %+v, %v", out, err)
	}
	if err := follower.Ask(t.Context(), "fail", "x", nil); err == nil || err.Error() != `refused: "x"` {
		t.Errorf("a refusal comes back as %v", err)
	}
	if err := follower.Ask(t.Context(), "die", "x", nil); !errors.Is(err, ErrNoAnswer) || !errors.Is(err, journal.ErrUnknown) || strings.Contains(err.Error(), "order") {
		t.Errorf("a leader that dies: %v", err)
	}
	web.Close()
	follower.client.CloseIdleConnections() // one that is used again may end before or after the question was read
	if err := follower.Ask(t.Context(), "add", 1, nil); !errors.Is(err, errNoLeader) {
		t.Errorf("a leader that is not there: %v", err)
	}
}

// TestAskAttacks: nobody without the secret of the replicas gets as far as a question, and
// nobody waits for his. Otherwise a stranger could place orders, or hold memory.
func TestAskAttacks(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	leading := node(t, s)
	web := serve(t, leading, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a stranger's question was read") }))
	stolen := leading.tls.Clone() // the certificate, which everybody who connects is shown, with a key of his own
	_, own, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	stolen.Certificates = []tls.Certificate{{Certificate: stolen.Certificates[0].Certificate, PrivateKey: own}}
	other, err := replicaTLS([]byte(strings.Repeat("o", minSecret)))
	if err != nil {
		t.Fatal(err)
	}
	old := leading.tls.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	for name, config := range map[string]*tls.Config{"no certificate": {}, "another's secret": other, "a stolen certificate": stolen, "an earlier TLS": old} {
		config.InsecureSkipVerify, config.VerifyConnection = true, nil // he takes whoever is there
		request, err := http.NewRequest(http.MethodPost, "https://"+web.Listener.Addr().String()+askPath, strings.NewReader(`{"op":"add"}`))
		if err != nil {
			t.Fatal(err)
		}
		if response, err := newClient(config).Do(request); err == nil {
			t.Errorf("%s: status %d, want no connection", name, response.StatusCode)
			response.Body.Close()
		}
	}
	plain, err := http.Post("http://"+web.Listener.Addr().String()+askPath, "application/json", strings.NewReader(`{"op":"add"}`))
	if err == nil {
		plain.Body.Close()
		if plain.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS: status %d", plain.StatusCode)
		}
	}
}

// TestAskInPlain: whatever address etcd names as the leader's, no byte of a question goes to one
// who has not proved that it knows the secret. A client's token would be in it.
func TestAskInPlain(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	follower := node(t, s)
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("a stranger got a %s", r.Method) }))
	t.Cleanup(stranger.Close)
	host := stranger.Listener.Addr().String()
	for _, address := range []string{host, "http://" + host, "replica@" + host} {
		text, err := json.Marshal(map[string]string{"id": "stranger", "address": address})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := follower.etcd.Do(t.Context(), etcd.Put(follower.key("lead"), text)); err != nil {
			t.Fatal(err)
		}
		if _, err := follower.Read(&journaltest.Notes{}); err != nil {
			t.Fatal(err)
		}
		if err := follower.Ask(t.Context(), "add", 1, nil); err == nil {
			t.Errorf("%s answered", address)
		}
	}
}

// TestAskBounds: what is longer than a question may be, or comes while too much is being read,
// is not read, even from a replica.
func TestAskBounds(t *testing.T) {
	t.Parallel()
	leading, follower, _ := pair(t)
	if err := follower.Ask(t.Context(), "add", strings.Repeat("x", maxQuestion), nil); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("a question that is too long: %v", err)
	}
	leading.reading.Store(maxReading)
	if err := follower.Ask(t.Context(), "add", 1, nil); !errors.Is(err, errNoLeader) {
		t.Errorf("while too much is read: %v", err)
	}
	leading.reading.Store(0)
	if err := follower.Ask(t.Context(), "add", 1, nil); err != nil {
		t.Errorf("with room: %v", err)
	}
	if n := leading.reading.Load(); n != 0 {
		t.Errorf("%d bytes are still counted as being read", n)
	}
}

// TestAskOtherSecret: a leader that refuses a replica has done nothing, and the replica
// says so, and that it is refused, until it is not.
func TestAskOtherSecret(t *testing.T) {
	t.Parallel()
	_, follower, _ := pair(t)
	var log bytes.Buffer
	follower.log = slog.New(slog.NewTextHandler(&log, nil))
	good := follower.client
	other, err := replicaTLS([]byte("another secret of thirty-two bytes"))
	if err != nil {
		t.Fatal(err)
	}
	follower.client = newClient(other)
	for range 2 {
		if err := follower.Ask(t.Context(), "add", 1, nil); err == nil || err.Error() != "nothing was done: the leader refuses this replica: its secret is a different one" {
			t.Errorf("a write is answered with %v", err)
		}
	}
	if !follower.Status().Refused || strings.Count(log.String(), "level=WARN") != 1 {
		t.Errorf("status %+v, log %q", follower.Status(), &log)
	}
	follower.client = good
	if err := follower.Ask(t.Context(), "add", 1, nil); err != nil || follower.Status().Refused {
		t.Errorf("with the right secret: %v, status %+v", err, follower.Status())
	}
}

// TestAskSkew: a leader takes nothing from a replica whose clock is wrong.
func TestAskSkew(t *testing.T) {
	t.Parallel()
	leading, _, _ := pair(t)
	do := func(context.Context, string, json.RawMessage) (any, error) {
		t.Error("it was done")
		return nil, nil
	}
	for _, skew := range []time.Duration{-2 * maxSkew, 2 * maxSkew} {
		if reply := leading.answer(t.Context(), ask{To: leading.id, At: time.Now().Add(skew), Op: "add"}, do); !reply.Refuse || reply.Error != errSkew.Error() {
			t.Errorf("a clock that is off by %v: %+v", skew, reply)
		}
	}
}

// TestAskNextLeader: a question does nothing at a leader that it was not for, such as the next
// one at the same address.
func TestAskNextLeader(t *testing.T) {
	t.Parallel()
	leading, _, _ := pair(t)
	do := func(context.Context, string, json.RawMessage) (any, error) {
		t.Error("it was done")
		return nil, nil
	}
	if reply := leading.answer(t.Context(), ask{To: "another", At: time.Now(), Op: "add"}, do); !reply.Follow {
		t.Errorf("a question for another: %+v", reply)
	}
}

// TestAskFollower: a replica that does not lead says so, and does nothing.
func TestAskFollower(t *testing.T) {
	t.Parallel()
	leading, follower, _ := pair(t)
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
	serve(t, leading, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(paused)
		<-r.Context().Done()
	}))
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

// FuzzAsk: what a stranger sends instead of a handshake is never answered as a question.
func FuzzAsk(f *testing.F) {
	f.Add([]byte("x"))
	f.Add([]byte("POST " + askPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"))
	f.Add([]byte{22, 3, 1, 0, 5, 1, 0, 0, 1, 0})
	n := node(f, etcdtest.New(f))
	f.Fuzz(func(t *testing.T, sent []byte) {
		stranger, ours := net.Pipe()
		go func() {
			stranger.Write(sent)
			stranger.Close()
		}()
		go io.Copy(io.Discard, stranger)
		if err := tls.Server(ours, n.tls).Handshake(); err == nil {
			t.Errorf("%q is a handshake", sent)
		}
		ours.Close()
	})
}
