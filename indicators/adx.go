package indicators

import (
	"cmp"
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Wilder's directional movement: of two bars, which one reaches further out on
// which side, smoothed and set in proportion to the true range.

// Attributed to J. Welles Wilder, "New Concepts in Technical Trading Systems", 1978.
var indADX = Indicator{
	Name: "adx", Title: "ADX", Aliases: []string{"dmi", "average_directional_index", "directional_movement"}, Category: Trend,
	Doc: "Wilder's average directional index, the strength of the trend, with +DI and -DI, its direction. As in TA-Lib, which seeds the sums of movement with n-1 bars; " +
		"the variant pine seeds averages with n, as TradingView. After about 200 bars the two agree.",
	Formula: "±DI = 100 * ±DM(n) / TR(n); DX = 100 * |+DI - -DI| / (+DI + -DI); ADX = Wilder average of DX",
	Params: []Param{
		lengthFrom(2, 14), choice("variant", "whose seeds", "talib", "pine"),
		quiet(factorInt("smoothing", 0, 0, MaxLength, "bars of the average of DX, 0 for the length", "adx_smoothing", "adxsmoothing")),
		quiet(factor("threshold", 25, 0, 100, "ADX from which a crossing counts", "level", "trend")),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown},
	Meanings: map[string]string{
		shape.CrossUp:   "+DI meets or crosses -DI from below while the ADX is not below its threshold",
		shape.CrossDown: "+DI meets or crosses -DI from above while the ADX is not below its threshold",
	},
	// The ADX smooths what was smoothed already, so its start is forgotten later than
	// that of one Wilder average.
	Warmup: func(a Args) int { return 32 * max(a.Int("length"), a.Int("smoothing")) },
	Compute: func(s *market.Series, a Args) *Result {
		plus, minus, adx := kernel.Directional(s, a.Int("length"), cmp.Or(a.Int("smoothing"), a.Int("length")), a.Choice("variant"))
		level := a.Float("threshold")
		// Both lines are percentages of the true range, so the crossings are those of
		// lines and not of prices.
		signals := shape.LineCrossings(nil, plus, minus, shape.CrossUp, shape.CrossDown)
		// Crossings of +DI and -DI count in a market that trends; a NaN, before the ADX
		// begins, is no trend.
		strong := slices.DeleteFunc(signals, func(sig Signal) bool { return !(adx[sig.Bar] >= level) })
		return &Result{
			Lines: []Line{
				{Label: "ADX", Tone: Primary, Values: adx},
				{Label: "+DI", Tone: Up, Values: plus}, {Label: "-DI", Tone: Down, Values: minus},
			},
			HLines:  []HLine{{Y: level}, {Y: 20}},
			Signals: strong,
		}
	},
}

// trendPanel completes the record of one line for the strength of a trend, 0 to 100. It
// marks where the line passes 25, from which a market counts as trending. The two lines at
// 25 and 20 are the levels that Wilder's readers use.
func trendPanel(ind Indicator, label string, line func(s *market.Series, n int) []float64) Indicator {
	ind.Category, ind.Params = Trend, []Param{lengthFrom(2, 14)}
	ind.Signals = []string{shape.ModeTrend, shape.ModeCycle}
	ind.Compute = func(s *market.Series, a Args) *Result {
		r := shape.LevelPanel(label, line(s, a.Int("length")), 25, shape.ModeTrend, shape.ModeCycle)
		r.HLines = []HLine{{Y: 25}, {Y: 20}}
		return r
	}
	return ind
}
