package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Source: the public script "AlphaTrend" by KivancOzbilgic on TradingView.
var indAlphaTrend = Indicator{
	Name: "alphatrend", Title: "AlphaTrend", Aliases: []string{"alpha_trend"}, Category: Trend, Overlay: true,
	Doc:     "AlphaTrend: a stop below the lows while money flows in (MFI at least 50), above the highs while it flows out, that only moves towards the price; and itself two bars ago, whose crosses are the signals. After KivancOzbilgic's script.",
	Formula: "up = low - mult * SMA(TR, n); down = high + mult * SMA(TR, n); line = max(line[1], up) if MFI(n) >= 50, else min(line[1], down)",
	Params: []Param{
		length(14), factor("mult", 1, 0.1, 20, "ranges between price and line", "coeff", "multiplier"), choice("momentum", "what decides the side", "mfi", "rsi"),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown},
	// The RSI's memory, and 300 bars for the price to have moved the line.
	Warmup: func(a Args) int { return 300 + kernel.WilderMemory*a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		push := kernel.MFI(s, n)
		if a.Choice("momentum") == "rsi" {
			push = kernel.RSI(s.Close, n)
		}
		line := alphaTrend(s, push, kernel.Scaled(kernel.SMA(kernel.TrueRangePine(s), n), a.Float("mult")))
		// The script compares the line with itself two bars before, and so does the
		// fill.
		before := kernel.Shift(line, 2)
		return &Result{
			Lines:   []Line{{Label: "AlphaTrend", Tone: Primary, Values: line}, {Label: "Two bars ago", Tone: Second, Values: before}},
			Fills:   []Fill{{Y1: line, Y2: before, Tone: Up, Below: Down}},
			Signals: shape.Crossings(nil, line, before, shape.CrossUp, shape.CrossDown),
		}
	},
}

// alphaTrend returns the line: a stop at a distance of reach on the side that push
// decides.
func alphaTrend(s *market.Series, push, reach []float64) []float64 {
	// The line begins where both the momentum and the range are known.
	first := max(kernel.FirstValid(push), kernel.FirstValid(reach))
	out := kernel.Unknown(len(push), first)
	for i := first; i < len(out); i++ {
		below, above := s.Low[i]-reach[i], s.High[i]+reach[i]
		rising := kernel.Compare(push[i], 50) >= 0
		switch {
		// The line starts at the stop of its side and from then on may only move
		// towards the price: up while money flows in, down while it flows out.
		case i == first && rising:
			out[i] = below
		case i == first:
			out[i] = above
		case rising:
			out[i] = max(out[i-1], below)
		default:
			out[i] = min(out[i-1], above)
		}
	}
	return out
}
