package indicators

import (
	"sort"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule: the volume since the period began, or of the bar alone, is compared
// with the mean of what the last length periods had at the same time after their
// begin. A period without a bar up to that time does not count. It is that of
// TradingView's "Relative Volume at Time", as its help page tells it.
var indRelativeVolumeAtTime = Indicator{
	Name: "relative_volume_at_time", Title: "RVAT", Aliases: []string{"rvat", "rvol_at_time"}, Category: Volume,
	Doc:     "Relative volume at time: the volume since the day began as a multiple of what the last days had at the same time of day. 1 is usual. With mode regular each bar is compared alone. Periods begin in UTC.",
	Formula: "volume since the period began / mean of the same over the last n periods at the same time after their begin",
	Params: []Param{
		{Name: "length", Aliases: []string{"period", "len", "window"}, Doc: "periods before", Kind: Int, Default: 10, Min: 1, Max: 100},
		anchor(), choice("mode", "since the period began, or each bar alone", "cumulative", "regular"), spikeFactor(),
	},
	Signals: []string{shape.Spike},
	// Twice as many periods, since weekends and holidays have no bars.
	History: func(a Args, iv market.Interval) int64 { return int64(2*a.Int("length")+4) * sinceAnchor(a, iv) },
	Compute: func(s *market.Series, a Args) *Result { return timesUsual("RVAT", volumeAtTime(s, a), s, a) },
}

// volumeAtTime returns the volume at each bar's time of its period as a multiple
// of the mean of the periods before; NaN until there are enough of them.
func volumeAtTime(s *market.Series, a Args) []float64 {
	period, length, cumulative := anchorOf(a, s.Interval), a.Int("length"), a.Choice("mode") == "cumulative"
	out, starts := kernel.NaNs(s.Len()), periodStarts(s, period)
	sums := make([]float64, s.Len()) // what is compared
	var begins []int                 // first bars of the periods
	var opened []int64               // when the periods began, at their first bar or before
	for i := range out {
		if starts[i] {
			begins, opened = append(begins, i), append(opened, periodStart(s.Time[i], period))
		}
		// In the mode regular the bar alone, else all volume since the period began.
		sums[i] = s.Volume[i]
		if !starts[i] && cumulative {
			sums[i] += sums[i-1]
		}
		before := len(begins) - 1 - length
		if before < 1 { // the first period may have begun before the first bar
			continue
		}
		// For each of the last periods, the bar that stood at the same time after its
		// begin, or the last before that time.
		since := s.Time[i] - opened[len(opened)-1]
		total, count := 0.0, 0
		for k := before; k < len(begins)-1; k++ {
			from := begins[k]
			if at := lastUpTo(s.Time[from:begins[k+1]], since, opened[k]); at >= 0 {
				total += sums[from+at]
				count++
			}
		}
		if total > 0 {
			out[i] = sums[i] / (total / float64(count))
		}
	}
	return out
}

// lastUpTo returns the last of the times that is at most since seconds after the
// start, -1 if there is none. The times rise, so a binary search finds it.
func lastUpTo(times []int64, since, start int64) int {
	return sort.Search(len(times), func(k int) bool { return times[k]-start > since }) - 1
}
