package indicators

import (
	"math"

	"wick/market"
)

var indHMA = Indicator{
	Name: "hma", Title: "HMA", Aliases: []string{"hull", "hull_ma", "hull_moving_average"}, Category: Trend, Overlay: true,
	Doc:     "Hull moving average: a weighted average that takes back its own lag, smooth and quick. Half length and square root are rounded down, as at TradingView.",
	Formula: "HMA = WMA(2 * WMA(x, n/2) - WMA(x, n), √n)",
	Params:  []Param{length(9), source()},
	Signals: []string{TurnUp, TurnDown},
	Warmup:  func(a Args) int { n := a.Int("length"); return n + hullRoot(n) + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		line := hull(column(s, a), a.Int("length"))
		return &Result{
			Lines:   []Line{{Label: "HMA", Values: line}},
			Signals: turns(nil, line),
		}
	},
}

// hull returns Hull's average of x.
func hull(x []float64, n int) []float64 {
	fast, slow := wma(x, max(1, n/2)), wma(x, n)
	raw := make([]float64, len(x))
	for i := range raw {
		raw[i] = float64(2*fast[i]) - slow[i]
	}
	return wma(raw, hullRoot(n))
}

func hullRoot(n int) int { return int(math.Sqrt(float64(n))) }

// turns appends a signal wherever the line x changes direction. A level
// stretch keeps the direction it was entered with.
func turns(dst []Signal, x []float64) []Signal {
	rising, known := false, false
	for i := 1; i < len(x); i++ {
		up, down := x[i] > x[i-1], x[i] < x[i-1]
		switch {
		case up && known && !rising:
			dst = append(dst, Signal{i, x[i], TurnUp, Up})
		case down && known && rising:
			dst = append(dst, Signal{i, x[i], TurnDown, Down})
		}
		if up || down {
			rising, known = up, true
		}
	}
	return dst
}
