//go:build !core

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"wick/cluster"
	"wick/mcp"
	"wick/notify"
	"wick/permit"
	"wick/sse"
	"wick/trade"
	"wick/trade/book"
)

// openReplica makes this process a replica if c asks for it: it listens for the others,
// connects to etcd and sets the parts of the engine's options that are about sharing
// the journal. The engine begins to follow when it is opened.
func (e *app) openReplica(o *trade.Options) error {
	c := e.config
	if !c.clustered() {
		return nil
	}
	ln, err := listenFew("--cluster-file: listen", c.cluster.listen, maxReplicaConns)
	if err != nil {
		return err
	}
	c.cluster.advertise = "http://" + ln.Addr().String()
	node, err := c.node(o.Log)
	if err != nil {
		ln.Close()
		return err
	}
	r := &replica{app: e, node: node, listener: ln, writers: make(map[string]mcp.Handler), led: make(chan struct{})}
	e.replica = r
	// Leading is called once: a replica that loses the lead ends and is started anew.
	o.Shared, o.Leading = node, func(term context.Context) {
		r.term = term
		close(r.led)
	}
	return nil
}

// wrap makes the tools and resources of the account work on every replica: the
// leader runs those that change something, and those that read first wait until this
// replica has everything that was acknowledged anywhere.
func (r *replica) wrap(all []mcp.Tool, resources []mcp.Resource) {
	r.tools(all, r.app.trade)
	for i := range resources {
		// What shows nothing of the account is the same on every replica and needs no
		// confirmation. A chart shows the account to those who may trade.
		if resource := &resources[i]; permit.Needs(resource.URI) == permit.Read || resource.Name == "chart" {
			read := resource.Read
			resource.Read = func(ctx context.Context, reading mcp.Reading) ([]mcp.Content, error) {
				// Unlike a tool's result, this is a document for programs, which would not
				// see a note that it may be out of date.
				var stale error
				if permit.ParseScopes(reading.Caller.Scope).Has(permit.Read) {
					reading.Aside(func() { stale = r.app.trade.Confirm(ctx) })
				}
				if stale != nil {
					return nil, stale
				}
				return read(ctx, reading)
			}
		}
	}
}

// server returns the HTTP server that answers the questions of other replicas.
func (r *replica) server() *http.Server {
	return &http.Server{
		Handler:           r.node.Handler(r.answer),
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: 2 * idleTimeout, MaxHeaderBytes: maxHeaderBytes, DisableGeneralOptionsHandler: true,
	}
}

// answer does what another replica asks for: op, with the arguments in. Only the leader
// does so; any other replica returns ErrNotLeader, and the one that asked looks for the
// leader again. The node has authenticated the replica that asks; a call of a client comes
// with the client's own token.
func (r *replica) answer(ctx context.Context, op string, in json.RawMessage) (any, error) {
	e := r.app
	if !r.leads() {
		return nil, cluster.ErrNotLeader
	}
	if op == askTool {
		return asked(in, func(c toolCall) (any, error) { return r.call(ctx, c) })
	}
	peer := permit.Caller{Name: "replica", Door: permit.Replica, Scopes: permit.Scopes{permit.Peer, permit.Owner}}
	if _, err := e.gate.May(ctx, peer, permit.Action{Name: op}, nil); err != nil {
		return nil, fmt.Errorf("this replica may be of another version: %w", err)
	}
	switch op {
	case askTell:
		return asked(in, func(event notify.Event) (any, error) {
			if m, ok := e.messages.(*messenger); ok {
				m.Tell(event)
			}
			return nil, nil
		})
	case trade.AskClaim:
		return asked(in, func(c trade.Claimant) (any, error) {
			return nil, e.trade.Claim(sse.Caller{ID: c.ID, Client: c.Client, Login: c.Login, Expires: c.Expires})
		})
	case trade.AskMarks:
		return asked(in, func(marks map[string]uint64) (any, error) { return nil, e.trade.Mark(marks) })
	case trade.AskHalt:
		return asked(in, func(halt bool) (any, error) { return nil, e.trade.SetHalt(halt) })
	case trade.AskCancel:
		return asked(in, func(who book.Who) (any, error) { return nil, e.trade.CancelEverything(ctx, who) })
	}
	return nil, fmt.Errorf("this replica does not know how to %.20q: it is of another version", op)
}

// asked decodes the arguments of a question and calls do with them.
func asked[T any](in json.RawMessage, do func(T) (any, error)) (any, error) {
	var v T
	if err := json.Unmarshal(in, &v); err != nil {
		return nil, err
	}
	return do(v)
}
