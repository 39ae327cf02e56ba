package cluster

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"wick/cluster/etcdtest"
	"wick/oauth"
	"wick/oauth/oauthtest"
)

// openLedger returns the ledger of a new replica.
func openLedger(t *testing.T, s *etcdtest.Server) *Ledger {
	t.Helper()
	l, err := node(t, s).OpenLedger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLedger holds the ledger in etcd to what every ledger promises; the other
// hand is another replica.
func TestLedger(t *testing.T) {
	t.Parallel()
	oauthtest.Ledger(t, func(t *testing.T) (oauth.Ledger, func() oauth.Ledger) {
		s := etcdtest.New(t)
		return openLedger(t, s), func() oauth.Ledger { return openLedger(t, s) }
	})
}

// TestLedgerRun: a replica hears of what another revokes, without a restart.
func TestLedgerRun(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	here, there := openLedger(t, s), openLedger(t, s)
	heard := make(chan struct{}, 10)
	go there.Run(t.Context(), func() { heard <- struct{}{} })
	if err := here.Revoke("a", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	<-heard
	if !there.Revoked("a", here.Epoch()) {
		t.Error("it was told, and does not know")
	}
	if err := here.NextEpoch(); err != nil {
		t.Fatal(err)
	}
	<-heard
	if there.Epoch() != here.Epoch() {
		t.Error("the other replica is in another epoch")
	}
}

// TestRevokeWithoutEtcd: a token that is revoked while etcd does not answer ends at this
// replica at once and for good, and at the other replicas when etcd is back.
func TestRevokeWithoutEtcd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Ledger) error{
		"one login":  func(l *Ledger) error { return l.Revoke("a", time.Now().Add(time.Hour)) },
		"all logins": (*Ledger).NextEpoch,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := etcdtest.New(t)
			here, there := openLedger(t, s), openLedger(t, s)
			before := here.Epoch()
			for _, l := range []*Ledger{here, there} {
				go l.Run(t.Context(), func() {})
			}
			s.SetFault(func(string) etcdtest.Fault { return etcdtest.Refuse })
			if end(here) == nil {
				t.Error("it is said to be written")
			}
			if !here.Revoked("a", before) {
				t.Error("it goes on here without etcd")
			}
			s.SetFault(nil)
			wait(t, "it ends at the other replica", func() bool { return there.Revoked("a", before) })
			if !here.Revoked("a", before) {
				t.Error("it goes on here once etcd is back")
			}
		})
	}
}

// TestTakeOnceWithoutEtcd: without a majority nobody gets an id.
func TestTakeOnceWithoutEtcd(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	l := openLedger(t, s)
	s.SetFault(func(string) etcdtest.Fault { return etcdtest.Refuse })
	if first, err := l.TakeOnce("code", time.Now().Add(time.Minute)); first || err == nil {
		t.Errorf("taken %v, %v", first, err)
	}
}

// TestLedgerReadOutOfOrder: an answer that etcd gave before a login ended comes after one
// that tells of the end, and does not undo it.
func TestLedgerReadOutOfOrder(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	var hold atomic.Bool
	held, release := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v3/kv/txn" || !hold.CompareAndSwap(true, false) {
			s.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, r)
		close(held)
		<-release
		w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(slow.Close)
	n, err := New(Options{Endpoints: []string{slow.URL}, Store: "test", Secret: secret, Advertise: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.end(); n.tasks.Wait() })
	l, err := n.OpenLedger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := l.Epoch()
	hold.Store(true)
	late := make(chan error, 1)
	go func() { late <- l.sync(t.Context()) }()
	<-held
	if err := openLedger(t, s).NextEpoch(); err != nil {
		t.Fatal(err)
	}
	if err := l.Confirm(); err != nil || !l.Revoked("a", before) {
		t.Fatalf("all logins have ended elsewhere: %v, known: %t", err, l.Revoked("a", before))
	}
	close(release)
	if err := <-late; err != nil || !l.Revoked("a", before) {
		t.Errorf("after the late answer: %v, known: %t", err, l.Revoked("a", before))
	}
}
