package trade

import (
	"time"

	"wick/exact"
	"wick/indicators"
)

// alertIndex finds the alerts that an update may fire without looking at the
// others. Alerts on prices are in two heaps per symbol, whose tops are the nearest
// thresholds; alerts on signals are in a set per symbol and interval.
type alertIndex struct {
	prices  map[string]*priceHeaps
	signals map[seriesKey]map[string]signalAlert // by alert id
	nodes   map[string]*node                     // price alerts by id
}

// priceHeaps has the price alerts of one symbol.
type priceHeaps struct {
	above heap // smallest threshold on top
	below heap // largest threshold on top, kept negated
}

// newAlertIndex returns an index of the given alerts.
func newAlertIndex(alerts map[string]*Alert) *alertIndex {
	x := &alertIndex{map[string]*priceHeaps{}, map[seriesKey]map[string]signalAlert{}, make(map[string]*node, len(alerts))}
	for _, a := range alerts {
		x.add(a)
	}
	return x
}

// add puts an alert where its condition is looked up. The heap of falling prices keeps
// thresholds negated, so that the smallest key is on top of both heaps. The indicator of
// an alert on a signal is looked up once, here, and not at every bar.
func (x *alertIndex) add(a *Alert) {
	if a.Condition.Type == IndicatorSignal {
		key := seriesKey{a.Symbol, a.Interval}
		if x.signals[key] == nil {
			x.signals[key] = make(map[string]signalAlert)
		}
		x.signals[key][a.ID] = newSignalAlert(a)
		return
	}
	heaps := x.prices[a.Symbol]
	if heaps == nil {
		heaps = new(priceHeaps)
		x.prices[a.Symbol] = heaps
	}
	// The node is kept under the alert's id, so that it can be taken out of its heap.
	n := &node{alert: a, key: a.Condition.Threshold}
	if a.Condition.Type == PriceBelow {
		n.key = -n.key
	}
	x.nodes[a.ID] = n
	heaps.of(a).push(n)
}

// remove takes a out of the index, if it is there.
func (x *alertIndex) remove(a *Alert) {
	if a.Condition.Type == IndicatorSignal {
		key := seriesKey{a.Symbol, a.Interval}
		if delete(x.signals[key], a.ID); len(x.signals[key]) == 0 {
			delete(x.signals, key)
		}
		return
	}
	n := x.nodes[a.ID]
	if n == nil {
		return
	}
	delete(x.nodes, a.ID)
	heaps := x.prices[a.Symbol]
	heaps.of(a).remove(n)
	if len(heaps.above)+len(heaps.below) == 0 {
		delete(x.prices, a.Symbol)
	}
}

// of returns the heap that a belongs to.
func (h *priceHeaps) of(a *Alert) *heap {
	if a.Condition.Type == PriceAbove {
		return &h.above
	}
	return &h.below
}

// reached appends to dst the alerts whose thresholds s has reached, in no order. It leaves
// the heaps as they are. A symbol without price alerts has no heaps, so h may be nil.
func (h *priceHeaps) reached(dst []*Alert, s span) []*Alert {
	if h == nil {
		return dst
	}
	return h.below.reached(h.above.reached(dst, 0, s), 0, s)
}

// heap is a binary min-heap of nodes that know their place, so that any of
// them can be taken out without a search.
type heap []*node

// node is one price alert in a heap.
type node struct {
	alert *Alert
	key   exact.Decimal
	place int
}

// push adds n at the end and lets it rise to its place.
func (h *heap) push(n *node) {
	n.place = len(*h)
	*h = append(*h, n)
	h.up(n.place)
}

// remove takes n out: the last node takes its place and then moves up or down to where it
// belongs.
func (h *heap) remove(n *node) {
	i, last := n.place, len(*h)-1
	h.swap(i, last)
	(*h)[last] = nil
	*h = (*h)[:last]
	if i < last {
		h.down(i)
		h.up(i)
	}
}

// swap exchanges two nodes and notes their new places.
func (h heap) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// up lets the node at i rise while its parent has a larger key.
func (h heap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].key <= h[i].key {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

// down lets the node at i sink while a child has a smaller key.
func (h heap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].key < h[child].key {
			child++
		}
		if h[i].key <= h[child].key {
			return
		}
		h.swap(i, child)
		i = child
	}
}

// reached appends the alerts of the subtree at i that s reaches. Below a node that s does
// not reach it reaches none, so the walk visits at most three nodes for each alert that
// it returns.
func (h heap) reached(dst []*Alert, i int, s span) []*Alert {
	if i >= len(h) || !h[i].alert.Condition.reachedBy(s) {
		return dst
	}
	dst = append(dst, h[i].alert)
	return h.reached(h.reached(dst, 2*i+1, s), 2*i+2, s)
}

// signalAlert is an alert on a signal with the request for its indicator.
type signalAlert struct {
	alert   *Alert
	request indicators.Request
	key     string // equal for requests that compute the same
	err     error  // the catalogue no longer has what it asks for
}

// newSignalAlert looks up the indicator of a's condition, so that not every bar has to.
func newSignalAlert(a *Alert) signalAlert {
	r, err := a.Condition.request()
	if err != nil {
		return signalAlert{alert: a, err: err}
	}
	return signalAlert{a, r, r.Identity(), nil}
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
