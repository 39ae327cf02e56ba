package chart

import (
	"math"
)

// placeBars settles the columns of bars and the rows of candles.
func (p *picture) placeBars() {
	p.x0, p.pitch = p.columns(p.axisX, p.n+p.ahead)
	p.body, p.wick = p.bodies(p.pitch)
	// One candle per bar, or where bars lie closer than the thinnest stroke one
	// per column, which stands for all its bars.
	p.candles = make([]candle, 0, min(p.n, p.w))
	for i := 0; i < p.n; {
		col := p.column(i)
		j := i + 1
		// Bars i to j, j excluded, share the column.
		for j < p.n && p.dense() && p.column(j) == col {
			j++
		}
		if c, ok := p.candle(i, j); ok {
			c.x = col - p.wick/2
			p.candles = append(p.candles, c)
		}
		i = j
	}
}

// candle joins bars i to j, j excluded: the first open, the last close, the
// outermost high and low, all volume. ok is false when none can be drawn.
func (p *picture) candle(i, j int) (c candle, ok bool) {
	var open, closed float64
	reach := noSpan
	for k := i; k < j; k++ {
		// Several bars may share a column: their candle has the open of the first and
		// the close of the last that can be drawn.
		if !p.valid[k] {
			continue
		}
		if !ok {
			open = p.drawn.open[k]
		}
		ok = true
		closed = p.drawn.close[k]
		reach.add(p.drawn.high[k])
		reach.add(p.drawn.low[k])
		reach.add(p.drawn.open[k])
		reach.add(p.drawn.close[k])
		if v := p.s.Volume[k]; v > 0 && usable(v) {
			c.volume += v
		}
	}
	if !ok {
		return c, false
	}
	// Rows are rounded once, here, so that body and wick meet without a gap
	// however the chart is scaled.
	sc := p.panes[0].scale
	// A hollow candle takes its colour from the close before and its filling from its
	// own body.
	c.up, c.filled = closed >= open, closed < open
	if p.kind == Hollow && i > 0 && p.valid[i-1] {
		c.up = closed >= p.drawn.close[i-1]
	}
	c.forming = p.s.Forming && j == p.n
	c.rising = p.s.Close[j-1] >= p.s.Open[i]
	c.first, c.last = sc.row(open), sc.row(closed)
	c.bodyTop, c.bodyBottom = sc.row(max(open, closed)), sc.row(min(open, closed))
	if thick := p.thin; c.bodyBottom-c.bodyTop < thick { // a doji is a line
		c.bodyTop -= (thick - (c.bodyBottom - c.bodyTop)) / 2
		c.bodyBottom = c.bodyTop + thick
	}
	c.high = min(sc.row(reach.hi), c.bodyTop)
	c.low = max(sc.row(reach.lo), c.bodyBottom)
	return c, true
}

// paintVolume draws the strip below the candles, scaled to its largest.
func (p *picture) paintVolume(cv *canvas) {
	pn := &p.panes[0]
	largest := 0.0
	for i := range p.candles {
		largest = max(largest, p.candles[i].volume)
	}
	// A positive volume is at least one pixel high, so that none looks like none.
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
		cv.rect(body, colour)
	}
}
