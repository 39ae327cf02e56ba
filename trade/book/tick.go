package book

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"wick/internal/exact"
	"wick/market"
)

// Tick is an update in exact numbers.
type Tick struct {
	market.Update
	Exact  exact.Decimal // the price; zero if it is out of the range of exact numbers
	from   exact.Decimal // the price before, zero if that is not known
	legs   []leg         // the path
	span   span          // the extremes of price and path, and nothing else; zero if all are out of range
	known  bool          // the price was known before this update
	fromAt int64         // when the price that the path begins at was the price, in unix milliseconds
}

// NewTick makes the numbers of an update exact. It reports false if one of them
// is no price, or if they contradict each other.
func NewTick(u market.Update) (Tick, bool) {
	t := Tick{Update: u, legs: legs(u)}
	t.Exact, _ = exact.FromFloat(u.Price)
	t.from, _ = exact.FromFloat(u.From)
	t.span.high, t.span.low = t.Exact, t.Exact
	for _, l := range t.legs {
		low := l.low
		if t.span.high = max(t.span.high, l.high); l.opened {
			t.span.high, low = max(t.span.high, l.start), min(low, l.start)
		}
		if t.span.low == 0 || low < t.span.low {
			t.span.low = low
		}
	}
	return t, u.Low > 0 && u.High <= math.MaxFloat64 && u.Low <= u.Price && u.Price <= u.High
}

// Begin adds to t what was known before it, and is called before anything is judged.
// Since is the time of the update before, in unix milliseconds, zero if t is the first
// one after a start. Before is the price before t, perhaps one that an earlier process
// saw. In the first update the legs whose bar began before this process did have not opened, so
// that a limit which the market passed during a downtime is filled at the limit; those whose
// bar closed before that are late.
func (t *Tick) Begin(since int64, before Quote, began Time) {
	t.fromAt = before.At
	if len(t.Path) == 0 {
		t.Since = since
	}
	// The first poll of a symbol may find the price that its history had. The bars of the
	// history are longer, and may have given that price a later time.
	t.known = t.Exact == before.Price && (t.At == before.At || t.At < before.At && t.At == t.Since)
	// Nothing was traded: the update tells of bars that closed, with the price of the one
	// before. That price was judged then, and is no new look at the market.
	if t.known && len(t.Path) == 0 && t.High == t.Low {
		t.legs = nil
	}
	// If so, the clock was set back: when the path began is not known, only when its first
	// bar did.
	if t.Since > t.At && len(t.legs) > 0 {
		t.Since, t.fromAt = min(t.legs[0].bar*1000, t.At), 0
	}
	t.legs = slices.Clone(t.legs)
	for i := range t.legs {
		if i == 0 {
			t.legs[i].from = t.Since
		}
		if since == 0 && t.legs[i].bar*1000 <= began.UnixMilli() {
			t.legs[i].opened = false
			t.legs[i].late = t.legs[i].closed <= began.UnixMilli()
		}
	}
}

// Meets returns what makes the price alert a fire, in order of time, and of more than
// [MaxFirings] the newest. The first time an alert fires wherever the price comes from. One that
// repeats fires again in each leg, a bar of the path of t, in which the price comes to the
// threshold from the other side, or for each_bar in each bar that reaches it.
//
// Of one that does not repeat the newest price is told if that reaches the threshold, or else
// the extreme of the first leg that does. If that leg is late, it counts even if the newest
// price reaches the threshold, too.
func (t Tick) Meets(a *Alert) (all []Trigger) {
	before, once := a, a.Repeat == "" // as it was before t
	own := *a                         // FiredAt of this copy is set by each firing below
	a = &own
	armed := !a.Condition.Met(t.from) // the price is on the other side
	type hit struct {
		leg   leg
		price exact.Decimal
	}
	var hits []hit // a downtime may bring thousands, of which few are written out
	for i, l := range t.legs {
		part, counts := t.part(l, before)
		met := armed && a.Since() <= l.from // otherwise it may have fired for this part of the way already
		switch {
		case a.FiredAt == nil:
			met = true
			if i == len(t.legs)-1 && t.reaches(a) && !(counts && l.late) {
				part, counts, l.late = span{high: t.Exact, low: t.Exact}, true, false
			}
		case a.Repeat == EachBar:
			// A leg ends when the next one begins, so its last instant is a millisecond
			// earlier.
			met = a.Interval.Start((l.over()-1)/1000) > a.Interval.Start((a.FiredAt.UnixMilli()-1)/1000)
		case !met && !reachedBy(a.Condition, span{high: part.low, low: part.high}): // it has left within the leg, and has come back if the close is there
			met, part = true, l.end()
		}
		armed = !a.Condition.Met(l.close)
		if met && counts && reachedBy(a.Condition, part) && a.Ready(l.over()) {
			hits = append(hits, hit{l, extreme(a.Condition, part)})
			a.FiredAt = &Time{Time: time.UnixMilli(l.over()).UTC()}
			if once {
				break
			}
		}
	}
	for _, h := range hits[max(0, len(hits)-MaxFirings):] {
		why := Trigger{Value: json.Number(h.price.String()), Late: h.leg.late, At: h.leg.over()}
		if h.leg.late {
			why.Bar = h.leg.bar
		}
		all = append(all, why)
	}
	if once && t.reaches(before) && (len(all) == 0 || !all[0].Late) {
		if !before.Ready(t.At) {
			return nil
		}
		return []Trigger{{Value: json.Number(t.Exact.String()), At: t.At}}
	}
	return all
}

// reaches reports whether t has a new price and it meets the condition of a. The price
// may be older than the alert, because some sources tell prices late.
func (t Tick) reaches(a *Alert) bool {
	return !t.known && t.Exact != 0 && a.Condition.Met(t.Exact)
}

// part returns the part of the leg l that counts for an alert, and false if none does. If
// the leg began before the alert was set or last fired, or during its cooldown, only the
// close counts. The same is true if the extreme of the first leg is just the price that
// it begins at, and that is from before the alert was set or its cooldown ended: an alert
// does not fire at an old price that the market has left.
func (t Tick) part(l leg, a *Alert) (span, bool) {
	// A leg may be longer than its bar if nothing was traded before or after that. What
	// was traded was within the bar.
	l.from, l.to = max(l.from, l.bar*1000), l.over()
	part, ok := l.after(a.Since())
	rested := a.rested()
	old := l.bar == t.legs[0].bar && max(a.set(), rested) > t.fromAt && extreme(a.Condition, part) == t.from
	if ok && (old || rested > l.from) {
		part = l.end()
	}
	return part, ok
}

// extreme returns the price of s that goes furthest in the direction of a price
// condition: the high for price_above, the low for price_below.
func extreme(c Condition, s span) exact.Decimal {
	if c.Type == PriceAbove {
		return s.high
	}
	return s.low
}

// Met reports whether a price meets a price condition.
func (c Condition) Met(price exact.Decimal) bool {
	if c.Type == PriceAbove {
		return price >= c.Threshold
	}
	return price <= c.Threshold
}

// Legs returns how many bars the path of t has.
func (t Tick) Legs() int { return len(t.legs) }

// Reaches reports whether the price or the path of t reaches the threshold of a price
// condition.
func (t Tick) Reaches(c Condition) bool { return t.span.high != 0 && reachedBy(c, t.span) }

// reachedBy reports whether s reaches the threshold of a price condition.
func reachedBy(c Condition, s span) bool { return c.Met(extreme(c, s)) }

// span is the trading of some time, which resting orders and alerts are judged on.
type span struct {
	// start is the first price. If the span has not opened with it, it is the one that was seen
	// before: on the way from there the market passed every limit in between.
	start     exact.Decimal
	opened    bool
	high, low exact.Decimal
	close     exact.Decimal // the last price
}

// leg is one bar of the path of an update. Within a leg it is not known whether the
// high or the low came first.
type leg struct {
	span
	bar      int64 // start of the bar, in unix seconds
	from, to int64 // when the leg begins and ends, in unix milliseconds
	closed   int64 // when the bar is over, in unix milliseconds
	late     bool  // the bar was over before this process began
}

// legs returns the path of an update. The first leg goes on from the last price seen,
// so it has not opened. An update without a path is one leg. A leg with a price that is out
// of the range of exact numbers is left out.
func legs(u market.Update) []leg {
	// An update without a path becomes one bar from the last price to the new one.
	path := u.Path
	if len(path) == 0 {
		path = []market.Bar{{Open: u.Price, High: u.High, Low: u.Low, Close: u.Price}}
		if u.From > 0 {
			path[0].Open = u.From
		}
	}
	out := make([]leg, 0, len(path))
	for i, b := range path {
		l := leg{bar: b.Time, from: b.Time * 1000, to: u.At}
		var ok [4]bool
		l.start, ok[0] = exact.FromFloat(b.Open)
		l.high, ok[1] = exact.FromFloat(b.High)
		l.low, ok[2] = exact.FromFloat(b.Low)
		l.close, ok[3] = exact.FromFloat(b.Close)
		l.opened = i > 0 // the open of the first leg is not a new trade: the update before told it
		l.closed = math.MaxInt64
		if i+1 < len(path) {
			l.to = path[i+1].Time * 1000
			l.closed = l.to
		}
		if u.Step != "" {
			l.closed = u.Step.Next(b.Time) * 1000
		}
		if ok == [4]bool{true, true, true, true} {
			out = append(out, l)
		}
	}
	return out
}

// after returns the part of l that came after an instant, and false if there is
// none. Which part of its extremes came later is not known, so of a leg that
// began before the instant only the close counts.
func (l leg) after(instant int64) (span, bool) {
	switch {
	case instant <= l.from:
		return l.span, true
	case instant < l.to:
		return l.end(), true
	}
	return span{}, false
}

// opening returns the first instant of l, as a leg: its open and nothing else.
func (l leg) opening() leg {
	l.span = span{start: l.start, opened: true, close: l.start, high: l.start, low: l.start}
	l.to = l.from
	return l
}

// over returns the latest time at which anything in l can have been traded, in unix
// milliseconds. That is before the end of the leg if nothing was traded between its bar
// and that of the next leg.
func (l leg) over() int64 { return min(l.to, l.closed) }

// end returns the close of l alone.
func (l leg) end() span {
	return span{start: l.close, high: l.close, low: l.close, close: l.close}
}
