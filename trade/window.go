package trade

import (
	"wick/market"
)

// windowBars is how many closed bars a window keeps.
const windowBars = 500

// seriesKey names one window.
type seriesKey struct {
	symbol   string
	interval market.Interval
}

// window is a run of closed bars and the one that is forming.
type window struct {
	closed  market.Series
	forming market.Bar // Time is zero when nothing is known of it
}

// newWindow takes over what a source answered.
func newWindow(s *market.Series) *window {
	w := &window{closed: *s}
	n := s.Len()
	if s.Forming && n > 0 {
		n--
		w.forming = s.Bar(n)
	}
	w.closed = *s.Slice(0, n)
	w.closed.Forming, w.closed.Extra = false, nil
	w.closed.Grow(2 * windowBars) // our own memory: the source's must not be written
	w.trim()
	return w
}

// lastClosed returns the start of the newest closed bar, or zero.
func (w *window) lastClosed() int64 {
	if n := w.closed.Len(); n > 0 {
		return w.closed.Time[n-1]
	}
	return 0
}

// trim lets the oldest bars go. It moves the rest only when the room is used
// up, so that a bar costs the same whenever it comes.
func (w *window) trim() {
	if w.closed.Len() >= 2*windowBars {
		tail := w.closed.Tail(windowBars)
		w.closed = *tail
		w.closed.Grow(windowBars)
	}
}

// add appends a bar that closed, unless it is old. It reports whether the bar
// is new, and whether bars are missing before it.
func (w *window) add(b market.Bar) (isNew, gap bool) {
	last := w.lastClosed()
	if b.Time <= last {
		return false, false
	}
	w.closed.Append(b)
	w.trim()
	if w.forming.Time <= b.Time {
		w.forming = market.Bar{}
	}
	return true, last != 0 && b.Time != w.closed.Interval.Next(last)
}

// touch lets the forming bar see a price.
func (w *window) touch(price, high, low float64, at int64) {
	// A price at the border is the last of the bar before: when a market closes
	// there, no bar begins.
	start := w.closed.Interval.Start((at - 1) / 1000)
	if start <= w.lastClosed() {
		return // the bar is closed; the price is late
	}
	if w.forming.Time != start {
		w.forming = market.Bar{Time: start, Open: price, High: price, Low: price}
	} else {
		w.forming.High, w.forming.Low = max(w.forming.High, high), min(w.forming.Low, low)
	}
	w.forming.Close = price
}

// closedBars returns a copy of the last closed bars.
func (w *window) closedBars() *market.Series {
	s := *w.closed.Tail(windowBars)
	s.Grow(1)
	return &s
}

// lastClosed returns the start of the newest closed bar of s.
func lastClosed(s *market.Series) int64 {
	w := window{closed: *s}
	if s.Forming && s.Len() > 0 {
		w.closed = *s.Slice(0, s.Len()-1)
	}
	return w.lastClosed()
}
