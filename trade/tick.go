package trade

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"wick/exact"
	"wick/indicators"
	"wick/market"
)

// deliver takes one update of the feed through the engine: windows, resting
// orders, price alerts, signals. The feed calls it from one goroutine at a
// time. When it returns, all that followed from the update is on disk and told.
func (e *Engine) deliver(ctx context.Context, u market.Update) {
	t, ok := newTick(u)
	if !ok {
		e.log.Warn("update without a usable price", "symbol", u.Symbol, "price", u.Price)
		return
	}
	closed, known := e.observe(t)
	if !known {
		return
	}
	var hits []hit
	for _, c := range closed {
		hits = append(hits, e.judge(ctx, c)...)
	}
	fired, seq := e.settle(t, hits)
	if err := e.commit(seq); err != nil {
		return // logged when it broke; whoever asks is told
	}
	for _, f := range fired {
		e.options.Notify(*f.notification, f.to)
	}
}

// tick is an update in exact numbers.
type tick struct {
	market.Update
	price, high, low exact.Decimal
}

func newTick(u market.Update) (tick, bool) {
	t := tick{Update: u}
	var ok1, ok2, ok3 bool
	t.price, ok1 = exact.FromFloat(u.Price)
	t.high, ok2 = exact.FromFloat(u.High)
	t.low, ok3 = exact.FromFloat(u.Low)
	return t, ok1 && ok2 && ok3 && t.low <= t.price && t.price <= t.high
}

// closing is a window that got new closed bars.
type closing struct {
	key    seriesKey
	bars   *market.Series // a copy; nil when no alert looks at it
	fresh  int            // how many of them are new
	gap    bool           // some before them are missing
	alerts []*Alert
}

// observe brings the windows up to date. It reports false for a symbol that
// nobody watches any more.
func (e *Engine) observe(t tick) ([]closing, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	in := e.instruments[t.Symbol]
	if in == nil {
		return nil, false
	}
	e.fedAt = now()
	byInterval := make(map[market.Interval]closing)
	for _, c := range t.Closed {
		w := in.windows[c.Interval]
		if w == nil || c.Bar.Check() != nil {
			continue
		}
		if isNew, gap := w.add(c.Bar); isNew {
			k := byInterval[c.Interval]
			k.key, k.fresh, k.gap = seriesKey{t.Symbol, c.Interval}, k.fresh+1, k.gap || gap
			byInterval[c.Interval] = k
		}
	}
	for _, w := range in.windows {
		w.touch(t.Price, t.High, t.Low, t.At)
	}
	var out []closing
	for iv, c := range byInterval {
		for _, a := range e.ahead.index.signals[c.key] {
			c.alerts = append(c.alerts, a)
		}
		if len(c.alerts) > 0 {
			c.bars = in.windows[iv].closedBars()
		}
		if c.bars != nil || c.gap {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b closing) int { return cmp.Compare(a.key.interval.Seconds(), b.key.interval.Seconds()) })
	return out, true
}

// hit is an alert whose signal a new bar bears.
type hit struct {
	alert *Alert
	value float64
}

// judge computes every distinct request of the alerts on one window once, and
// looks for their signals on the new bars alone. No lock is held meanwhile.
func (e *Engine) judge(ctx context.Context, c closing) []hit {
	if c.gap {
		c.bars = e.refill(ctx, c)
	}
	results := make(map[string]*indicators.Result)
	var hits []hit
	for _, a := range c.alerts {
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

// refill loads a window anew after bars were missed, and returns what alerts
// are judged on. A source that fails leaves the gap: better a late signal from
// what there is than none.
func (e *Engine) refill(ctx context.Context, c closing) *market.Series {
	s, err := e.options.Source.Bars(ctx, market.Query{Symbol: c.key.symbol, Interval: c.key.interval, Limit: windowBars + 1})
	if err != nil {
		e.log.Warn("missed bars could not be loaded", "symbol", c.key.symbol, "interval", string(c.key.interval), "error", err)
		return c.bars
	}
	w := newWindow(s)
	e.mu.Lock()
	defer e.mu.Unlock()
	if in := e.instruments[c.key.symbol]; in != nil && w.lastClosed() >= in.windows[c.key.interval].lastClosed() {
		in.windows[c.key.interval] = w
		if c.bars != nil && w.lastClosed() == c.bars.Time[c.bars.Len()-1] {
			return w.closedBars()
		}
	}
	return c.bars
}

// compute runs a request over closed bars. One that needs columns beyond
// prices and volume asks the source for them.
func (e *Engine) compute(ctx context.Context, r indicators.Request, c closing) *indicators.Result {
	if len(r.Ind.Needs) == 0 {
		return r.Compute(c.bars)
	}
	q := market.Query{Symbol: c.key.symbol, Interval: c.key.interval, Limit: windowBars + 1, Extra: r.Ind.Needs}
	s, err := e.options.Source.Bars(ctx, q)
	if err != nil {
		e.log.Warn("indicator alert has no data", "symbol", c.key.symbol, "indicator", r.Ind.Name, "error", err)
		return nil
	}
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

// settle takes every step that follows from t: fills first, in order of
// acceptance, then alerts by age. It returns what fired and the last sequence.
func (e *Engine) settle(t tick, hits []hit) (fired []firing, seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	in := e.instruments[t.Symbol]
	if in == nil {
		return nil, 0
	}
	since := in.fed
	in.price, in.at, in.fed = t.price, t.At, t.At
	if e.journal.Broken() != nil {
		return nil, 0
	}
	at := now()
	seq = e.fillResting(t, since, at)
	take := func(a *Alert, value json.Number) {
		if f, s, err := e.fire(a, value, at); err == nil {
			fired, seq = append(fired, f), s
		}
	}
	reached := e.ahead.index.prices[t.Symbol].reached(e.scratch[:0], t.high, t.low)
	slices.SortFunc(reached, func(a, b *Alert) int { return compareIDs(a.ID, b.ID) })
	for _, a := range reached {
		if value, ok := t.meets(a, since); ok {
			take(a, json.Number(value.String()))
		}
	}
	e.scratch = reached
	slices.SortFunc(hits, func(a, b hit) int { return compareIDs(a.alert.ID, b.alert.ID) })
	for _, h := range hits {
		if e.ahead.alerts[h.alert.ID] != nil { // not cancelled meanwhile
			take(h.alert, valueOf(h.value))
		}
	}
	return fired, seq
}

// meets returns the price that makes a true: the newest one, or else the
// extreme since the update before. Extremes count only for an alert that was
// there all the while; for one set since then they are the past.
func (t tick) meets(a *Alert, since int64) (exact.Decimal, bool) {
	high, low := t.price, t.price
	if a.CreatedAt.UnixMilli() <= since {
		high, low = t.high, t.low
	}
	threshold := a.Condition.Threshold
	switch {
	case a.Condition.Type == PriceAbove && t.price >= threshold, a.Condition.Type == PriceBelow && t.price <= threshold:
		return t.price, true
	case a.Condition.Type == PriceAbove && high >= threshold:
		return high, true
	case a.Condition.Type == PriceBelow && low <= threshold:
		return low, true
	}
	return 0, false
}

// fillResting fills the resting orders that t reaches. Called with mu held; it
// returns the last sequence, or 0.
func (e *Engine) fillResting(t tick, since int64, at Time) (seq uint64) {
	if e.options.Broker != nil {
		return 0
	}
	for _, id := range slices.Clone(e.ahead.open[t.Symbol]) {
		old := e.ahead.order(id)
		price, ok := t.fillPrice(old, since)
		if !ok {
			continue
		}
		o := *old
		o.UpdatedAt = at
		ev, k := &event{At: at, Order: &o}, kindFilled
		if err := e.fillWhole(ev, price); err != nil {
			o.Status, o.Reason, k = StatusRejected, err.Error(), kindOrderRejected
		}
		if s, err := e.propose(k, ev); err == nil {
			seq = s
		}
	}
	return seq
}

// fillPrice judges a resting order by what was traded after it was accepted:
// the bars that lie wholly between the update before and this one, then the
// update itself, by its highs and lows if the order was there all the while,
// else by its price alone.
func (t tick) fillPrice(o *Order, since int64) (exact.Decimal, bool) {
	accepted := o.CreatedAt.UnixMilli()
	if t.At <= accepted {
		return 0, false // a price from before the order
	}
	for _, c := range t.Closed {
		if start := c.Bar.Time * 1000; since == 0 || start < since || start < accepted {
			continue
		}
		open, ok1 := exact.FromFloat(c.Bar.Open)
		high, ok2 := exact.FromFloat(c.Bar.High)
		low, ok3 := exact.FromFloat(c.Bar.Low)
		if price, ok := restingPrice(o, span{open, high, low}); ok && ok1 && ok2 && ok3 {
			return price, true
		}
	}
	if since == 0 || accepted > since {
		return restingPrice(o, span{t.price, t.price, t.price})
	}
	return restingPrice(o, span{0, t.high, t.low})
}
