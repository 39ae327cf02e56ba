package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Dan Valcu, "Using the Heikin-Ashi Technique", Technical Analysis of
// Stocks & Commodities, February 2004.
var indHeikinAshi = Indicator{
	Name: "heikin_ashi", Title: "HA", Aliases: []string{"ha", "heikinashi", "heiken_ashi"}, Category: Price, Overlay: true,
	Doc:     "Heikin Ashi: candles of averaged prices, in which a trend keeps one colour. The open is the middle of the averaged candle before; the first open is the middle of the first body. The prices are not traded prices.",
	Formula: "close = (o + h + l + c) / 4; open = (open[1] + close[1]) / 2; high = max(h, open, close); low = min(l, open, close)",
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Warmup:  func(Args) int { return HeikinAshiWarmup },
	Compute: func(s *market.Series, _ Args) *Result {
		o, h, l, c := heikinAshi(s)
		rising := make([]bool, len(c))
		for i := range c {
			// A candle without a body counts as rising.
			rising[i] = c[i] >= o[i]
		}
		return &Result{
			Lines: []Line{
				{Label: "Open", Tone: Second, Values: o}, {Label: "High", Tone: Muted, Style: Dashed, Values: h},
				{Label: "Low", Tone: Muted, Style: Dashed, Values: l}, {Label: "Close", Tone: Primary, Values: c},
			},
			Fills:   []Fill{{Y1: c, Y2: o, Tone: Up, Below: Down}},
			Signals: shape.Flips(c, rising),
		}
	},
}

// HeikinAshiWarmup is how many bars before the first one shown the averaged candles begin:
// their open forgets half of the past every bar.
const HeikinAshiWarmup = 40

// HeikinAshiOpen returns where the averaged candle of the first of the newest bars of s
// opens, which is all that the candles from there on need to know of what came before. It
// is the value of the indicator heikin_ashi. It panics if s is empty or bars below 1.
func HeikinAshiOpen(s *market.Series, bars int) float64 {
	first := max(0, s.Len()-bars)
	open, _, _, _ := heikinAshi(s.Slice(max(0, first-HeikinAshiWarmup), first+1))
	return open[len(open)-1]
}

// heikinAshi returns the averaged candles. The first one opens in the middle of its
// bar's body; every later one in the middle of the averaged body before, so a candle
// remembers all bars since the first.
func heikinAshi(s *market.Series) (o, h, l, c []float64) {
	c = kernel.AveragePrice(s)
	o, h, l = make([]float64, len(c)), make([]float64, len(c)), make([]float64, len(c))
	for i := range c {
		if i == 0 {
			o[i] = (s.Open[0] + s.Close[0]) / 2
		} else {
			o[i] = (o[i-1] + c[i-1]) / 2
		}
		h[i], l[i] = max(s.High[i], o[i], c[i]), min(s.Low[i], o[i], c[i])
	}
	return o, h, l, c
}
