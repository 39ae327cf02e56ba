package chart

import (
	"image"
	"math"
	"slices"

	"wick/indicators"
	"wick/market"
)

// drawnPrices returns the prices that the chart's type draws. A line shows only closes.
// Averaged bars close at the mean of a bar's four prices and open at the mean of the averaged
// open and close before, the first at View.AveragedOpen.
func (p *picture) drawnPrices() ohlc {
	n, s := p.n, p.s
	switch p.Type {
	case LineType, Area:
		return ohlc{s.Close, s.Close, s.Close, s.Close}
	case HeikinAshi:
	default:
		return ohlc{s.Open, s.High, s.Low, s.Close}
	}
	a := ohlc{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	first := p.view.AveragedOpen
	for i := range n {
		a.close[i] = (s.Open[i] + s.High[i] + s.Low[i] + s.Close[i]) / 4
		switch {
		case i > 0:
			a.open[i] = (a.open[i-1] + a.close[i-1]) / 2
		case first != nil && usable(*first):
			a.open[i] = *first
		default:
			a.open[i] = (s.Open[i] + s.Close[i]) / 2
		}
		a.high[i] = max(s.High[i], a.open[i], a.close[i])
		a.low[i] = min(s.Low[i], a.open[i], a.close[i])
	}
	return a
}

// placeBars computes the columns of bars and the rows of candles: one per bar or, if bars are
// closer than the thinnest stroke, one per column for all its bars.
func (p *picture) placeBars() {
	p.x0, p.pitch = p.columns(p.axisX, p.n+p.ahead)
	p.body, p.wick = p.bodies(p.pitch)
	p.candles = make([]candle, 0, min(p.n, p.w))
	for i, j := range p.drawnAsOne(0, p.n) {
		p.candles = append(p.candles, p.candle(i, j))
	}
}

// candle returns the candle of bars i to j, j excluded: the first open, the last close, the
// outermost high and low, all volume. Rows are rounded once, here, so that body and wick meet
// without a gap however the chart is scaled.
func (p *picture) candle(i, j int) candle {
	sc, first, last, reach := p.panes[0].scale, p.drawn.open[i], p.drawn.close[j-1], noSpan
	c := candle{x: p.column(i) - p.wick/2, ink: changeInk(first, last), filled: last < first,
		forming: p.s.Forming && j == p.n, rising: p.s.Close[j-1] >= p.s.Open[i], first: sc.row(first), last: sc.row(last)}
	for k := i; k < j; k++ {
		reach.add(p.drawn.high[k])
		reach.add(p.drawn.low[k])
		c.volume += p.s.Volume[k]
	}
	// A hollow candle takes its colour from the close before and its filling from its
	// own body.
	if p.Type == Hollow && i > 0 {
		c.ink = changeInk(p.drawn.close[i-1], last)
	}
	c.bodyTop, c.bodyBottom = min(c.first, c.last), max(c.first, c.last)
	if c.bodyBottom-c.bodyTop < p.thin { // a doji is a line
		c.bodyTop -= (p.thin - (c.bodyBottom - c.bodyTop)) / 2
		c.bodyBottom = c.bodyTop + p.thin
	}
	c.high = min(sc.row(reach.hi), c.bodyTop)
	c.low = max(sc.row(reach.lo), c.bodyBottom)
	return c
}

func (p *picture) drawVolume() {
	pn, largest := p.panes[0], 0.0
	for _, c := range p.candles {
		largest = max(largest, c.volume)
	}
	height := float64(pn.frame.Max.Y - pn.floor)
	for _, c := range p.candles {
		if !(c.volume > 0) || height <= 0 {
			continue
		}
		colour := inkDownVolume
		if c.rising {
			colour = inkUpVolume
		}
		body := p.bodyRect(c)
		body.Max.Y = pn.frame.Max.Y
		body.Min.Y = body.Max.Y - max(1, int(math.Round(c.volume/largest*height))) // at least one pixel, so that it can be seen
		p.rect(body, colour)
	}
}

// drawPrice adds the bars as the chart's type draws them. The body of one that is not closed is
// striped.
func (p *picture) drawPrice(pn *pane) {
	switch p.Type {
	case LineType, Area:
		p.drawClose(pn)
	case Bars: // an upright line from high to low, open to its left and close to its right
		for _, c := range p.candles {
			body, half := p.bodyRect(c), p.wick/2
			p.rect(image.Rect(c.x, c.high, c.x+p.wick, max(c.low, c.high+p.wick)), c.ink)
			p.rect(image.Rect(body.Min.X, c.first-half, c.x, c.first-half+p.wick), c.ink)
			p.rect(image.Rect(c.x+p.wick, c.last-half, body.Max.X, c.last-half+p.wick), c.ink)
		}
	default: // wicks and bodies as whole pixels
		for _, c := range p.candles {
			body := p.bodyRect(c)
			p.rect(image.Rect(c.x, c.high, c.x+p.wick, c.bodyTop), c.ink)
			p.rect(image.Rect(c.x, c.bodyBottom, c.x+p.wick, c.low), c.ink)
			// A body too small to have an inside is filled in every style.
			room := body.Dy() > 2*p.wick && p.body >= 3*p.wick
			// The colour-blind theme tells up from down by the filling too, unless the
			// type already uses it or bodies are narrow: its colours tell them apart as well.
			hollow := p.Type == Hollow && !c.filled || p.Theme == Colorblind && p.Type != Hollow && c.ink == inkUp && p.body >= 5*p.thin
			switch {
			case c.forming && room:
				p.rect(body, c.ink)
				p.rect(body.Inset(p.thin), inkBack)
				p.stripes(body, p.thin, 2*p.thin, c.ink)
			case hollow && room:
				p.rect(body, c.ink)
				p.rect(body.Inset(p.wick), inkBack)
			default:
				p.rect(body, c.ink)
			}
		}
	}
}

// drawClose adds the closes as a line, and for an area shades what lies below
// it, down to the volume strip. The way to a bar that is not closed is dashed.
func (p *picture) drawClose(pn *pane) {
	values := p.s.Close[:p.n]
	if p.Type == Area {
		floor := make(indicators.Values, p.n)
		for i := range floor {
			floor[i] = pn.scale.value(float64(pn.floor))
		}
		p.drawFill(pn, indicators.Fill{Y1: values, Y2: floor}, inkProfile, inkProfile, false)
	}
	closed := values
	if n := p.n; p.s.Forming && n > 1 {
		closed = values[:n-1]
		way := []point{{p.barX(n - 2), pn.scale.y(values[n-2])}, {p.barX(n - 1), pn.scale.y(values[n-1])}}
		p.stroke(way, p.line, 3*p.u, 3*p.u, inkProfile)
	}
	p.drawRuns(pn, closed, p.line, inkProfile, false)
}

// compareStudy returns the compared symbols as lines over the price: each follows its
// symbol's closes, scaled so that its first close lies at the first close of the price. On the
// percent axis that the picture then has, all begin at 0, and a line stands at its symbol's own
// change.
func (p *picture) compareStudy() *indicators.Result {
	r := &indicators.Result{Overlay: true, Label: "Compare"}
	for _, s := range p.view.Compare {
		_, values := aligned(p.s, s)
		first := math.NaN()
		// Before the symbol's first price the line is missing, since dividing by NaN
		// gives NaN.
		for i, v := range values {
			if !usable(first) && positive(v) {
				first = v
			}
			values[i] = v / first * p.base
			if values[i] > 1e6*p.base {
				values[i] = math.NaN() // it would flatten all other lines
			}
		}
		r.Lines = append(r.Lines, indicators.Line{Label: printable(s.Symbol, 20), Values: values})
	}
	return r
}

// aligned returns the price of other at the beginning and at the end of each bar of s.
// For a bar of s it takes the newest bar of other that began no later: its open and close,
// or twice its close if it had ended when the bar of s began. If that bar is too old, the
// prices are NaN: a symbol that is no longer traded must not go on as a flat line.
func aligned(s, other *market.Series) (opens, closes indicators.Values) {
	const longest = 4 * day // a long weekend
	opens, closes = make(indicators.Values, s.Len()), make(indicators.Values, s.Len())
	n := min(len(other.Time), len(other.Open), len(other.Close))
	// j is the newest bar of other that began no later than t; it only grows.
	j := -1
	for i, t := range s.Time {
		for j+1 < n && other.Time[j+1] <= t {
			j++
		}
		opens[i], closes[i] = math.NaN(), math.NaN()
		if j >= 0 && t-other.Time[j] <= max(longest, 10*s.Interval.Seconds()) {
			opens[i], closes[i] = other.Open[j], other.Close[j]
			if other.DueAt(j) <= t {
				opens[i] = closes[i]
			}
		}
	}
	return opens, closes
}

// compareSummary writes the member "compare": the last close of each compared symbol and
// its change since its first open, which is how the change of the chart's own symbol is
// computed. Where that is later than the first bar of the chart, it writes on which bar.
// Without compared symbols it writes nothing.
func (w *writer) compareSummary(v *View) {
	list(w, "compare", v.Compare, func(_ int, s **market.Series) {
		opens, closes := aligned(v.Series, *s)
		first, change := slices.IndexFunc(opens, positive), math.NaN() // it may have no price
		if first >= 0 {
			change = changePercent(opens[first], last(closes))
		}
		w.origin(*s)
		w.put("last_close", price(last(closes)), "change_pct", change)
		if first > 0 {
			w.put("change_pct_since", stamp(v.Series.Time[first]))
		}
	})
}

func (w *writer) origin(s *market.Series) {
	w.put("symbol", s.Symbol, "source", s.Source, "synthetic", s.Synthetic, "currency?", s.Currency)
}
