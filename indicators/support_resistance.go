package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule: the swings of the last lookback bars are sorted by price and cut into
// groups, each no wider than tolerance times the mean true range of the 14 bars
// up to the newest swing. A group of at least touches swings is a level, at their
// mean. It is done anew whenever a swing becomes known or too old; the lines are
// the nearest levels on both sides of the close.
var indSupportResistance = Indicator{
	Name: "support_resistance", Title: "S/R", Aliases: []string{"auto_support_resistance", "sr_levels", "support_and_resistance"}, Category: Pattern, Overlay: true,
	Doc:     "Support and resistance found from the bars: prices near which several swings turned. The lines are the nearest level above the close and the nearest below it. Breakouts are closes through the level of the bar before, level_touch a bar that reaches it and closes back. Nothing repaints.",
	Formula: "levels: means of groups of at least touches swings, each group no wider than tolerance mean true ranges",
	Params: append(swingParams(5, 300), tolerance(1),
		Param{Name: "touches", Aliases: []string{"min_touches", "strength"}, Doc: "swings that make a level", Kind: Int, Default: 2, Min: 1, Max: 20}),
	Signals: []string{shape.BreakUp, shape.BreakDown, shape.LevelTouch},
	Meanings: map[string]string{
		shape.BreakUp:    "the close rises above the resistance of the bar before",
		shape.BreakDown:  "the close falls below the support of the bar before",
		shape.LevelTouch: "the bar reaches a level that the one before did not, and closes back",
	},
	Warmup: structureWarmup(1),
	Compute: func(s *market.Series, a Args) *Result {
		above, below := supportResistance(s, a)
		return &Result{
			Lines:   []Line{{Label: "Resistance", Tone: Down, Style: Step, Values: above}, {Label: "Support", Tone: Up, Style: Step, Values: below}},
			Signals: levelBreaks(s, above, below),
		}
	},
}

// supportResistance returns the nearest level not below each close, and the
// nearest not above it.
func supportResistance(s *market.Series, a Args) (above, below []float64) {
	above, below = kernel.NaNs(s.Len()), kernel.NaNs(s.Len())
	// Swings of both kinds make levels together. With one width for all, the order of
	// their bars is also that in which they become known and are forgotten.
	turns, usual := allTurns(s, a.Int("left"), a.Int("right")), trueRangeMean(s)
	first, next := 0, 0 // the swings that count are turns[first:next]
	var levels []float64
	for i := range s.Len() {
		changed := false
		for ; next < len(turns) && turns[next].known <= i; next++ {
			changed = true
		}
		for ; first < next && i-turns[first].bar > a.Int("lookback"); first++ {
			changed = true
		}
		if changed {
			levels = levelsOf(turns[first:next], a, usual)
		}
		above[i], below[i] = nearestLevels(levels, s.Close[i])
	}
	return above, below
}

// levelsOf returns the levels that the swings make, in order.
func levelsOf(turns []turn, a Args, usual []float64) []float64 {
	if len(turns) == 0 {
		return nil
	}
	// Measured where the newest swing became known, so that the levels stay until the
	// swings change.
	reach := a.Float("tolerance") * usual[turns[len(turns)-1].known]
	prices := make([]float64, len(turns))
	for i, w := range turns {
		prices[i] = w.price
	}
	slices.Sort(prices)
	var levels []float64
	for from := 0; from < len(prices); {
		// A group begins with the lowest price left and takes in all within reach of
		// it.
		to, sum := from, 0.0 // sum of distances from the lowest
		for ; to < len(prices) && (to == from || nearEqual(prices[to], prices[from], reach)); to++ {
			sum += prices[to] - prices[from]
		}
		if to-from >= a.Int("touches") {
			levels = append(levels, prices[from]+sum/float64(to-from))
		}
		from = to
	}
	return levels
}

// nearestLevels returns the levels nearest to a price on both sides. One that the
// price stands on is both, so that the next close passes it. The levels come in
// rising order, so the first one that is not below the price ends the search.
func nearestLevels(levels []float64, price float64) (above, below float64) {
	above, below = nan, nan
	for _, y := range levels {
		side := kernel.Compare(y, price)
		if side <= 0 {
			below = y
		}
		if side >= 0 {
			return y, below
		}
	}
	return above, below
}

// levelBreaks marks closes through the levels of the bar before, and bars that
// reach one and close back.
func levelBreaks(s *market.Series, above, below []float64) []Signal {
	var signals []Signal
	for i := 1; i < s.Len(); i++ {
		// Against the levels of the bar before: a close through one makes it the
		// nearest on the other side.
		up, down := above[i-1], below[i-1]
		switch {
		case kernel.Compare(s.Close[i], up) > 0:
			signals = append(signals, shape.Mark(i, up, shape.BreakUp, Up))
		case kernel.Compare(s.Close[i], down) < 0:
			signals = append(signals, shape.Mark(i, down, shape.BreakDown, Down))
		// A touch needs a bar before that did not reach the level; a NaN compares as
		// equal and gives none.
		case kernel.Compare(s.High[i], up) >= 0 && kernel.Compare(s.High[i-1], up) < 0:
			signals = append(signals, shape.Mark(i, up, shape.LevelTouch, Muted))
		case kernel.Compare(s.Low[i], down) <= 0 && kernel.Compare(s.Low[i-1], down) > 0:
			signals = append(signals, shape.Mark(i, down, shape.LevelTouch, Muted))
		}
	}
	return signals
}
