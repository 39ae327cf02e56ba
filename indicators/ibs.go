package indicators

import "wick/market"

var indIBS = Indicator{
	Name: "ibs", Title: "IBS", Aliases: []string{"internal_bar_strength"}, Category: Momentum,
	Doc:     "Internal bar strength: where the close lies in the range of its bar, 0 at the low, 1 at the high. A bar without range has none.",
	Formula: "IBS = (close - low) / (high - low)",
	Params:  []Param{factor("oversold", 0.2, 0, 1, "lower level", "lower"), factor("overbought", 0.8, 0, 1, "upper level", "upper")},
	Signals: []string{Oversold, Overbought},
	Warmup:  func(Args) int { return 1 },
	Compute: func(s *market.Series, a Args) *Result {
		line := nans(s.Len())
		for i := range line {
			if span := s.High[i] - s.Low[i]; span > 0 {
				line[i] = (s.Close[i] - s.Low[i]) / span
			}
		}
		lo, hi := a.Float("oversold"), a.Float("overbought")
		return &Result{
			YRange:  &[2]float64{0, 1},
			Lines:   []Line{{Label: "IBS", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: hi}, {Y: lo}},
			Signals: inOrder(zoneExits(nil, line, lo, hi, Oversold, Overbought)),
		}
	},
}
