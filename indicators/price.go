package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// priceEntries are means of the prices of a bar, and candles made of them.
var priceEntries = []Indicator{
	{Name: "avgprice", Title: "OHLC4", Also: "ohlc4 average_price", Category: Price, Form: ofBar, Label: "Average price",
		Doc:     "Average price of the bar. As in TA-Lib.",
		Formula: "(open + high + low + close) / 4",
		Line:    func(in Input) []float64 { return kernel.AveragePrice(in.Series) }},
	{Name: "medprice", Title: "HL2", Also: "hl2 median_price", Category: Price, Form: ofBar, Label: "Median price",
		Doc:     "Median price of the bar: the middle of its range. As in TA-Lib.",
		Formula: "(high + low) / 2",
		Line:    func(in Input) []float64 { return kernel.MedianPrice(in.Series) }},
	{Name: "typprice", Title: "HLC3", Also: "hlc3 typical_price", Category: Price, Form: ofBar, Label: "Typical price",
		Doc:     "Typical price of the bar. As in TA-Lib.",
		Formula: "(high + low + close) / 3",
		Line:    func(in Input) []float64 { return kernel.TypicalPrice(in.Series) }},
	{Name: "wclprice", Title: "HLCC4", Also: "hlcc4 wcp weighted_close", Category: Price, Form: ofBar, Label: "Weighted close",
		Doc:     "Weighted close: a typical price in which the close counts twice. As in TA-Lib.",
		Formula: "(high + low + 2*close) / 4",
		Line:    func(in Input) []float64 { return kernel.WeightedClose(in.Series) }},
	{Name: "heikin_ashi", Title: "HA", Also: "ha heikinashi heiken_ashi", Category: Price, Traits: Overlay,
		Doc:     "Heikin Ashi: candles of averaged prices, in which a trend keeps one colour. The open is the middle of the averaged candle before; the first open is the middle of the first body. The prices are not traded prices.",
		Formula: "close = (o + h + l + c) / 4; open = (open[1] + close[1]) / 2; high = max(h, open, close); low = min(l, open, close)",
		Memory:  fixed(HeikinAshiWarmup),
		Plots:   []Plot{second("Open"), {Label: "High", Tone: Muted, Style: Dashed}, {Label: "Low", Tone: Muted, Style: Dashed}, mainly("Close"), unseen("Side")}, Shades: candleShade, Events: []Event{flips("Close")},
		Calc: func(in Input) Columns {
			o, h, l, c := heikinAshi(in.Series)
			return Columns{o, h, l, c, bodySides(o, c, func(a, b float64) float64 { return a - b })}
		}},
	{Name: "smoothed_heikin_ashi", Title: "Smoothed HA", Also: "smoothed_ha sha", Category: Price, Traits: Overlay,
		Doc:     "Smoothed Heikin Ashi: Heikin Ashi candles of exponentially averaged prices, averaged once more. A change of colour is a flip.",
		Formula: "EMA(m) of the Heikin Ashi candles of EMA(open, n), EMA(high, n), EMA(low, n), EMA(close, n)",
		Params:  []Param{length(10), bars("smooth", 10, "second average", "length2", "after")},
		Memory:  after(fixed(HeikinAshiWarmup), ema("length"), ema("smooth")),
		Plots:   []Plot{second("Open"), mainly("Close"), unseen("Side")}, Shades: candleShade, Events: []Event{flips("Close")},
		Calc: func(in Input) Columns {
			// Heikin Ashi takes no NaN, so the averaged bars begin with the first whole average.
			n, first := in.Int("length"), min(in.Int("length")-1, in.Len())
			t := &market.Series{Time: in.Time[first:], Volume: in.Volume[first:]}
			for _, c := range []struct {
				to   *[]float64
				from []float64
			}{{&t.Open, in.Open}, {&t.High, in.High}, {&t.Low, in.Low}, {&t.Close, in.Close}} {
				*c.to = kernel.EMA(c.from, n)[first:]
			}
			o, _, _, c := heikinAshi(t)
			// late averages a column once more and puts the bars in front that were cut off.
			late := func(x []float64) []float64 { return append(kernel.NaNs(first), kernel.EMA(x, in.Int("smooth"))...) }
			o, c = late(o), late(c)
			return Columns{o, c, bodySides(o, c, kernel.Difference)}
		}},
}

// candleShade fills the body of averaged candles.
var candleShade = []Shade{{A: "Close", B: "Open", Tone: Up, Below: Down}}

// bodySides returns 1 where a body rises, and -1 elsewhere. One without height counts as rising.
func bodySides(open, shut []float64, difference func(a, b float64) float64) []float64 {
	out := make([]float64, len(shut))
	for i := range shut {
		if out[i] = -1; difference(shut[i], open[i]) >= 0 {
			out[i] = 1
		}
	}
	return out
}

// ofBar completes the record of a price that is made of the four of a bar, with the
// signals of the close crossing it. These crossings are silent: a close crosses the middle
// of its own bar every few bars.
func ofBar(ind *Indicator, label string) {
	crossed(ind, label)
	ind.Events = []Event{silently(price(label))}
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
