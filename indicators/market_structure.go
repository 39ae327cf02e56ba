package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule: a swing is a pivot of the given widths, known when its right bars are
// there. A close beyond the last known swing high breaks the structure upwards,
// once per swing: with the trend it is a break of structure, against it a change
// of character, which turns the trend. Falls mirrored. Nothing repaints.
var indMarketStructure = Indicator{
	Name: "market_structure", Title: "Structure", Aliases: []string{"bos_choch", "smc", "structure"}, Category: Pattern, Overlay: true,
	Doc:     "Market structure: the last confirmed swing high and low, and closes beyond them. In the direction of the last break that is a break of structure (bos), against it a change of character (choch). Swings are known a few bars late and do not repaint.",
	Formula: "swing high: above left highs before and right highs after it; break up: close > last swing high, once per swing",
	Params:  []Param{bars("left", 5, "bars before a swing", "length", "left_bars"), bars("right", 5, "bars after a swing; then it is known", "right_bars")},
	Signals: []string{shape.BOSUp, shape.BOSDown, shape.ChochUp, shape.ChochDown},
	// Whether a break is one of structure or of character depends on the break before,
	// which may be long ago; these bars hold several.
	Warmup: func(a Args) int { return 300 + 20*(a.Int("left")+a.Int("right")) },
	Compute: func(s *market.Series, a Args) *Result {
		left, right := a.Int("left"), a.Int("right")
		high, low := lastSwing(shape.Peaks(s.High, left, right), s.High, right), lastSwing(shape.Troughs(s.Low, left, right), s.Low, right)
		return &Result{
			Lines:   []Line{{Label: "Swing high", Tone: Down, Style: Step, Values: high}, {Label: "Swing low", Tone: Up, Style: Step, Values: low}},
			Signals: structureBreaks(s.Close, high, low),
		}
	},
}

// lastSwing returns at each bar the price of the last swing known there.
func lastSwing(pivots []int, price []float64, right int) []float64 {
	out := kernel.NaNs(len(price))
	for k, bar := range pivots {
		// A swing holds until the next one is known, not until it happens.
		until := len(price)
		if k+1 < len(pivots) {
			until = pivots[k+1] + right
		}
		for i := bar + right; i < until; i++ {
			out[i] = price[bar]
		}
	}
	return out
}

// structureBreaks marks the first close beyond each swing.
func structureBreaks(closes, high, low []float64) []Signal {
	var signals []Signal
	// 1 after a break upwards, -1 after one downwards, 0 before the first.
	trend := 0
	var brokenHigh, brokenLow float64 = nan, nan // swings that were broken already
	for i, c := range closes {
		// The first break has no trend to turn and counts as a break of structure.
		switch {
		case kernel.Compare(c, high[i]) > 0 && high[i] != brokenHigh:
			label := shape.BOSUp
			if trend < 0 {
				label = shape.ChochUp
			}
			signals = append(signals, shape.Mark(i, high[i], label, Up))
			trend, brokenHigh = 1, high[i]
		case kernel.Compare(c, low[i]) < 0 && low[i] != brokenLow:
			label := shape.BOSDown
			if trend > 0 {
				label = shape.ChochDown
			}
			signals = append(signals, shape.Mark(i, low[i], label, Down))
			trend, brokenLow = -1, low[i]
		}
	}
	return signals
}
