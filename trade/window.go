package trade

import (
	"slices"
	"sort"

	"wick/indicators"
	"wick/market"
)

// windowBars is how many closed bars a window keeps at least. It keeps more if the
// indicators of alerts need them.
const windowBars = 500

// seriesKey names one window.
type seriesKey struct {
	symbol   string
	interval market.Interval
}

// need asks for a window: bars of an interval, and how many at least.
type need struct {
	interval market.Interval
	bars     int // closed bars; less than windowBars means windowBars
}

// chartHistory returns how many closed bars an alert on r is judged on when the last of
// them starts at the given time, in unix seconds. These are the bars that a chart of the
// usual length is computed from when the next bar is forming, so that alert and chart
// get the same numbers.
func chartHistory(r indicators.Request, iv market.Interval, last int64) int {
	return indicators.ShownBars - 1 + min(r.WarmupAt(iv, last), indicators.MaxWarmup)
}

// window is a run of closed bars and the one that is forming.
type window struct {
	closed  market.Series
	forming market.FormingBar // Time is zero when nothing is known of it
	partial bool              // the forming bar was last changed by a price alone: its volume is behind
	keep    int               // closed bars to keep
	short   bool              // the source has fewer than keep
	judged  int64             // start of the newest closed bar that alerts were judged on
	settled int64             // the same, once what followed from it was handed to the journal
	early   int64             // start of the newest bar that some alerts were judged on when it was complete, before it closed
	late    int64             // start of the last bar that closed while no process was there to judge it
}

// newWindow returns a window with the bars that a source returned when it was asked for
// keep closed bars.
func newWindow(s *market.Series, keep int) *window {
	w := &window{keep: keep}
	n := s.Len()
	if s.Forming && n > 0 {
		n--
		w.forming = market.FormingBar{Bar: s.Bar(n), Delay: s.Delay(n)}
	}
	w.closed = *s.Slice(0, n)
	w.closed.Forming, w.closed.Extra = false, nil
	w.closed.Grow(keep) // our own memory: the source's must not be written
	w.short = n < keep
	w.judged = w.lastClosed()
	// A complete bar is judged when it closes, like one that is told later.
	if n > 1 && s.AsOf > 0 && s.ClosedAt(n-1) > s.AsOf/1000 {
		w.judged = s.Time[n-2]
	}
	w.settled = w.judged
	return w
}

// resume makes the bars after the one that starts at from wait to be judged. That bar is
// the last that an earlier process has judged; zero means that none is known. If more
// bars were missed than can be loaded at once, those with too few bars before them are
// not judged.
func (w *window) resume(from int64) {
	if w.closed.Len() >= market.MaxLimit-1 {
		from = max(from, w.closed.Time[w.keep-1])
	}
	if from > 0 && from < w.judged {
		w.late, w.judged, w.settled = w.judged, from, from
	}
}

// follow takes over from old, the window that w replaces, how far it was judged, and the
// bars that are newer than those of w.
func (w *window) follow(old *window) {
	if old == nil {
		return
	}
	newer := old.closed.Slice(old.after(w.lastClosed()), old.closed.Len())
	for i := range newer.Len() {
		w.closed.Append(newer.Bar(i))
	}
	w.closed.Delayed = append(w.closed.Delayed, newer.Delayed...)
	w.judged, w.settled, w.early, w.late = old.judged, old.settled, old.early, old.late
	if old.forming.Time > w.forming.Time {
		w.forming, w.partial = old.forming, old.partial
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

// trim drops the oldest bars once there are twice as many as needed, and not with every
// new bar, so that adding a bar is cheap on average. Bars that wait to be judged stay, and
// keep bars before them. It is called before bars are added.
func (w *window) trim() {
	waiting := w.closed.Len() - w.after(w.judged)
	if w.closed.Len()-waiting >= 2*w.keep {
		tail := w.closed.Tail(w.keep + waiting)
		w.closed = *tail
		w.closed.Grow(w.keep)
	}
}

// add takes in a bar that closed, or is complete. It reports whether the bar is still to be
// judged, and whether bars are missing before it.
func (w *window) add(c market.ClosedBar) (isNew, gap bool) {
	b := c.Bar
	switch last := w.lastClosed(); {
	case b.Time == last && last != 0: // it was complete before
		n := w.closed.Len() - 1
		if w.closed.Bar(n) != b { // and was corrected: it is judged again
			w.early = 0
		}
		w.closed.Open[n], w.closed.High[n], w.closed.Low[n], w.closed.Close[n], w.closed.Volume[n] = b.Open, b.High, b.Low, b.Close, b.Volume
	case b.Time > last:
		w.closed.Append(b)
		if c.Delay != (market.Delay{}) {
			w.closed.Delayed = append(w.closed.Delayed, c.Delay)
		}
		gap = last != 0 && b.Time != w.closed.Interval.Next(last)
	}
	if w.forming.Time <= b.Time {
		w.forming = market.FormingBar{}
	}
	return b.Time > w.judged, gap
}

// touch brings the forming bar up to date with an update. If the update has the source's
// forming bar, it takes that; otherwise it extends the known one by the new prices.
func (w *window) touch(u market.Update) {
	if b, ok := u.Forming[w.closed.Interval]; ok && b.Check() == nil {
		if b.Time > w.lastClosed() {
			w.forming, w.partial = b, false
		}
		return
	}
	// A price exactly between two bars belongs to the first: if the market closes then,
	// no other bar begins.
	start, delay := w.around((u.At - 1) / 1000)
	if start <= w.lastClosed() {
		return // the bar is closed; the price is late
	}
	began := start + delay.Offset
	high, low := u.High, u.Low
	if w.forming.Time != start {
		// The extremes of the update may be from before this bar. Those of its path are
		// taken instead.
		w.forming = market.FormingBar{Bar: market.Bar{Time: start, Open: u.Price, High: u.Price, Low: u.Price}, Delay: delay}
		high, low = u.Price, u.Price
		if i := slices.IndexFunc(u.Path, func(b market.Bar) bool { return b.Time >= began }); i >= 0 {
			w.forming.Open = u.Path[i].Open
		}
	}
	for _, b := range u.Path {
		if b.Time >= began {
			high, low = max(high, b.High), min(low, b.Low)
		}
	}
	w.forming.High, w.forming.Low, w.forming.Close = max(w.forming.High, high), min(w.forming.Low, low), u.Price
	w.partial = true
}

// around returns the time of the bar that holds an instant, in unix seconds, and its delay:
// where bars begin before their time, as days in Sydney, it does as the last one.
func (w *window) around(at int64) (start int64, d market.Delay) {
	if n := w.closed.Len(); n > 0 {
		d.Offset = min(0, w.closed.Delay(n-1).Offset)
	}
	if start = w.closed.Interval.Start(at - d.Offset); d.Offset != 0 {
		d.Start = start
	}
	return start, d
}

// closedBars returns a copy of the last n closed bars, with room for one more.
func (w *window) closedBars(n int) *market.Series {
	s := *w.closed.Tail(n)
	s.Grow(1)
	return &s
}
