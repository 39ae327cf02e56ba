package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

// profile is how much was traded, or how long price stayed, at each level of a range
// of prices: bins of equal height between the lowest low and the highest high. A bar
// spreads its weight over the bins its range covers, in proportion to the overlap.
// The point of control and the value area are set by fill.
type profile struct {
	low, step float64   // lower edge of the first bin, height of a bin
	weights   []float64 // lowest bin first
	rising    []float64 // the part of weights from bars that closed no lower than they opened
	total     float64

	poc      int // point of control: the heaviest bin, the lowest of equals
	val, vah int // first and last bin of the value area
}

// byVolume and byTime are the weights of a volume profile and of a time
// profile.
func byVolume(s *market.Series, i int) float64 { return s.Volume[i] }
func byTime(*market.Series, int) float64       { return 1 }

// fill makes p the profile of s, whose value area holds the given share of the
// weight. It reports false, and p is nothing, when the prices have no range or the
// bars no weight. The memory of p is used again. Callers that make many profiles
// reuse one.
func (p *profile) fill(s *market.Series, bins int, share float64, weight func(*market.Series, int) float64) bool {
	*p = profile{weights: resize(p.weights, bins), rising: resize(p.rising, bins)}
	if s.Len() == 0 {
		return false
	}
	p.low = s.Low[0]
	high := s.High[0]
	for i := range s.Low {
		p.low, high = min(p.low, s.Low[i]), max(high, s.High[i])
	}
	// Bins of equal height from the lowest low to the highest high.
	p.step = (high - p.low) / float64(bins)
	if p.step <= 0 {
		return false
	}
	for i := range s.Low {
		p.add(s, i, weight(s, i))
	}
	for k, w := range p.weights {
		p.total += w
		if w > p.weights[p.poc]*(1+edgeWidth) { // of equals the lowest
			p.poc = k
		}
	}
	if p.total <= 0 {
		return false
	}
	// The value area is found last: it needs the point of control and the total.
	p.widen(share)
	return true
}

// add spreads weight over the bins of bar i.
func (p *profile) add(s *market.Series, i int, weight float64) {
	low, high := s.Low[i], s.High[i]
	first, last := p.bin(low), p.bin(high)
	for k := first; k <= last; k++ {
		// A bar within one bin gives it everything, also one without range. Else each
		// bin gets the part of the bar's range that lies in it.
		part := weight
		if first < last {
			bottom, top := p.edge(k), p.edge(k+1)
			if k == first {
				bottom = low
			}
			if k == last {
				top = high
			}
			part = weight * (top - bottom) / (high - low)
		}
		p.weights[k] += part
		if s.Close[i] >= s.Open[i] {
			p.rising[k] += part
		}
	}
}

// widen grows the value area from the point of control, always by the heavier
// neighbour and by the lower of equals, until it holds the given share.
func (p *profile) widen(share float64) {
	p.val, p.vah = p.poc, p.poc
	for sum := p.weights[p.poc]; sum < share*p.total*(1-edgeWidth) && p.vah-p.val+1 < len(p.weights); {
		below, above := -1.0, -1.0 // a missing neighbour loses to an empty one
		if p.val > 0 {
			below = p.weights[p.val-1]
		}
		if p.vah < len(p.weights)-1 {
			above = p.weights[p.vah+1]
		}
		// Weights that are equal but for rounding count as equal, and then the lower
		// bin is taken.
		if above > below*(1+edgeWidth) {
			p.vah++
			sum += above
		} else {
			p.val--
			sum += below
		}
	}
}

// edgeWidth is the part of a bin's height within which a price counts as lying on
// its lower edge: prices on a grid of ticks often do, but for rounding. Weights that
// differ by no more than that part count as equal, because they are made of such
// distances.
const edgeWidth = 1e-9

// bin returns the bin that holds price. The highest price lies on the upper edge of
// the last bin and belongs to it.
func (p *profile) bin(price float64) int {
	return min(len(p.weights)-1, int((price-p.low)/p.step+edgeWidth))
}

// edge returns the lower edge of bin k.
func (p *profile) edge(k int) float64 { return p.low + float64(float64(k)*p.step) }

// centre returns the price in the middle of bin k.
func (p *profile) centre(k int) float64 { return p.low + float64((float64(k)+0.5)*p.step) }

// levels returns the prices of the point of control and of the upper and lower
// edge of the value area.
func (p *profile) levels() (poc, vah, val float64) {
	return p.centre(p.poc), p.edge(p.vah + 1), p.edge(p.val)
}

// resize returns n zeros, in the memory of x if it has room.
func resize(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	x = x[:n]
	clear(x)
	return x
}

// hbarWidth is the share of the chart's width that the heaviest bin takes.
const hbarWidth = 0.30

// hbars draws p, anchored left or right: one bar per bin, or two that adjoin,
// the rising part first, when split.
func (p *profile) hbars(left, split bool) []HBar {
	var out []HBar
	// unit turns a weight into a share of the chart's width.
	unit := hbarWidth / p.weights[p.poc]
	for k, w := range p.weights {
		bar := HBar{Y: p.centre(k), Height: p.step, Width: w * unit, Left: left, Tone: Muted, Strong: k >= p.val && k <= p.vah}
		switch {
		case w == 0:
			continue
		case split:
			// The rising part comes first; the falling part begins where it ends.
			up := bar
			up.Width, up.Tone = p.rising[k]*unit, Up
			bar.Width, bar.Offset, bar.Tone = max(0, bar.Width-up.Width), up.Width, Down
			out = append(out, up)
		case k == p.poc:
			bar.Tone = Accent
		}
		out = append(out, bar)
	}
	return out
}

// result draws p with its three levels, and marks the newest bar of s if it comes
// to one of them.
func (p *profile) result(s *market.Series, left, split bool) *Result {
	poc, vah, val := p.levels()
	levels := []HLine{{Y: poc, Label: "POC", Tone: Accent}, {Y: vah, Label: "VAH", Tone: Muted}, {Y: val, Label: "VAL", Tone: Muted}}
	return &Result{HBars: p.hbars(left, split), HLines: levels, Signals: shape.LastTouches(s.High, s.Low, levels)}
}

// Parameters of profiles.

// bins returns the parameter "bins".
func bins(def float64) Param {
	return Param{Name: "bins", Aliases: []string{"rows", "bin_count", "num_bins"}, Doc: "levels the range of prices is cut into",
		Kind: Int, Default: def, Min: 2, Max: 500}
}

// valueArea returns the parameter "value_area".
func valueArea() Param {
	return quiet(factor("value_area", 70, 1, 100, "percent of the weight that the value area holds", "value_area_pct"))
}

// rangeBars returns the parameter "range_bars".
func rangeBars() Param {
	return Param{Name: "range_bars", Aliases: []string{"lookback"}, Doc: "newest bars to use; 0 takes all on display",
		Kind: Int, Min: 0, Max: market.MaxLimit, Quiet: true}
}

// side returns the parameter "side", the given one by default.
func side(def float64) Param {
	p := choice("side", "edge of the chart the bars grow from", "left", "right")
	p.Default, p.Quiet = def, true
	return p
}

const ( // for side
	onLeft  = 0
	onRight = 1
)

// recent returns the bars that "range_bars" asks for.
func recent(s *market.Series, a Args) *market.Series {
	if n := a.Int("range_bars"); n > 0 {
		return s.Tail(n)
	}
	return s
}

// newestTouch is what a touch means where the levels describe the bars as a whole: see
// [shape.LastTouches].
var newestTouch = map[string]string{shape.LevelTouch: "the newest bar reaches a level that the bar before did not"}
