package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule, for tops; bottoms mirrored. Three swing highs in succession are head
// and shoulders in the making if the middle one, the head, lies at least depth
// mean true ranges above both others, and these differ by at most tolerance of
// them. The neckline runs through the lowest lows before and after the head. A
// close below it completes the pattern; a close above the head, or lookback bars,
// end it.
var indHeadShoulders = Indicator{
	Name: "head_shoulders", Title: "Head & shoulders", Aliases: []string{"head_and_shoulders", "inverse_head_shoulders"}, Category: Pattern, Overlay: true,
	Doc:     "Head and shoulders, and the inverse: three swings of which the middle one stands out and the outer ones are nearly equal. The lines are the head and the neckline of the newest one in the making; the signal fires when a close goes through the neckline. Nothing repaints.",
	Formula: "head - shoulder >= depth * R for both, |shoulder2 - shoulder1| <= tolerance * R; R: mean true range of 14 bars; complete: close < neckline",
	Params:  append(swingParams(5, 150), tolerance(1.5), depth(1)),
	Signals: []string{shape.HeadShoulders, shape.InverseHeadShoulders},
	Warmup:  structureWarmup(2),
	Compute: func(s *market.Series, a Args) *Result {
		return bothSides(s, func(s *market.Series, side int) *Result {
			names := [2][2]string{{"Head", "Neckline"}, {"Inverse head", "Inverse neckline"}}[side]
			return formations(s, a, headShoulders, names, [2]string{shape.HeadShoulders, shape.InverseHeadShoulders}[side], [2]Tone{Down, Up}[side])
		})
	},
}

// headShoulders returns the pattern that the last of highs completes.
func headShoulders(s *market.Series, highs []swing, a Args, reach float64) (f formation, ok bool) {
	if len(highs) < 3 {
		return f, false
	}
	// Three swing highs in succession; the two valleys between them give the neckline.
	left, head, right := highs[len(highs)-3], highs[len(highs)-2], highs[len(highs)-1]
	least := a.Float("depth") * reach
	ok = right.bar-left.bar <= a.Int("lookback") && nearEqual(left.price, right.price, a.Float("tolerance")*reach) &&
		kernel.Compare(head.price-left.price, least) >= 0 && kernel.Compare(head.price-right.price, least) >= 0
	return formation{since: right.bar, limit: head.price, from: lowestBetween(s, left.bar, head.bar), to: lowestBetween(s, head.bar, right.bar)}, ok
}
