package trade

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"wick/indicators"
	"wick/market"
)

// hit says that an alert's signal is on a closed bar.
type hit struct {
	alert string // its id
	trigger
}

// awaited returns the intervals of the bars that closed or are complete with t, and for each
// whether alerts wait for its signals.
func (e *Engine) awaited(t tick) map[market.Interval]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	awaited := make(map[market.Interval]bool)
	wait := func(iv market.Interval) { awaited[iv] = len(e.ahead.index.signals[seriesKey{t.Symbol, iv}]) > 0 }
	for _, c := range t.Closed {
		wait(c.Interval)
	}
	for _, c := range t.Complete {
		wait(c.Interval)
	}
	return awaited
}

// waiting returns the alerts that wait for signals of one window.
func (e *Engine) waiting(key seriesKey) []signalAlert {
	e.mu.Lock()
	defer e.mu.Unlock()
	var waiting []signalAlert
	for _, w := range e.ahead.index.signals[key] {
		if w.err != nil { // an earlier version may have had an indicator that this one lacks
			e.log.Warn("alert cannot be judged", "alert", w.alert.ID, "error", w.err)
			continue
		}
		waiting = append(waiting, w)
	}
	return waiting
}

// judge returns the alerts whose signals are on the new bars of a window. Of an alert that
// fires once it returns the first such bar, and of one that repeats as many as latest
// keeps. No lock is held meanwhile.
func (e *Engine) judge(ctx context.Context, c closing) (hits []hit) {
	// A source with too few bars may drop its oldest ones with time. The chart then begins
	// later, too, so the bars are loaded again for the alert to see the same.
	if c.gap || c.short {
		var err error
		if c, err = e.watch.refill(ctx, c); err != nil {
			e.log.Warn("bars could not be loaded again", "error", err)
		}
	}
	waiting := e.waiting(c.key)
	if c.complete {
		waiting = slices.DeleteFunc(waiting, func(w signalAlert) bool { return w.others })
	}
	if len(waiting) == 0 || c.bars == nil {
		return nil
	}
	// After a pause several bars may have closed at once. They are judged from the oldest
	// on, each as if it were the newest. An alert that fires once is not judged on the
	// bars after that.
	c.bars, waiting = e.withOthers(ctx, c, waiting)
	extra, found := make(columns), make(map[string][]trigger)
	for i, start := range c.bars.Time {
		if start > c.after && start <= c.through {
			waiting = e.judgeBar(ctx, c, i, waiting, extra, found)
		}
	}
	for id, triggers := range found {
		for _, t := range triggers {
			hits = append(hits, hit{id, t})
		}
	}
	return hits
}

// judgeBar judges alerts on closed bar i of c as if it were the newest: on the
// bars that a chart would show then. It adds to found what makes them fire, by the id of
// the alert, and returns the alerts that still wait. Every distinct request is computed
// once.
func (e *Engine) judgeBar(ctx context.Context, c closing, i int, waiting []signalAlert, extra columns, found map[string][]trigger) (rest []signalAlert) {
	results, memo := make(map[string]*closed), make(indicators.Memo)
	start := c.bars.Time[i]
	end := c.end(i) * 1000
	for _, w := range waiting {
		if end <= w.alert.CreatedAt.UnixMilli() || !w.alert.ready(end) || w.alert.firedIn(start) || !w.others && !c.complete && start <= c.early {
			rest = append(rest, w) // the bar closed before the alert was set, the alert is not ready to fire for it, or it was judged before
			continue
		}
		// Alerts with the same request share one result. It is nil if bars could not be
		// had, which is remembered as well.
		r, done := results[w.key]
		if !done {
			r = e.computed(ctx, w, c, i, extra, memo)
			results[w.key] = r
		}
		if value, ok := w.met(r, c.bars.Close[i]); ok {
			why := trigger{value: valueOf(value), bar: start, late: start <= c.late, at: end}
			found[w.alert.ID] = latest(found[w.alert.ID], why)
			w.alert = w.alert.after(end, 0)
		}
		if w.alert != nil {
			rest = append(rest, w)
		}
	}
	return rest
}

// end returns when bar i of c closed for the alerts that are judged on it, in unix seconds.
func (c closing) end(i int) int64 {
	end := min(c.key.interval.Next(c.bars.Time[i]), c.bars.DueAt(i))
	if c.complete {
		end = min(end, c.ended)
	}
	return end
}

// computed returns the result that an alert is judged by on closed bar i of c, or nil if
// the bars for it could not be had. If the indicator panics, that is logged and the alert
// is not judged: nothing has changed yet that could be left half done, and a restarted
// process would only panic on the same bar again.
func (e *Engine) computed(ctx context.Context, w signalAlert, c closing, i int, extra columns, memo indicators.Memo) (r *closed) {
	defer func() {
		if v := recover(); v != nil {
			e.log.Error("an alert could not be judged: an indicator panicked", "alert", w.alert.ID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			r = nil
		}
	}()
	if s, at := e.barsFor(ctx, w.request, c, i, extra); s != nil {
		r = atClose(w.request.With(memo), s, at)
	}
	return r
}

// withOthers returns the bars of c with those of other markets and intervals that the
// alerts' rules also read, and the alerts that can be judged with them. An alert whose
// other bars cannot be loaded is left out, and not judged on these bars.
func (e *Engine) withOthers(ctx context.Context, c closing, waiting []signalAlert) (*market.Series, []signalAlert) {
	var able []signalAlert
	for _, w := range waiting {
		list, err := w.request.Others(c.key.interval)
		if err == nil && len(list) > 0 {
			var loaded *market.Series
			if loaded, err = e.loadOthers(ctx, c, list); err == nil {
				c.bars = loaded
			}
		}
		if err != nil {
			e.log.Warn("indicator alert has no data", "alert", w.alert.ID, "symbol", c.key.symbol, "error", err)
			continue
		}
		able = append(able, w)
	}
	return c.bars, able
}

// loadOthers returns the bars of c with the other bars in list. If some of them should
// have closed with the last bar of c and have not, it tries again: another market's bar may
// close, and a row of its file be written, a moment later than ours.
func (e *Engine) loadOthers(ctx context.Context, c closing, list []market.OtherBars) (*market.Series, error) {
	// Bars that were loaded for an alert before this one are not loaded again if they
	// reach back far enough.
	s := c.bars
	missing := slices.DeleteFunc(slices.Clone(list), func(o market.OtherBars) bool {
		have := s.Others[o.Other]
		return have != nil && have.Len() > 0 && have.Time[0] <= s.Time[0]-int64(o.Warmup+1)*have.Interval.Seconds()
	})
	for {
		loaded, err := market.LoadOthers(ctx, e.options.Source, s, missing)
		late := err == nil && slices.ContainsFunc(missing, func(o market.OtherBars) bool { return lags(loaded.Others[o.Other], s) })
		if err == nil && !late || !e.again(ctx) {
			return loaded, errors.Join(err, ctx.Err())
		}
	}
}

// lags reports whether a bar of t should have closed with the last bar of s and has not,
// or is not there yet. One that should have closed before is not waited for: nothing was
// traded, or the market is closed.
func lags(t, s *market.Series) bool {
	n, m := t.Len(), s.Len()
	switch {
	case n == 0:
		return false
	case t.Forming:
		return t.DueAt(n-1) <= s.ClosedAt(m-1)
	}
	end := t.Interval.Next(t.Time[n-1])
	next := t.Interval.Next(end) + t.DueAt(n-1) - end // when the next bar is due
	return next <= s.ClosedAt(m-1) && (m == 1 || next > s.ClosedAt(m-2))
}

// How long the source is asked again, a second apart, for what alerts read beside their
// bars, and how long after the begin of that it is not done again. Meanwhile every symbol
// waits, since updates are delivered one at a time: so all alerts share it.
const (
	lateOthers = 3 * time.Second
	lateRest   = 30 * time.Second
)

// again waits a second, and reports whether the source may then be asked once more.
func (e *Engine) again(ctx context.Context) bool {
	if time.Since(e.waited) >= lateRest {
		e.waited = time.Now()
	}
	if time.Since(e.waited) >= lateOthers {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Second):
		return true
	}
}

// closed is the result of a request on a chart whose last closed bar has just closed.
type closed struct {
	*indicators.Result
	bar int // the index of that bar in the result
}

// atClose computes a request on the bars of the chart whose last closed bar is
// bar i of s.
func atClose(r indicators.Request, s *market.Series, i int) *closed {
	from := max(0, i+1-chartHistory(r, s.Interval, s.Time[i]))
	result := r.Reading(indicators.ShownBars - 1).Compute(s.Slice(from, i+1))
	return &closed{result, i - from - result.Begin}
}

// columns has bars with columns beyond prices and volume, by the names of these columns.
// They are fetched once, however many bars are judged. A value is nil if that failed.
type columns map[string]*market.Series

// barsFor returns the bars that a request is computed from and the index in them
// of bar i of c. They are those of c, unless the indicator needs further columns:
// then the source is asked for bars with these, which may begin earlier or end later. It
// returns nil if the source does not have them, or lacks bar i.
func (e *Engine) barsFor(ctx context.Context, r indicators.Request, c closing, i int, extra columns) (*market.Series, int) {
	needs := r.Needs()
	if len(needs) == 0 {
		return c.bars, i
	}
	key := strings.Join(needs, " ")
	s, asked := extra[key]
	if !asked {
		loaded, err := e.watch.load(ctx, c.key, c.bars.Len(), needs...)
		for err != nil && e.again(ctx) {
			loaded, err = e.watch.load(ctx, c.key, c.bars.Len(), needs...)
		}
		if err != nil {
			e.log.Warn("indicator alert has no data", "symbol", c.key.symbol, "indicator", r.Ind.Name, "error", err)
		} else {
			with := *loaded // the source's series must not be changed
			with.Others = c.bars.Others
			s = &with
		}
		extra[key] = s
	}
	if s == nil {
		return nil, 0
	}
	at, found := slices.BinarySearch(s.Time, c.bars.Time[i])
	if !found {
		e.log.Warn("indicator alert: the source lacks a closed bar", "symbol", c.key.symbol, "indicator", r.Ind.Name, "start", c.bars.Time[i])
		return nil, 0
	}
	return s, at
}

// met reports whether the signal that w waits for is on the last closed bar of r, and
// returns the value of the signal. If that is no number, it returns close.
func (w signalAlert) met(r *closed, close float64) (float64, bool) {
	if r == nil {
		return 0, false
	}
	if w.alert.Repeat == EachBar && r.Shaded != nil { // a rule: on every bar on which it is true, or is not; see whileTrue
		return close, r.Shaded[r.bar] == (w.alert.Condition.Signal == indicators.BecomesTrue)
	}
	signals := r.Signals
	if c := w.alert.Condition; c.crosses() {
		level, _ := c.Level.Float64()                         // checked when it was set
		signals, _ = w.request.Watch(r.Result, c.Line, level) // a line that no longer exists crosses nothing
	}
	for _, s := range signals {
		if s.Bar != r.bar || s.Label != w.alert.Condition.Signal {
			continue
		}
		if math.IsNaN(s.Y) || math.IsInf(s.Y, 0) {
			return close, true
		}
		return s.Y, true
	}
	return 0, false
}
