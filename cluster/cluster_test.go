package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wick/cluster/etcd"
	"wick/cluster/etcdtest"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// secret is one that replicas may share.
var secret = []byte(strings.Repeat("s", minSecret))

// node returns a replica of the store in s.
func node(t testing.TB, s *etcdtest.Server) *Node {
	t.Helper()
	n, err := New(Options{Endpoints: []string{s.URL}, Store: "test", Secret: secret, Advertise: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	n.dueAfter = 256 << 10
	t.Cleanup(func() {
		n.end()
		n.tasks.Wait()
	})
	return n
}

// lead makes a replica the leader, with all that is in the log applied to s.
func lead(t testing.TB, n *Node, s journal.State) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	term, err := n.Follow(ctx, s)
	if err == nil {
		_, err = n.Read(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// leadLog is a node that leads as soon as it is read, because journaltest.Log does not
// know that a log may have to be led.
type leadLog struct {
	*Node
	t    testing.TB
	etcd *etcdtest.Server
}

func (l leadLog) Read(s journal.State) (uint64, error) {
	l.etcd.ExpireLeases() // of the one before, which crashed
	lead(l.t, l.Node, s)
	return l.point.Seq, nil
}

// TestNodeIsALog holds the log on etcd to the interface.
func TestNodeIsALog(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	journaltest.Log(t, func(t *testing.T) journal.Log { return leadLog{node(t, s), t, s} })
}

// TestDeposed: a leader that was replaced and has not noticed stores nothing more, and
// gets an error that says so for certain.
func TestDeposed(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	old, young := node(t, s), node(t, s)
	notes := &journaltest.Notes{}
	lead(t, old, notes)
	add(t, old, "first")
	s.ExpireLeases() // old is paused, and its lease ends
	theirs := &journaltest.Notes{}
	lead(t, young, theirs)
	add(t, young, "second")
	_, err := old.Append(2, []journal.Record{journaltest.Record(t, "from the grave")})
	if !errors.Is(err, errDeposed) || errors.Is(err, journal.ErrUnknown) {
		t.Errorf("the deposed leader is told %v, want %v for certain", err, errDeposed)
	}
	if old.Check() == nil {
		t.Error("it still believes that it leads")
	}
	fresh := &journaltest.Notes{}
	if _, err := node(t, s).Read(fresh); err != nil || !slices.Equal(fresh.Texts, []string{"first", "second"}) {
		t.Errorf("the log has %q, %v", fresh.Texts, err)
	}
}

// TestDeposedAndNoticed: a leader that was replaced and has noticed says so of what it is asked
// to store next: nothing was sent, and etcd answers.
func TestDeposedAndNoticed(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	old, young := node(t, s), node(t, s)
	term := lead(t, old, &journaltest.Notes{})
	s.ExpireLeases()
	lead(t, young, &journaltest.Notes{})
	<-term.Done()
	_, err := old.Append(1, []journal.Record{journaltest.Record(t, "late")})
	if !errors.Is(err, errDeposed) || errors.Is(err, journal.ErrUnknown) || errors.Is(err, errUnreachable) {
		t.Errorf("got %v, want %v for certain", err, errDeposed)
	}
}

// TestDeposedUnderWay: the answer to a leader's append is lost, and it is replaced meanwhile.
// Etcd answers again and has the record or has not, so that the leader can say which.
func TestDeposedUnderWay(t *testing.T) {
	t.Parallel()
	for fault, stored := range map[etcdtest.Fault]bool{etcdtest.LoseBefore: false, etcdtest.LoseAfter: true} {
		s := etcdtest.New(t)
		old, young := node(t, s), node(t, s)
		term := lead(t, old, &journaltest.Notes{})
		sent := 0
		s.SetFault(func(path string) etcdtest.Fault { // one at a time
			if path != "/v3/kv/txn" || term.Err() != nil {
				return etcdtest.None
			}
			switch sent++; sent {
			case 1:
				return fault
			case 2: // the first is over, whatever became of it
				go func() {
					s.ExpireLeases()
					old.leading().end(errDeposed)
				}()
			}
			return etcdtest.LoseBefore
		})
		_, err := old.Append(1, []journal.Record{journaltest.Record(t, "under way")})
		if stored && err != nil || !stored && (!errors.Is(err, errDeposed) || errors.Is(err, journal.ErrUnknown)) {
			t.Errorf("stored %t: %v", stored, err)
		}
		<-term.Done()
		s.SetFault(nil)
		notes := &journaltest.Notes{}
		lead(t, young, notes)
		if len(notes.Texts) == 1 != stored {
			t.Errorf("stored %t: the log has %q", stored, notes.Texts)
		}
	}
}

// add appends records one by one.
func add(t testing.TB, n *Node, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if _, err := n.Append(n.point.Seq+1, []journal.Record{journaltest.Record(t, text)}); err != nil {
			t.Fatalf("append %q: %v", text, err)
		}
	}
}

// TestLostAnswers: whatever is lost, the request or its answer, every record that
// is acknowledged is in the log once.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	n := node(t, s)
	lead(t, n, &journaltest.Notes{})
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(1, 2))
	s.SetFault(func(path string) etcdtest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if path == "/v3/kv/txn" && rng.IntN(3) == 0 {
			return etcdtest.Fault(1 + rng.IntN(3))
		}
		return etcdtest.None
	})
	var want []string
	for i := range 12 {
		want = append(want, fmt.Sprint(i))
	}
	add(t, n, want...)
	s.SetFault(nil)
	notes := &journaltest.Notes{}
	if _, err := node(t, s).Read(notes); err != nil || !slices.Equal(notes.Texts, want) {
		t.Errorf("the log has %q, want %q (%v)", notes.Texts, want, err)
	}
}

// TestUnknown: if a leader cannot reach etcd until its term ends, the outcome of its
// append is unknown: the record may be there or not.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	n := node(t, s)
	n.ttl = time.Second
	lead(t, n, &journaltest.Notes{})
	first := true
	var mu sync.Mutex
	s.SetFault(func(string) etcdtest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if first {
			first = false
			return etcdtest.LoseAfter
		}
		return etcdtest.Refuse
	})
	_, err := n.Append(1, []journal.Record{journaltest.Record(t, "perhaps")})
	if !errors.Is(err, journal.ErrUnknown) || !errors.Is(err, errUnreachable) {
		t.Errorf("got %v, want %v", err, journal.ErrUnknown)
	}
}

// TestFilled: etcd does the transaction that uses up its room, and answers that there was
// none (quotaApplierV3.Txn in its server); the record is acknowledged, and one that follows
// is refused and not there.
func TestFilled(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	n := node(t, s)
	lead(t, n, &journaltest.Notes{})
	writes := 0
	var mu sync.Mutex
	s.SetFault(func(path string) etcdtest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if path != "/v3/kv/txn" {
			return etcdtest.None
		}
		if writes++; writes == 1 {
			return etcdtest.Filled
		}
		return etcdtest.Full
	})
	add(t, n, "filled")
	if _, err := n.Append(2, []journal.Record{journaltest.Record(t, "refused")}); err == nil || errors.Is(err, journal.ErrUnknown) {
		t.Errorf("an append to a full etcd: %v", err)
	}
	notes := &journaltest.Notes{}
	if _, err := node(t, s).Read(notes); err != nil || !slices.Equal(notes.Texts, []string{"filled"}) {
		t.Errorf("the log has %q (%v)", notes.Texts, err)
	}
}

// TestFollow: a follower gets what the leader appends, also if a snapshot has replaced
// records that it had not read yet. When the leader ends, the follower leads.
func TestFollow(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	first, second := node(t, s), node(t, s)
	lead(t, first, &journaltest.Notes{})
	add(t, first, "a", "b")
	notes := &locked{}
	if _, err := second.Read(notes); err != nil {
		t.Fatal(err)
	}
	add(t, first, "c", "d")
	for _, state := range []string{`{"texts":["a","b","c","d"]}`, `{"texts":["a","b","c","d","e"]}`} { // two, so that the batches before the first are trimmed
		if err := first.Snapshot([]byte(state)); err != nil {
			t.Fatal(err)
		}
		add(t, first, []string{"e", "f"}[first.point.Seq-4])
	}
	if got := s.Get("/wick/test/log/" + number(3)); got != nil {
		t.Error("a batch before two snapshots is still there")
	}
	term := make(chan context.Context, 1)
	go func() {
		ctx, err := second.Follow(t.Context(), notes)
		if err != nil {
			t.Error(err)
		}
		term <- ctx
	}()
	wait(t, "the follower has all", func() bool { return slices.Equal(notes.texts(), []string{"a", "b", "c", "d", "e", "f"}) })
	if first.Status().Leads == second.Status().Leads {
		t.Errorf("who leads: %+v, %+v", first.Status(), second.Status())
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	<-term
	if _, err := second.Read(notes); err != nil {
		t.Fatal(err)
	}
	add(t, second, "g")
	if status := second.Status(); !status.Leads || status.Lag() != 0 || status.Applied != 7 || !status.Reachable() {
		t.Errorf("status %+v", status)
	}
}

// wait waits for a condition.
func wait(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain: %s", what)
}

// locked is Notes for a test that looks while they grow.
type locked struct {
	mu sync.Mutex
	journaltest.Notes
}

func (l *locked) Apply(seq uint64, kind byte, event any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Notes.Apply(seq, kind, event)
}

func (l *locked) Restore(store string, seq uint64, snapshot []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Notes.Restore(store, seq, snapshot)
}

func (l *locked) texts() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.Texts)
}

// TestTail: Tail returns what was appended before it was called, and an error when etcd
// does not answer.
func TestTail(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	n := node(t, s)
	lead(t, n, &journaltest.Notes{})
	add(t, n, "a", "b", "c")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if tail, err := n.Tail(t.Context()); err != nil || tail != 3 {
				t.Errorf("tail %d, %v", tail, err)
			}
		})
	}
	wg.Wait()
	s.SetFault(func(string) etcdtest.Fault { return etcdtest.Refuse })
	if _, err := n.Tail(t.Context()); !errors.Is(err, errUnreachable) {
		t.Errorf("without etcd: %v", err)
	}
}

// TestQuestion: callers that come while a request is under way share the next one. One that
// does not wait any longer holds up nobody.
func TestQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, sent := question[int]{turn: make(chan struct{}, 1)}, 0
		ask := func(ctx context.Context, want int, failure error) {
			got, err := q.ask(ctx, func() (int, error) {
				sent++
				n := sent
				time.Sleep(time.Second)
				return n, nil
			})
			if got != want || err != failure {
				t.Errorf("answer %d, %v; want %d, %v", got, err, want, failure)
			}
		}
		go ask(t.Context(), 1, nil)
		synctest.Wait()
		gone, leave := context.WithCancel(t.Context())
		go ask(gone, 0, context.Canceled)
		synctest.Wait()
		leave()
		for range 100 {
			go ask(t.Context(), 2, nil)
		}
		time.Sleep(3 * time.Second)
		ask(t.Context(), 3, nil)
	})
}

// TestSnapshotAgain: the current snapshot is never overwritten by another of the same
// record. A replica that stopped in the middle of that would leave a store that nobody
// can read.
func TestSnapshotAgain(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	n := node(t, s)
	lead(t, n, &journaltest.Notes{})
	add(t, n, "a")
	if err := n.Snapshot([]byte(`{"texts":["a"]}`)); err != nil {
		t.Fatal(err)
	}
	s.SetFault(func(string) etcdtest.Fault { return etcdtest.LoseAfter }) // the next one gets no further than its first part
	if err := n.Snapshot([]byte(`{"texts":["a"] }`)); err != nil {
		t.Error(err)
	}
	s.SetFault(nil)
	if _, err := node(t, s).Read(&journaltest.Notes{}); err != nil {
		t.Error(err)
	}
}

// TestPutBack: if etcd was restored from an older copy, a replica that has more records
// than etcd does not go on as if nothing had happened.
func TestPutBack(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	n := node(t, s)
	lead(t, n, &journaltest.Notes{})
	add(t, n, "a", "b")
	follower, notes := node(t, s), &journaltest.Notes{}
	if _, err := follower.Read(notes); err != nil {
		t.Fatal(err)
	}
	s.Put("/wick/test/log/"+number(2), nil)
	s.Put("/wick/test/lead/tail", []byte("1"))
	if _, err := follower.Read(notes); !errors.Is(err, errDamage) {
		t.Errorf("got %v, want %v", err, errDamage)
	}
}

// TestTwoStores: stores in one etcd know nothing of each other, also if the name of
// one begins with that of the other.
func TestTwoStores(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	for _, store := range []string{"test", "test-2"} {
		n, err := New(Options{Endpoints: []string{s.URL}, Store: store, Secret: secret})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		notes := &journaltest.Notes{}
		lead(t, n, notes) // both of them lead
		if len(notes.Texts) > 0 {
			t.Errorf("%s begins with %q", store, notes.Texts)
		}
		add(t, n, "of "+store)
		if err := n.Snapshot([]byte(`{"texts":["of ` + store + `"]}`)); err != nil {
			t.Fatal(err)
		}
	}
	notes := &journaltest.Notes{}
	if _, err := node(t, s).Read(notes); err != nil || !slices.Equal(notes.Texts, []string{"of test"}) {
		t.Errorf("the first store has %q, %v", notes.Texts, err)
	}
}

// TestPlain: a password goes over TLS alone, also on this machine, and a member on another
// machine that is reached without TLS is named in the log.
func TestPlain(t *testing.T) {
	t.Parallel()
	for endpoint, quiet := range map[string]bool{"http://127.0.0.1:1": true, "http://localhost:1": true, "https://10.0.0.1:1": true, "http://10.0.0.1:1": false, "http://etcd-0.etcd:1": false} {
		_, err := New(Options{Endpoints: []string{endpoint}, Store: "test", Secret: secret, User: "wick", Password: "x"})
		if got := err == nil; got != strings.HasPrefix(endpoint, "https:") {
			t.Errorf("%s: %v", endpoint, err)
		}
		var said strings.Builder
		_, err = New(Options{Endpoints: []string{endpoint}, Store: "test", Secret: secret, Log: slog.New(slog.NewTextHandler(&said, nil))})
		if got := said.Len() == 0; err != nil || got != quiet {
			t.Errorf("%s without a password: %v, %s", endpoint, err, &said)
		}
	}
}

// TestUser: a user with a password gets in, also after the token has ended or the
// users have changed, and one with another password does not, and is told so at
// once.
func TestUser(t *testing.T) {
	t.Parallel()
	s := etcdtest.New(t)
	web := httptest.NewTLSServer(s)
	defer web.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(web.Certificate())
	member := func(password string) *Node {
		n, err := New(Options{Endpoints: []string{web.URL}, Store: "test", Secret: secret, User: "wick", Password: password, TLS: &tls.Config{RootCAs: trusted}})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	right, wrong := member("right"), member("wrong")
	for _, change := range []func(){func() { s.SetUser("wick", "right") }, s.ChangeUsers, func() { s.SetUser("wick", "right") }} {
		change()
		before := s.Logins()
		var wg sync.WaitGroup
		for range 20 { // all of them find their token ended
			wg.Go(func() {
				if _, err := right.etcd.Do(t.Context(), etcd.Get([]byte("a"))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := s.Logins() - before; n != 1 {
			t.Errorf("%d logins for one token that has ended", n)
		}
	}
	asked := s.Requests()
	if _, err := wrong.Read(&journaltest.Notes{}); !etcd.IsFinal(err) || !strings.Contains(err.Error(), "invalid user ID or password") {
		t.Errorf("a wrong password: %v", err)
	}
	if n := s.Requests() - asked; n > 2 {
		t.Errorf("a wrong password was tried in %d requests", n)
	}
}

// TestCertificates: an etcd whose certificate nobody vouches for is refused at once.
func TestCertificates(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(etcdtest.New(t))
	defer web.Close()
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	n, err := New(Options{Endpoints: []string{web.URL}, Store: "test", Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Read(&journaltest.Notes{}); !etcd.IsFinal(err) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
}

// TestForeignAnswer: an answer that is not in etcd's format counts as no answer. The
// error quotes it, so that the operator finds the reason.
func TestForeignAnswer(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "CommonName of client sending a request against gateway will be ignored", http.StatusBadRequest)
	}))
	defer web.Close()
	n, err := New(Options{Endpoints: []string{web.URL}, Store: "test", Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Read(&journaltest.Notes{}); etcd.IsRefusal(err) || !strings.Contains(err.Error(), "CommonName") {
		t.Errorf("an answer of something else: %v", err)
	}
}

// TestDamage: what cannot be right in etcd is refused with the word damaged, and
// never skipped.
func TestDamage(t *testing.T) {
	t.Parallel()
	good := func() *etcdtest.Server {
		s := etcdtest.New(t)
		n := node(t, s)
		lead(t, n, &journaltest.Notes{})
		add(t, n, "a", "b")
		if err := n.Snapshot([]byte(`{"texts":["a","b"]}`)); err != nil {
			t.Fatal(err)
		}
		add(t, n, "c", "d", "e")
		return s
	}
	const base = "/wick/test/"
	for name, harm := range map[string]func(s *etcdtest.Server){
		"a batch is missing":   func(s *etcdtest.Server) { s.Put(base+"log/"+number(4), nil) },
		"a batch is another's": func(s *etcdtest.Server) { s.Put(base+"log/"+number(4), s.Get(base+"log/"+number(3))) },
		"a batch is cut": func(s *etcdtest.Server) {
			v := s.Get(base + "log/" + number(4))
			s.Put(base+"log/"+number(4), v[:len(v)-1])
		},
		"a batch is empty":      func(s *etcdtest.Server) { s.Put(base+"log/"+number(4), []byte{}) },
		"a key is no sequence":  func(s *etcdtest.Server) { s.Put(base+"log/"+number(4)+"x", []byte("x")) },
		"the name is no JSON":   func(s *etcdtest.Server) { s.Put(base+"snapshot", []byte("x")) },
		"the name has no parts": func(s *etcdtest.Server) { s.Put(base+"snapshot", []byte(`{"store":"x","seq":3}`)) },
		"a part is changed": func(s *etcdtest.Server) {
			key := base + "snap/" + number(2) + "/" + number(0)
			v := slices.Clone(s.Get(key))
			v[20] ^= 1
			s.Put(key, v)
		},
		"the tail is no number": func(s *etcdtest.Server) { s.Put(base+"lead/tail", []byte("many")) },
		"the leader is no JSON": func(s *etcdtest.Server) { s.Put(base+"lead", []byte("me")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := good()
			harm(s)
			if _, err := node(t, s).Read(&journaltest.Notes{}); !errors.Is(err, errDamage) {
				t.Errorf("got %v, want %v", err, errDamage)
			}
		})
	}
}

// FuzzReplies: whatever etcd says, a replica neither panics nor applies a record
// that does not follow.
func FuzzReplies(f *testing.F) {
	batch, _ := journal.AppendRecords(nil, 1, journal.PointAfter("x", 0).Hash, []journal.Record{journaltest.Record(f, "a")})
	name, err := json.Marshal(snapshotName{Store: "x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(name, []byte(`{"id":"a","address":"b"}`), []byte("1"), []byte("/wick/test/log/"+number(1)), batch)
	packed, packedName, err := pack(journal.PointAfter("x", 7), []byte(`{"texts":["a"]}`))
	if err != nil {
		f.Fatal(err)
	}
	if name, err = json.Marshal(packedName); err != nil {
		f.Fatal(err)
	}
	f.Add(name, []byte(`{}`), []byte("7"), []byte("/wick/test/snap/"+number(7)+"/"+number(0)), packed)
	s := etcdtest.New(f)
	f.Fuzz(func(t *testing.T, snapshot, lead, tail, key, value []byte) {
		for _, old := range s.Keys() {
			s.Put(old, nil)
		}
		s.Put("/wick/test/snapshot", append([]byte{}, snapshot...))
		s.Put("/wick/test/lead", append([]byte{}, lead...))
		s.Put("/wick/test/lead/tail", append([]byte{}, tail...))
		s.Put(string(key), append([]byte{}, value...))
		n := node(t, s)
		notes := &journaltest.Notes{}
		err := n.catchUp(t.Context(), notes)
		if err == nil && (n.point.Seq != notes.Seq || n.point.Store != notes.Store) {
			t.Errorf("the replica is at %+v, its state at %d of %q", n.point, notes.Seq, notes.Store)
		}
	})
}
