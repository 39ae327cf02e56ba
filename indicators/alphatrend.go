package indicators

import (
	"math"

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
	Meanings: map[string]string{
		shape.CrossUp:   "the line is above itself two bars ago, which it was not on the bar before",
		shape.CrossDown: "the line is below itself two bars ago, which it was not on the bar before",
	},
	// The price must cover the distance to the line on both sides to have moved it.
	Warmup: func(a Args) int { return stopWarmup(2*a.Float("mult"), wilderWarmup(a)) },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		push := kernel.MFI(s, n)
		if a.Choice("momentum") == "rsi" {
			push = kernel.RSI(s.Close, n)
		}
		line, settles := alphaTrend(s, push, kernel.Scaled(kernel.SMA(kernel.TrueRangePine(s), n), a.Float("mult")))
		// The script compares the line with itself two bars before, and so does the
		// fill.
		before := kernel.Shift(line, 2)
		return &Result{
			Lines:   []Line{{Label: "AlphaTrend", Tone: Primary, Values: line}, {Label: "Two bars ago", Tone: Second, Values: before}},
			Fills:   []Fill{{Y1: line, Y2: before, Tone: Up, Below: Down}},
			Signals: alphaTrendCrosses(line, before),
			Settles: settles + 2, // the second line is two bars late
		}
	},
}

// alphaTrend returns the line: a stop at a distance of reach on the side that push
// decides, and the bar on which it has forgotten where it began.
func alphaTrend(s *market.Series, push, reach []float64) (out []float64, settles int) {
	// The line begins where both the momentum and the range are known.
	first := max(kernel.FirstValid(push), kernel.FirstValid(reach))
	out, settles = kernel.Unknown(len(push), first), len(push)
	possible := anywhere()
	for i := first; i < len(out); i++ {
		below, above := s.Low[i]-reach[i], s.High[i]+reach[i]
		rising := kernel.Compare(push[i], 50) >= 0
		if rising {
			possible = possible.clamp(below, math.Inf(1))
		} else {
			possible = possible.clamp(math.Inf(-1), above)
		}
		if possible.met() {
			settles = min(settles, i)
		}
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
	return out, settles
}

// alphaTrendCrosses marks the bars on which the line comes to lie above or below itself
// two bars ago. [shape.Crossings] would take the bar on which the two meet for the
// crossing: they do whenever the line stands still, which says nothing of where it
// goes next.
func alphaTrendCrosses(line, before []float64) []Signal {
	var signals []Signal
	// The first bar that has both lines on the bar before as well.
	for i := kernel.FirstValid(before) + 1; i < len(line); i++ {
		was := kernel.Compare(line[i-1], before[i-1])
		switch now := kernel.Compare(line[i], before[i]); {
		case now > 0 && was <= 0:
			signals = append(signals, shape.Mark(i, line[i], shape.CrossUp, Up))
		case now < 0 && was >= 0:
			signals = append(signals, shape.Mark(i, line[i], shape.CrossDown, Down))
		}
	}
	return signals
}
