package trade

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"wick/indicators"
	"wick/market"
)

// hit is an alert whose signal a new bar bears.
type hit struct {
	alert *Alert
	value float64
}

// awaited returns the intervals of which t has closed bars that alerts wait for.
func (e *Engine) awaited(t tick) map[market.Interval]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	awaited := make(map[market.Interval]bool)
	for _, c := range t.Closed {
		awaited[c.Interval] = len(e.ahead.index.signals[seriesKey{t.Symbol, c.Interval}]) > 0
	}
	return awaited
}

// waiting returns the alerts that wait for signals of one window.
func (e *Engine) waiting(key seriesKey) []*Alert {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.ahead.index.signals[key]))
}

// judge returns the alerts whose signals the new bars of a window bear. It
// computes every distinct request once. No lock is held meanwhile.
func (e *Engine) judge(ctx context.Context, c closing) (hits []hit) {
	if c.gap {
		var err error
		if c, err = e.watch.refill(ctx, c); err != nil {
			e.log.Warn("gap in the bars stays", "error", err)
		}
	}
	results := make(map[string]*indicators.Result)
	for _, a := range e.waiting(c.key) {
		request, err := a.Condition.request()
		if err != nil { // a later catalogue may lack what an older one had
			e.log.Warn("alert cannot be judged", "alert", a.ID, "error", err)
			continue
		}
		key := requestKey(request)
		if _, done := results[key]; !done {
			results[key] = e.compute(ctx, request, c)
		}
		if r := results[key]; r != nil {
			if value, ok := newSignal(r, a, c); ok {
				hits = append(hits, hit{a, value})
			}
		}
	}
	return hits
}

// compute runs a request over closed bars. One that needs columns beyond
// prices and volume asks the source for them.
func (e *Engine) compute(ctx context.Context, r indicators.Request, c closing) *indicators.Result {
	if len(r.Ind.Needs) == 0 {
		return r.Compute(c.bars)
	}
	s, err := e.watch.load(ctx, c.key, r.Ind.Needs...)
	if err != nil {
		e.log.Warn("indicator alert has no data", "symbol", c.key.symbol, "indicator", r.Ind.Name, "error", err)
		return nil
	}
	// Extra columns come with bars of their own, which may reach further back or
	// forward than ours.
	//
	// Cut to the bars the others are judged on, so that indexes mean the same.
	last := c.bars.Time[c.bars.Len()-1]
	end, found := slices.BinarySearch(s.Time, last)
	if !found {
		e.log.Warn("indicator alert: the source lacks the newest closed bar", "symbol", c.key.symbol, "indicator", r.Ind.Name)
		return nil
	}
	result := r.Compute(s.Slice(0, end+1))
	shift := c.bars.Len() - (end + 1)
	for i := range result.Signals {
		result.Signals[i].Bar += shift
	}
	return result
}

// requestKey is equal for requests that compute the same.
func requestKey(r indicators.Request) string {
	var b strings.Builder
	b.WriteString(r.Ind.Name)
	for _, p := range r.Ind.Params {
		fmt.Fprintf(&b, " %v", r.Args.Float(p.Name))
	}
	return b.String()
}

// newSignal returns the value of the first signal that a waits for among the
// new bars. A bar that closed before the alert was set is old.
func newSignal(r *indicators.Result, a *Alert, c closing) (float64, bool) {
	n := c.bars.Len()
	for _, s := range r.Signals {
		if s.Bar < n-c.fresh || s.Bar >= n || s.Label != a.Condition.Signal {
			continue
		}
		if a.Interval.Next(c.bars.Time[s.Bar])*1000 <= a.CreatedAt.UnixMilli() {
			continue
		}
		if math.IsNaN(s.Y) || math.IsInf(s.Y, 0) {
			return c.bars.Close[s.Bar], true
		}
		return s.Y, true
	}
	return 0, false
}
