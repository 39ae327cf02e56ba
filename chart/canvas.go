package chart

import (
	"image"
	"math"
	"slices"
)

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
// where it is large enough; cov is zero already, because join leaves it so.
func (c *canvas) reset(w, h int, pal *palette) {
	c.w, c.h, c.pal = w, h, pal
	c.pix = slices.Grow(c.pix[:0], w*h)[:w*h]
	c.cov = slices.Grow(c.cov[:0], h)[:h]
	c.clip = image.Rect(0, 0, w, h)
	clear(c.pix) // index 0 is the background of every palette
}

// tint covers r with ink i at a level of transparency, see mixer; at the highest it paints r.
func (c *canvas) tint(r image.Rectangle, i ink, level int) {
	r = r.Intersect(c.clip)
	m, wide := &c.pal.mix[i][level], r.Dx()
	for o, end := r.Min.Y*c.w+r.Min.X, r.Max.Y*c.w; o < end; o += c.w {
		row := c.pix[o : o+wide]
		for x, under := range row {
			row[x] = m[under]
		}
	}
}

// column is a column of an area, bottom excluded.
type column struct {
	x, top, bottom int
	ink            ink
}

// area tints columns, from left to right. Painting along rows is several times quicker than
// down columns, so the rows that up to eight neighbours share are one box.
func (c *canvas) area(columns []column, level int) {
	for len(columns) > 0 {
		shared, n := columns[0], 1
		for ; n < min(8, len(columns)); n++ {
			at := columns[n]
			top, bottom := max(shared.top, at.top), min(shared.bottom, at.bottom)
			if at.x != shared.x+n || at.ink != shared.ink || top >= bottom {
				break
			}
			shared.top, shared.bottom = top, bottom
		}
		c.tint(image.Rect(shared.x, shared.top, shared.x+n, shared.bottom), shared.ink, level)
		for _, at := range columns[:n] {
			c.tint(image.Rect(at.x, at.top, at.x+1, shared.top), at.ink, level)
			c.tint(image.Rect(at.x, shared.bottom, at.x+1, at.bottom), at.ink, level)
		}
		columns = columns[n:]
	}
}

// dashes paints the horizontal strip r as dashes of on pixels with gaps of off pixels. They
// begin at column from, which is not right of r.
func (c *canvas) dashes(r image.Rectangle, from, on, off int, i ink) {
	for x := r.Min.X - (r.Min.X-from)%(on+off); x < r.Max.X; x += on + off {
		c.tint(image.Rect(x, r.Min.Y, x+on, r.Max.Y).Intersect(r), i, levels)
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
	slope  float64 // rows per column; no number if the segment is vertical
	square float64 // the length, squared
	scale  float64 // 1/length; 0 for a point

	// lean is the largest horizontal distance between a covered pixel and the point of
	// the segment nearest to it: 0 for a horizontal segment, reach for a vertical one.
	lean float64

	cos  float64 // cosine of the angle to the horizontal: dx/length
	half float64 // rows covered above and below the middle in one column
}

// at returns the height of the segment at x, beyond its ends that of the nearer one.
func (s *segment) at(x float64) float64 {
	switch {
	case x <= s.a.x:
		return s.a.y
	case x >= s.b.x:
		return s.b.y
	}
	return s.a.y + float64((x-s.a.x)*s.slope)
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}

// Shapes with slanted or round edges, which are lines, discs and triangles, are all painted in
// the same way: for every pixel near the shape, the distance from the middle of
// the pixel to the edge of the shape decides how much of the pixel is covered. A pixel
// half a pixel or more inside is covered whole, one half a pixel or more outside not at
// all, and in between the cover changes linearly. This is anti-aliasing without a mask,
// and gives the same numbers on every processor.

// stroke draws the line through pts, whose x must not fall, width pixels wide
// with round joins and ends. One point becomes a dot twice as wide.
//
// A pixel's cover follows from its distance to the nearest segment, so joins and ends are
// round without code of their own. Because x never falls, the line is painted column by
// column: near, the first segment that can reach the column, only moves forward, and each
// column looks only at the few segments that reach it.
//
// Nearly all columns of a chart's line are reached by one segment only, and not near its
// ends. They are painted by across, which need not compute the distance to an end; the
// columns around a join are painted by join.
func (c *canvas) stroke(pts []point, width float64, i ink) {
	if len(pts) == 1 {
		c.disc(pts[0], width, i)
		return
	}
	reach := width/2 + 0.5 // pixels further from the line than this are not covered
	c.segs = c.segs[:0]
	for k, b := range pts[1:] {
		a := pts[k]
		s := segment{a: a, b: b, dx: b.x - a.x, dy: b.y - a.y}
		s.slope = s.dy / s.dx
		s.square = float64(s.dx*s.dx) + float64(s.dy*s.dy)
		if s.square > 0 {
			s.scale = 1 / math.Sqrt(s.square)
		}
		s.lean = reach * math.Abs(s.dy) * s.scale
		s.cos = s.dx * s.scale
		s.half = reach / s.cos
		c.segs = append(c.segs, s)
	}
	m, last := &c.pal.mix[i], len(c.segs)-1
	first := max(c.clip.Min.X, int(math.Floor(pts[0].x-reach)))
	end := min(c.clip.Max.X-1, int(math.Floor(pts[last+1].x+reach)))
	near := 0
	for col := first; col <= end; col++ {
		x := float64(col) + 0.5
		// Skip segments that end too far left to reach this column.
		for near < last && pts[near+1].x < x-reach {
			near++
		}
		from, to := c.touching(pts, near, x, reach)
		// If, for every pixel that a segment covers here, its nearest point is between its ends, the
		// distance to it is that to the straight line through it.
		if s := &c.segs[from]; to-from == 1 && x-s.lean > s.a.x && x+s.lean < s.b.x {
			// across can paint all columns up to the first that the next segment reaches.
			until := min(end, max(col, int(math.Ceil(s.b.x-reach-0.5))-1))
			c.across(s, col, until, reach, m)
			col = until
			continue
		}
		c.join(from, to, col, reach, m)
	}
}

// join paints a column that several segments reach: those from index from up to, but not
// including, to. Each pixel gets the largest of their covers. If each segment were mixed
// into the picture by itself, the join would come out darker.
func (c *canvas) join(from, to, col int, reach float64, m *mixer) {
	top, bottom := c.clip.Max.Y, c.clip.Min.Y
	for k := from; k < to; k++ {
		t, b := c.cover(&c.segs[k], float64(col)+0.5, reach, k == to-1)
		top, bottom = min(top, t), max(bottom, b)
	}
	for row, o := top, top*c.w+col; row < bottom; row, o = row+1, o+c.w {
		if v := c.cov[row]; v != 0 {
			c.pix[o] = m[v][c.pix[o]]
			c.cov[row] = 0 // for the next column
		}
	}
}

// touching returns the range of segments that matter in the column at x; it starts at
// near or later, and to is excluded. The first and the last segment are left out if only
// their round end reaches the column: the segment joined to that end covers at least as
// much.
func (c *canvas) touching(pts []point, near int, x, reach float64) (from, to int) {
	last := len(c.segs) - 1
	for to = near; to <= last && pts[to].x <= x+reach; to++ {
	}
	for from = near; from < to-1 && x-c.segs[from].lean >= c.segs[from].b.x; from++ {
	}
	for to-1 > from && x+c.segs[to-1].lean <= c.segs[to-1].a.x {
		to--
	}
	return from, to
}

// across paints the columns col to until, which no other segment reaches.
//
// From one row to the next the signed distance d to the segment grows by cos. So the
// inner loop only adds a constant, in fixed point with 16 bits after the point. The cover
// is reach-|d|, at most 1. Because of rounding the outermost rows may be a little beyond
// reach; their cover is then 0 and changes nothing. Only even levels of the palette are
// used, as everywhere for edges.
func (c *canvas) across(s *segment, col, until int, reach float64, m *mixer) {
	const bits, one = 16, 1 << 16
	step, most := int(s.cos*one), int(reach*one)
	for ; col <= until; col++ {
		// The segment's height at the middle of the column, and the rows that it covers
		// above and below.
		middle := s.a.y + float64((float64(col)+0.5-s.a.x)*s.slope)
		top := max(c.clip.Min.Y, int(math.Ceil(middle-s.half-0.5)))
		bottom := min(c.clip.Max.Y, int(math.Floor(middle+s.half-0.5))+1)
		d := int((float64(top) + 0.5 - middle) * s.cos * one)
		for o := top*c.w + col; top < bottom; top++ {
			v := (min(most-abs(d), one)*(levels/2) + one/2) >> bits
			c.pix[o] = m[2*v][c.pix[o]]
			d += step
			o += c.w
		}
	}
}

// cover raises c.cov, the cover of the pixels in the column at x, to the cover by one
// segment where that is larger. It returns the rows that it may have changed, bottom
// excluded. Only for the last segment of a column the round end at b counts: the end of
// any other segment is where the next one begins.
//
// For a pixel at (ex, ey) from a, the dot product t of (ex, ey) and (dx, dy) tells where
// the nearest point of the segment is: at a if t <= 0, at b if t >= length², otherwise in
// between, and then the distance is the cross product divided by the length.
func (c *canvas) cover(s *segment, x, reach float64, last bool) (top, bottom int) {
	// The rows follow from the heights of the part of the segment that is nearest to pixels of
	// the column.
	y0, y1 := s.at(x-s.lean), s.at(x+s.lean)
	top = max(c.clip.Min.Y, int(math.Ceil(min(y0, y1)-reach-0.5)))
	bottom = min(c.clip.Max.Y, int(math.Floor(max(y0, y1)+reach-0.5))+1)
	// These do not change within the column.
	ex := x - s.a.x
	along, across := float64(ex*s.dx), float64(ex*s.dy)
	for row := top; row < bottom; row++ {
		ey := float64(row) + 0.5 - s.a.y
		var d float64
		switch t := along + float64(ey*s.dy); {
		case t <= 0:
			d = math.Sqrt(float64(ex*ex) + float64(ey*ey))
		case t < s.square:
			d = math.Abs(across-float64(ey*s.dx)) * s.scale
		case !last:
			continue
		default:
			fx, fy := ex-s.dx, ey-s.dy
			d = math.Sqrt(float64(fx*fx) + float64(fy*fy))
		}
		c.cov[row] = max(c.cov[row], level(reach-d))
	}
	return top, bottom
}

// level turns a cover into an even level of the palette. A cover below 0 or above 1 is
// clamped; that is done on the whole number, which compiles to code without branches.
func level(cover float64) uint8 {
	return uint8(2 * min(max(int(cover*(levels/2)+0.5), 0), levels/2))
}

// strokeDashed draws pts as dashes of on pixels with gaps of off pixels, measured along
// the line. Only the part within the panel's rows is measured: otherwise a value far
// outside would cost millions of dashes that nobody sees. Columns are not cut: a line has few
// bars outside the picture. With no gaps the line is solid.
func (c *canvas) strokeDashed(pts []point, width, on, off float64, i ink) {
	if off == 0 {
		c.stroke(pts, width, i)
		return
	}
	dash := c.dash[:0]        // the current one, which may bend around several points of the line
	drawing, left := true, on // within a dash or a gap, of which so many pixels remain
	for k := 1; k < len(pts); k++ {
		a, b, ok := withinRows(pts[k-1], pts[k], float64(c.clip.Min.Y)-width, float64(c.clip.Max.Y)+width)
		if !ok {
			continue
		}
		if n := len(dash); n > 0 && dash[n-1] != a { // the line left the panel and came back
			c.stroke(dash, width, i)
			dash = dash[:0]
		}
		if drawing && len(dash) == 0 {
			dash = append(dash, a)
		}
		length := math.Hypot(b.x-a.x, b.y-a.y)
		for done := 0.0; done < length; {
			// A step goes to the end of the dash or gap, or of the segment, whichever comes
			// first.
			step := min(left, length-done)
			done, left = done+step, left-step
			at := b
			if t := done / length; done < length {
				at = point{a.x + float64((b.x-a.x)*t), a.y + float64((b.y-a.y)*t)}
			}
			if drawing {
				dash = append(dash, at)
			}
			switch {
			case left > 0:
				continue
			case drawing:
				c.stroke(dash, width, i)
				dash, left = dash[:0], off
			default:
				dash, left = append(dash[:0], at), on
			}
			drawing = !drawing
		}
	}
	if len(dash) > 1 {
		c.stroke(dash, width, i)
	}
	c.dash = dash
}

// withinRows returns the part of the segment from a to b between the rows lo and hi; ok is
// false if there is none.
func withinRows(a, b point, lo, hi float64) (from, to point, ok bool) {
	if max(a.y, b.y) < lo || min(a.y, b.y) > hi {
		return a, b, false
	}
	// cut moves p along the segment towards q until it is within the rows.
	cut := func(p, q point) point {
		y := min(max(p.y, lo), hi)
		if y == p.y {
			return p
		}
		return point{p.x + float64((q.x-p.x)*((y-p.y)/(q.y-p.y))), y}
	}
	return cut(a, b), cut(b, a), true
}

// blot paints the pixels of box, each covered as far as its middle is inside the shape: by half a
// pixel or more, whole. The cover is that part of full cover which most is of levels.
func (c *canvas) blot(box image.Rectangle, i ink, most int, inside func(x, y float64) float64) {
	m := &c.pal.mix[i]
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			v := int(level(inside(float64(x)+0.5, float64(y)+0.5) + 0.5))
			o := y*c.w + x
			c.pix[o] = m[v*most/levels&^1][c.pix[o]]
		}
	}
}

func (c *canvas) disc(p point, radius float64, i ink) {
	reach := radius + 0.5
	box := image.Rect(int(p.x-reach), int(p.y-reach), int(p.x+reach)+1, int(p.y+reach)+1).Intersect(c.clip)
	c.blot(box, i, levels, func(x, y float64) float64 {
		ex, ey := x-p.x, y-p.y
		return radius - math.Sqrt(float64(ex*ex)+float64(ey*ey))
	})
}

// triangle draws a filled triangle with its tip at p and a horizontal base, height pixels
// below the tip, or above it if height is negative. Its cover is that part of full cover
// which most is of levels.
func (c *canvas) triangle(p point, width, height float64, i ink, most int) {
	top, bottom := min(p.y, p.y+height), max(p.y, p.y+height)
	half := width / 2
	box := image.Rect(int(p.x-half)-1, int(top)-1, int(p.x+half)+2, int(bottom)+2).Intersect(c.clip)
	// How far a pixel is inside the triangle is the smaller of its distances from the
	// nearer slanted side (both have the same formula, by symmetry) and from the base.
	size := math.Hypot(half, height)
	c.blot(box, i, most, func(x, y float64) float64 {
		ex, ey := math.Abs(x-p.x), y-p.y
		if height < 0 {
			ey = -ey
		}
		side := (float64(ey*half) - float64(ex*math.Abs(height))) / size
		return min(side, math.Abs(height)-ey)
	})
}
