//go:build !core

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"wick/permit"

	"wick/cluster"
	"wick/cluster/etcdtest"
	"wick/mcp"
	"wick/oauth"
)

// clusterFile writes the file of credentials that replicas share, and a key file
// beside it.
func clusterFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cluster.txt")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeKey(filepath.Join(filepath.Dir(name), "key"), io.Discard); err != nil {
		t.Fatal(err)
	}
	return name
}

const testSecret = "secret 0123456789abcdef0123456789abcdef\n"

// clusterArgs are the flags of a replica on a fake etcd.
func clusterArgs(t *testing.T, etcd *etcdtest.Server, file string) []string {
	return []string{"--serve", "--trade", "--data-dir", t.TempDir(), "--cluster-file", atEtcd(t, etcd.URL, file),
		"--key-file", filepath.Join(filepath.Dir(file), "key"), "--base-url", "http://localhost:9315"}
}

// atEtcd copies the file, beside it, with the members of etcd and where to listen, and returns
// its name.
func atEtcd(t *testing.T, members, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(filepath.Dir(file), "replica-")
	if err == nil {
		_, err = fmt.Fprintf(f, "%s\netcd %s\nlisten 127.0.0.1:0\n", text, members)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// steadyEtcd is a fake etcd for tests in which every leader stops and gives its lease back.
func steadyEtcd(t *testing.T) *etcdtest.Server {
	etcd := etcdtest.New(t)
	etcd.Lengthen(10 * time.Minute)
	return etcd
}

// listeningAt finds where a server listens, which is not what it publishes if that
// is the address of a balancer before it.
var listeningAt = regexp.MustCompile(`msg=serving .* listen=(127\.0\.0\.1:\d+)`)

// startReplica is start for a replica, whose base is its own address.
func startReplica(t *testing.T, args []string) *running {
	t.Helper()
	h := start(t, args...)
	h.published, h.base = h.base, "http://"+listeningAt.FindStringSubmatch(h.log.String())[1]
	return h
}

// readyz returns what a replica says of itself, and the status.
func (h *running) readyz(t *testing.T, query string) (doc readiness, status int) {
	t.Helper()
	r, err := http.Get(h.base + "/readyz" + query)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc, r.StatusCode
}

// await waits until a replica has a role.
func (h *running) await(t *testing.T, role string) {
	t.Helper()
	for range 1000 {
		if doc, _ := h.readyz(t, ""); doc.Role == role {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("no %s after a while; its log:\n%s", role, h.log)
}

// TestReplicas: what is written through a follower is done by the leader and seen
// by both, a follower's streams get what fires, and when the leader stops the
// follower goes on in its place, with everything, and a restarted one follows.
func TestReplicas(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	a := startReplica(t, clusterArgs(t, etcd, file))
	a.await(t, "leader")
	b := startReplica(t, append(clusterArgs(t, etcd, file), "--metrics", "127.0.0.1:0"))
	b.await(t, "follower")
	token := a.login(t) // good at every replica
	onA, onB := token, token
	b.call(t, onB, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5","client_order_id":"first"}`)
	for name, shown := range map[string]string{"the leader": a.call(t, onA, "get_orders", `{}`), "the follower": b.call(t, onB, "get_orders", `{}`)} {
		if strings.Count(shown, `"client_order_id":"first"`) != 1 {
			t.Errorf("%s shows %s", name, shown)
		}
	}
	b.call(t, onB, "subscribe_notifications", `{}`)
	stream := b.listen(t, onB, "")
	alerts := b.fire(t, onB, 2)
	if got := stream.read(t, 2); !slices.Equal(got, alerts) {
		t.Fatalf("the follower's stream: %v, want %v", got, alerts)
	}
	for _, want := range []string{"wick_cluster_leads 0\n", "wick_cluster_leader_known 1\n", "wick_cluster_lag_records 0\n"} {
		if text := b.metrics(t); !strings.Contains(text, want) || strings.Contains(text, "wick_cluster_passed_total 0\n") {
			t.Errorf("the metrics lack %q, or say that nothing was passed on: %s", want, text)
		}
	}
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	b.await(t, "leader")
	alerts = append(alerts, b.fire(t, onB, 2)...) // the same stream goes on
	if got := stream.read(t, 2); !slices.Equal(got, alerts[2:]) {
		t.Fatalf("after the change of leaders: %v, want %v", got, alerts[2:])
	}
	if again := b.call(t, onB, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5","client_order_id":"first"}`); !strings.Contains(again, `"client_order_id":"first"`) {
		t.Errorf("the same order again: %s", again)
	}
	c := startReplica(t, clusterArgs(t, etcd, file))
	c.await(t, "follower")
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	c.await(t, "leader")
	onC := token
	if got := c.listen(t, onC, stream.events[1]).read(t, 2); !slices.Equal(got, alerts[2:]) {
		t.Errorf("on a third replica, after %s: %v, want %v", stream.events[1], got, alerts[2:])
	}
	if orders := c.call(t, onC, "get_orders", `{}`); strings.Count(orders, `"client_order_id":"first"`) != 1 {
		t.Errorf("the third replica shows %s", orders)
	}
}

// TestStopDuringWrites: while the leader stops, each write that comes through a
// follower is done and acknowledged, by it or by the next leader, or is refused and
// not done, or the reply says that the outcome is not known.
func TestStopDuringWrites(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	a := startReplica(t, append(clusterArgs(t, etcd, file), "--paper-file", paperLines(t, "max-order-rate 100000")))
	a.await(t, "leader")
	b := startReplica(t, append(clusterArgs(t, etcd, file), "--paper-file", paperLines(t, "max-order-rate 100000")))
	b.await(t, "follower")
	token := b.login(t)
	var mu sync.Mutex
	said := make(map[string]string)
	var writes sync.WaitGroup
	for i := range 8 {
		writes.Go(func() {
			for n := range 10 {
				id := fmt.Sprintf("order-%d-%d", i, n)
				text := b.tool(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.01","client_order_id":"`+id+`"}`)
				mu.Lock()
				said[id] = text
				mu.Unlock()
			}
		})
	}
	if err := a.stop(); err != nil {
		t.Error(err)
	}
	writes.Wait()
	b.await(t, "leader")
	done := 0
	for id, text := range said {
		shown := b.tool(t, token, "get_orders", `{"order_id":"`+id+`"}`)
		there, refused := strings.Contains(shown, `filled`), strings.Contains(text, `"isError":true`)
		if there == refused && !strings.Contains(text, "outcome unknown") {
			t.Errorf("%s: it was said %s, and now %s", id, text, shown)
		}
		if there {
			done++
		}
	}
	if done == 0 {
		t.Errorf("none of %d orders was done: %v", len(said), said)
	}
}

// TestMarksOfFollower: what a follower has delivered is not sent again by another
// replica to a client that names no event.
func TestMarksOfFollower(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	a := startReplica(t, clusterArgs(t, etcd, file))
	a.await(t, "leader")
	b := startReplica(t, clusterArgs(t, etcd, file))
	b.await(t, "follower")
	onB := b.login(t)
	b.call(t, onB, "subscribe_notifications", `{}`)
	stream := b.listen(t, onB, "")
	b.fire(t, onB, 2)
	stream.read(t, 2)
	part := strings.Split(stream.events[1], "-")
	mark := `"marks":{"` + strings.Join(part[:3], "-") + `":` + part[4] + `}`
	end := time.Now().Add(time.Minute)
	for marked := false; !marked; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no entry of the log has %s", mark)
		}
		for _, key := range etcd.Keys() {
			marked = marked || strings.Contains(key, "/log/") && strings.Contains(string(etcd.Get(key)), mark)
		}
	}
	if err := errors.Join(b.stop(), a.stop()); err != nil {
		t.Fatal(err)
	}
	c := startReplica(t, clusterArgs(t, etcd, file))
	c.await(t, "leader")
	onC := onB
	later := c.fire(t, onC, 1)
	if got := c.listen(t, onC, "").read(t, 1); !slices.Equal(got, later) {
		t.Errorf("the other replica sends %v, want %v alone", got, later)
	}
}

// TestLoginsOfReplicas: a token that one replica has given works at the others until
// it is given back at any of them, and then at none.
func TestLoginsOfReplicas(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	a := startReplica(t, clusterArgs(t, etcd, file))
	b := startReplica(t, clusterArgs(t, etcd, file))
	var client string
	token := a.loginAs(t, &client)
	if got := []int{a.ping(t, token), b.ping(t, token)}; !slices.Equal(got, []int{200, 200}) {
		t.Fatalf("the token is answered with %v", got)
	}
	r, err := http.PostForm(b.base+"/revoke", url.Values{"token": {token}, "client_id": {client}})
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	for range 500 {
		if a.ping(t, token) == http.StatusUnauthorized {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got := []int{a.ping(t, token), b.ping(t, token)}; !slices.Equal(got, []int{401, 401}) {
		t.Errorf("after it was given back: %v", got)
	}
}

// TestEpochOfReplicas: when the owner ends all logins at one replica, they end at
// the other too, with the streams that are open there.
func TestEpochOfReplicas(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	args := clusterArgs(t, etcd, file)
	a := startReplica(t, args)
	b := startReplica(t, clusterArgs(t, etcd, file))
	token := a.login(t)
	stream := b.listen(t, token, "")
	var said string
	if err := askControl(t.Context(), args[3], http.MethodPost, "/revoke", url.Values{"id": {"all"}}, &said); err != nil {
		t.Fatal(err)
	}
	for stream.lines.Scan() { // until it ends
	}
	if got := []int{a.ping(t, token), b.ping(t, token)}; !slices.Equal(got, []int{401, 401}) {
		t.Errorf("after all logins were ended: %v", got)
	}
	token = a.login(t)
	for range 500 {
		if b.ping(t, token) == http.StatusOK {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("a login of the new epoch does not work at the other replica")
}

// TestKeysOfReplicas: while the key is changed, replicas have the keys in another
// order, and what each of them seals works at the other; without the overlap it
// does not.
func TestKeysOfReplicas(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	dir := filepath.Dir(file)
	keys := func(name string, from ...string) string {
		var all []byte
		for _, f := range from {
			text, err := os.ReadFile(filepath.Join(dir, f))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text...)
		}
		if err := os.WriteFile(filepath.Join(dir, name), all, 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	if err := writeKey(filepath.Join(dir, "next"), io.Discard); err != nil {
		t.Fatal(err)
	}
	with := func(name string) *running {
		args := clusterArgs(t, etcd, file)
		args[slices.Index(args, "--key-file")+1] = name
		return startReplica(t, args)
	}
	before, after, late := with(keys("old-new", "key", "next")), with(keys("new-old", "next", "key")), with(keys("new", "next"))
	old, young := before.login(t), after.login(t)
	for name, got := range map[string][]int{
		"sealed with the old key": {before.ping(t, old), after.ping(t, old)},
		"sealed with the new key": {before.ping(t, young), after.ping(t, young)},
	} {
		if !slices.Equal(got, []int{200, 200}) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := []int{late.ping(t, old), late.ping(t, young)}; !slices.Equal(got, []int{401, 200}) {
		t.Errorf("at a replica without the old key: %v", got)
	}
}

// TestWatchAtFollower: a client that watches a resource at a follower is told of
// what the leader has changed.
func TestWatchAtFollower(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	a := startReplica(t, clusterArgs(t, etcd, file))
	a.await(t, "leader")
	b := startReplica(t, clusterArgs(t, etcd, file))
	b.await(t, "follower")
	token := a.login(t)
	if _, text := b.ask(t, "/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"wick://positions"}}`); !strings.Contains(text, `"result"`) {
		t.Fatal(text)
	}
	stream := b.listen(t, token, "")
	a.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5"}`)
	for stream.lines.Scan() {
		if strings.Contains(stream.lines.Text(), "notifications/resources/updated") {
			return
		}
	}
	t.Error("the stream ended without a word")
}

// TestCutOff: a follower that etcd does not answer passes no write on, although it
// reaches the leader. Otherwise a login that was revoked elsewhere could trade there.
func TestCutOff(t *testing.T) {
	t.Parallel()
	etcd, file := etcdtest.New(t), clusterFile(t, testSecret)
	a := startReplica(t, clusterArgs(t, etcd, file))
	a.await(t, "leader")
	var cut atomic.Bool
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut.Load() {
			panic(http.ErrAbortHandler)
		}
		etcd.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		way.CloseClientConnections()
		way.Close()
	})
	args := clusterArgs(t, etcd, file)
	args[slices.Index(args, "--cluster-file")+1] = atEtcd(t, way.URL, file)
	b := startReplica(t, args)
	b.await(t, "follower")
	var client string
	token := a.loginAs(t, &client)
	const order = `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5"}`
	b.call(t, token, "place_order", order)
	cut.Store(true)
	way.CloseClientConnections()
	r, err := http.PostForm(a.base+"/revoke", url.Values{"token": {token}, "client_id": {client}})
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	for range 500 {
		if doc, _ := b.readyz(t, ""); !*doc.Etcd {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	// The leader, which knows of the revocation here, would refuse it too: it must not be asked.
	if text := b.tool(t, token, "place_order", order); !strings.Contains(text, "etcd does not answer, so this replica cannot know") || !strings.Contains(text, "nothing was done") {
		t.Errorf("a revoked login at a replica that is cut off: %s", text)
	}
	cut.Store(false)
	for range 500 {
		if b.ping(t, token) == http.StatusUnauthorized {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("it goes on once etcd answers")
}

// TestRevokedBeforeHeard: a login that was revoked at one replica places no order at the
// leader, nor through a follower, and halts nothing at their owner's pages, before these
// have heard of it; and none does at a leader that cannot ask, or whose answer is damaged.
func TestRevokedBeforeHeard(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	var deaf, cut atomic.Bool // the watches are cut, and all else
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut.Load() || deaf.Load() && r.URL.Path == "/v3/watch" {
			panic(http.ErrAbortHandler)
		}
		etcd.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		way.CloseClientConnections()
		way.Close()
	})
	replica := func(at string) *running {
		args := clusterArgs(t, etcd, file)
		args[slices.Index(args, "--cluster-file")+1] = atEtcd(t, at, file)
		return startReplica(t, args)
	}
	leader := replica(way.URL)
	leader.await(t, "leader")
	follower, other := replica(way.URL), replica(etcd.URL)
	const order = `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5","client_order_id":%q}`
	deaf.Store(true)
	way.CloseClientConnections()
	for i, h := range []*running{leader, follower} {
		var client string
		token := other.loginAs(t, &client)
		h.call(t, token, "place_order", fmt.Sprintf(order, fmt.Sprint("before-", i)))
		r, err := http.PostForm(other.base+"/revoke", url.Values{"token": {token}, "client_id": {client}})
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		h.tool(t, token, "place_order", fmt.Sprintf(order, fmt.Sprint("after-", i)))
		page := other.loginOwner(t)
		if status, text := h.owner(t, page, "resume", url.Values{}); status != http.StatusOK {
			t.Errorf("the owner's page: %d %s", status, text)
		}
		if r, err = http.PostForm(other.base+"/revoke", url.Values{"token": {page}, "client_id": {oauth.OwnClient}}); err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if status, text := h.owner(t, page, "halt", url.Values{}); status != http.StatusUnauthorized {
			t.Errorf("the owner's page with a revoked login: %d %s", status, text)
		}
	}
	good, page := other.login(t), other.loginOwner(t)
	leader.call(t, good, "place_order", fmt.Sprintf(order, "good"))
	if text := other.tool(t, good, "get_orders", `{}`); strings.Contains(text, "after") || !strings.Contains(text, "good") {
		t.Fatalf("a revoked login has placed orders: %s", text)
	}
	const epoch = "/wick/main/login/epoch"
	was := etcd.Get(epoch)
	etcd.Put(epoch, []byte(strings.Repeat("x", 33)))
	if text := leader.tool(t, good, "place_order", fmt.Sprintf(order, "after-damage")); !strings.Contains(text, "nothing was done") || !strings.Contains(text, "damaged") || strings.Contains(text, "not answer") {
		t.Errorf("at a leader whose ledger is damaged: %s", text)
	}
	etcd.Put(epoch, was)
	cut.Store(true)
	way.CloseClientConnections()
	if text := leader.tool(t, good, "place_order", fmt.Sprintf(order, "after-cut")); !strings.Contains(text, "nothing was done") {
		t.Errorf("at a leader that is cut off: %s", text)
	}
	if status, text := leader.owner(t, page, "halt", url.Values{}); status != http.StatusServiceUnavailable || !strings.Contains(text, "nothing was done") {
		t.Errorf("the owner's page of a leader that is cut off: %d %s", status, text)
	}
	cut.Store(false)
}

// TestPassedWithoutLogin: the leader runs no call that is passed on without a login that it knows,
// such as a follower of an earlier version passes on.
func TestPassedWithoutLogin(t *testing.T) {
	t.Parallel()
	node, err := cluster.New(cluster.Options{Endpoints: []string{etcdtest.New(t).URL}, Store: "test", Secret: []byte("0123456789abcdef0123456789abcdef")})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	ledger, err := node.OpenLedger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ran := func(context.Context, mcp.Call) (*mcp.Result, error) { return mcp.Text("ran"), nil }
	login, err := oauth.New(oauth.Options{BaseURL: "http://localhost:1", Loopback: true, Keys: newKeys(t), Ledger: ledger})
	if err != nil {
		t.Fatal(err)
	}
	e := &app{login: login, gate: permit.New(permit.Options{Above: -1})}
	r := &replica{app: e, node: node, ledger: ledger, writers: map[string]mcp.Handler{"place_order": ran}}
	for _, token := range []string{"", "a", "a." + ledger.Epoch() + "."} {
		if _, err := r.call(t.Context(), toolCall{Tool: "place_order", Token: token}); !errors.Is(err, oauth.ErrInvalidToken) {
			t.Errorf("with the token %q: %v", token, err)
		}
	}
}

// TestOtherSecret: a replica with another secret refuses an order with that reason, says so when
// it is asked whether all is well, and is still ready for reads.
func TestOtherSecret(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	a := startReplica(t, clusterArgs(t, etcd, file))
	a.await(t, "leader")
	args := clusterArgs(t, etcd, file)
	args[slices.Index(args, "--cluster-file")+1] = atEtcd(t, etcd.URL, clusterFile(t, "secret ffffffffffffffffffffffffffffffff\n"))
	b := startReplica(t, args)
	b.await(t, "follower")
	if text := b.tool(t, a.login(t), "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5"}`); !strings.Contains(text, "nothing was done: the leader refuses this replica") {
		t.Errorf("an order: %s", text)
	}
	if doc, status := b.readyz(t, "?strict"); status != http.StatusServiceUnavailable || !strings.Contains(doc.Reason, "refuses") {
		t.Errorf("all is well, it says: %d %+v", status, doc)
	}
	if doc, status := b.readyz(t, ""); status != http.StatusOK {
		t.Errorf("reads go on, and it says %d %+v", status, doc)
	}
}

// TestLostMajority: without etcd, reads are answered and say that they may be old,
// writes are refused with the reason, and the leader ends once etcd is back.
func TestLostMajority(t *testing.T) {
	t.Parallel()
	etcd, file := etcdtest.New(t), clusterFile(t, testSecret)
	h, ended := runReplica(t, clusterArgs(t, etcd, file))
	h.await(t, "leader")
	token := h.login(t)
	h.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5","client_order_id":"before"}`)
	etcd.SetFault(func(string) etcdtest.Fault { return etcdtest.Refuse })
	for arguments, old := range map[string]bool{`{"symbol":"BTCUSDT","format":"series"}`: true, `{"symbol":"BTCUSDT","format":"series","show":[]}`: false} {
		if text := h.tool(t, token, "generate_chart", arguments); strings.Contains(text, `"isError":true`) || strings.Contains(text, "may be out of date") != old {
			t.Errorf("a chart without etcd, %s: %s", arguments, text)
		}
	}
	if _, status := h.readyz(t, ""); status != http.StatusOK {
		t.Errorf("not ready without etcd: %d; charts and reads go on", status)
	}
	if text := h.tool(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5","client_order_id":"during"}`); !strings.Contains(text, "etcd") {
		t.Errorf("an order without etcd: %s, want the reason", text)
	}
	if text := h.tool(t, token, "get_orders", `{}`); !strings.Contains(text, "before") || !strings.Contains(text, "may be out of date") {
		t.Errorf("orders without etcd: %s", text)
	}
	if _, text := h.ask(t, "/mcp", token, `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"wick://orders"}}`); !strings.Contains(text, `"error"`) || !strings.Contains(text, "may be out of date") {
		t.Errorf("a resource, which has no place for a note, without etcd: %s", text)
	}
	if text := h.tool(t, token, "get_orders", `{"order_id":"unknown"}`); !strings.Contains(text, "may be out of date") {
		t.Errorf("an order that is not known, without etcd: %s", text)
	}
	for _, uri := range []string{"wick://positions", "wick://chart/BTCUSDT/4h"} {
		if text := h.message(t, token, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"`+uri+`"}}`); !strings.Contains(text, `"error"`) {
			t.Errorf("%s without etcd: %.300s", uri, text)
		}
	}
	h.await(t, "deposed")
	if doc, status := h.readyz(t, "?strict"); status != http.StatusServiceUnavailable {
		t.Errorf("all is well, it says: %+v", doc)
	}
	if text := h.tool(t, token, "generate_chart", `{"symbol":"BTCUSDT","format":"series"}`); strings.Contains(text, `"isError":true`) || !strings.Contains(text, "Nothing of the account is drawn") && !strings.Contains(text, "may be out of date") {
		t.Errorf("a chart when nobody may know whether the order was stored: %.300s … %s", text, text[max(0, len(text)-300):])
	}
	etcd.SetFault(nil)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "started again as a follower") {
		t.Errorf("it ended with %v", err)
	}
}

// TestFull: an etcd that has no room refuses writes, and everybody is told why;
// reads go on, also at a replica that is started meanwhile, and when there is room
// again one leads.
func TestFull(t *testing.T) {
	t.Parallel()
	etcd, file := etcdtest.New(t), clusterFile(t, testSecret)
	a, ended := runReplica(t, clusterArgs(t, etcd, file))
	a.await(t, "leader")
	token := a.login(t)
	a.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5","client_order_id":"before"}`)
	etcd.SetFault(func(string) etcdtest.Fault { return etcdtest.Full })
	const during = `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5","client_order_id":"during"}`
	if text := a.tool(t, token, "place_order", during); !strings.Contains(text, "space exceeded") {
		t.Errorf("an order without room: %s, want the reason", text)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "started again as a follower") {
		t.Errorf("the leader ended with %v", err)
	}
	b := startReplica(t, clusterArgs(t, etcd, file))
	b.await(t, "follower")
	if text := b.tool(t, token, "get_orders", `{}`); !strings.Contains(text, "before") || strings.Contains(text, "out of date") {
		t.Errorf("orders without room: %s", text)
	}
	if text := b.tool(t, token, "place_order", during); !strings.Contains(text, "space exceeded") || !strings.Contains(text, "nothing was done") {
		t.Errorf("an order at a follower without room: %s, want the reason", text)
	}
	etcd.SetFault(nil)
	b.await(t, "leader")
	b.call(t, token, "place_order", during)
}

// TestReadsBesideWrites: writes that wait for a leader, however many, do not hold up
// reads.
func TestReadsBesideWrites(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	a, ended := runReplica(t, clusterArgs(t, etcd, file))
	a.await(t, "leader")
	token := a.login(t)
	etcd.SetFault(func(string) etcdtest.Fault { return etcdtest.Full }) // nobody leads any more
	a.tool(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5"}`)
	<-ended
	b := startReplica(t, append(clusterArgs(t, etcd, file), "--metrics", "127.0.0.1:0"))
	b.await(t, "follower")
	var writes sync.WaitGroup
	var refused atomic.Int64
	for range 50 {
		writes.Go(func() {
			b.tool(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5"}`)
			refused.Add(1)
		})
	}
	for !strings.Contains(b.metrics(t), "wick_cluster_passed_total 50\n") && refused.Load() == 0 {
		time.Sleep(20 * time.Millisecond)
	}
	b.call(t, token, "get_orders", `{}`)
	if n := refused.Load(); n > 0 {
		t.Errorf("a read had to wait until %d of the writes were refused", n)
	}
	writes.Wait()
}

// runReplica starts a replica that may end by itself; ended has its error then.
func runReplica(t *testing.T, args []string) (h *running, ended chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	h, ended = &running{log: &syncBuffer{}}, make(chan error, 1)
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		ended <- Run(ctx, append(args, "--port", "0"), env("HOME", t.TempDir()), nil, io.Discard, h.log)
	}()
	h.base = h.awaitURL(t)
	return h, ended
}

// TestStopWhileStarting: a replica that waits for etcd says why, and ends at once
// when it is told to. Its supervisor would else kill it.
func TestStopWhileStarting(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	etcd.SetFault(func(string) etcdtest.Fault { return etcdtest.Refuse })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var log syncBuffer
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, append(clusterArgs(t, etcd, file), "--port", "0"), env("HOME", t.TempDir()), nil, io.Discard, &log)
	}()
	for !strings.Contains(log.String(), "etcdserver: no leader") {
		select {
		case err := <-ended:
			t.Fatalf("it ended with %v; its log:\n%s", err, &log)
		case <-time.After(20 * time.Millisecond):
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestMoveStore: a store goes from a directory into etcd and back with all of its
// orders, and never over another one.
func TestMoveStore(t *testing.T) {
	t.Parallel()
	etcd, file, dir := steadyEtcd(t), clusterFile(t, testSecret), t.TempDir()
	single := start(t, "--serve", "--trade", "--data-dir", dir)
	token := single.login(t)
	single.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5","client_order_id":"old"}`)
	if err := single.stop(); err != nil {
		t.Fatal(err)
	}
	move := func(args ...string) (string, error) {
		var out syncBuffer
		err := Run(t.Context(), append([]string{"--cluster-file", atEtcd(t, etcd.URL, file)}, args...), env("HOME", t.TempDir()), nil, &out, io.Discard)
		return out.String(), err
	}
	if said, err := move("import", dir); err != nil || !strings.Contains(said, "is the store main in etcd") {
		t.Fatalf("import: %q, %v", said, err)
	}
	if _, err := move("import", dir); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second import: %v", err)
	}
	replica := startReplica(t, clusterArgs(t, etcd, file))
	replica.await(t, "leader")
	token = replica.login(t)
	replica.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"sell","type":"market","quantity":"0.5","client_order_id":"new"}`)
	if said, err := move("export", filepath.Join(t.TempDir(), "running")); err != nil || !strings.Contains(said, "running") {
		t.Errorf("export while a replica leads: %q, %v", said, err)
	}
	if _, err := move("import", dir); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("import while a replica leads: %v", err)
	}
	if err := replica.stop(); err != nil {
		t.Fatal(err)
	}
	back := filepath.Join(t.TempDir(), "back")
	if said, err := move("export", back); err != nil || !strings.Contains(said, back) {
		t.Fatalf("export: %q, %v", said, err)
	}
	if _, err := move("export", back); err == nil {
		t.Error("an export over another store")
	}
	var out syncBuffer
	err := Run(t.Context(), []string{"audit", "verify", "--data-dir", back}, env("HOME", t.TempDir()), nil, &out, io.Discard)
	if err != nil || !regexp.MustCompile(`sound: records \d+ to \d+ in 1 journal files`).MatchString(out.String()) {
		t.Errorf("the exported history: %s, %v", &out, err)
	}
	single = start(t, "--serve", "--trade", "--data-dir", back)
	orders := single.call(t, single.login(t), "get_orders", `{}`)
	if !strings.Contains(orders, `"client_order_id":"old"`) || !strings.Contains(orders, `"client_order_id":"new"`) {
		t.Errorf("after the way there and back: %s", orders)
	}
}

// TestHaltOfCluster: the owner halts trading at any replica, and the next leader
// knows. What lifts the halt removes the file HALT of the leader, too. A follower has the
// leader cancel the orders.
func TestHaltOfCluster(t *testing.T) {
	t.Parallel()
	etcd, file := steadyEtcd(t), clusterFile(t, testSecret)
	a := startReplica(t, clusterArgs(t, etcd, file))
	a.await(t, "leader")
	args := clusterArgs(t, etcd, file)
	b := startReplica(t, args)
	b.await(t, "follower")
	var said string
	if err := askControl(t.Context(), args[3], http.MethodPost, "/halt", nil, &said); err != nil {
		t.Fatal(err)
	}
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	b.await(t, "leader")
	token := b.login(t)
	if text := b.tool(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5"}`); !strings.Contains(text, "halted") {
		t.Errorf("an order while trading is halted: %s", text)
	}
	if err := askControl(t.Context(), args[3], http.MethodPost, "/resume", nil, &said); err != nil {
		t.Fatal(err)
	}
	b.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5"}`)
	if err := os.WriteFile(filepath.Join(args[3], "HALT"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := b.tool(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.4"}`); !strings.Contains(text, "halted") {
		t.Errorf("an order beside the file HALT of the leader: %s", text)
	}
	args = clusterArgs(t, etcd, file)
	c := startReplica(t, args)
	c.await(t, "follower")
	if err := askControl(t.Context(), args[3], http.MethodPost, "/resume", nil, &said); err != nil || said != "trading goes on" {
		t.Errorf("lifted at a follower: %q, %v", said, err)
	}
	c.call(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"limit","price":"30000","quantity":"0.3"}`)
	if err := askControl(t.Context(), args[3], http.MethodPost, "/cancel", nil, &said); err != nil || !strings.Contains(said, "every open order") {
		t.Errorf("cancelled at a follower: %q, %v", said, err)
	}
	if open := c.call(t, token, "get_orders", `{"filter":"open"}`); !strings.Contains(open, "[]") {
		t.Errorf("after that there are %s", open)
	}
}

// TestNoClusterNoConnection: without the flag a process is ready as a single one, and asks no
// etcd on this machine anything.
func TestNoClusterNoConnection(t *testing.T) {
	etcd := etcdtest.New(t)
	h := start(t, "--serve", "--trade", "--data-dir", t.TempDir())
	h.call(t, h.login(t), "get_orders", `{}`)
	if doc, status := h.readyz(t, "?strict"); status != http.StatusOK || doc.Role != "single" {
		t.Errorf("%d %+v", status, doc)
	}
	if n := etcd.Requests(); n != 0 {
		t.Errorf("%d requests to etcd", n)
	}
}

// TestClusterFlags: what cannot work is refused at the start, with what would be
// right.
func TestClusterFlags(t *testing.T) {
	at := func(members, text string) string { return atEtcd(t, members, clusterFile(t, text)) }
	good, open := at("http://127.0.0.1:1", testSecret), clusterFile(t, testSecret)
	key := filepath.Join(filepath.Dir(good), "key")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"needs --key-file":         {"--trade", "--cluster-file", good},
		"that the other replicas":  {"--trade", "--key-file", key, "--cluster-file", clusterFile(t, testSecret+"etcd http://127.0.0.1:1\nlisten :9317")},
		"belongs to --serve":       {"--mcp", "--trade", "--key-file", key, "--cluster-file", good},
		"does not work with":       {"--trade", "--key-file", key, "--confirm-above", "1", "--cluster-file", good},
		"--broker does not work":   {"--trade", "--key-file", key, "--broker", "alpaca-paper", "--cluster-file", good},
		"is a URL such as":         {"--trade", "--key-file", key, "--cluster-file", at("root:hunter2@127.0.0.1:1", testSecret)},
		"host and port alone":      {"--trade", "--key-file", key, "--cluster-file", at("https://root:hunter2@127.0.0.1:1", testSecret)},
		"for all to read":          {"--trade", "--key-file", key, "--cluster-file", at("http://10.0.0.1:1", testSecret+"user a\npassword hunter2")},
		"at least 32":              {"--trade", "--key-file", key, "--cluster-file", at("http://127.0.0.1:1", "secret short")},
		"begins with none of":      {"--trade", "--key-file", key, "--cluster-file", clusterFile(t, "hunter2")},
		"has no value, or two":     {"--trade", "--key-file", key, "--cluster-file", clusterFile(t, "secret hunter2\nsecret hunter2")},
		"user and password belong": {"--trade", "--key-file", key, "--cluster-file", at("http://127.0.0.1:1", testSecret+"user a")},
		"run chmod 600":            {"--trade", "--key-file", key, "--cluster-file", open},
	} {
		err := Run(t.Context(), append(args, "--port", "0", "--data-dir", t.TempDir()), env("HOME", t.TempDir()), nil, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

// TestListenVariable: the address of a replica may come from the environment, since the file
// is the same at every replica.
func TestListenVariable(t *testing.T) {
	file := clusterFile(t, testSecret+"etcd http://127.0.0.1:1\nlisten $POD_IP:9317")
	c := parse(t, env("HOME", "/", "POD_IP", "10.0.0.7"), "--trade", "--key-file", filepath.Join(filepath.Dir(file), "key"), "--cluster-file", file)
	if c.cluster.listen != "10.0.0.7:9317" {
		t.Errorf("it listens on %q", c.cluster.listen)
	}
}

// FuzzLines: no file of settings makes the reader panic, and no error quotes a line of it.
func FuzzLines(f *testing.F) {
	f.Add([]byte(testSecret + "user a\npassword b\n# a comment\n"))
	f.Add([]byte("ca nowhere.pem\ncert a\nkey b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := &config{given: make(map[string]string)}
		err := c.setLines(inCluster, text)
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); err != nil && len(line) > 20 && strings.Contains(err.Error(), line) {
				t.Errorf("%q is quoted: %v", line, err)
			}
		}
	})
}

// awaitURL waits for the start-up line and returns the address in it.
func (h *running) awaitURL(t *testing.T) string {
	t.Helper()
	for range 1000 {
		if m := listeningAt.FindStringSubmatch(h.log.String()); m != nil {
			h.published = servingAt.FindStringSubmatch(h.log.String())[1]
			return "http://" + m[1]
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("it does not serve:\n%s", h.log)
	return ""
}

// tool is call for a tool that may refuse: it returns the whole reply.
func (h *running) tool(t *testing.T, token, tool, arguments string) string {
	t.Helper()
	return h.message(t, token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
}

// message sends a message and returns the reply.
func (h *running) message(t *testing.T, token, message string) string {
	t.Helper()
	request, err := http.NewRequest("POST", h.base+"/mcp", strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// metrics returns what the metrics listener says.
func (h *running) metrics(t *testing.T) string {
	t.Helper()
	_, text := fetch(t, "GET", metricsAt.FindStringSubmatch(h.log.String())[1], "")
	return text
}
