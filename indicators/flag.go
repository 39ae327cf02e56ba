package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule, for rises; falls mirrored. A pole is a rise of at least height mean
// true ranges from the lowest low of the pole bars before a high to that high.
// The flag is what follows: at least flag bars, at most four times as many, none
// above the pole and none that gives back more than half of it. A close above the
// highest high of the last flag bars completes it.
var indFlag = Indicator{
	Name: "flag", Title: "Flag", Aliases: []string{"flags", "bull_flag", "bear_flag"}, Also: []string{"pennant"}, Category: Pattern, Overlay: true,
	Doc:     "Flags: a steep move, the pole, and a short rest after it that gives back at most half. The lines are the edge that a close must pass and the furthest that the rest has come back; the signal fires on that close. Nothing repaints.",
	Formula: "pole: high - lowest low of the pole bars before >= height * R at that high; flag: flag to 4 * flag bars within the upper half of the pole; R: mean true range of the 14 bars before the pole",
	Params: []Param{
		{Name: "pole", Aliases: []string{"pole_bars"}, Doc: "most bars of the pole", Kind: Int, Default: 8, Min: 1, Max: 100},
		{Name: "flag", Aliases: []string{"flag_bars"}, Doc: "least bars of the flag", Kind: Int, Default: 5, Min: 2, Max: 100},
		quiet(factor("height", 4, 0.5, 50, "least height of the pole, in mean true ranges")),
	},
	Signals: []string{shape.FlagUp, shape.FlagDown},
	Warmup:  func(a Args) int { return a.Int("pole") + 4*a.Int("flag") + usualRange + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		return bothSides(s, func(s *market.Series, side int) *Result {
			names := [2][2]string{{"Bull flag top", "Bull flag bottom"}, {"Bear flag bottom", "Bear flag top"}}[side]
			return flags(s, a, names, [2]string{shape.FlagUp, shape.FlagDown}[side], [2]Tone{Up, Down}[side])
		})
	},
}

// flags follows the flag after the newest pole. One flag at a time: a new pole takes
// the place of the flag under way.
func flags(s *market.Series, a Args, names [2]string, label string, tone Tone) *Result {
	least, most := a.Int("flag"), 4*a.Int("flag")
	edge, floor := kernel.NaNs(s.Len()), kernel.NaNs(s.Len())
	poles := poleHeights(s, a)
	r := &Result{}
	top := -1 // bar of the pole's high, -1 if there is no pole
	for i := range s.Len() {
		if !isNaN(poles[i]) {
			top = i // the newest pole counts
			continue
		}
		if top < 0 {
			continue
		}
		// The furthest that the rest has come back since the pole, and the highest high
		// of the last bars before this one, which this close must pass.
		lowest, upper := s.Low[top+1], s.High[i-1]
		for k := top + 1; k <= i; k++ {
			lowest = min(lowest, s.Low[k])
		}
		for k := max(top+1, i-least); k < i; k++ {
			upper = max(upper, s.High[k])
		}
		// Before that the flag is too short to be drawn or to break out.
		if i-top > least {
			edge[i], floor[i] = upper, lowest
		}
		done := i-top > least && kernel.Compare(s.Close[i], upper) > 0
		if done {
			r.Signals = append(r.Signals, shape.Mark(i, upper, label, tone))
		}
		// It also ends when it is too long, passes the pole's high, or gives back more
		// than half of the pole.
		if done || i-top >= most || kernel.Compare(s.High[i], s.High[top]) > 0 || kernel.Compare(s.High[top]-lowest, poles[top]/2) > 0 {
			top = -1
		}
	}
	r.Lines = []Line{{Label: names[0], Tone: Accent, Style: Step, Values: edge}, {Label: names[1], Tone: tone, Style: Step, Values: floor}}
	r.Fills = []Fill{{Y1: edge, Y2: floor, Tone: Band}}
	return r
}

// poleHeights returns the height of the pole that ends at each bar, NaN where
// none does: a high above those of the pole bars before it.
func poleHeights(s *market.Series, a Args) []float64 {
	out, usual, n := kernel.NaNs(s.Len()), trueRangeMean(s), a.Int("pole")
	for i := n + 1; i < s.Len(); i++ {
		// The pole may begin at any of the n bars before. Its height is measured by the
		// ranges before all of them, which the pole itself has not widened.
		height, above := 0.0, true
		for k := i - n; k < i; k++ {
			height = max(height, s.High[i]-s.Low[k])
			above = above && s.High[k] <= s.High[i]
		}
		if above && usual[i-n-1] > 0 && kernel.Compare(height, a.Float("height")*usual[i-n-1]) >= 0 {
			out[i] = height
		}
	}
	return out
}
