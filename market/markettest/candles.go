package markettest

import (
	"strconv"
	"strings"
	"sync"
	"time"
)

// row is one bar as text, the way most services send it; "" is null.
type row struct {
	start, end                     int64 // unix seconds; end is the start of the next
	open, high, low, close, volume string
}

// candle is a bar being built, of one minute or more.
type candle struct {
	start, end int64
	minute
}

func (c candle) row() row {
	f := func(cents int32) string { // of three digits or more: no price is below one
		text := strconv.Itoa(int(cents))
		return text[:len(text)-2] + "." + text[len(text)-2:]
	}
	return row{c.start, c.end, f(c.open), f(c.high), f(c.low), f(c.close), strconv.Itoa(int(c.volume))}
}

// hours says when a market is open and how its bars are cut. Cut returns the
// start and end of the bar that holds t; ok is false when the market is closed.
type hours interface {
	cut(t int64) (start, end int64, ok bool)
}

// clock is a market that never closes: bars of a fixed length from 0001-01-01,
// which was a Monday, as time.Truncate counts.
type clock time.Duration

func (c clock) cut(t int64) (int64, int64, bool) {
	const from = 62135596800 // seconds from then to 1970
	length := int64(time.Duration(c) / time.Second)
	start := t - (t+from)%length
	return start, start + length, true
}

// unixClock counts from 1970 instead, as Kraken does: its weeks start on Thursdays.
type unixClock int64

func (c unixClock) cut(t int64) (int64, int64, bool) {
	start := t / int64(c) * int64(c)
	return start, start + int64(c), true
}

// months never close either.
type months struct{}

func (months) cut(t int64) (int64, int64, bool) {
	y, m, _ := time.Unix(t, 0).UTC().Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC).Unix(), true
}

// cutByClock cuts a market that never closes.
func cutByClock(_, interval string) hours {
	switch interval {
	case "1d":
		return clock(24 * time.Hour)
	case "1wk":
		return clock(7 * 24 * time.Hour)
	case "1mo":
		return months{}
	}
	if length, err := time.ParseDuration(interval); err == nil {
		return clock(length)
	}
	return nil
}

// exchange is a place with a day of its own. Bars are step seconds long from
// the opening; unit says "", "day", "week" or "month" for longer ones.
type exchange struct {
	zone        *time.Location
	open, close time.Duration // after midnight
	weekends    bool
	step        int64
	unit        string

	found struct{ first, last, start, end int64 } // the session that cut found last, and its bar if it has a unit
	rest  struct{ from, to int64 }                // when cut last found it closed
}

func (e *exchange) cut(t int64) (start, end int64, ok bool) {
	if t < e.found.first || t >= e.found.last {
		if e.rest.from <= t && t < e.rest.to || !e.find(t) {
			return 0, 0, false
		}
	}
	if e.unit != "" {
		return e.found.start, e.found.end, true
	}
	start = e.found.first + (t-e.found.first)/e.step*e.step
	return start, start + e.step, true
}

// find looks for the session of t and keeps it, or the time in which there is
// none: a calendar takes long to ask, and most minutes are in the session of the
// one before.
func (e *exchange) find(t int64) bool {
	local := time.Unix(t, 0).In(e.zone)
	y, m, d := local.Date()
	at := func(d int, after time.Duration) int64 {
		return time.Date(y, m, d, 0, int(after.Minutes()), 0, 0, e.zone).Unix()
	}
	first, last := e.session(y, m, d)
	switch {
	case t < first:
		e.rest.from, e.rest.to = t, first
		return false
	case t >= last:
		e.rest.from, e.rest.to = t, at(d+1, 0)
		return false
	}
	e.found.first, e.found.last, e.found.start, e.found.end = first, last, first, last
	switch e.unit {
	case "week":
		monday := d - (int(local.Weekday())+6)%7
		e.found.start, e.found.end = at(monday, 0), at(monday+7, 0)
	case "month":
		e.found.start, e.found.end = time.Date(y, m, 1, 0, 0, 0, 0, e.zone).Unix(), time.Date(y, m+1, 1, 0, 0, 0, 0, e.zone).Unix()
	}
	return true
}

// session returns when the exchange opens and closes on a day: both the same on
// weekends and on one weekday in fifty, and early on one in forty.
func (e *exchange) session(y int, m time.Month, d int) (open, shut int64) {
	date := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	midnight := func(after time.Duration) int64 {
		return time.Date(y, m, d, 0, int(after.Minutes()), 0, 0, e.zone).Unix()
	}
	weekend := date.Weekday() == time.Saturday || date.Weekday() == time.Sunday
	dice := mix(uint64(date.Unix()))
	switch {
	case e.weekends:
	case weekend || dice%50 == 7:
		return midnight(e.open), midnight(e.open)
	case dice%40 == 3 && e.close-e.open < 12*time.Hour:
		return midnight(e.open), midnight(e.open + 3*time.Hour + 30*time.Minute)
	}
	return midnight(e.open), midnight(e.close)
}

// mix scatters the bits of v.
func mix(v uint64) uint64 {
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	v ^= v >> 33
	v *= 0xc4ceb9fe1a85ec53
	return v ^ v>>33
}

func seed(symbol string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(symbol) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// trade is the price at an instant, in cents.
func trade(seed uint64, t int64) int32 { return (&trader{seed: seed}).price(t) }

// trader computes prices: noise of many paces, each four times as quick and half
// as strong as the one before. It keeps the noise of each pace for the next
// instant, which usually has the same.
type trader struct {
	seed  uint64
	waves [8]struct {
		known           bool
		start, from, to int64
	}
}

// price returns the price at an instant, in cents.
func (r *trader) price(t int64) int32 {
	level := int64(5000 + r.seed%40000)
	cents := level
	strength := level / 4
	i := 0
	for pace := int64(40 * 86400); pace >= 600; pace /= 4 {
		w := &r.waves[i]
		if !w.known || t < w.start || t >= w.start+pace {
			k := t / pace
			w.known, w.start, w.from, w.to = true, k*pace, noise(r.seed, pace, k), noise(r.seed, pace, k+1)
		}
		rest := t - w.start
		cents += strength * (w.from*(pace-rest) + w.to*rest) / (pace * 1000)
		strength /= 2
		i++
	}
	return int32(cents + level*noise(r.seed, tradeStep, t/tradeStep)/1_000_000)
}

// noise is between -1000 and 1000.
func noise(seed uint64, pace, k int64) int64 {
	return int64(mix(seed^uint64(pace)<<32^uint64(k))%2001) - 1000
}

const tradeStep = 20 // seconds from trade to trade

// idle reports minutes without a trade: single ones, and one hour in 67.
func idle(seed uint64, minute int64) bool {
	return mix(seed^uint64(minute*7+1))%173 == 0 || mix(seed^uint64(minute/60*13+5))%67 == 0
}

// candles returns the bars that start at from or later and before to. A minute
// has a trade every tradeStep seconds; bars are cut from those, and trades after now
// have not happened.
func (x *Exchange) candles(symbol string, h hours, from, to int64) []candle {
	days := int64(x.Days)
	if days == 0 {
		days = 400
	}
	now := x.now().Unix()
	from = (from + 59) / 60 * 60
	s := seed(strings.ToUpper(symbol))
	begin := (now/86400 - days) * 86400
	_, rests := h.(*exchange) // the others are open from the start to the end of a bar
	start, end, ok := h.cut(from)
	if ok && start < from { // the bar that holds from started earlier: leave it out
		for early := start; ok && start == early && from < to; start, end, ok = h.cut(from) {
			if from += 60; !rests {
				from = end
			}
		}
	}
	var list []candle
	var minutes *[60]minute
	hour := int64(-1)
	end = 0
	for t := max(from, begin); t < to+40*86400 && t <= now; t += 60 {
		if rests || t >= end {
			start, end, ok = h.cut(t)
		}
		if !ok && t%3600 == 0 {
			if _, _, open := h.cut(t + 1800); !open { // opens on the half hour at the earliest
				t += 1740
			}
		}
		if !ok || x.Sparse && idle(s, t/60) {
			continue
		}
		if start >= to {
			break
		}
		if t/3600 != hour {
			hour, minutes = t/3600, minutesOf(s, t/3600)
		}
		m := minutes[t%3600/60]
		if t+60 > now {
			m = (&trader{seed: s}).minute(t, now) // not over: only the trades so far
		}
		if n := len(list); n == 0 || list[n-1].start != start {
			list = append(list, candle{start, end, m})
			continue
		}
		c := &list[len(list)-1]
		c.high, c.low, c.close = max(c.high, m.high), min(c.low, m.low), m.close
		c.volume += m.volume
	}
	return list
}

// minute is the bar of a minute: prices in cents, and the volume.
type minute struct{ open, high, low, close, volume int32 }

// minute returns the minute that starts at t, of the trades up to now.
func (r *trader) minute(t, now int64) minute {
	p := r.price(t)
	m := minute{p, p, p, p, int32(1 + mix(uint64(t)^r.seed)%9)}
	for at := t + tradeStep; at < t+60 && at <= now; at += tradeStep {
		p := r.price(at)
		m.high, m.low, m.close = max(m.high, p), min(m.low, p), p
		m.volume += int32(1 + mix(uint64(at)^r.seed)%9)
	}
	return m
}

// known remembers the minutes of hours that were asked for, by seed and hour: the
// same ones are asked for again and again, and the noise takes long to compute.
var known struct {
	sync.Mutex
	minutes map[[2]int64]*[60]minute
}

// minutesOf returns the minutes of an hour, all its trades included. The result
// must not be changed.
func minutesOf(seed uint64, hour int64) *[60]minute {
	key := [2]int64{int64(seed), hour}
	known.Lock()
	defer known.Unlock()
	if list := known.minutes[key]; list != nil {
		return list
	}
	if known.minutes == nil || len(known.minutes) > 50000 { // 60 MB
		known.minutes = make(map[[2]int64]*[60]minute)
	}
	list, trades := new([60]minute), trader{seed: seed}
	for i := range list {
		at := hour*3600 + int64(i)*60
		list[i] = trades.minute(at, at+60)
	}
	known.minutes[key] = list
	return list
}

// rows returns candles as text, the newest limit of them, spoilt by f.
func rows(list []candle, limit int, f *Fault) []row {
	list = list[max(0, len(list)-limit):]
	out := make([]row, 0, len(list))
	for _, c := range list {
		out = append(out, c.row())
	}
	return f.spoil(out)
}
