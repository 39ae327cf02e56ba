package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to John F. Ehlers, "The CG Oscillator", Technical Analysis of Stocks &
// Commodities, May 2002.
var indCenterOfGravity = Indicator{
	Name: "center_of_gravity", Title: "COG", Aliases: []string{"cg", "cog", "centre_of_gravity"}, Category: Cycle,
	Doc:     "Centre of gravity of Ehlers: the balance point of the prices in the window, counted in bars from the newest and negative, so that it rises when newer prices weigh more. As TradingView's ta.cog. The trigger is the line one bar before.",
	Formula: "COG = -Σ (i + 1) * x[i] / Σ x[i], i = 0 … n-1",
	Params:  []Param{length(10), source()},
	Signals: []string{shape.CrossUp, shape.CrossDown},
	Warmup:  crossingWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		line := gravity(column(s, a), a.Int("length"))
		// A line crosses itself of one bar ago where it turns.
		before := kernel.Shift(line, 1)
		return &Result{
			Lines:   []Line{{Label: "COG", Tone: Primary, Values: line}, {Label: "Trigger", Tone: Second, Values: before}},
			Signals: shape.LineCrossings(nil, line, before, shape.CrossUp, shape.CrossDown),
		}
	},
}

// gravity returns the negative balance point. Weights that rise to the newest
// bar are wma's; counted from the newest they are n+1 less those.
func gravity(x []float64, n int) []float64 {
	heavy, mean := kernel.WMA(x, n), kernel.SMA(x, n)
	out := kernel.NaNs(len(x))
	for i := range out {
		if mean[i] != 0 {
			// Σ k*x / Σ x is WMA/SMA * (n+1)/2, k being 1 for the oldest.
			out[i] = float64((heavy[i]/mean[i])*float64(n+1)/2) - float64(n+1)
		}
	}
	return out
}
