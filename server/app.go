package server

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"sync"

	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/trade"
)

// app is what --trade adds, and the streams, which exist without it too.
type app struct {
	trade *trade.Engine // nil without --trade
	mail  tools.Mail

	// alive reports whether a caller's token still works; nil over stdio,
	// where there are none. It is set before anyone is served.
	alive func(caller string) bool

	meter *meter // nil without --metrics

	mu      sync.Mutex
	streams map[*openStream]struct{}
}

// openStream is a stream that ends when its token is revoked.
type openStream struct {
	caller string
	end    context.CancelFunc
}

// openApp opens the trading engine and its data directory if c asks for it.
func openApp(c *config, source market.Source, log *slog.Logger) (*app, error) {
	e := &app{streams: make(map[*openStream]struct{})}
	if c.metrics != "" {
		e.meter = newMeter()
	}
	if !c.trade {
		return e, nil
	}
	var err error
	e.trade, err = trade.Open(trade.Options{
		Dir: c.dataDir, Source: source, Feed: market.NewFeed(source, log), Limits: c.limits,
		FeeRate: c.feeRate, Slippage: c.slippage, Symbols: c.symbols, Intervals: c.intervals,
		Recover: c.recover, Log: log, Notify: e.notify,
	})
	if err != nil {
		return nil, err
	}
	e.mail.Start(e.trade)
	return e, nil
}

// notify passes a fired alert on to its subscribers.
func (e *app) notify(n trade.Notification, recipients []string) {
	if e.meter != nil {
		e.meter.fired.Add(1)
	}
	e.mail.Notify(n, recipients)
}

// tools returns the fifteen tools.
func (e *app) tools(source market.Source) []mcp.Tool {
	d := tools.Deps{Source: source, Engine: e.trade, Mail: &e.mail, Alive: e.alive, Renders: runtime.GOMAXPROCS(0)}
	if e.meter != nil {
		d.Painted = e.meter.painted
	}
	return e.meter.tools(tools.All(d))
}

// run keeps the engine going until ctx ends.
func (e *app) run(ctx context.Context) error {
	if e.trade == nil {
		return nil
	}
	return e.trade.Run(ctx)
}

// close writes down what is left to write.
func (e *app) close() error {
	if e.trade == nil {
		return nil
	}
	return e.trade.Close()
}

// stream serves one SSE stream until it ends.
func (e *app) stream(w http.ResponseWriter, r *http.Request, c mcp.Caller) error {
	if err := e.mail.Claim(r.Context(), c, e.alive); err != nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "the subscription cannot be opened now: try again", http.StatusServiceUnavailable)
		return err
	}
	ctx, end := context.WithCancel(r.Context())
	defer end()
	s := &openStream{c.ID, end}
	e.mu.Lock()
	e.streams[s] = struct{}{}
	e.mu.Unlock()
	if e.alive != nil && !e.alive(c.ID) { // revoked before it was in the list
		end()
	}
	defer func() {
		e.mu.Lock()
		delete(e.streams, s)
		e.mu.Unlock()
	}()
	return e.mail.Hub.Serve(w, r.WithContext(ctx), c.ID, c.Expires)
}

// push writes fired alerts to the local client of stdio between its replies.
func (e *app) push(ctx context.Context, write func(line []byte) error) error {
	return e.mail.Hub.Deliver(ctx, tools.StdioCaller.ID, func(_ string, frame []byte) error { return write(frame) })
}

// revoked ends the streams of a token that was revoked. Expiry needs no telling:
// a stream knows when its token ends.
func (e *app) revoked(caller string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := range e.streams {
		if s.caller == caller {
			s.end()
		}
	}
}
