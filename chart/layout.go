package chart

import "math"

// Sizes and the division of the picture into rows and columns. Nothing in this file
// knows the data, only how many bars, panels and studies there are.

// metrics are the sizes that follow from the size of the picture alone.
//
// A vision model shrinks a large picture before it looks, so text and strokes
// grow with the picture: u is the factor that undoes that shrinking, times the
// pixels per logical pixel that the caller asked for. Lengths in this package
// are written for u = 1 and go through px, so that a large picture shrunk looks
// like a small one.
type metrics struct {
	w, h    int // in device pixels
	u       float64
	compact bool // too small for names of signals, wide gaps and the like

	axis, axisBold, legend, name, symbol, tag, mark *atlas

	headerH, timeH, rowH int
	line, edge           float64 // widths of lines and of band edges
	thin                 int     // width of the thinnest strokes: 1 at u = 1
}

// newMetrics returns the sizes of a picture of w by h logical pixels, with its fonts.
func newMetrics(w, h int, ratio float64) metrics {
	m := newSizes(w, h, ratio)
	font := func(f face, compact, full float64) *atlas { return fontAt(f, m.either(compact, full)) }
	m.axis, m.axisBold, m.legend = font(regular, 11, 13), font(bold, 11, 13), font(regular, 11, 14)
	m.name, m.symbol = font(medium, 11, 14), font(bold, 13, 17)
	m.tag, m.mark = font(medium, 11, 13), font(medium, 11, 12)
	return m
}

// newSizes is newMetrics without fonts, for which glyphs have to be drawn. The
// numbers are those of a common vision model: it keeps 1568 pixels on the long
// edge and 1.2 million in all.
func newSizes(w, h int, ratio float64) metrics {
	fw, fh := float64(w), float64(h)
	// kept is by how much the model scales the picture down; u enlarges text and
	// strokes by the inverse, so that they stay readable, within bounds.
	kept := min(1, 1568/max(fw, fh), math.Sqrt(1204000/(fw*fh)))
	m := metrics{w: int(math.Round(fw * ratio)), h: int(math.Round(fh * ratio)), compact: w < 560 || h < 360}
	m.u = ratio * min(max(1/kept, 1), min(4, max(1, min(fw, fh)/540)))
	m.thin = max(1, m.px(1))
	m.headerH, m.timeH, m.rowH = m.either(21, 29), m.either(18, 26), m.either(16, 20)
	m.line, m.edge = 2*m.u, 1.5*m.u
	if m.compact {
		m.line, m.edge = 1.5*m.u, 1.25*m.u
	}
	return m
}

// either returns the length for compact pictures or for others, in pixels.
func (m *metrics) either(compact, full float64) int {
	if m.compact {
		return m.px(compact)
	}
	return m.px(full)
}

// px scales a length to whole pixels.
func (m *metrics) px(v float64) int { return int(math.Round(v * m.u)) }

// tagH is the height of a tag: its text and some air.
func (m *metrics) tagH() int { return m.tag.size + m.px(6) }

// priceShares[n] is the part of the height that the price has with n panels; the last one
// is for all larger n.
var priceShares = []float64{1, 0.70, 0.58, 0.50, 0.44, 0.40, 0.36, 0.33}

// heights divides free rows among the price and up to n panels. It returns the height of
// the price, the height of each panel, and how many panels fit. Panels have a minimum
// height, and the price has at least a third of the rows and enough for its legend, labels
// and volume. Panels that do not fit are left out rather than squeezed.
func (m *metrics) heights(free, n int) (price, panel, fit int) {
	least, keep := m.either(36, 56), m.either(100, 120)
	// The price has at least a third, since a chart is read for its price.
	keep = max(keep, int(0.33*float64(free)))
	for fit = n; fit > 0; fit-- {
		share := priceShares[min(fit, len(priceShares)-1)]
		panel = max(least, int((1-share)*float64(free))/fit)
		if free-fit*panel >= keep {
			return free - fit*panel, panel, fit
		}
	}
	return free, 0, 0
}

// columns returns the left end of the first bar and the distance from bar to bar, pitch,
// in pixels. Bars are right-aligned at the axis, so that with few bars the empty room is on
// the left.
func (m *metrics) columns(right, n int) (x0, pitch float64) {
	left, pad := float64(m.either(3, 4)), float64(m.either(5, 10))
	if n == 0 {
		return left, 1
	}
	pitch = min((float64(right)-left-pad)/float64(n), 40*m.u)
	if pad < pitch/2 { // keep half a bar free before the axis
		pitch = min((float64(right)-left)/(float64(n)+0.5), 40*m.u)
		pad = pitch / 2
	}
	return float64(right) - pad - float64(n)*pitch, pitch
}

// bodies returns the widths of candle bodies and wicks for a pitch. Both are odd or both
// even, so that a wick is exactly in the middle. Neither is thinner than the thinnest
// stroke, since a large picture would look pale when it is shrunk. If bars are closer than
// two and a half strokes, candles are vertical lines.
func (m *metrics) bodies(pitch float64) (body, wick int) {
	body, wick = min(int(0.8*pitch), m.px(25)), m.thin
	switch per := pitch / float64(m.thin); {
	case per < 2.5:
		return m.thin, m.thin
	case per <= 4:
		body = min(3*m.thin, int(pitch+0.5)) // bodies may touch
	case m.u >= 1.25 && body >= 6:
		wick = min(int(math.Ceil(m.u)), body/3)
	}
	if (body-wick)%2 != 0 {
		body--
	}
	return body, wick
}
