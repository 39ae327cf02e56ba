package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Etienne Botes and Douglas Siepman, "The Vortex Indicator", Technical
// Analysis of Stocks & Commodities, January 2010.
var indVortex = Indicator{
	Name: "vortex", Title: "Vortex", Aliases: []string{"vi", "vortex_indicator"}, Category: Trend,
	Doc:      "Vortex of Botes and Siepman: how far highs climb from the low before, and lows fall from the high before, each in parts of the true range. The upper line leads the trend.",
	Formula:  "VI+ = Σ|high - low[1]| / ΣTR, VI- = Σ|low - high[1]| / ΣTR over n bars",
	Params:   []Param{length(14)},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("VI+", "VI-"),
	Warmup:   crossingWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		ups, downs := kernel.NaNs(s.Len()), kernel.NaNs(s.Len())
		// Upward movement reaches from the low before to the high, downward movement
		// from the high before to the low. Both are set in proportion to the true
		// range.
		for i := 1; i < len(ups); i++ {
			ups[i], downs[i] = math.Abs(s.High[i]-s.Low[i-1]), math.Abs(s.Low[i]-s.High[i-1])
		}
		// Windows without range have no value.
		span := kernel.RollingSum(kernel.TrueRange(s), n)
		plus, less := kernel.Quotient(kernel.RollingSum(ups, n), span), kernel.Quotient(kernel.RollingSum(downs, n), span)
		return &Result{
			Lines:   []Line{{Label: "VI+", Tone: Up, Values: plus}, {Label: "VI-", Tone: Down, Values: less}},
			HLines:  []HLine{{Y: 1}},
			Signals: shape.LineCrossings(nil, plus, less, shape.CrossUp, shape.CrossDown),
		}
	},
}
