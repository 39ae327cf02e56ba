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

// tell takes over what was traded in a part of the minute that starts at start. Bars
// may come later than prices of the minute after them. What is older than the two
// minutes that are kept is passed over.
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
