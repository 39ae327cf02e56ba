package tools

import (
	"context"
	"math"

	"wick/chart"
	"wick/market"
	"wick/mcp"
)

func (h *handlers) getIndicators() tool {
	return define(mcp.Tool{
		Name:  "get_indicators",
		Title: "Indicator values",
		Description: "Compute indicators for a symbol and return their newest values, recent signals and levels as JSON, without a picture. " +
			"With symbols it scans up to 200 of them and returns one table; with {\"name\":\"rule\",\"when\":\"rsi(14) < 30 and close > ema(200)@1d\"} it says which make it true and since when. " +
			"{\"name\":\"backtest\",\"enter\":\"ema(10) crosses above ema(30)\",\"exit\":\"rsi(14) > 70\",\"stop_loss\":3} with bars 5000 says what trading that would have made; list_indicators names [backtest] has targets, holding times, sizes, fees and splits. " +
			"The answer says whether the bars came from the running engine (engine_cache) or were fetched. " + reading + " Of signals, " + leaving + ".",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		Cost:        mcp.Heavy,
	}, reports, func(ctx context.Context, c mcp.Call, r *computation) (*mcp.Result, error) {
		if len(r.symbols) > 0 {
			return h.scan(ctx, c, r)
		}
		return h.computation(ctx, c.Caller, r)
	})
}

// computation answers get_indicators for one symbol. It uses the bars that the engine
// holds if they are enough for the values that a longer history would give, and fetches
// bars otherwise.
func (h *handlers) computation(ctx context.Context, caller mcp.Caller, r *computation) (*mcp.Result, error) {
	q := r.covered()
	source := "fetched"
	var v *chart.View
	var err error
	if q.symbol, err = market.Resolve(h.Source, q.symbol); err != nil {
		return nil, fixable(err)
	}
	if window := h.window(caller, q); window != nil {
		source = "engine_cache"
		v, err = compute(ctx, window, q.indicators, q.bars)
	} else {
		v, _, err = h.span(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	count := v.Series.Len()
	v = shortened(v, count-r.bars, math.MaxInt)
	return &mcp.Result{Content: bounded(v, func(dst []byte, v *chart.View) []byte {
		return chart.AppendComputed(dst, v, source, count)
	})}, nil
}

// window returns the engine's bars if they are enough to answer the question, else nil.
// It returns nil for a caller that may not trade: the reply says where its bars come from,
// and so would tell which symbols the owner trades.
func (h *handlers) window(caller mcp.Caller, q question) *market.Series {
	if h.Engine == nil || !mayRead(caller) {
		return nil
	}
	s, ok := h.Engine.Window(q.symbol, q.interval)
	if !ok {
		return nil
	}
	for _, req := range q.indicators {
		others, err := req.Others(q.interval)
		if err != nil || len(others)+len(req.Needs()) > 0 || q.bars+req.WarmupAt(q.interval, s.Time[s.Len()-1]) > s.Len() {
			return nil
		}
	}
	return s
}
