package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indOpeningRange = Indicator{
	Name: "opening_range", Title: "OR", Aliases: []string{"orb", "opening_range_breakout"}, Category: Price, Overlay: true,
	Doc:     "Opening range: the highest high and lowest low of the first minutes of the day, in UTC from the hour given, from the bar on that ends them. Breakouts are closes that leave it.",
	Formula: "highest high and lowest low of the bars that begin within minutes of the start",
	Params: []Param{
		{Name: "minutes", Aliases: []string{"length"}, Doc: "minutes of the range", Kind: Int, Default: 60, Min: 1, Max: 1440},
		{Name: "start", Aliases: []string{"hour", "open_hour"}, Doc: "hour of the day at which it begins, UTC, such as 14.5 for half past two", Default: 0, Min: 0, Max: 23.99, Quiet: true},
	},
	Signals: []string{shape.BreakUp, shape.BreakDown},
	// The range of today may have been made before the first bar shown; a second day
	// covers a start late in the day.
	History: func(Args, market.Interval) int64 { return 2 * 86400 },
	Compute: func(s *market.Series, a Args) *Result {
		upper, lower, fresh := openingRange(s, int64(a.Float("start")*3600), int64(a.Int("minutes")*60))
		r := &Result{
			Lines: []Line{{Label: "High", Tone: Down, Style: Step, Values: upper}, {Label: "Low", Tone: Up, Style: Step, Values: lower}},
			Fills: []Fill{{Y1: upper, Y2: lower, Tone: Band}},
		}
		// The bar that ends the range is within it, also if it closes at its edge: the next
		// close beyond that edge leaves the range.
		closes := slices.Clone(s.Close)
		for i := range closes {
			if fresh[i] {
				closes[i] = (upper[i] + lower[i]) / 2
			}
		}
		r.Signals = withoutResets(shape.Breakouts(closes, upper, lower), fresh)
		return r
	},
}

// openingRange returns the range of each day from the bar on that ends it, and on
// which bars it is a new one. start is in seconds after midnight, length in
// seconds.
func openingRange(s *market.Series, start, length int64) (upper, lower []float64, fresh []bool) {
	const day = 86400
	upper, lower, fresh = kernel.NaNs(s.Len()), kernel.NaNs(s.Len()), make([]bool, s.Len())
	hi, lo, of := nan, nan, int64(-1) // of: the day that hi and lo belong to
	// The day whose range was drawn last: the first bar of another day starts a new
	// line.
	shown := int64(-1)
	for i, t := range s.Time {
		// A day begins at start. The seconds since then say whether the bar begins
		// within the range or after it.
		today, since := (t-start)/day, (t-start)%day
		if since < length {
			if today != of {
				hi, lo, of = s.High[i], s.Low[i], today
			}
			hi, lo = max(hi, s.High[i]), min(lo, s.Low[i])
			// The range is known at the close of the bar that ends it. A bar of a day or
			// longer leaves no rest of the day for which it would mean something.
			if end := since + s.Interval.Next(t) - t; end < length || end >= day {
				continue
			}
		}
		// A day without bars within the range has none.
		if today == of {
			upper[i], lower[i] = hi, lo
			fresh[i], shown = shown != today, today
		}
	}
	return upper, lower, fresh
}
