package trade

import (
	"sort"

	"wick/indicators"
	"wick/market"
)

// windowBars is how many closed bars a window keeps at least; one that alerts
// look at keeps what their indicators need.
const windowBars = 500

// seriesKey names one window.
type seriesKey struct {
	symbol   string
	interval market.Interval
}

// need is a window that somebody needs: bars of an interval, this many at least.
type need struct {
	interval market.Interval
	bars     int // closed ones; fewer than windowBars mean windowBars
}

// chartHistory returns how many closed bars an alert on r is judged on when the last
// of them starts at the given moment, in unix seconds. They are those of the chart
// with the usual number of bars whose newest, forming bar follows: with the same
// bars in, the same numbers come out.
func chartHistory(r indicators.Request, iv market.Interval, last int64) int {
	return indicators.ShownBars - 1 + min(r.WarmupAt(iv, last), indicators.MaxWarmup)
}

// window is a run of closed bars and the one that is forming.
type window struct {
	closed  market.Series
	forming market.Bar // Time is zero when nothing is known of it
	keep    int        // closed bars to keep
	short   bool       // the source has fewer than that
	judged  int64      // start of the newest closed bar that alerts were judged on
}

// newWindow takes over what a source answered when it was asked for keep closed
// bars.
func newWindow(s *market.Series, keep int) *window {
	w := &window{keep: keep}
	n := s.Len()
	if s.Forming && n > 0 {
		n--
		w.forming = s.Bar(n)
	}
	w.closed = *s.Slice(0, n)
	w.closed.Forming, w.closed.Extra = false, nil
	w.closed.Grow(keep) // our own memory: the source's must not be written
	w.short = n < keep
	w.judged = w.lastClosed()
	return w
}

// follow takes over from old, the window before: what was judged, and bars that
// closed since the source answered.
func (w *window) follow(old *window) {
	if old == nil {
		return
	}
	for i := old.after(w.lastClosed()); i < old.closed.Len(); i++ {
		w.closed.Append(old.closed.Bar(i))
	}
	w.judged = old.judged
	if old.forming.Time > w.forming.Time {
		w.forming = old.forming
	}
}

// after returns the index of the first closed bar that starts after t.
func (w *window) after(t int64) int {
	return sort.Search(w.closed.Len(), func(i int) bool { return w.closed.Time[i] > t })
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
	if w.closed.Len() >= 2*w.keep {
		tail := w.closed.Tail(w.keep)
		w.closed = *tail
		w.closed.Grow(w.keep)
	}
}

// add takes in a bar that closed. It reports whether the bar is still to be
// judged, and whether bars are missing before it.
func (w *window) add(b market.Bar) (isNew, gap bool) {
	if last := w.lastClosed(); b.Time > last {
		w.closed.Append(b)
		gap = last != 0 && b.Time != w.closed.Interval.Next(last)
	}
	if w.forming.Time <= b.Time {
		w.forming = market.Bar{}
	}
	isNew = b.Time > w.judged
	w.judged = max(w.judged, b.Time)
	return isNew, gap
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

// closedBars returns a copy of the last n closed bars, with room for one more.
func (w *window) closedBars(n int) *market.Series {
	s := *w.closed.Tail(n)
	s.Grow(1)
	return &s
}
