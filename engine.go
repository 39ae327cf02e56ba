package main

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"time"

	"wick/chart"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/trade"
)

// engine is what --trade adds, and the streams, which exist without it too.
type engine struct {
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

// openEngine opens the trading engine and its data directory if c asks for it.
func openEngine(c *config, source market.Source, log *slog.Logger) (*engine, error) {
	e := &engine{streams: make(map[*openStream]struct{})}
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
func (e *engine) notify(n trade.Notification, recipients []string) {
	if e.meter != nil {
		e.meter.fired.Add(1)
	}
	e.mail.Notify(n, recipients)
}

// renderBytes is how much memory charts can hold: a picture and its file per
// processor, since no more are painted at once, and two calls per processor
// that have the file and turn it to base64. Those that wait hold nothing.
func renderBytes(processors int) int {
	picture := chart.MaxWidth*chart.MaxHeight + chart.MaxBytes
	reply := chart.MaxBytes + base64.StdEncoding.EncodedLen(chart.MaxBytes)
	return processors * (picture + 2*reply)
}

// tools returns the fifteen tools.
func (e *engine) tools(source market.Source) []mcp.Tool {
	d := tools.Deps{Source: source, Engine: e.trade, Mail: &e.mail, Alive: e.alive, Renders: runtime.GOMAXPROCS(0)}
	if e.meter != nil {
		d.Painted = e.meter.painted
	}
	return e.meter.tools(tools.All(d))
}

// run keeps the engine going until ctx ends.
func (e *engine) run(ctx context.Context) error {
	if e.trade == nil {
		return nil
	}
	return e.trade.Run(ctx)
}

// close writes down what is left to write.
func (e *engine) close() error {
	if e.trade == nil {
		return nil
	}
	return e.trade.Close()
}

// stream serves one SSE stream until it ends.
func (e *engine) stream(w http.ResponseWriter, r *http.Request, c mcp.Caller) error {
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
	defer func() {
		e.mu.Lock()
		delete(e.streams, s)
		e.mu.Unlock()
	}()
	return e.mail.Hub.Serve(w, r.WithContext(ctx), c.ID, c.Expires)
}

// push writes fired alerts to the local client of stdio between its replies.
func (e *engine) push(ctx context.Context, write func(line []byte) error) error {
	return e.mail.Hub.Deliver(ctx, tools.StdioCaller.ID, func(_ string, frame []byte) error { return write(frame) })
}

// watch ends the streams of revoked tokens until ctx ends. Expiry needs no
// watching: a stream knows when its token ends.
func (e *engine) watch(ctx context.Context) error {
	tick := time.NewTicker(15 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			e.sweep()
		}
	}
}

// sweep ends the streams whose token no longer works.
func (e *engine) sweep() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := range e.streams {
		if !e.alive(s.caller) {
			s.end()
		}
	}
}
