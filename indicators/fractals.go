package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Bill Williams, "Trading Chaos", 1995. Of equal neighbours his rule
// says nothing; here a fractal must exceed them.
var indFractals = Indicator{
	Name: "fractals", Title: "Fractals", Aliases: []string{"fractal", "williams_fractals", "williams_fractal"}, Category: Pattern, Overlay: true,
	Doc:     "Williams' fractals: a high above, or a low below, all its neighbours. A fractal is known only when its later neighbours have closed; the dot and the signal stand on that bar, side bars after the extreme, at the price of the extreme.",
	Formula: "up: high[side] > every high of the side bars before and after it; down mirrored",
	Params:  []Param{bars("side", 2, "neighbours on each side", "length", "period", "n", "left", "right")},
	Signals: []string{shape.PivotHigh, shape.PivotLow},
	Warmup:  func(a Args) int { return 2*a.Int("side") + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("side")
		r := &Result{}
		// add draws the fractals of one side. A high has the tone Down: there the price
		// turned down.
		add := func(bars []int, price []float64, line Line, label string, tone Tone) {
			line.Style, line.Values = Dots, kernel.NaNs(s.Len())
			for _, bar := range bars {
				line.Values[bar+n] = price[bar]
				r.Signals = append(r.Signals, shape.Mark(bar+n, price[bar], label, tone))
			}
			r.Lines = append(r.Lines, line)
		}
		add(shape.Peaks(s.High, n, n), s.High, Line{Label: "Up", Tone: Down}, shape.PivotHigh, Down)
		add(shape.Troughs(s.Low, n, n), s.Low, Line{Label: "Down", Tone: Up}, shape.PivotLow, Up)
		shape.InOrder(r.Signals)
		return r
	},
}
