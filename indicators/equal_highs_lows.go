package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule: two swing highs in succession whose prices differ by no more than a
// part of the mean true range of the last 14 bars are equal highs. Their level is
// the higher of the two; it holds until a bar trades beyond it.
var indEqualHighsLows = Indicator{
	Name: "equal_highs_lows", Title: "EQH/EQL", Aliases: []string{"eqh_eql", "equal_highs", "equal_lows"}, Category: Pattern, Overlay: true,
	Doc:     "Equal highs and lows: two swings in succession at nearly the same price, beyond which stops are thought to rest. The level is drawn from the bar that confirms the second swing until a bar trades beyond it. Nothing repaints.",
	Formula: "|swing high - swing high before| <= tolerance * mean true range of 14 bars; lows mirrored",
	Params:  append(swingParams(5, 200), tolerance(0.2)),
	Signals: []string{shape.EqualHighs, shape.EqualLows},
	Warmup:  structureWarmup(2),
	Compute: func(s *market.Series, a Args) *Result {
		return bothSides(s, func(s *market.Series, side int) *Result {
			return equalHighs(s, a, [2]string{"EQH", "EQL"}[side], [2]string{shape.EqualHighs, shape.EqualLows}[side], [2]Tone{Down, Up}[side])
		})
	},
}

// equalHighs draws the level of the newest equal highs. Only swings next to each
// other are compared, so a third equal one moves the level on.
func equalHighs(s *market.Series, a Args, name, label string, tone Tone) *Result {
	line, usual := kernel.NaNs(s.Len()), trueRangeMean(s)
	r := &Result{Lines: []Line{{Label: name, Tone: tone, Style: Step, Values: line}}}
	highs, next := swingHighs(s, a.Int("left"), a.Int("right")), 0
	level, since := nan, 0 // level now, and the bar of its second swing
	for i := range s.Len() {
		// The level ends when a bar trades beyond it or it is too old; a comparison
		// with NaN is false.
		if kernel.Compare(s.High[i], level) > 0 || i-since > a.Int("lookback") {
			level = nan
		}
		// Of the swings that become known now, each is compared with the one before it,
		// unless the two, or the newer one and this bar, are too far apart. A level
		// that was passed before it was known never begins.
		for ; next < len(highs) && highs[next].known <= i; next++ {
			if next == 0 || highs[next].bar-highs[next-1].bar > a.Int("lookback") || i-highs[next].bar > a.Int("lookback") {
				continue
			}
			first, second := highs[next-1].price, highs[next].price
			if nearEqual(first, second, a.Float("tolerance")*usual[i]) && !beyond(s, highs[next-1].bar, i, max(first, second)) {
				level, since = max(first, second), highs[next].bar
				r.Signals = append(r.Signals, shape.Mark(i, level, label, tone))
			}
		}
		line[i] = level
	}
	return r
}

// nearEqual reports whether two prices differ by no more than reach. It is false
// while the reach is not known. The second comparison lets a distance count that
// exceeds the reach by rounding only.
func nearEqual(x, y, reach float64) bool {
	away := max(x-y, y-x)
	// Compare is 0 for NaN, which is why the reach is asked.
	return away <= reach || kernel.Compare(away, reach) == 0 && !isNaN(reach)
}

// beyond reports whether a bar after from, up to to, trades above the price.
func beyond(s *market.Series, from, to int, price float64) bool {
	for i := from + 1; i <= to; i++ {
		if kernel.Compare(s.High[i], price) > 0 {
			return true
		}
	}
	return false
}
