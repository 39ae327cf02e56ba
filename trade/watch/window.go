package watch

import (
	"slices"
	"sort"

	"wick/market"
)

// WindowBars is how many closed bars a window keeps at least. It keeps more if the
// indicators of alerts need them.
const WindowBars = 500

// window is a run of closed bars, the last of which may be complete only, and the bar that is
// forming.
type window struct {
	closed  market.Series
	forming market.FormingBar // Time is zero when nothing is known of it
	partial bool              // the forming bar was last changed by a price alone: its volume is behind
	keep    int               // closed bars to keep
	short   bool              // the source has fewer than keep
	gap     bool              // bars are missing

	Progress
	judging bool // Judge is at work
}

// Progress says how far the bars of a series were judged. Times are starts of bars, in unix seconds.
//
// A bar is complete when the session of its exchange is over, and closes when the next one opens.
// Alerts that read no other bars are judged on it when it is complete; those that read bars which may
// close until then, when it has closed.
type Progress struct {
	After    int64 // the newest closed bar whose alerts have fired: those that start later are to be judged
	Through  int64 // those that start later are not
	Complete int64 // the bar that was told as complete last; zero for none
	Ended    int64 // when the session of that was over
	Early    int64 // the newest bar that was judged when it was complete
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
	w.After = w.last()
	// A complete bar is judged when it closes, like one that is told later.
	if n > 1 && s.AsOf > 0 && s.ClosedAt(n-1) > s.AsOf/1000 {
		w.After = s.Time[n-2]
	}
	w.Through = w.After
	return w
}

// resume makes the bars after the one that starts at from wait to be judged, once the feed has
// told them again. That bar is the last that an earlier process has judged; zero means that none
// is known. If more bars were missed than can be loaded at once, those with too few bars before
// them are not judged.
func (w *window) resume(from int64) {
	if w.closed.Len() >= market.MaxLimit-1 {
		from = max(from, w.closed.Time[w.keep-1])
	}
	if from > 0 && from < w.After {
		w.After, w.Through = from, from
	}
}

// follow takes over from old, the window that w replaces, how far it was judged, and the
// bars that are newer than those of w.
func (w *window) follow(old *window) {
	if old == nil {
		return
	}
	newer := old.closed.Slice(old.after(w.last()), old.closed.Len())
	for i := range newer.Len() {
		w.closed.Append(newer.Bar(i))
	}
	w.closed.Delayed = append(w.closed.Delayed, newer.Delayed...)
	w.Progress, w.judging = old.Progress, old.judging
	if old.forming.Time > w.forming.Time {
		w.forming, w.partial = old.forming, old.partial
	}
}

// waits reports whether a bar is to be judged that was not.
func (w *window) waits() bool {
	return w.Through > w.After || w.Complete > max(w.Through, w.Early)
}

// after returns the index of the first closed bar that starts after t.
func (w *window) after(t int64) int {
	return sort.Search(w.closed.Len(), func(i int) bool { return w.closed.Time[i] > t })
}

// last returns the start of the newest closed bar, or zero.
func (w *window) last() int64 {
	if n := w.closed.Len(); n > 0 {
		return w.closed.Time[n-1]
	}
	return 0
}

// trim drops the oldest bars once there are twice as many as needed, and not with every
// new bar, so that adding a bar is cheap on average. Bars that wait to be judged stay, and
// keep bars before them. It is called before bars are added.
func (w *window) trim() {
	if judged := w.after(w.After); judged >= 2*w.keep {
		w.closed = *w.closed.Tail(w.keep + w.closed.Len() - judged)
		w.closed.Grow(w.keep)
	}
}

// add takes in a bar that closed, or is complete.
func (w *window) add(c market.ClosedBar) {
	b := c.Bar
	switch last := w.last(); {
	case b.Time == last && last != 0: // it was complete before
		n := w.closed.Len() - 1
		if w.closed.Bar(n) != b { // and was corrected: it is judged again
			w.Early = 0
		}
		w.closed.Open[n], w.closed.High[n], w.closed.Low[n], w.closed.Close[n], w.closed.Volume[n] = b.Open, b.High, b.Low, b.Close, b.Volume
	case b.Time > last:
		w.closed.Append(b)
		if c.Delay != (market.Delay{}) {
			w.closed.Delayed = append(w.closed.Delayed, c.Delay)
		}
		w.gap = w.gap || last != 0 && b.Time != w.closed.Interval.Next(last)
	}
	if w.forming.Time <= b.Time {
		w.forming = market.FormingBar{}
	}
}

// touch brings the forming bar up to date with an update. If the update has the source's
// forming bar, it takes that; otherwise it extends the known one by the new prices.
func (w *window) touch(u market.Update) {
	if b, ok := u.Forming[w.closed.Interval]; ok && b.Check() == nil {
		if b.Time > w.last() {
			w.forming, w.partial = b, false
		}
		return
	}
	// A price exactly between two bars belongs to the first: if the market closes then,
	// no other bar begins.
	start, delay := w.around((u.At - 1) / 1000)
	if start <= w.last() {
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

// copy returns a copy of the last n closed bars, with room for one more.
func (w *window) copy(n int) *market.Series {
	s := *w.closed.Tail(n)
	s.Grow(1)
	return &s
}
