package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// What the studies of structure share. Each rule is written once, for highs, and applied
// to lows by turning the bars upside down. None looks ahead: a swing counts from the bar
// that confirms it. Nothing older than the parameter "lookback" counts, so that a chart
// shows the same wherever its history begins.

// swing is a high above its neighbours, known some bars later.
type swing struct {
	bar, known int
	price      float64
}

// swingHighs returns the swing highs of s in order. They are in the order of their
// bars, in which they also become known.
func swingHighs(s *market.Series, left, right int) []swing {
	var out []swing
	for _, bar := range shape.Peaks(s.High, left, right) {
		out = append(out, swing{bar, bar + right, s.High[bar]})
	}
	return out
}

// upsideDown returns s with prices negated: its highs are the lows of s. A negated
// price is exact, so turning back gives the prices of s to the last bit.
func upsideDown(s *market.Series) *market.Series {
	return &market.Series{
		Symbol: s.Symbol, Interval: s.Interval, Time: s.Time, Volume: s.Volume,
		Open: kernel.Scaled(s.Open, -1), High: kernel.Scaled(s.Low, -1), Low: kernel.Scaled(s.High, -1), Close: kernel.Scaled(s.Close, -1),
	}
}

// turn is a swing of either kind.
type turn struct {
	swing
	high bool
}

// allTurns returns the swing highs and lows of s in the order of their bars.
func allTurns(s *market.Series, left, right int) []turn {
	var out []turn
	for _, w := range swingHighs(s, left, right) {
		out = append(out, turn{w, true})
	}
	for _, w := range swingHighs(upsideDown(s), left, right) {
		w.price = -w.price
		out = append(out, turn{w, false})
	}
	slices.SortStableFunc(out, func(a, b turn) int { return a.bar - b.bar })
	return out
}

// bothSides computes a study of highs on s, then on s upside down, and returns
// the lines and signals of both in the prices of s. The function is told which
// of the two labels and tones to use by the index of the side, 0 for highs.
func bothSides(s *market.Series, study func(s *market.Series, side int) *Result) *Result {
	// Lines, fills and signals of the second side are turned back; no study of structure
	// has levels or histograms.
	r, below := study(s, 0), study(upsideDown(s), 1)
	for _, l := range below.Lines {
		l.Values = kernel.Scaled(l.Values, -1)
		r.Lines = append(r.Lines, l)
	}
	for _, f := range below.Fills {
		f.Y1, f.Y2 = kernel.Scaled(f.Y1, -1), kernel.Scaled(f.Y2, -1)
		r.Fills = append(r.Fills, f)
	}
	for _, sig := range below.Signals {
		sig.Y = -sig.Y
		r.Signals = append(r.Signals, sig)
	}
	shape.InOrder(r.Signals)
	return r
}

// swingParams returns the widths of a swing and how long things are remembered.
func swingParams(width, lookback float64) []Param {
	return []Param{
		bars("left", width, "bars before a swing that it must exceed", "length", "left_bars", "swing_length"),
		bars("right", width, "bars after a swing that it must exceed; then it is known", "right_bars"),
		quiet(bars("lookback", lookback, "bars after which a swing or zone is forgotten", "max_age")),
	}
}

// tolerance returns the parameter that says how near two prices are the same.
func tolerance(def float64) Param {
	return quiet(factor("tolerance", def, 0, 10, "how far apart counts as equal, in average true ranges", "threshold"))
}

// structureWarmup returns a warm-up for chains of things in which each may be as old as
// lookback, and for the swing at the beginning. An order block depends on a swing, a breaker
// on a block, and so on; chain is the number of links.
func structureWarmup(chain int) func(Args) int {
	return func(a Args) int { return chain*(a.Int("lookback")+a.Int("left")+a.Int("right")) + usualRange + 1 }
}

// usualRange is how many bars make the usual true range of a bar, by which the
// rules measure what is near and what is far.
const usualRange = 14

// trueRangeMean returns the plain mean of the last true ranges. Wilder's average always
// depends on where it began, and a threshold must not.
func trueRangeMean(s *market.Series) []float64 { return kernel.SMA(kernel.TrueRange(s), usualRange) }

// priceZone is a range of prices that counts from the bar known on. Order blocks,
// supply and demand, and fair value gaps are zones.
type priceZone struct {
	low, high  float64
	bar, known int // the bar it comes from, and the bar from which it counts
	touched    bool
}

// zoneEdges collects the edges of the newest zone at each bar.
type zoneEdges struct{ low, high []float64 }

func newZoneEdges(n int) zoneEdges { return zoneEdges{kernel.NaNs(n), kernel.NaNs(n)} }

// show sets the edges at bar i to those of the newest of zones, if there is one.
func (e zoneEdges) show(i int, zones []priceZone) {
	if n := len(zones); n > 0 {
		e.low[i], e.high[i] = zones[n-1].low, zones[n-1].high
	}
}

// result draws the edges as a filled zone. Name begins the labels of the two
// lines; upside down the edges change places.
func (e zoneEdges) result(name string, tone Tone, side int) *Result {
	lower, upper := " low", " high"
	if side == 1 {
		lower, upper = upper, lower
	}
	return &Result{
		Lines: []Line{
			{Label: name + lower, Tone: tone, Style: Step, Values: e.low},
			{Label: name + upper, Tone: tone, Style: Step, Values: e.high},
		},
		Fills: []Fill{{Y1: e.high, Y2: e.low, Tone: tone}},
	}
}

// lineThrough returns the price at bar i of the straight line through two swings. It
// is taken from the later swing on, near which it is mostly asked for.
func lineThrough(a, b swing, i int) float64 {
	return b.price + float64((b.price-a.price)*(float64(i-b.bar)/float64(b.bar-a.bar)))
}

// apart removes the value of bar i from lines that begin another straight line there, so
// that the chart does not connect the old line with the new one. Only the values of that
// bar are lost; signals are found before.
func apart(i int, lines ...[]float64) {
	for _, l := range lines {
		l[i] = nan
	}
}

// isNaN is math.IsNaN, for files that need nothing else of package math.
func isNaN(v float64) bool { return v != v }
