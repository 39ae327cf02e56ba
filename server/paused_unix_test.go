//go:build unix && !core

package server

import (
	"strings"
	"syscall"
	"testing"

	"wick/cluster/etcdtest"
)

// TestPausedLeader: orders that were passed to a leader which hangs end when another leads.
// One with an id is placed by the next leader, once; of one without it is said that its
// outcome is not known.
func TestPausedLeader(t *testing.T) {
	t.Parallel()
	etcd, file := etcdtest.New(t), clusterFile(t, testSecret)
	replica := func() *process {
		args := clusterArgs(t, etcd, file)
		p := startProcess(t, args[3], args[4:]...)
		p.base = p.awaitURL(t)
		return p
	}
	leader := replica()
	leader.await(t, "leader")
	follower := replica()
	follower.await(t, "follower")
	token := follower.login(t)
	if err := leader.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	unnamed := make(chan string, 1)
	go func() {
		unnamed <- follower.tool(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.25"}`)
	}()
	if text := follower.tool(t, token, "place_order", `{"symbol":"BTCUSDT","side":"buy","type":"market","quantity":"0.5","client_order_id":"mine"}`); !strings.Contains(text, `\"status\":\"filled\"`) {
		t.Errorf("an order with an id: %s", text)
	}
	if text := <-unnamed; !strings.Contains(text, "outcome unknown") || !strings.Contains(text, "the leader changed before it answered") {
		t.Errorf("an order without an id: %s", text)
	}
	if text := follower.tool(t, token, "get_orders", `{}`); strings.Count(text, `\"order_id\"`) != 1 {
		t.Errorf("orders: %s", text)
	}
}
