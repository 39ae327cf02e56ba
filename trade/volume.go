package trade

import (
	"context"
	"errors"
	"fmt"
	"math"

	"wick/exact"
	"wick/market"
)

// volume is what a symbol has traded lately, and what our orders took of it. It is
// not in the journal: after a start the source is asked for it.
type volume struct {
	newest minuteVolume
	before minuteVolume // the one before it that was traded
	taken  exact.Decimal
	told   bool // the source tells volumes: it has told one
}

// minuteVolume is what was traded in a minute, or in a longer bar of a source that has no
// minutes.
type minuteVolume struct {
	start int64 // unix seconds
	size  exact.Decimal
	whole bool // the size is of all of it: what is told of it again does not count
}

// add counts a size that was told.
func (m *minuteVolume) add(size exact.Decimal) {
	if !m.whole {
		m.size += min(size, math.MaxInt64-m.size)
	}
}

// volumeOf returns a volume of a source as an exact number, zero for none. Coins of a
// tiny price trade more in a minute than fits: that is the largest number.
func volumeOf(x float64) exact.Decimal {
	size, ok := exact.FromFloat(x)
	if !ok && x > 1 {
		return math.MaxInt64
	}
	return size
}

// tell takes over what was traded in a part of the minute that starts at start.
// Bars may come later than prices of the minute after them.
func (v *volume) tell(start int64, size exact.Decimal) {
	v.told = v.told || size > 0
	switch {
	// A new minute begins a new share, of which nothing is taken yet.
	case start > v.newest.start:
		v.before, v.newest, v.taken = v.newest, minuteVolume{start: start, size: size}, 0
	case start == v.newest.start:
		v.newest.add(size)
	case start > v.before.start:
		v.before = minuteVolume{start: start, size: size}
	case start == v.before.start:
		v.before.add(size)
	}
}

// historyMinutes is how far back the source is asked for a volume: one that tells
// none in so many minutes is taken for a source that never does.
const historyMinutes = 60

// history returns the volume of a symbol of which nothing was told yet, from its
// newest minutes. What the forming one has traded so far the feed will tell.
func (w *watchlist) history(ctx context.Context, symbol string) (v volume, err error) {
	s, err := w.load(ctx, seriesKey{symbol, market.Minute1}, historyMinutes)
	if errors.Is(err, market.ErrTooFine) { // what a file gains while we watch it will be told
		return v, nil
	}
	if err != nil {
		return v, fmt.Errorf("no volume of %s: %w", symbol, err)
	}
	// The forming minute counts from now on only; the last whole one is what there is
	// to go by until then.
	last := s.Bar(s.Len() - 1)
	v.newest.start = last.Time
	for _, size := range s.Volume {
		v.told = v.told || size > 0
	}
	switch {
	case !s.Forming:
		v.newest.start = market.Minute1.Next(last.Time)
	case s.Len() > 1:
		last = s.Bar(s.Len() - 2)
	default:
		return v, nil
	}
	v.before = minuteVolume{last.Time, volumeOf(last.Volume), true}
	return v, nil
}

// tell adds what a leg has traded.
func (w *watchlist) tell(symbol string, l leg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		in.volume.tell(l.bar, l.volume)
	}
}

// took notes that orders of a symbol were filled.
func (w *watchlist) took(symbol string, size exact.Decimal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		in.volume.taken += size
	}
}

// volume returns what a symbol has traded lately.
func (w *watchlist) volume(symbol string) volume {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		return in.volume
	}
	return volume{}
}

// tooLittle is the reason of an order that is filled in part and waits.
const tooLittle = "too little was traded lately for the rest, which waits for more"

// available returns how much of the rest of o can be filled now: all of it, or with
// Options.Participation what is left of the share of the newest minute, or of the
// one before it if that traded more, in whole lots. Where the source tells no
// volumes it is all.
func (e *Engine) available(o *Order) exact.Decimal {
	rest := o.remaining().Abs()
	if e.options.Participation == 0 {
		return rest
	}
	v := e.watch.volume(o.Symbol)
	if !v.told {
		return rest
	}
	share, _ := max(v.newest.size, v.before.size).Times(e.options.Participation, exact.Down) // no more than told, so it fits
	left, _ := max(share-v.taken, 0).Step(e.paper.grid(o.Symbol).Lot, exact.Down)
	return min(rest, left)
}

// took notes what ev fills of an order that was filled as far as before says; nil
// is a new one.
func (e *Engine) took(ev *event, before *Order) {
	size := ev.Order.FilledQuantity
	if before != nil {
		size -= before.FilledQuantity
	}
	if e.options.Participation != 0 && size != 0 {
		e.watch.took(ev.Order.Symbol, size)
	}
}
