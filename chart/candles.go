package chart

import "math"

// placeBars computes the columns of bars and the rows of candles.
func (p *picture) placeBars() {
	p.x0, p.pitch = p.columns(p.axisX, p.n+p.ahead)
	p.body, p.wick = p.bodies(p.pitch)
	// There is one candle per bar. If bars are closer than the thinnest stroke, there is one
	// per column, for all bars of the column.
	p.candles = make([]candle, 0, min(p.n, p.w))
	for i := 0; i < p.n; {
		col := p.column(i)
		j := i + 1
		// Bars i to j, j excluded, share the column.
		for j < p.n && p.dense() && p.column(j) == col {
			j++
		}
		if b, ok := p.join(i, j); ok {
			c := p.candle(b, i, j)
			c.x = col - p.wick/2
			p.candles = append(p.candles, c)
		}
		i = j
	}
}

// joined holds the prices of one candle, which may stand for several bars.
type joined struct {
	open, close float64 // of the first and the last bar that can be drawn
	reach       span    // from the lowest to the highest price
	volume      float64
}

// join joins bars i to j, j excluded: the first open, the last close, the
// outermost high and low, all volume. ok is false when none can be drawn.
func (p *picture) join(i, j int) (b joined, ok bool) {
	b.reach = noSpan
	for k := i; k < j; k++ {
		if !p.valid[k] {
			continue
		}
		if !ok {
			b.open = p.drawn.open[k]
		}
		ok = true
		b.close = p.drawn.close[k]
		b.reach.add(p.drawn.high[k])
		b.reach.add(p.drawn.low[k])
		b.reach.add(p.drawn.open[k])
		b.reach.add(p.drawn.close[k])
		if v := p.s.Volume[k]; positive(v) {
			b.volume += v
		}
	}
	return b, ok
}

// candle returns the candle of b, which stands for bars i to j, j excluded. Its column is
// not set yet.
func (p *picture) candle(b joined, i, j int) (c candle) {
	// Rows are rounded once, here, so that body and wick meet without a gap
	// however the chart is scaled.
	sc := p.panes[0].scale
	// A hollow candle takes its colour from the close before and its filling from its
	// own body.
	c.ink, c.filled = changeInk(b.open, b.close), b.close < b.open
	if p.kind == Hollow && i > 0 && p.valid[i-1] {
		c.ink = changeInk(p.drawn.close[i-1], b.close)
	}
	c.volume = b.volume
	c.forming = p.s.Forming && j == p.n
	c.rising = p.s.Close[j-1] >= p.s.Open[i]
	c.first, c.last = sc.row(b.open), sc.row(b.close)
	c.bodyTop, c.bodyBottom = min(c.first, c.last), max(c.first, c.last)
	if thick := p.thin; c.bodyBottom-c.bodyTop < thick { // a doji is a line
		c.bodyTop -= (thick - (c.bodyBottom - c.bodyTop)) / 2
		c.bodyBottom = c.bodyTop + thick
	}
	c.high = min(sc.row(b.reach.hi), c.bodyTop)
	c.low = max(sc.row(b.reach.lo), c.bodyBottom)
	return c
}

// drawVolume adds the strip below the candles, scaled to its largest.
func (p *picture) drawVolume() {
	pn := &p.panes[0]
	largest := 0.0
	for i := range p.candles {
		largest = max(largest, p.candles[i].volume)
	}
	// A volume above zero is at least one pixel high, so that it can be seen.
	height := float64(pn.frame.Max.Y - pn.floor)
	for i := range p.candles {
		c := &p.candles[i]
		if !(c.volume > 0) || height <= 0 {
			continue
		}
		colour := inkDownVolume
		if c.rising {
			colour = inkUpVolume
		}
		body := p.bodyRect(c)
		body.Max.Y = pn.frame.Max.Y
		body.Min.Y = body.Max.Y - max(1, int(math.Round(c.volume/largest*height)))
		p.rect(body, colour)
	}
}
