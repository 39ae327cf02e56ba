package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/permit"
	"wick/sse"
	"wick/trade"
	"wick/trade/book"
)

// app holds what --trade adds, and the streams, which exist without it too. openApp
// makes it, run keeps it going and close ends it. Some fields are set after openApp, but
// before anyone is served; none changes after that.
type app struct {
	chat bool // hosts of MCP Apps are offered the chart

	trade *trade.Engine // nil without --trade
	hub   *sse.Hub

	// valid reports whether a caller's token still works; nil over stdio, where
	// there are none. It is set before anyone is served.
	valid func(caller string) bool

	// works is oauth.Server.Works; nil over stdio. It is set before anyone is served.
	works func(login string) bool

	meter *meter // nil without --metrics

	protocol       *mcp.Server // set by newMCP
	conversations  atomic.Uint64
	exitWhenBroken bool // end when the journal is broken and a new start would help
	ended          bool // exitWhenBroken has ended it; owned by run, and read when run is over

	feed     *market.Feed // nil without --trade
	messages messages     // nil without --notify-file
	gate     *permit.Gate

	lists map[string][]string // the lists of --watchlist

	replica replicas // nil without --cluster-file
}

// fired counts a fired alert for the metrics.
func (e *app) fired(book.Notification, []string) {
	if e.meter != nil {
		e.meter.fired.Add(1)
	}
}

// deps returns what tools, resources and prompts work with.
func (e *app) deps(source market.Source) tools.Deps {
	d := tools.Deps{Source: source, Watchlists: e.lists, Engine: e.trade, Hub: e.hub, Gate: e.gate, Renders: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0)))}
	if e.meter != nil {
		d.Painted = func(took time.Duration) { e.meter.renders.Observe(took.Seconds()) }
	}
	if e.messages != nil {
		d.Messages = e.messages.heard
	}
	return d
}

// may asks the gate whether a caller of the protocol may do something. Without --trade the
// tools of the account refuse everybody themselves, since no login could help.
func (e *app) may(ctx context.Context, c mcp.Caller, action string) error {
	if need := permit.Needs(action); e.trade == nil && (need == permit.Read || need == permit.Trade) {
		return nil
	}
	_, err := e.gate.May(ctx, tools.AskingAs(c), permit.Action{Name: action}, nil)
	if refused := (*permit.Refused)(nil); errors.As(err, &refused) && refused.Scope != "" && refused.Door == permit.HTTP {
		return mcp.ScopeError(err.Error())
	}
	return err
}

// answer takes the owner's answer to the question about an order, and has it written to the
// journal before it counts.
func (e *app) answer(ctx context.Context, c permit.Caller, id string, yes bool) error {
	_, err := e.gate.May(ctx, c, permit.Action{Name: "approve", Answer: &permit.Answer{ID: id, Yes: yes}},
		func(said permit.Evidence) error { return e.trade.RecordAnswer(mcp.Encode(said)) })
	return err
}

// revoked ends what a token has open: its streams, and what it watches. The login calls it
// for each token that ends before its time.
func (e *app) revoked(caller string) {
	e.protocol.Sessions.Revoke(caller)
}

// subscribes reports whether the token of a subscription was not revoked. That of a local
// host never is.
func (e *app) subscribes(s *sse.Subscription) bool {
	return s.Caller == tools.StdioCaller.ID || e.works != nil && e.works(s.Login)
}

// close writes down what is left to write and gives the data directory back. The error is
// the one by which the process ends, or nil if its end was asked for. Then the owner gets the
// hash of all that was written.
func (e *app) close(err error) error {
	if e.trade == nil {
		return err
	}
	closing := e.trade.Close()
	if !e.ended { // otherwise the journal is broken, and endWhenBroken has returned the reason
		err = errors.Join(err, closing)
	}
	if err == nil && e.messages != nil && e.replica == nil {
		e.messages.stopped()
	}
	return err
}

// stream serves one SSE stream until it ends. If the caller may trade, it first
// gets back the subscription that its client had under an earlier token.
func (e *app) stream(w http.ResponseWriter, r *http.Request, c mcp.Caller) error {
	caller := tools.Subscriber(c)
	var claim func() error
	if e.trade != nil && permit.ParseScopes(c.Scope).Has(permit.Read) {
		claim = func() error { return e.trade.Claim(caller) }
	}
	return e.hub.Serve(w, r, caller, claim)
}

// listener is an mcp.Stream as sse writes it: events without ids, since the
// protocol of listeners knows no resuming.
type listener struct{ *mcp.Stream }

// Next returns the lines that wait, each as an event of its own.
func (l listener) Next() (events []sse.Event) {
	for _, line := range l.Stream.Next() {
		events = append(events, sse.Event{Data: line})
	}
	return events
}

// converse holds one conversation over stdio; there may be several at the same time. All
// of them are the same local client, whose alerts go to the newest conversation; changes
// of what a conversation watches go to that one alone. When ctx ends, no further line is
// read, and calls under way are finished, as over HTTP; the caller of converse decides how
// long to wait for them.
func (e *app) converse(ctx context.Context, r io.Reader, w io.Writer, caller mcp.Caller) error {
	caller.Conversation = strconv.FormatUint(e.conversations.Add(1), 10)
	// Nothing can wake a read of standard input. A pipe between r and the protocol can be
	// closed during such a read; the goroutine that reads is then left behind.
	in, lines := io.Pipe()
	defer in.Close()
	defer context.AfterFunc(ctx, func() { _ = lines.Close() })()
	go func() {
		_, err := io.Copy(lines, r)
		lines.CloseWithError(err)
	}()
	ctx = context.WithoutCancel(ctx)
	return e.protocol.ServeStdio(ctx, in, w, caller, func(ctx context.Context, write func(line []byte) error) error {
		return e.hub.Push(ctx, caller.ID, func(event sse.Event) error { return write(event.Data) })
	})
}
