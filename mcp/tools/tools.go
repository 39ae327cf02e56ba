// Package tools defines the fifteen tools that clients call: three for charts
// and indicators, which are always there, and twelve for trading, which need
// the trading engine.
//
// It is the one place where the protocol and the domain meet. A tool reads its
// arguments, checks every one of them before any work is done, calls the
// package that knows how, and writes the answer. Both transports get the same
// tools, so both give the same answers.
//
// # Security considerations
//
// Arguments come from language models, and so from whoever can talk to them.
// They are bounded and checked here; limits on trading are the operator's and
// no argument reaches them. Texts that go back quote at most a few characters
// of what came in.
package tools

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"wick/chart"
	"wick/market"
	"wick/mcp"
	"wick/trade"
)

// ScopeTrade is what a caller must hold to use the trading tools.
const ScopeTrade = "trade"

// Deps is what the tools work with.
type Deps struct {
	Source market.Source // where bars come from
	Engine *trade.Engine // nil without --trade: trading tools refuse
	Mail   *Mail         // delivers pushes; nil without --trade

	// Alive reports whether a caller's token still works: the subscription of
	// one that does not may be claimed by its client. Nil means always.
	Alive func(caller string) bool

	// Renders bounds how many charts are painted at once, each in a picture of
	// up to 16 MiB. Zero means two.
	Renders int

	// Painted, if set, is told how long each picture took to paint.
	Painted func(took time.Duration)
}

// house is the tools' shared state.
type house struct {
	Deps
	renders *semaphore.Weighted
	catalog mcp.Content // what list_indicators answers without arguments
}

// All returns the fifteen tools, in a fixed order.
func All(d Deps) []mcp.Tool {
	if d.Renders == 0 {
		d.Renders = 2
	}
	h := &house{Deps: d, renders: semaphore.NewWeighted(int64(d.Renders)), catalog: mcp.Fixed(catalogJSON("", ""))}
	tools := []mcp.Tool{h.generateChart(), h.listIndicators(), h.getIndicators()}
	for _, t := range h.trading() {
		if d.Engine != nil { // without it no login could help: every caller gets the same error
			t.Scope = ScopeTrade
		}
		t.Handle = h.gate(t.Handle)
		tools = append(tools, t)
	}
	return tools
}

// errNoTrade is what every trading tool answers without the engine.
var errNoTrade = errors.New("trading is not enabled: the operator must start wick with --trade; retrying will not help")

// gate refuses a trading tool when there is no engine. A caller that is known
// from before under another token first gets back what was its own.
func (h *house) gate(handle mcp.Handler) mcp.Handler {
	return func(ctx context.Context, c mcp.Call) (*mcp.Result, error) {
		if h.Engine == nil {
			return nil, errNoTrade
		}
		if err := h.Mail.Claim(ctx, c.Caller, h.Alive); err != nil {
			return nil, err
		}
		return handle(ctx, c)
	}
}

// RenderBytes returns how much memory charts can hold when that many are
// painted at once: a picture and its file for each, and two calls for each that
// have the file and turn it to base64. Calls that wait for their turn hold
// nothing but their message.
func RenderBytes(renders int) int {
	picture := chart.MaxWidth*chart.MaxHeight + chart.MaxBytes
	reply := chart.MaxBytes + base64.StdEncoding.EncodedLen(chart.MaxBytes)
	return renders * (picture + 2*reply)
}
