package indicators

import (
	"slices"

	"wick/market"
)

var indCVD = Indicator{
	Name: "cvd", Title: "CVD", Aliases: []string{"cumulative_volume_delta", "cumulative_delta"}, Category: Volume,
	Doc: "Cumulative volume delta, estimated from the bars: what was bought less what was sold, summed from the first bar, taking the buyers' share of a bar's volume to be where it closed in its range. " +
		"So it is the accumulation/distribution line by another name; a true delta needs the trades themselves.",
	Formula: "CVD = CVD[1] + volume * ((close - low) - (high - close)) / (high - low); a bar without range adds nothing",
	Params:  divParams(),
	Signals: slices.Concat([]string{ZeroUp, ZeroDown}, divSignals),
	Warmup:  noWarmup, // a running total has no level of its own; it starts with the chart
	Compute: func(s *market.Series, a Args) *Result {
		line := make([]float64, s.Len())
		var sum float64
		for i := range line {
			sum += barDelta(s, i)
			line[i] = sum
		}
		r := &Result{
			Lines:   []Line{{Label: "CVD", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: 0}},
			Signals: levelCrossings(nil, line, 0, ZeroUp, ZeroDown),
		}
		addDivergences(r, s, line, a)
		return r
	},
}

// barDelta estimates the volume bought less the volume sold in bar i.
func barDelta(s *market.Series, i int) float64 {
	span := s.High[i] - s.Low[i]
	if span <= 0 {
		return 0
	}
	return s.Volume[i] * ((s.Close[i] - s.Low[i]) - (s.High[i] - s.Close[i])) / span
}
