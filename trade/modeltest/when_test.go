package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"wick/market"
)

// condition is what an order waits for: that a minute closes above a level, after one that did not.
type condition struct {
	level     num
	now, skip bool
	worst     num   // of a market order
	from      int64 // minutes that ended by then do not count, in unix milliseconds
	met       bool  // the rule became true while nobody was there: the order comes when the next minute closes
}

// waitsForRule is the status of an order that waits for its rule; tools show it as open.
const waitsForRule = "waits"

// rule makes a request one that waits.
func (s *scene) rule(r *request) {
	r.when = &condition{level: s.near(s.places[r.symbol].price, 1-2*s.rand.IntN(2)), now: s.rand.IntN(4) == 0, skip: s.rand.IntN(3) == 0}
	if r.kind == "market" && s.rand.IntN(2) == 0 {
		r.when.worst = s.near(s.places[r.symbol].price, r.side)
	}
}

// above reports whether minute i of a symbol closes above the level of a rule.
func (s *scene) above(symbol string, i int, w *condition) bool {
	return i >= 0 && float(w.level) < s.feed.minutes[symbol][i].Close
}

// put adds the rule to the arguments of a request.
func (w *condition) put(a map[string]any) {
	if w == nil {
		return
	}
	a["when"], a["interval"] = "close > "+show(w.level), "1m"
	if w.now {
		a["now"] = true
	}
	if w.skip {
		a["late"] = "skip"
	}
	if w.worst != nil {
		a["price"] = json.Number(show(w.worst))
	}
}

// never returns why a request that waits for a rule could never be right.
func (b *book) never(r request) string {
	if r.mayOpen && (r.reduce || r.all || r.share != nil) {
		return "it cannot only reduce and open"
	}
	if r.tif == "gtd" && r.expires <= b.now {
		return "its time is over"
	}
	if r.qty != nil && !equal(floor(r.qty, b.lot), r.qty) {
		return "off the lot"
	}
	prices := []num{r.price, r.stop, r.trail, r.ocoStop, r.ocoPrice}
	for _, x := range []*exit{r.loss, r.profit} {
		if x != nil {
			prices = append(prices, x.price)
		}
	}
	for _, p := range prices {
		if p != nil && !equal(floor(p, b.tick), p) {
			return "off the tick"
		}
	}
	return ""
}

// suspend has an order wait for its rule, unless that is true on the newest minute that has closed and
// the order says now. Shown is the quantity that the tools show of it.
func (s *scene) suspend(r request, id, shown string) (*order, string) {
	if why := s.book.never(r); why != "" {
		return nil, why
	}
	w := *r.when
	last := s.feed.told[r.symbol] - 1
	w.from = s.now
	if w.now {
		w.from = s.feed.minutes[r.symbol][last].Time*1000 + 60000
	}
	if w.now && s.above(r.symbol, last, &w) {
		r.when = nil
		if s.tooFar(r, &w) {
			return nil, tooFar
		}
		return s.book.place(r, id)
	}
	if r.kind == "market" && w.worst == nil {
		half := floor(div(s.places[r.symbol].price, whole(2)), unit)
		w.worst = add(s.places[r.symbol].price, mul(half, whole(int64(r.side))))
	}
	r.when = &w
	s.turns++
	o := &order{request: r, id: id, turn: s.turns, created: s.now, updated: s.now, status: waitsForRule, filled: new0(), value: new0(), paid: new0(), best: s.places[r.symbol].price}
	if r.qty == nil { // what it would be for now is worked out anew when it comes
		o.qty = n(cmp.Or(shown, "0"))
	}
	o.setExpiry()
	s.orders = append(s.orders, o)
	return o, ""
}

// closeMinutes lets the orders of a symbol come whose rule the minutes made true that have closed since
// the last call: those of one minute in the order in which they were placed.
func (s *scene) closeMinutes(symbol string, first int) {
	type due struct {
		*order
		minute int
	}
	var list []due
	for _, o := range s.orders {
		if o.status != waitsForRule || o.symbol != symbol {
			continue
		}
		for i := first; i < s.feed.told[symbol]; i++ {
			ended := s.feed.minutes[symbol][i].Time*1000 + 60000
			if ended <= o.when.from || o.expires > 0 && ended > o.expires || !o.when.met && !(s.above(symbol, i, o.when) && !s.above(symbol, i-1, o.when)) {
				continue
			}
			switch late := ended <= s.began; {
			case o.when.skip && (late || o.when.met):
				s.book.end(o, "cancelled")
			case late:
				w := *o.when
				w.met, w.from = true, s.now
				o.when, o.updated = &w, s.now
			default:
				list = append(list, due{o, i})
			}
			break
		}
	}
	slices.SortStableFunc(list, func(x, y due) int { return cmp.Or(cmp.Compare(x.minute, y.minute), cmp.Compare(x.turn, y.turn)) })
	for _, o := range list {
		s.come(o.order)
	}
}

const tooFar = "the price is worse than the worst"

// tooFar reports whether a request would be filled now at a worse price than it may.
func (s *scene) tooFar(r request, w *condition) bool {
	fill, now := s.book.onArrival(r)
	return now && w.worst != nil && less(mul(w.worst, whole(int64(r.side))), mul(fill, whole(int64(r.side))))
}

// come places an order whose rule has become true, as if it were placed now.
func (s *scene) come(o *order) {
	r := o.request
	if r.when = nil; o.unsized {
		r.qty = nil
	}
	why := ""
	if s.tooFar(r, o.when) {
		why = tooFar
	} else {
		if _, why = s.book.place(r, o.id); why == "" {
			s.orders = slices.DeleteFunc(s.orders, func(other *order) bool { return other == o })
			s.note("%s comes", o.id)
			return
		}
	}
	s.note("%s comes and is refused: %s", o.id, why)
	s.book.end(o, "rejected")
}

// addMinutes notes what a symbol has traded, and returns the minutes that have closed by an instant and
// were not told before.
func (f *feed) addMinutes(symbol string, path []market.Bar, at int64) (closed []market.ClosedBar) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range path {
		all := f.minutes[symbol]
		if n := len(all) - 1; n >= 0 && all[n].Time == b.Time {
			all[n].High, all[n].Low, all[n].Close = max(all[n].High, b.High), min(all[n].Low, b.Low), b.Close
			continue
		}
		f.minutes[symbol] = append(all, b)
	}
	for all := f.minutes[symbol]; f.told[symbol] < len(all) && (all[f.told[symbol]].Time+60)*1000 <= at; f.told[symbol]++ {
		closed = append(closed, market.ClosedBar{Interval: market.Minute1, Bar: all[f.told[symbol]]})
	}
	return closed
}

// history returns the minutes of a symbol, the last of which forms.
func (f *feed) history(symbol string, limit int) *market.Series {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now().UnixMilli()
	s := &market.Series{Symbol: symbol, Interval: market.Minute1, Source: "test", Forming: true, AsOf: now, PriceAt: now}
	for _, b := range f.minutes[symbol] {
		s.Append(b)
	}
	s.Forming = f.told[symbol] < s.Len()
	return s.Tail(limit)
}

// ready reports whether the minutes before an order are enough to judge its rule by.
func (f *feed) ready(symbol string) bool { return f.told[symbol] >= 2 }

func (w *condition) String() string { return fmt.Sprint(*w) }
