package chart

import "image"

// canvas is a picture of one byte per pixel, an index into a palette. Every
// painting method stays within clip, so no number can make it write outside
// its panel.
type canvas struct {
	w, h int
	pix  []uint8 // rows from the top, w bytes each
	clip image.Rectangle
	pal  *palette

	// Working memory of the drawing methods, kept between calls.
	dash []point
	segs []segment
	cov  []uint8 // the cover of one column, by row; zero between calls
}

// reset makes c a blank picture of w by h. Memory of an earlier picture is used again
// where it is large enough; cov is zero already, because settle leaves it so.
func (c *canvas) reset(w, h int, pal *palette) {
	c.w, c.h, c.pal = w, h, pal
	if cap(c.pix) < w*h {
		c.pix = make([]uint8, w*h)
	}
	c.pix = c.pix[:w*h]
	if cap(c.cov) < h {
		c.cov = make([]uint8, h)
	}
	c.cov = c.cov[:h]
	c.clip = image.Rect(0, 0, w, h)
	clear(c.pix) // index 0 is the background of every palette
}

// image returns the picture as a type of the standard library. It shares memory with c.
func (c *canvas) image() *image.Paletted {
	return &image.Paletted{Pix: c.pix, Stride: c.w, Rect: image.Rect(0, 0, c.w, c.h), Palette: c.pal.colours}
}

// rect paints r in ink i.
func (c *canvas) rect(r image.Rectangle, i ink) {
	r = r.Intersect(c.clip)
	v := c.pal.solid[i]
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := c.pix[y*c.w+r.Min.X : y*c.w+r.Max.X]
		for x := range row {
			row[x] = v
		}
	}
}

// tint covers r with ink i at a level of transparency, see mixer.
func (c *canvas) tint(r image.Rectangle, i ink, level int) {
	r = r.Intersect(c.clip)
	m := &c.pal.mix[i][level]
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := c.pix[y*c.w+r.Min.X : y*c.w+r.Max.X]
		for x, under := range row {
			row[x] = m[under]
		}
	}
}

// dashes paints the horizontal strip r as dashes of on pixels with gaps of off pixels. They
// begin at column from, which is not right of r.
func (c *canvas) dashes(r image.Rectangle, from, on, off int, i ink) {
	for x := r.Min.X - (r.Min.X-from)%(on+off); x < r.Max.X; x += on + off {
		c.rect(image.Rect(x, r.Min.Y, x+on, r.Max.Y).Intersect(r), i)
	}
}

// point is a place in the picture. Pixel (0, 0) covers 0 to 1 in both
// directions, so its middle is at 0.5, 0.5.
type point struct{ x, y float64 }

// far bounds coordinates before they are converted to whole numbers or squared, so that
// neither can overflow. All that can be seen of a point further out is a steep line that
// leaves the picture.
const far = 1 << 20

// segment is the straight piece from a to b, with what is computed once for all
// its pixels.
type segment struct {
	a, b   point
	dx, dy float64 // b - a
	slope  float64 // rows per column; 0 if the segment is vertical
	square float64 // the length, squared
	scale  float64 // 1/length; 0 for a point

	// lean is the largest horizontal distance between a covered pixel and the point of
	// the segment nearest to it: 0 for a horizontal segment, reach for a vertical one.
	lean float64

	cos  float64 // cosine of the angle to the horizontal: dx/length
	half float64 // rows covered above and below the middle in one column
}

// abs returns the absolute value of v.
func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}
