package chart

import (
	"fmt"
	"image"

	"wick/indicators"
)

// drawnPrices returns the prices that the chart's type draws. A line shows only closes.
func (p *picture) drawnPrices() ohlc {
	s := p.s
	switch p.kind {
	case LineType, Area:
		return ohlc{s.Close, s.Close, s.Close, s.Close}
	case HeikinAshi:
		return p.heikinAshi()
	}
	return ohlc{s.Open, s.High, s.Low, s.Close}
}

// heikinAshi averages the bars: close is the mean of a bar's four prices, open
// the mean of the averaged open and close before, for the first bar View.AveragedOpen.
func (p *picture) heikinAshi() ohlc {
	n, s := p.n, p.s
	a := ohlc{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	// before is the last bar that can be drawn, so that a broken bar does not end the
	// averages.
	before := -1
	for i := range n {
		if !p.valid[i] {
			continue
		}
		a.close[i] = (s.Open[i] + s.High[i] + s.Low[i] + s.Close[i]) / 4
		first := p.view.AveragedOpen
		switch {
		case before >= 0:
			a.open[i] = (a.open[before] + a.close[before]) / 2
		case i == 0 && first != nil && usable(*first):
			a.open[i] = *first
		default:
			a.open[i] = (s.Open[i] + s.Close[i]) / 2
		}
		a.high[i] = max(s.High[i], a.open[i], a.close[i])
		a.low[i] = min(s.Low[i], a.open[i], a.close[i])
		before = i
	}
	return a
}

// drawPrice adds the bars according to the chart's type.
func (p *picture) drawPrice(pn *pane) {
	switch p.kind {
	case LineType, Area:
		p.drawClose(pn)
	case Bars:
		p.drawBars()
	default:
		p.drawCandles()
	}
}

// drawCandles adds wicks and bodies as whole pixels. The body of a bar that
// is not closed is striped.
func (p *picture) drawCandles() {
	for i := range p.candles {
		c := &p.candles[i]
		body := p.bodyRect(c)
		p.rect(image.Rect(c.x, c.high, c.x+p.wick, c.bodyTop), c.ink)
		p.rect(image.Rect(c.x, c.bodyBottom, c.x+p.wick, c.low), c.ink)
		// A body too small to have an inside is filled in every style.
		room := body.Dy() > 2*p.wick && p.body >= 3*p.wick
		// The colour-blind theme tells up from down by the filling too, unless the
		// type already uses it or bodies are narrow: its colours tell them apart as well.
		hollow := p.kind == Hollow && !c.filled || p.theme == Colorblind && p.kind != Hollow && c.ink == inkUp && p.body >= 5*p.thin
		switch {
		case c.forming && room:
			p.rect(body, inkBack)
			for y := body.Min.Y; y < body.Max.Y; y += 2 * p.thin {
				p.rect(image.Rect(body.Min.X, y, body.Max.X, min(y+p.thin, body.Max.Y)), c.ink)
			}
			p.frame(body, p.thin, c.ink)
		case hollow && room:
			p.rect(body, inkBack)
			p.frame(body, p.wick, c.ink)
		default:
			p.rect(body, c.ink)
		}
	}
}

// drawBars adds bars: an upright line from high to low, open to its left and
// close to its right.
func (p *picture) drawBars() {
	for i := range p.candles {
		c := &p.candles[i]
		body := p.bodyRect(c)
		half := p.wick / 2
		p.rect(image.Rect(c.x, c.high, c.x+p.wick, max(c.low, c.high+p.wick)), c.ink)
		p.rect(image.Rect(body.Min.X, c.first-half, c.x, c.first-half+p.wick), c.ink)
		p.rect(image.Rect(c.x+p.wick, c.last-half, body.Max.X, c.last-half+p.wick), c.ink)
	}
}

// drawClose adds the closes as a line, and for an area shades what lies below
// it. The way to a bar that is not closed is dashed.
func (p *picture) drawClose(pn *pane) {
	values := p.s.Close[:p.n]
	if p.kind == Area {
		// The area ends at the volume strip; floor is the value of that row.
		floor := make(indicators.Values, p.n)
		for i := range floor {
			floor[i] = pn.scale.value(float64(pn.floor))
		}
		p.drawFill(pn, indicators.Fill{Y1: values, Y2: floor}, inkProfile, inkProfile, false)
	}
	// The stretch to the last bar is left to the dashes below.
	closed := values
	if p.s.Forming && p.n > 1 {
		closed = values[:p.n-1]
		a := point{p.barX(p.n - 2), pn.scale.y(values[p.n-2])}
		b := point{p.barX(p.n - 1), pn.scale.y(values[p.n-1])}
		if p.valid[p.n-1] && p.valid[p.n-2] {
			p.add(shape{kind: strokeShape, pts: []point{a, b}, width: p.line, on: 3 * p.u, off: 3 * p.u, ink: inkProfile})
		}
	}
	p.drawRuns(pn, closed, p.line, inkProfile, false)
}

// checkScale returns an error if the prices do not allow the scale: log and percent need
// prices above zero that are not extremely large or small.
func (p *picture) checkScale() error {
	if p.mode == Linear {
		return nil
	}
	s := noSpan
	for i := range p.n {
		if p.valid[i] {
			s.addAll([]float64{p.s.Open[i], p.s.High[i], p.s.Low[i], p.s.Close[i]})
		}
	}
	if !(s.lo > 0) || s.hi/s.lo > 1e9 {
		return fmt.Errorf("%w: scale %s needs prices above zero that differ by less than a factor of 1e9; use linear", ErrOption, Scales()[p.mode])
	}
	return nil
}
