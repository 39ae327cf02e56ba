package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to J. Welles Wilder, "New Concepts in Technical Trading Systems", 1978.
var indSAR = Indicator{
	Name: "sar", Title: "SAR", Aliases: []string{"psar", "parabolic_sar", "parabolic"}, Category: Trend, Overlay: true,
	Doc:     "Wilder's parabolic stop and reverse: a trailing stop that closes in faster the further the trend runs, and changes sides when hit. As in TA-Lib, which begins on the second bar.",
	Formula: "SAR = SAR[1] + f*(extreme - SAR[1]); f grows by increment with every new extreme, to maximum",
	Params: []Param{
		factor("start", 0.02, 0, 10, "first factor", "acceleration", "af_start", "af"),
		factor("increment", 0.02, 0, 10, "what a new extreme adds to the factor", "step", "af_step", "af_increment"),
		factor("maximum", 0.2, 0, 10, "largest factor", "max", "af_max", "max_step"),
	},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Endless: func(a Args) string { return sarStill(a, "") },
	Warmup:  func(a Args) int { return sarWarmup(a.Float("start"), a.Float("maximum")) },
	Compute: func(s *market.Series, a Args) *Result {
		f := kernel.Acceleration{Start: a.Float("start"), Step: a.Float("increment"), Most: a.Float("maximum")}
		return sarResult(kernel.Parabolic(s, f, f, 0, 0))
	},
}

// sarTurns is how often a parabolic stop has turned when it no longer depends on where
// it began: each turn starts it at the extreme of the trend before.
const sarTurns = 4

// sarWarmup allows for these turns. A stop whose factors are smaller than Wilder's comes
// closer more slowly.
func sarWarmup(start, maximum float64) int {
	return int(min(MaxWarmup, 300*max(1, 0.02/start, 0.2/maximum)))
}

// sarStill is the Endless of a stop, for the factors whose names end in suffix. A stop that
// never comes closer turns only where the price leaves the whole range since the first bar.
func sarStill(a Args, suffix string) (set string) {
	switch {
	case a.Float("maximum"+suffix) == 0:
		return "maximum" + suffix + " to more than 0"
	case a.Float("start"+suffix) == 0 && a.Float("increment"+suffix) == 0:
		return "increment" + suffix + " to more than 0"
	}
	return ""
}

// sarResult returns a stop drawn as dots, with signals where it changes sides.
func sarResult(stop []float64, up []bool) *Result {
	return &Result{Lines: []Line{{Label: "SAR", Style: Dots, Values: stop}}, Signals: shape.Flips(stop, up), Settles: turned(up, 1, sarTurns)}
}
