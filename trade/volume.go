package trade

import (
	"math"

	"wick/exact"
)

// volume is what a symbol has traded lately, and what our orders took of it. It is
// not in the journal: after a start the source is asked for it, and spentIn says which
// minutes are used up.
type volume struct {
	newest minuteVolume
	before minuteVolume  // the last minute before it of which a volume was told
	taken  exact.Decimal // what our orders took since newest began
	told   bool          // the source tells volumes: there was one above zero
}

// minuteVolume is what was traded in a minute, or in a longer bar of a source that has no
// minutes.
type minuteVolume struct {
	start int64 // unix seconds
	size  exact.Decimal
	whole bool // the size is that of the whole minute: what is told of it later is not added
}

// add counts a size that was told.
func (m *minuteVolume) add(size exact.Decimal) {
	if !m.whole {
		m.size += min(size, math.MaxInt64-m.size)
	}
}

// volumeOf returns a volume of a source as an exact number, zero for none. Of a coin with
// a tiny price more may be traded in a minute than fits: then it returns the largest
// number.
func volumeOf(x float64) exact.Decimal {
	size, ok := exact.FromFloat(x)
	if !ok && x > 1 {
		return math.MaxInt64
	}
	return size
}

// tell adds what was traded in a part of the minute that starts at start. That may be the
// minute before the newest, because bars can come later than the first price of the next
// minute. Older minutes are ignored.
func (v *volume) tell(start int64, size exact.Decimal) {
	v.told = v.told || size > 0
	switch {
	// With a new minute orders have a new share, of which nothing is taken yet.
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

// historyMinutes is how many minutes the source is asked for to find a volume. A source
// that tells none in so many minutes is taken for one that never does.
const historyMinutes = 60
