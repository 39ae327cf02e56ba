package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Bill Williams, "Trading Chaos", 1995, as for the gator.
var indAlligator = Indicator{
	Name: "alligator", Title: "Alligator", Aliases: []string{"williams_alligator"}, Category: Trend, Overlay: true,
	Doc:     "Williams' alligator: three smoothed averages of the median price, moved forward. Entwined lines sleep; lines in order, lips above teeth above jaw, eat in a rising market, and the reverse in a falling one. Each line is moved forward, so a bar shows what older bars computed.",
	Formula: "jaw = RMA(hl2, 13)[8], teeth = RMA(hl2, 8)[5], lips = RMA(hl2, 5)[3]",
	Params:  alligatorParams(),
	Signals: []string{shape.StackUp, shape.StackDown, shape.CrossUp, shape.CrossDown},
	Warmup:  alligatorWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		jaw, teeth, lips := alligator(s, a)
		// The fastest first: the order that Stacks looks for.
		lines := []Line{
			{Label: "Lips", Tone: Up, Values: lips}, {Label: "Teeth", Tone: Down, Values: teeth}, {Label: "Jaw", Tone: Primary, Values: jaw},
		}
		signals := append(shape.Stacks(lines), shape.Crossings(nil, lips, teeth, shape.CrossUp, shape.CrossDown)...)
		return &Result{Lines: lines, Signals: shape.InOrder(signals)}
	},
}

// alligatorParams returns the length of each of the three lines and how far it is moved
// forward, which may be 0.
func alligatorParams() []Param {
	shift := func(name string, def float64) Param {
		return atLeast(0, bars(name, def, "bars the line is moved forward"))
	}
	return []Param{
		bars("jaw", 13, "slow average", "jaw_length"), shift("jaw_shift", 8),
		bars("teeth", 8, "middle average", "teeth_length"), shift("teeth_shift", 5),
		bars("lips", 5, "fast average", "lips_length"), shift("lips_shift", 3),
	}
}

// alligatorWarmup returns the history of the line that needs the most, its shift
// included.
func alligatorWarmup(a Args) int {
	n := 0
	for _, line := range []string{"jaw", "teeth", "lips"} {
		n = max(n, kernel.WilderMemory*a.Int(line)+a.Int(line+"_shift"))
	}
	return n
}

// alligator returns the three lines as they stand on each bar: values of as many bars
// ago as the line is moved forward.
func alligator(s *market.Series, a Args) (jaw, teeth, lips []float64) {
	x := kernel.MedianPrice(s)
	// Smoothed first, then moved: a shift to the right shows older values and never
	// later ones.
	line := func(name string) []float64 { return kernel.Shift(kernel.RMA(x, a.Int(name)), a.Int(name+"_shift")) }
	return line("jaw"), line("teeth"), line("lips")
}

// gatorSignals marks the bars on which the mouth falls asleep, both bars
// narrowing, and those on which it opens again, both widening.
func gatorSignals(upper, lower []float64) []Signal {
	var signals []Signal
	// known is false until both sides have moved together once: a mouth that was never
	// seen open does not fall asleep.
	asleep, known := false, false
	for i := 1; i < len(upper); i++ {
		// The lower bars are drawn downwards and are negative, so they widen as they
		// fall.
		wider, narrower := upper[i] > upper[i-1] && lower[i] < lower[i-1], upper[i] < upper[i-1] && lower[i] > lower[i-1]
		switch {
		case wider && known && asleep:
			signals = append(signals, shape.Mark(i, upper[i], shape.SqueezeOff, Up))
		case narrower && known && !asleep:
			signals = append(signals, shape.Mark(i, upper[i], shape.SqueezeOn, Down))
		}
		// A bar on which one side widens and the other narrows changes nothing.
		if (wider || narrower) && !math.IsNaN(lower[i-1]) {
			asleep, known = narrower, true
		}
	}
	return signals
}
