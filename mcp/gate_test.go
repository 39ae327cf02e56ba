package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// Calls take turns by token: however many one token has waiting, another's call
// comes next. In one line for all it would wait for every one of them.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string // appended to by one call at a time: there is one slot
		tool := Tool{Name: "turn", Schema: json.RawMessage(`{}`), Cost: Heavy, Handle: func(_ context.Context, c Call) (*Result, error) {
			order = append(order, c.Caller.ID)
			return Text("done"), nil
		}}
		h, dial := crowdSite(t, tool)
		occupy(h.Server.gates[Heavy])
		for i := range 7 {
			token := "greedy@one"
			if i == 4 || i == 6 {
				token = "small@two"
			}
			c := dial()
			go func() {
				if status, _, body := ask(t, c, token, callOf("turn")); status != 200 {
					t.Errorf("%s: %d %s", token, status, body)
				}
			}()
			synctest.Wait()
		}
		h.Server.gates[Heavy].leave()
		synctest.Wait()
		if got, want := strings.Join(order, " "), "greedy small greedy small greedy greedy greedy"; got != want {
			t.Errorf("turns: %s, want %s", got, want)
		}
	})
}

// TestGiveWay: a call in parts lets another token's call have its slot between two of
// them, and goes on before the other calls of its own token. Alone, it keeps the slot.
func TestGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		begun, part := make(chan bool), make(chan bool)
		long := Tool{Name: "long", Schema: json.RawMessage(`{}`), Cost: Heavy, Handle: func(_ context.Context, c Call) (*Result, error) {
			for i := range 3 {
				begun <- true
				<-part
				order = append(order, fmt.Sprint(c.Caller.ID, i))
				c.GiveWay()
			}
			return Text("done"), nil
		}}
		short := Tool{Name: "short", Schema: json.RawMessage(`{}`), Cost: Heavy, Handle: func(_ context.Context, c Call) (*Result, error) {
			order = append(order, c.Caller.ID)
			return Text("done"), nil
		}}
		h, dial := crowdSite(t, long, short)
		occupy(h.Server.gates[Heavy])
		h.Server.gates[Heavy].leave() // one slot is free
		for _, call := range [][2]string{{"greedy@one", "long"}, {"greedy@one", "short"}, {"small@two", "short"}} {
			c := dial()
			go ask(t, c, call[0], callOf(call[1]))
			synctest.Wait()
		}
		for range 3 {
			<-begun
			part <- true
			synctest.Wait()
		}
		if got, want := strings.Join(order, " "), "greedy0 small greedy1 greedy2 greedy"; got != want {
			t.Errorf("turns: %s, want %s", got, want)
		}
		if g := h.Server.gates[Heavy]; g.free != 1 || g.waiting.all != 0 || len(g.waiting.clients) != 0 || len(g.lines) != 0 {
			t.Errorf("left behind: %d free, %d waiting, %v, %v", g.free, g.waiting.all, g.waiting.clients, g.lines)
		}
	})
}

// TestAsideBounds: however many calls step aside while nothing answers, one token gets no
// more in than may wait, and another client is served.
func TestAsideBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, answer, finish := newGate(2), make(chan bool), make(chan bool)
		inside := 0
		for range 1000 {
			go func() {
				greedy := Caller{ID: "a", Client: "one"}
				if g.enter(t.Context(), greedy) != nil {
					return
				}
				inside++
				Slot{g, greedy}.Aside(func() { <-answer })
				<-finish
				g.leave()
			}()
			synctest.Wait()
		}
		if inside != maxWaitingToken+2 {
			t.Errorf("%d calls came in, want %d", inside, maxWaitingToken+2)
		}
		close(answer)
		synctest.Wait()
		other := make(chan *Error, 1)
		go func() { other <- g.enter(t.Context(), Caller{ID: "b", Client: "two"}) }()
		close(finish)
		synctest.Wait()
		if g.away != 0 || g.free != 1 { // the other client has the second slot
			t.Errorf("left behind: %d away, %d free", g.away, g.free)
		}
		if refused := <-other; refused != nil {
			t.Errorf("another client: %v", refused)
		}
	})
}

// TestAside: a call that waits for another machine has no slot meanwhile, and goes on when
// it has one again. One that panics there leaves as many slots as there were.
func TestAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		answer, finish := make(chan bool), make(chan bool)
		far := Tool{Name: "far", Schema: json.RawMessage(`{}`), Cost: Heavy, Handle: func(_ context.Context, c Call) (*Result, error) {
			c.Aside(func() {
				if !<-answer {
					panic("a bug")
				}
			})
			order = append(order, "far")
			return Text("done"), nil
		}}
		near := Tool{Name: "near", Schema: json.RawMessage(`{}`), Cost: Heavy, Handle: func(context.Context, Call) (*Result, error) {
			order = append(order, "near")
			<-finish
			return Text("done"), nil
		}}
		h, dial := crowdSite(t, far, near)
		occupy(h.Server.gates[Heavy])
		h.Server.gates[Heavy].leave() // one slot is free
		for _, tool := range []string{"far", "far", "near"} {
			c := dial()
			go ask(t, c, "a@one", callOf(tool))
			synctest.Wait()
		}
		answer <- true
		answer <- false
		synctest.Wait()
		if got, want := strings.Join(order, " "), "near"; got != want {
			t.Errorf("with the slot: %s, want %s", got, want)
		}
		finish <- true
		synctest.Wait()
		if got, want := strings.Join(order, " "), "near far"; got != want {
			t.Errorf("at last: %s, want %s", got, want)
		}
		if g := h.Server.gates[Heavy]; g.free != 1 || g.waiting.all != 0 || len(g.waiting.clients) != 0 || len(g.lines) != 0 {
			t.Errorf("left behind: %d free, %d waiting, %v, %v", g.free, g.waiting.all, g.waiting.clients, g.lines)
		}
	})
}

// One token, and one client with all its tokens, may have so many calls waiting
// and no more; another client's calls wait beside them.
func TestWaitingBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := Tool{Name: "turn", Schema: json.RawMessage(`{}`), Handle: func(context.Context, Call) (*Result, error) { return Text("done"), nil }}
		h, dial := crowdSite(t, tool)
		gate := h.Server.gates[Normal]
		occupy(gate)
		for range maxWaitingToken {
			send(dial(), "a@one", callOf("turn"))
		}
		synctest.Wait()
		status, header, body := ask(t, dial(), "a@one", callOf("turn"))
		wantBusy(t, "past the token's share", status, 429, header, body, `"mine"`)
		for range maxWaitingClient - maxWaitingToken {
			send(dial(), "b@one", callOf("turn"))
		}
		synctest.Wait()
		status, header, body = ask(t, dial(), "b@one", callOf("turn"))
		wantBusy(t, "past the client's share", status, 429, header, body, `"mine"`)
		for i := range maxWaiting - maxWaitingClient {
			send(dial(), fmt.Sprintf("t%d@c%d", i, i), callOf("turn"))
		}
		synctest.Wait()
		status, header, body = ask(t, dial(), "last@last", callOf("turn"))
		wantBusy(t, "past the bound of all", status, 503, header, body, `"mine"`)
		gate.leave()
		synctest.Wait()
		if gate.waiting.all != 0 || len(gate.lines)+len(gate.waiting.clients) != 0 {
			t.Errorf("%d calls still wait", gate.waiting.all)
		}
	})
}

// At most as many calls as there are slots wait for the disk or another machine at once.
// The next one waits for a slot, but calls that compute do not wait for it.
func TestWaitingSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Int64
		back := make(chan struct{})
		s := NewServer(Options{Name: "test", Tools: []Tool{
			{Name: "far", Schema: json.RawMessage(`{}`), Cost: Waiting, Handle: func(context.Context, Call) (*Result, error) {
				away.Add(1)
				<-back
				return Text("done"), nil
			}},
			{Name: "near", Schema: json.RawMessage(`{}`), Handle: func(context.Context, Call) (*Result, error) { return Text("done"), nil }},
		}})
		var calls sync.WaitGroup
		for i := range waitingSlots + 1 {
			calls.Go(func() { s.handle(t.Context(), Caller{ID: fmt.Sprint(i)}, []byte(callOf("far"))) })
		}
		synctest.Wait()
		if n := away.Load(); n != waitingSlots {
			t.Errorf("%d calls are away, want %d", n, waitingSlots)
		}
		if reply := s.handle(t.Context(), Caller{}, []byte(callOf("near"))); !strings.Contains(string(reply), "done") {
			t.Errorf("a call that works here: %s", reply)
		}
		close(back)
		calls.Wait()
		if n := away.Load(); n != waitingSlots+1 {
			t.Errorf("%d calls were carried out, want all", n)
		}
	})
}

// A call that is given up leaves its place, and a slot that comes to it at that
// moment goes to the next.
func TestGiveUp(t *testing.T) {
	g := newGate(workSlots())
	occupy(g)
	first := g.queue(Caller{ID: "a"}, false)
	second := g.queue(Caller{ID: "a"}, false)
	third := g.queue(Caller{ID: "b"}, false)
	if !g.abandon(first) || g.waiting.all != 2 {
		t.Errorf("%d wait, want 2", g.waiting.all)
	}
	g.leave()
	if <-second; g.abandon(second) {
		t.Error("a call that has its slot was still in line")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if refused := g.enter(ctx, Caller{ID: "c"}); refused != errBusy {
		t.Errorf("a call whose client is gone: %v, want 503", refused)
	}
	g.leave()
	<-third
	g.leave()
	if g.free != 1 || g.waiting.all != 0 {
		t.Errorf("%d slots are free and %d calls wait, want 1 and 0", g.free, g.waiting.all)
	}
}
