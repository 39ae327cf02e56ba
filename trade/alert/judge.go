package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"wick/indicators"
	"wick/market"
	"wick/trade/book"
	"wick/trade/watch"
)

// Judge judges alerts on signals.
type Judge struct {
	Source market.Source // has the bars of other markets, and further columns, that indicators read
	Log    *slog.Logger

	computing sync.Mutex // one round computes at a time, so that prices get their share of the processor
}

// Round calls fire with what the bars of r make the waiting alerts fire. A bar that closed
// before this process began is late. It loads what the alerts read, each kind for itself, so that
// a market that does not answer holds up only those that read it: fire may be called from
// several goroutines. Round returns when all have been judged.
func (j *Judge) Round(ctx context.Context, r watch.Round, waiting []Waiting, began book.Time, fire func([]Hit)) {
	reading := make(map[string][]Waiting) // by what they read
	for _, w := range waiting {
		if w.Err != nil { // an earlier version may have had an indicator that this one lacks
			j.Log.Warn("alert cannot be judged", "alert", w.ID, "error", w.Err)
		} else if !w.others || r.Through > r.After { // else there is only a complete bar, and it is judged when the bar has closed
			reading[w.reads] = append(reading[w.reads], w)
		}
	}
	fire(j.bars(r, reading[""], nil, began))
	delete(reading, "")
	var loads sync.WaitGroup
	for _, waiting := range reading {
		loads.Go(func() {
			own, with, err := j.load(ctx, waiting[0].request, r)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				j.Log.Warn("indicator alerts have no data", "alert", waiting[0].ID, "alerts", len(waiting), "symbol", r.Symbol, "error", err)
			default:
				fire(j.bars(own, waiting, with, began))
			}
		})
	}
	loads.Wait()
}

// bars returns what makes those of the waiting alerts fire whose signals are on the new bars of
// r. After a pause several bars may have closed at once. They are judged from the oldest on,
// each as if it were the newest, on the bars that a chart would show then. With has the same bars
// with further columns, or is nil if they need none.
func (j *Judge) bars(r watch.Round, waiting []Waiting, with *market.Series, began book.Time) (hits []Hit) {
	j.computing.Lock()
	defer j.computing.Unlock()
	found := make(map[string][]book.Trigger)
	for i, start := range r.Bars.Time {
		complete := start > r.Through
		if start <= r.After || complete && start != r.Complete {
			continue
		}
		end := min(r.Interval.Next(start), r.Bars.DueAt(i)) * 1000
		if complete {
			end = min(end, r.Ended*1000)
		}
		results, memo := make(map[string]*closed), make(indicators.Memo) // every distinct request is computed once
		for k := range waiting {
			w := &waiting[k]
			switch {
			case w.Alert == nil: // it fires once and has
				continue
			case end <= w.Since(), !w.Ready(end), w.FiredIn(start): // the bar closed before it was set, or it is not ready to fire for it
				continue
			case complete && w.others, !complete && !w.others && start <= r.Early: // it is judged on this bar later, or was before
				continue
			}
			result, done := results[w.key]
			if !done {
				result = j.compute(*w, r, i, with, memo)
				results[w.key] = result // nil is remembered as well
			}
			if value, ok := w.met(result, r.Bars.Close[i]); ok {
				if result.Shaded != nil && result.Facts == nil { // a rule's operands are looked at only if it fires
					if again := j.compute(*w, r, i, with, nil); again != nil {
						*result = *again
					}
				}
				all := append(found[w.ID], book.Trigger{Value: json.Number(indicators.AppendValue(nil, value)), Bar: start, Late: end <= began.UnixMilli(), At: end,
					Values: result.standing().Values, Prices: pricesOf(r.Bars.Bar(i))})
				found[w.ID] = all[max(0, len(all)-book.MaxFirings):]
				w.Alert = w.After(end)
			}
		}
	}
	for id, triggers := range found {
		for _, t := range triggers {
			hits = append(hits, Hit{id, t})
		}
	}
	return hits
}

// pricesOf returns the prices of a bar as a notification has them.
func pricesOf(b market.Bar) *book.Prices {
	n := func(v float64) json.Number { return json.Number(indicators.AppendValue(nil, v)) }
	return &book.Prices{Open: n(b.Open), High: n(b.High), Low: n(b.Low), Close: n(b.Close), Volume: n(b.Volume)}
}

// compute returns the result that an alert is judged by on closed bar i of r, or nil if
// with lacks that bar. If the indicator panics, that is logged and the alert
// is not judged: nothing has changed yet that could be left half done, and a restarted
// process would only panic on the same bar again.
func (j *Judge) compute(w Waiting, r watch.Round, i int, with *market.Series, memo indicators.Memo) (c *closed) {
	defer func() {
		if v := recover(); v != nil {
			j.Log.Error("an alert could not be judged: an indicator panicked", "alert", w.ID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			c = nil
		}
	}()
	bars := r.Bars
	if with != nil { // it may begin earlier or end later
		var found bool
		if i, found = slices.BinarySearch(with.Time, r.Bars.Time[i]); !found {
			j.Log.Warn("indicator alert: the source lacks a closed bar", "symbol", r.Symbol, "indicator", w.request.Ind.Name)
			return nil
		}
		bars = with
	}
	return atClose(w.request.With(memo), bars, i)
}

// How long the source is asked again, a second apart, for what alerts read beside their
// bars.
const lateOthers = 3 * time.Second

// load returns r with the bars of other markets and intervals that a request reads, and its bars
// once more with the columns beyond prices and volume that the request needs, nil if it needs
// none. If some of the other bars should have closed with the last bar of r and have not, it
// tries again: another market's bar may close, and a row of its file be written, a moment
// later than ours.
func (j *Judge) load(ctx context.Context, q indicators.Request, r watch.Round) (watch.Round, *market.Series, error) {
	list, err := q.Others(r.Interval)
	if err != nil {
		return r, nil, err
	}
	own, needs := r.Bars, q.Needs()
	for last := time.Now().Add(lateOthers); ; {
		var with *market.Series
		r.Bars, err = market.LoadOthers(ctx, j.Source, own, list)
		late := err == nil && slices.ContainsFunc(list, func(o market.OtherBars) bool { return lags(r.Bars.Others[o.Other], own) })
		if err == nil && len(needs) > 0 {
			with, err = j.Source.Bars(ctx, market.Query{Symbol: r.Symbol, Interval: r.Interval, Limit: min(own.Len()+1, market.MaxLimit), Extra: needs})
			if err == nil {
				s := *with // the source's series must not be changed
				s.Others, with = r.Bars.Others, &s
			}
		}
		if err == nil && !late || ctx.Err() != nil || !time.Now().Before(last) {
			return r, with, errors.Join(err, ctx.Err())
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
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

// closed is the result of a request on a chart whose last closed bar has just closed.
type closed struct {
	*indicators.Result
	bar int // the index of that bar in the result
}

// atClose computes a request on the bars of the chart whose last closed bar is
// bar i of s.
func atClose(r indicators.Request, s *market.Series, i int) *closed {
	from := max(0, i+1-history(r, s.Interval, s.Time[i]))
	return &closed{r.Compute(s.Slice(from, i+1)), i - from}
}

// met reports whether the signal that w waits for is on the last closed bar of r, and
// returns the value of the signal. If that is no number, it returns close.
func (w Waiting) met(r *closed, close float64) (float64, bool) {
	if r == nil {
		return 0, false
	}
	if w.Repeat == book.EachBar && r.Shaded != nil { // a rule: on every bar on which it is true, or is not; see whileTrue
		return close, r.Shaded[r.bar] == (w.Condition.Signal == indicators.BecomesTrue)
	}
	signals := r.Signals
	if c := w.Condition; c.Crosses() {
		level, _ := c.Level.Float64()                         // checked when it was set
		signals, _ = w.request.Watch(r.Result, c.Line, level) // a line that no longer exists crosses nothing
	}
	for _, s := range signals {
		if s.Bar != r.bar || s.Label != w.Condition.Signal {
			continue
		}
		if math.IsNaN(s.Y) || math.IsInf(s.Y, 0) {
			return close, true
		}
		return s.Y, true
	}
	return 0, false
}
