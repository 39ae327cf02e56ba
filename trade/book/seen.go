package book

import (
	"maps"
	"time"

	"wick/internal/exact"
	"wick/market"
)

// Seen is how far the engine has judged a symbol. The journal keeps it for symbols that
// alerts or open orders wait for, so that the next process goes on from there. It may be
// behind what was judged: to judge the same again changes nothing, because what fired or
// was filled no longer waits.
type Seen struct {
	Price     exact.Decimal             `json:"price"`               // the newest that was judged, rounded; zero if out of range
	At        int64                     `json:"at"`                  // when it was the price, in unix milliseconds
	Synthetic bool                      `json:"synthetic,omitempty"` // the price is invented
	Bars      map[market.Interval]int64 `json:"bars,omitempty"`      // start of the newest closed bar that was judged, in unix seconds
}

const (
	SeenPeriod = time.Minute // how far symbols were judged is written this often
	MaxSeen    = 100         // symbols in one such record, so that it fits
)

// Equal reports whether s and o say the same.
func (s *Seen) Equal(o *Seen) bool {
	return o != nil && s.Price == o.Price && s.At == o.At && s.Synthetic == o.Synthetic && maps.Equal(s.Bars, o.Bars)
}

// Missed returns about how many bars of an interval have closed by an instant since the last one that
// was judged: rather too many than too few, but at most market.MaxLimit. It returns zero
// if none was judged, or if s is nil.
func (s *Seen) Missed(iv market.Interval, at Time) int {
	if s == nil || s.Bars[iv] <= 0 {
		return 0
	}
	n := (at.Unix() - s.Bars[iv]) / iv.Seconds()
	return int(min(max(n, 0), market.MaxLimit))
}

// Of reports whether s can be compared with a series: both are invented, or neither. It
// returns false for nil.
func (s *Seen) Of(series *market.Series) bool { return s != nil && s.Synthetic == series.Synthetic }
