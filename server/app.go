package server

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"

	"wick/delivery"
	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/sse"
	"wick/trade"
)

// app is what --trade adds, and the streams, which exist without it too.
type app struct {
	trade *trade.Engine // nil without --trade
	hub   *delivery.Hub

	// valid reports whether a caller's token still works; nil over stdio, where
	// there are none. It is set before anyone is served.
	valid func(caller string) bool

	meter *meter // nil without --metrics
}

// openApp opens the trading engine and its data directory if c asks for it.
func openApp(c *config, source market.Source, log *slog.Logger) (*app, error) {
	e := &app{hub: delivery.NewHub(tools.EncodeAlert)}
	if c.metrics != "" {
		e.meter = newMeter()
	}
	if !c.trade {
		return e, nil
	}
	feed := market.NewFeed(source, log)
	feed.Band = c.priceBand
	var err error
	e.trade, err = trade.Open(trade.Options{
		Dir: c.dataDir, Source: source, Feed: feed, Limits: c.limits,
		FeeRate: c.feeRate, Slippage: c.slippage, MaxPriceAge: c.maxPriceAge, Symbols: c.symbols, Intervals: c.intervals,
		Recover: c.recoverTo(log), Log: log, Hub: e.hub, Notify: e.fired,
	})
	return e, err
}

// fired counts a fired alert.
func (e *app) fired(trade.Notification, []string) {
	if e.meter != nil {
		e.meter.fired.Add(1)
	}
}

// tools returns the fifteen tools.
func (e *app) tools(source market.Source) []mcp.Tool {
	d := tools.Deps{Source: source, Engine: e.trade, Hub: e.hub, Valid: e.valid, Renders: runtime.GOMAXPROCS(0)}
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

// stream serves one SSE stream until it ends. A caller that may trade first
// gets back the subscription that its client had under an earlier token.
func (e *app) stream(w http.ResponseWriter, r *http.Request, c mcp.Caller) error {
	caller := tools.Subscriber(c, e.valid)
	var claim func() error
	if e.trade != nil && c.Has(tools.ScopeTrade) {
		claim = func() error { return e.trade.Claim(caller) }
	}
	return e.hub.Serve(w, r, caller, claim)
}

// push writes fired alerts to the local client of stdio between its replies.
func (e *app) push(ctx context.Context, write func(line []byte) error) error {
	return e.hub.Push(ctx, tools.StdioCaller.ID, func(event sse.Event) error { return write(event.Data) })
}
