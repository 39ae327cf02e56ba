package trade

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wick/indicators"
	"wick/internal/exact"
	"wick/trade/book"
)

// alertIndex finds the alerts that an update may fire without looking at the
// others. Alerts on prices are in two lists per symbol, those with the nearest
// thresholds first; alerts on signals are in a set per symbol and interval.
type alertIndex struct {
	prices  map[priceKey][]*book.Alert           // sorted by nearest
	signals map[seriesKey]map[string]signalAlert // by alert id
}

// priceKey names a list of price alerts.
type priceKey struct {
	symbol string
	of     book.ConditionType
}

// newAlertIndex returns an index of the given alerts. They are added in the order of the
// lists, so that each comes to the end of its own.
func newAlertIndex(alerts map[string]*book.Alert) *alertIndex {
	x := &alertIndex{map[priceKey][]*book.Alert{}, map[seriesKey]map[string]signalAlert{}}
	for _, a := range slices.SortedFunc(maps.Values(alerts), nearest) {
		x.Add(a)
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

// Add puts an alert where its condition is looked up. The indicator of an alert on a
// signal is looked up once, here, and not at every bar.
func (x *alertIndex) Add(a *book.Alert) {
	if a.Condition.Type == book.IndicatorSignal {
		key := seriesKey{a.Symbol, a.Interval}
		if x.signals[key] == nil {
			x.signals[key] = make(map[string]signalAlert)
		}
		x.signals[key][a.ID] = newSignalAlert(a)
		return
	}
	key := priceKey{a.Symbol, a.Condition.Type}
	i, _ := slices.BinarySearchFunc(x.prices[key], a, nearest)
	x.prices[key] = slices.Insert(x.prices[key], i, a)
}

// Remove takes a out of the index, if it is there.
func (x *alertIndex) Remove(a *book.Alert) {
	if a.Condition.Type == book.IndicatorSignal {
		key := seriesKey{a.Symbol, a.Interval}
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

// reached returns the alerts whose thresholds t has reached. In each list they are the
// first ones.
func (x *alertIndex) reached(t book.Tick) (reached []*book.Alert) {
	for _, of := range []book.ConditionType{book.PriceAbove, book.PriceBelow} {
		for _, a := range x.prices[priceKey{t.Symbol, of}] {
			if !t.Reaches(a.Condition) {
				break
			}
			reached = append(reached, a)
		}
	}
	return reached
}

// signalAlert is an alert on a signal with the request for its indicator.
type signalAlert struct {
	alert   *book.Alert
	request indicators.Request
	key     string // equal for requests that compute the same
	others  bool   // it reads other bars, too
	reads   string // names what it reads beside the bars of its series, alike for all that read the same; empty for nothing
	err     error  // the catalogue no longer has what it asks for
}

// newSignalAlert looks up the indicator of a's condition, so that not every bar has to.
func newSignalAlert(a *book.Alert) signalAlert {
	r, err := a.Condition.Request()
	if err != nil {
		return signalAlert{alert: a, err: err}
	}
	w := signalAlert{alert: a, request: r, key: r.Identity()}
	others, err := r.Others(a.Interval)
	w.others = err != nil || len(others) > 0
	if needs := r.Needs(); w.others || len(needs) > 0 {
		w.reads = fmt.Sprint(needs, others, err)
	}
	return w
}

// bars returns how many bars the window of w must keep. It is rounded up, so that
// an indicator that needs one more with every bar has them loaded now and then, and not
// at every bar.
func (w signalAlert) bars() int {
	if w.err != nil {
		return 0
	}
	const step = 500
	return (chartHistory(w.request, w.alert.Interval, time.Now().Unix())/step + 1) * step
}
