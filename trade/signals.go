package trade

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"wick/indicators"
	"wick/market"
	"wick/trade/book"
)

// hit says that an alert's signal is on a closed bar.
type hit struct {
	alert string // its id
	book.Trigger
}

// awaited returns the intervals of the bars that closed or are complete with t, and for each
// whether alerts wait for its signals.
func (e *Engine) awaited(t book.Tick) map[market.Interval]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	awaited := make(map[market.Interval]bool)
	wait := func(iv market.Interval) { awaited[iv] = len(e.watching.signals[seriesKey{t.Symbol, iv}]) > 0 }
	for _, c := range t.Closed {
		wait(c.Interval)
	}
	for _, c := range t.Complete {
		wait(c.Interval)
	}
	return awaited
}

// waiting returns the alerts that wait for signals on the bars of c: those that can be
// judged by these bars alone, and those that read others as well, by what they read.
func (e *Engine) waiting(c closing) (alone []signalAlert, reading map[string][]signalAlert) {
	e.mu.Lock()
	defer e.mu.Unlock()
	reading = make(map[string][]signalAlert)
	for _, w := range e.watching.signals[c.key] {
		switch {
		case w.err != nil: // an earlier version may have had an indicator that this one lacks
			e.log.Warn("alert cannot be judged", "alert", w.alert.ID, "error", w.err)
		case c.complete && w.others: // it is judged when the bar has closed
		case w.reads == "":
			alone = append(alone, w)
		default:
			reading[w.reads] = append(reading[w.reads], w)
		}
	}
	return alone, reading
}

// judgeSeries judges the closings of a series that wait, one after the other. If ctx ends,
// the rest is left to the next start.
func (e *Engine) judgeSeries(ctx context.Context, key seriesKey) {
	for c, more := e.watch.closing(key), true; more; {
		e.judge(ctx, c)
		if ctx.Err() != nil {
			return // bars may have been judged without data that could not be loaded
		}
		c, more = e.watch.judged(c)
	}
}

// judge fires the alerts whose signals are on the new bars of a window. It loads what they
// read, each kind for itself, so that a market that does not answer holds up only those that
// read it. No lock is held meanwhile.
func (e *Engine) judge(ctx context.Context, c closing) {
	// A source with too few bars may drop its oldest ones with time. The chart then begins
	// later, too, so the bars are loaded again for the alert to see the same.
	if c.gap || c.short {
		var err error
		if c, err = e.watch.refill(ctx, c); err != nil {
			e.log.Warn("bars could not be loaded again", "error", err)
		}
	}
	if c.bars == nil {
		return
	}
	alone, reading := e.waiting(c)
	e.judgeBars(c, alone, nil)
	var loads sync.WaitGroup
	for _, waiting := range reading {
		loads.Go(func() {
			own, with, err := e.loadFor(ctx, waiting[0].request, c)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				e.log.Warn("indicator alerts have no data", "alert", waiting[0].alert.ID, "alerts", len(waiting), "symbol", c.key.symbol, "error", err)
			default:
				e.judgeBars(own, waiting, with)
			}
		})
	}
	loads.Wait()
}

// judgeBars fires those of the waiting alerts whose signals are on the new bars of c. With
// has the same bars with further columns, or is nil if they need none. Of an alert that fires once the
// first such bar counts, and of one that repeats as many as latest keeps.
func (e *Engine) judgeBars(c closing, waiting []signalAlert, with *market.Series) {
	if len(waiting) == 0 {
		return
	}
	// After a pause several bars may have closed at once. They are judged from the oldest
	// on, each as if it were the newest. An alert that fires once is not judged on the
	// bars after that.
	found := make(map[string][]book.Trigger)
	e.computing.Lock()
	for i, start := range c.bars.Time {
		if start > c.after && start <= c.through {
			waiting = e.judgeBar(c, i, waiting, with, found)
		}
	}
	e.computing.Unlock()
	var hits []hit
	for id, triggers := range found {
		for _, t := range triggers {
			hits = append(hits, hit{id, t})
		}
	}
	e.settleSignals(c.key.symbol, hits)
}

// judgeBar judges alerts on closed bar i of c as if it were the newest: on the
// bars that a chart would show then. It adds to found what makes them fire, by the id of
// the alert, and returns the alerts that still wait. Every distinct request is computed
// once.
func (e *Engine) judgeBar(c closing, i int, waiting []signalAlert, with *market.Series, found map[string][]book.Trigger) (rest []signalAlert) {
	results, memo := make(map[string]*closed), make(indicators.Memo)
	start := c.bars.Time[i]
	end := c.end(i) * 1000
	for _, w := range waiting {
		if end <= w.alert.CreatedAt.UnixMilli() || !w.alert.Ready(end) || w.alert.FiredIn(start) || !w.others && !c.complete && start <= c.early {
			rest = append(rest, w) // the bar closed before the alert was set, the alert is not ready to fire for it, or it was judged before
			continue
		}
		// Alerts with the same request share one result. It is nil if there is none, which
		// is remembered as well.
		r, done := results[w.key]
		if !done {
			r = e.computed(w, c, i, with, memo)
			results[w.key] = r
		}
		if value, ok := w.met(r, c.bars.Close[i]); ok {
			why := book.Trigger{Value: book.ValueOf(value), Bar: start, Late: start <= c.late, At: end}
			found[w.alert.ID] = book.Latest(found[w.alert.ID], why)
			w.alert = w.alert.After(end)
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
// with lacks that bar. If the indicator panics, that is logged and the alert
// is not judged: nothing has changed yet that could be left half done, and a restarted
// process would only panic on the same bar again.
func (e *Engine) computed(w signalAlert, c closing, i int, with *market.Series, memo indicators.Memo) (r *closed) {
	defer func() {
		if v := recover(); v != nil {
			e.log.Error("an alert could not be judged: an indicator panicked", "alert", w.alert.ID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			r = nil
		}
	}()
	bars := c.bars
	if with != nil { // it may begin earlier or end later
		var found bool
		if i, found = slices.BinarySearch(with.Time, c.bars.Time[i]); !found {
			e.log.Warn("indicator alert: the source lacks a closed bar", "symbol", c.key.symbol, "indicator", w.request.Ind.Name)
			return nil
		}
		bars = with
	}
	return atClose(w.request.With(memo), bars, i)
}

// How long the source is asked again, a second apart, for what alerts read beside their
// bars.
const lateOthers = 3 * time.Second

// loadFor returns c with the bars of other markets and intervals that a request reads, and
// its bars once more with the columns beyond prices and volume that the request needs, nil if it needs
// none. If some of the other bars should have closed with the last bar of c and have not, it
// tries again: another market's bar may close, and a row of its file be written, a moment
// later than ours.
func (e *Engine) loadFor(ctx context.Context, r indicators.Request, c closing) (closing, *market.Series, error) {
	list, err := r.Others(c.key.interval)
	if err != nil {
		return c, nil, err
	}
	own, needs := c.bars, r.Needs()
	for last := time.Now().Add(lateOthers); ; {
		var with *market.Series
		c.bars, err = market.LoadOthers(ctx, e.options.Source, own, list)
		late := err == nil && slices.ContainsFunc(list, func(o market.OtherBars) bool { return lags(c.bars.Others[o.Other], own) })
		if err == nil && len(needs) > 0 {
			with, err = e.loadColumns(ctx, c, needs)
		}
		if err == nil && !late || ctx.Err() != nil || !time.Now().Before(last) {
			return c, with, errors.Join(err, ctx.Err())
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// loadColumns returns the bars of c with further columns.
func (e *Engine) loadColumns(ctx context.Context, c closing, needs []string) (*market.Series, error) {
	s, err := e.watch.load(ctx, c.key, c.bars.Len(), needs...)
	if err != nil {
		return nil, err
	}
	with := *s // the source's series must not be changed
	with.Others = c.bars.Others
	return &with, nil
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

// met reports whether the signal that w waits for is on the last closed bar of r, and
// returns the value of the signal. If that is no number, it returns close.
func (w signalAlert) met(r *closed, close float64) (float64, bool) {
	if r == nil {
		return 0, false
	}
	if w.alert.Repeat == book.EachBar && r.Shaded != nil { // a rule: on every bar on which it is true, or is not; see whileTrue
		return close, r.Shaded[r.bar] == (w.alert.Condition.Signal == indicators.BecomesTrue)
	}
	signals := r.Signals
	if c := w.alert.Condition; c.Crosses() {
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
