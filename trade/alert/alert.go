// Package alert has the alerts that wait: which of them a price reaches, which a profit or the
// clock, which wait for the bars of a series, and what the indicators say on a bar that has closed. What an alert is, and the
// conditions on prices, are in package book.
//
// An [Index] finds the alerts that an update may fire without looking at the others. A [Judge]
// computes indicators on the bars of a [watch.Round], and returns what fires: an alert sees a
// bar as a chart of the usual length would show it when the bar has just closed.
package alert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wick/indicators"
	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
	"wick/trade/watch"
)

// Hit is what makes an alert fire.
type Hit struct {
	ID string // of the alert
	book.Trigger
}

// Index finds alerts by what they wait for. Those on prices are in two lists per symbol, those
// with the nearest thresholds first; those on signals are in a set per symbol and interval, and
// those on profits and times, which are looked at once a second, in one set.
type Index struct {
	prices  map[priceKey][]*book.Alert       // sorted by nearest
	signals map[watch.Key]map[string]Waiting // by alert id
	timed   map[string]*timed                // by alert id
}

// timed is an alert that is looked at once a second.
type timed struct {
	*book.Alert
	due int64 // of a time: when it is to fire next, in unix milliseconds
	met bool  // of a profit: it was there at the last look, or when the alert fired
}

// priceKey names a list of price alerts.
type priceKey struct {
	symbol string
	of     book.ConditionType
}

// NewIndex returns an index of the given alerts. They are added in the order of the
// lists, so that each comes to the end of its own.
func NewIndex(alerts map[string]*book.Alert) *Index {
	x := &Index{map[priceKey][]*book.Alert{}, map[watch.Key]map[string]Waiting{}, map[string]*timed{}}
	for _, a := range slices.SortedFunc(maps.Values(alerts), nearest) {
		x.add(a)
	}
	return x
}

// nearest compares two alerts of a list: a rising price reaches the lowest threshold
// first, a falling one the highest.
func nearest(a, b *book.Alert) int {
	key := func(c book.Condition) exact.Decimal {
		if c.Type == book.PriceBelow {
			return -c.Threshold
		}
		return c.Threshold
	}
	return cmp.Or(cmp.Compare(key(a.Condition), key(b.Condition)), strings.Compare(a.ID, b.ID))
}

// Replace takes out an alert as it was and puts it in as it is; nil for none.
func (x *Index) Replace(before, after *book.Alert) {
	var was *timed
	if before != nil {
		was = x.timed[before.ID]
		x.remove(before)
	}
	if after == nil {
		return
	}
	x.add(after)
	// What was seen of its profit since it fired last counts on, if only its words have changed.
	if was != nil && before.FiredAt != nil && after.FiredAt != nil && before.FiredAt.Equal(after.FiredAt.Time) && after.Condition.OnProfit() {
		x.timed[after.ID].met = was.met
	}
}

// add puts an alert where its condition is looked up.
func (x *Index) add(a *book.Alert) {
	c := a.Condition
	switch {
	case c.OnTime():
		x.timed[a.ID] = &timed{Alert: a, due: c.Moment.Next(c.Type, time.UnixMilli(a.Since())).UnixMilli()}
		return
	case c.OnProfit():
		x.timed[a.ID] = &timed{Alert: a, met: a.FiredAt != nil}
		return
	case c.OnSignal():
		key := watch.Key{Symbol: a.Symbol, Interval: a.Interval}
		if x.signals[key] == nil {
			x.signals[key] = make(map[string]Waiting)
		}
		x.signals[key][a.ID] = NewWaiting(a)
		return
	}
	key := priceKey{a.Symbol, a.Condition.Type}
	i, _ := slices.BinarySearchFunc(x.prices[key], a, nearest)
	x.prices[key] = slices.Insert(x.prices[key], i, a)
}

// remove takes a out of the index, if it is there.
func (x *Index) remove(a *book.Alert) {
	if x.timed[a.ID] != nil {
		delete(x.timed, a.ID)
		return
	}
	if a.Condition.OnSignal() {
		key := watch.Key{Symbol: a.Symbol, Interval: a.Interval}
		if delete(x.signals[key], a.ID); len(x.signals[key]) == 0 {
			delete(x.signals, key)
		}
		return
	}
	key := priceKey{a.Symbol, a.Condition.Type}
	if i, found := slices.BinarySearchFunc(x.prices[key], a, nearest); found {
		x.prices[key] = slices.Delete(x.prices[key], i, i+1)
	}
	if len(x.prices[key]) == 0 {
		delete(x.prices, key)
	}
}

// Reached returns the alerts whose thresholds t has reached, oldest first. In each list they
// are the first ones.
func (x *Index) Reached(t book.Tick) (reached []*book.Alert) {
	for _, of := range []book.ConditionType{book.PriceAbove, book.PriceBelow} {
		for _, a := range x.prices[priceKey{t.Symbol, of}] {
			if !t.Reaches(a.Condition) {
				break
			}
			reached = append(reached, a)
		}
	}
	slices.SortFunc(reached, book.ByAge)
	return reached
}

// late is how long after its time an alert on a time says that it is late: wick was not running, its
// machine slept, or another replica led.
const late = time.Minute

// Pulse returns what makes alerts on times and profits fire at a time, oldest first. A time that
// has come more than once since the last look, as over a downtime, is told once, the newest.
// Began is when this process began, and profit returns what there is of a scope and a symbol, and
// false if that is not known.
func (x *Index) Pulse(at, began book.Time, profit func(book.Scope, string) (book.Profit, bool)) (hits []Hit) {
	for _, w := range x.timed {
		if c := w.Condition; c.OnTime() {
			if w.due > at.UnixMilli() {
				continue
			}
			due := c.Moment.Newest(c.Type, at.Time)
			w.due = c.Moment.Next(c.Type, due).UnixMilli() // if it has expired by then, it is not looked at again and again
			if w.Ready(due.UnixMilli()) {
				hits = append(hits, Hit{w.ID, book.Trigger{Value: json.Number(fmt.Sprint(due.Unix())), At: due.UnixMilli(),
					Late: !due.After(began.Time) || at.Sub(due) >= late}})
			}
			continue
		}
		value, known := profit(w.Condition.Of, w.Symbol)
		if !known {
			continue
		}
		was := w.met
		if w.met = w.Condition.Has(value); w.met && !was {
			if w.Ready(at.UnixMilli()) {
				hits = append(hits, Hit{w.ID, book.Trigger{Value: json.Number(value.String()), At: at.UnixMilli(), Synthetic: value.Synthetic}})
			} else {
				w.met = false // it rests, and fires afterwards if the profit is there still
			}
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int { return book.CompareIDs(a.ID, b.ID) })
	return hits
}

// On returns the alerts that wait for signals on a series.
func (x *Index) On(key watch.Key) []Waiting { return slices.Collect(maps.Values(x.signals[key])) }

// Symbols returns the symbols that alerts wait for.
func (x *Index) Symbols() map[string]bool {
	symbols := make(map[string]bool)
	for key := range x.prices {
		symbols[key.symbol] = true
	}
	for key := range x.signals {
		symbols[key.Symbol] = true
	}
	return symbols
}

// Needs returns the symbols that alerts wait for, and which windows those on signals need. All
// alerts on the same bars share one, which has as many bars as the one that needs most.
func (x *Index) Needs() map[string][]watch.Need {
	needs := make(map[string][]watch.Need)
	for key := range x.prices {
		needs[key.symbol] = nil
	}
	for key, waiting := range x.signals {
		longest := watch.Need{Interval: key.Interval}
		for _, w := range waiting {
			longest.Bars = max(longest.Bars, w.Bars())
		}
		needs[key.Symbol] = append(needs[key.Symbol], longest)
	}
	return needs
}

// Waiting is an alert on a signal with the request for its indicator, which is looked up once
// and not at every bar.
type Waiting struct {
	*book.Alert
	Err     error // the catalogue no longer has what it asks for
	request indicators.Request
	key     string // equal for requests that compute the same
	others  bool   // it reads other bars, too
	reads   string // names what it reads beside the bars of its series, alike for all that read the same; empty for nothing
}

// NewWaiting looks up the indicator of a's condition.
func NewWaiting(a *book.Alert) Waiting {
	r, err := a.Condition.Request()
	if err != nil {
		return Waiting{Alert: a, Err: err}
	}
	w := Waiting{Alert: a, request: r, key: r.Identity()}
	others, err := r.Others(a.Interval)
	w.others = err != nil || len(others) > 0
	if needs := r.Needs(); w.others || len(needs) > 0 {
		w.reads = fmt.Sprint(needs, others, err)
	}
	return w
}

// Bars returns how many bars the window of w must keep. It is rounded up, so that
// an indicator that needs one more with every bar has them loaded now and then, and not
// at every bar.
func (w Waiting) Bars() int {
	if w.Err != nil {
		return 0
	}
	const step = 500
	return (history(w.request, w.Interval, time.Now().Unix())/step + 1) * step
}

// history returns how many closed bars an alert on r is judged on when the last of
// them starts at the given time, in unix seconds. These are the bars that a chart of the
// usual length is computed from when the next bar is forming, so that alert and chart
// get the same numbers.
func history(r indicators.Request, iv market.Interval, last int64) int {
	return indicators.ShownBars - 1 + min(r.WarmupAt(iv, last), indicators.MaxWarmup)
}
