package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
)

const (
	across, down = 440, 300 // of a panel
	left, top    = 64, 34   // of its plot
	plotW, plotH = 350, 180
	legend       = 15 // a line of it
)

var inks = []string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"}

// draw returns the page: a row of two panels for each axis, time and memory, both with logarithmic
// scales. The dotted line is what grows like n.
func draw(axes []*axis) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", 2*across, len(axes)*down)
	fmt.Fprintln(&b, `<rect width="100%" height="100%" fill="#fff"/>`)
	for row, a := range axes {
		for column, memory := range []bool{false, true} {
			var curves []*curve
			for _, c := range a.curves {
				if c.memory == memory {
					curves = append(curves, c)
				}
			}
			fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", column*across, row*down)
			title := "CPU time over " + a.name
			if memory {
				title = "memory over " + a.name
			}
			text(&b, left, top-14, "start", "#000", title)
			if len(curves) > 0 {
				panel(&b, curves)
			}
			fmt.Fprintln(&b, `</g>`)
		}
	}
	fmt.Fprintln(&b, `</svg>`)
	return b.Bytes()
}

func panel(b *bytes.Buffer, curves []*curve) {
	loX, hiX, loY, hiY := math.Inf(1), 0.0, math.Inf(1), 0.0
	for _, c := range curves {
		for i := range c.n {
			loX, hiX, loY, hiY = min(loX, c.n[i]), max(hiX, c.n[i]), min(loY, c.y[i]), max(hiY, c.y[i])
		}
	}
	x0, x1 := math.Log10(loX), math.Log10(hiX*1.01)
	y0, y1 := math.Floor(math.Log10(loY)), math.Ceil(math.Log10(hiY*1.01))
	x := func(n float64) float64 { return left + plotW*(math.Log10(n)-x0)/(x1-x0) }
	y := func(v float64) float64 { return top + plotH*(y1-math.Log10(v))/(y1-y0) }
	for e := y0; e <= y1; e++ {
		v := math.Pow(10, e)
		fmt.Fprintf(b, `<path d="M%d %.1fh%d" stroke="#ddd"/>`+"\n", left, y(v), plotW)
		text(b, left-6, y(v)+4, "end", "#555", curves[0].text(v))
	}
	for e := math.Ceil(x0); e <= x1; e++ {
		n := math.Pow(10, e)
		fmt.Fprintf(b, `<path d="M%.1f %dv%d" stroke="#ddd"/>`+"\n", x(n), top, plotH)
		text(b, x(n), top+plotH+14, "middle", "#555", fmt.Sprintf("%.0f", n))
	}
	// From the lower left corner, to the border that it meets first.
	end := min(x1-x0, y1-y0)
	fmt.Fprintf(b, `<path d="M%d %dL%.1f %.1f" stroke="#999" stroke-dasharray="1 4"/>`+"\n", left, top+plotH, left+plotW*end/(x1-x0), top+plotH*(1-end/(y1-y0)))
	for k, c := range curves {
		ink := inks[k%len(inks)]
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="`, ink)
		for i := range c.n {
			fmt.Fprintf(b, "%.1f,%.1f ", x(c.n[i]), y(c.y[i]))
		}
		fmt.Fprintln(b, `"/>`)
		for i := range c.n {
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>`+"\n", x(c.n[i]), y(c.y[i]), ink)
		}
		words, _ := c.order()
		text(b, left, float64(top+plotH+32+k*legend), "start", ink, c.name+": "+words)
	}
}

func text(b *bytes.Buffer, x, y float64, anchor, ink, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, ink, html.EscapeString(s))
}
