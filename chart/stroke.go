package chart

import (
	"image"
	"math"
)

// This file draws what is not upright: lines, discs, triangles. All of it works
// the same way: for every pixel near the shape it takes the distance from the
// pixel's middle to the shape's edge. A pixel half a pixel or more inside is
// covered whole, one half a pixel or more outside not at all, and between the
// two the cover changes evenly. That is anti-aliasing without a mask, and the
// same numbers come out on every processor.

// stroke draws the line through pts, whose x must not fall, width pixels wide
// with round joins and ends. One point becomes a dot twice as wide.
func (c *canvas) stroke(pts []point, width float64, i ink) {
	if len(pts) == 0 {
		return
	}
	if len(pts) == 1 {
		c.disc(pts[0], width, i)
		return
	}
	reach := width/2 + 0.5 // further from the line than this there is no cover
	c.segs = c.segs[:0]
	for k := 1; k < len(pts); k++ {
		c.segs = append(c.segs, newSegment(pts[k-1], pts[k], reach))
	}
	c.strokeColumns(pts, reach, &c.pal.mix[i])
}

// strokeColumns paints the line through pts, whose segments are in c.segs.
//
// A pixel's cover follows from its distance to the nearest segment, so joins
// and ends come out round without code of their own. Because x never falls, the
// line is painted column by column: near walks along the segments once, and
// each column looks only at the few that reach it.
//
// Nearly all columns of a chart line are reached by one segment, away from its
// ends. Those go through across, which needs no distance to an end; the columns
// around a join go through join.
func (c *canvas) strokeColumns(pts []point, reach float64, m *mixer) {
	last := len(c.segs) - 1
	first := max(c.clip.Min.X, int(math.Floor(pts[0].x-reach)))
	end := min(c.clip.Max.X-1, int(math.Floor(pts[last+1].x+reach)))
	near := 0
	for col := first; col <= end; col++ {
		x := float64(col) + 0.5
		// Segments that end before this column's reach are done with.
		for near < last && pts[near+1].x < x-reach {
			near++
		}
		from, to := c.touching(pts, near, x, reach)
		if s := &c.segs[from]; to-from == 1 && s.inside(x) {
			// All columns that the next segment cannot reach are as simple.
			until := min(end, max(col, int(math.Ceil(s.b.x-reach-0.5))-1))
			c.across(s, col, until, reach, m)
			col = until
			continue
		}
		c.join(from, to, col, reach, m)
	}
}

// join paints a column that the segments from to to, which is excluded, reach. It takes
// the largest cover of them before mixing it into the picture: mixing each segment
// alone would darken the join.
func (c *canvas) join(from, to, col int, reach float64, m *mixer) {
	top, bottom := c.clip.Max.Y, c.clip.Min.Y
	for k := from; k < to; k++ {
		t, b := c.cover(&c.segs[k], float64(col)+0.5, reach, k == to-1)
		top, bottom = min(top, t), max(bottom, b)
	}
	if top < bottom {
		c.settle(col, top, bottom, m)
	}
}

// touching returns which segments, from near on, matter in the column at x: to
// is excluded. A segment whose round end alone reaches the column is left out
// at either end of the range, because the segment joined to it has the same end
// and covers at least as much.
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

// newSegment returns the segment of a line that covers up to reach beside it.
func newSegment(a, b point, reach float64) segment {
	s := segment{a: a, b: b, dx: b.x - a.x, dy: b.y - a.y}
	if s.dx > 0 {
		s.slope = s.dy / s.dx
	}
	s.square = float64(s.dx*s.dx) + float64(s.dy*s.dy)
	if s.square > 0 {
		s.scale = 1 / math.Sqrt(s.square)
	}
	s.lean = reach * math.Abs(s.dy) * s.scale
	s.cos = s.dx * s.scale
	s.half = reach / s.cos
	return s
}

// inside reports whether for every pixel that the segment covers in the column
// at x the nearest point lies between its ends, so that distance is a matter of
// slope alone.
func (s *segment) inside(x float64) bool { return x-s.lean > s.a.x && x+s.lean < s.b.x }

// across paints the columns col to until of a segment that is alone in them.
//
// One row further down, the distance to the segment grows by cos, its only
// change. So the inner loop adds a constant, in fixed point with 16 bits behind
// the point, and turns the distance d into a cover: reach-|d|, at most 1. Rows
// at the rim may lie beyond reach by what rounding lost; their cover comes out
// as 0 and changes nothing. It always uses the even levels of the palette.
func (c *canvas) across(s *segment, col, until int, reach float64, m *mixer) {
	const bits, one = 16, 1 << 16
	step, most := int(s.cos*one), int(reach*one)
	for ; col <= until; col++ {
		// The segment's row at the middle of the column, and the rows within half its
		// upright thickness.
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

// cover raises c.cov, the cover of the column at x, by one segment, and returns
// the rows it may have changed, bottom excluded. Only the last segment of a
// column rounds its far end: the far end of any other is where the next begins.
//
// For a pixel at (ex, ey) from a, the product t of (ex, ey) and (dx, dy) tells
// where its nearest point lies: at a if t <= 0, at b if t >= length², else
// between, where the distance is the cross product over the length.
func (c *canvas) cover(s *segment, x, reach float64, last bool) (top, bottom int) {
	top, bottom = c.rows(s, x, reach)
	// What does not change within the column is taken out of the loop.
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

// rows returns the rows that a segment may cover in the column at x, bottom excluded:
// those between its ends, or where it leaves the reach.
func (c *canvas) rows(s *segment, x, reach float64) (top, bottom int) {
	from, to := max(s.a.x, x-reach), min(s.b.x, x+reach)
	if from > to {
		return c.clip.Max.Y, c.clip.Min.Y
	}
	y0, y1 := s.a.y, s.b.y
	if s.dx > 0 {
		y0 = s.a.y + float64((from-s.a.x)*s.slope)
		y1 = s.a.y + float64((to-s.a.x)*s.slope)
	}
	top = max(c.clip.Min.Y, int(math.Ceil(min(y0, y1)-reach-0.5)))
	bottom = min(c.clip.Max.Y, int(math.Floor(max(y0, y1)+reach-0.5))+1)
	return top, bottom
}

// level turns a cover, 0 to 1 or beyond, into a level of the palette, an even
// one. It is clamped as a whole number, which compiles to no branch.
func level(cover float64) uint8 {
	return uint8(2 * min(max(int(cover*(levels/2)+0.5), 0), levels/2))
}

// settle mixes c.cov into the rows top to bottom of a column and clears it for
// the next.
func (c *canvas) settle(col, top, bottom int, m *mixer) {
	o := top*c.w + col
	for row := top; row < bottom; row++ {
		if v := c.cov[row]; v != 0 {
			c.pix[o] = m[v][c.pix[o]]
			c.cov[row] = 0
		}
		o += c.w
	}
}

// strokeDashed draws pts as dashes of on pixels with off between, measured
// along the line. Only the part within the panel's rows is measured: a value
// far outside would otherwise cost millions of dashes that nobody sees.
func (c *canvas) strokeDashed(pts []point, width, on, off float64, i ink) {
	d := dashed{width: width, on: on, off: off, ink: i, drawing: true, left: on, pts: c.dash[:0]}
	for k := 1; k < len(pts); k++ {
		a, b, ok := c.visible(pts[k-1], pts[k], width)
		if !ok {
			continue
		}
		if n := len(d.pts); n > 0 && d.pts[n-1] != a { // the line left the panel and came back
			c.stroke(d.pts, width, i)
			d.pts = d.pts[:0]
		}
		if d.drawing && len(d.pts) == 0 {
			d.pts = append(d.pts, a)
		}
		c.dashAlong(&d, a, b)
	}
	if len(d.pts) > 1 {
		c.stroke(d.pts, width, i)
	}
	c.dash = d.pts
}

// dashed is a dashed line that is being drawn.
type dashed struct {
	width, on, off float64
	ink            ink

	drawing bool    // a dash; else a gap is being passed
	left    float64 // how many pixels of it remain
	pts     []point // the current dash, which may bend around several points of the line
}

// dashAlong draws the dashes of d that end between a and b.
func (c *canvas) dashAlong(d *dashed, a, b point) {
	length := math.Hypot(b.x-a.x, b.y-a.y)
	for done := 0.0; done < length; {
		// One step ends where the dash, the gap or the segment does, whichever
		// comes first.
		step := min(d.left, length-done)
		done += step
		d.left -= step
		t := done / length
		p := point{a.x + float64((b.x-a.x)*t), a.y + float64((b.y-a.y)*t)}
		if done >= length {
			p = b
		}
		if d.drawing {
			d.pts = append(d.pts, p)
		}
		if d.left <= 0 {
			c.turn(d, p)
		}
	}
}

// turn ends at p a dash, which it draws, or a gap, and begins the other.
func (c *canvas) turn(d *dashed, p point) {
	if d.drawing {
		c.stroke(d.pts, d.width, d.ink)
		d.pts, d.left = d.pts[:0], d.off
	} else {
		d.pts, d.left = append(d.pts[:0], p), d.on
	}
	d.drawing = !d.drawing
}

// visible returns the part of the segment from a to b within the panel's rows and
// margin more; ok is false when there is none. Columns are not cut: a line has few
// bars outside the picture, but a value may lie a million rows away.
func (c *canvas) visible(a, b point, margin float64) (from, to point, ok bool) {
	lo, hi := float64(c.clip.Min.Y)-margin, float64(c.clip.Max.Y)+margin
	if max(a.y, b.y) < lo || min(a.y, b.y) > hi {
		return a, b, false
	}
	// cut moves p along the segment towards q until it lies within the rows.
	cut := func(p, q point) point {
		y := min(max(p.y, lo), hi)
		if y == p.y {
			return p
		}
		return point{p.x + float64((q.x-p.x)*((y-p.y)/(q.y-p.y))), y}
	}
	return cut(a, b), cut(b, a), true
}

// disc draws a filled circle.
func (c *canvas) disc(p point, radius float64, i ink) {
	// As for lines, the edge is a pixel wide: half of it inside the circle and half
	// outside.
	reach := radius + 0.5
	box := image.Rect(int(p.x-reach), int(p.y-reach), int(p.x+reach)+1, int(p.y+reach)+1).Intersect(c.clip)
	m := &c.pal.mix[i]
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			ex, ey := float64(x)+0.5-p.x, float64(y)+0.5-p.y
			v := level(reach - math.Sqrt(float64(ex*ex)+float64(ey*ey)))
			o := y*c.w + x
			c.pix[o] = m[v][c.pix[o]]
		}
	}
}

// triangle draws a filled triangle with a level base: the tip at p, the base
// height pixels below it, or above it when height is negative.
func (c *canvas) triangle(p point, width, height float64, i ink) {
	top, bottom := min(p.y, p.y+height), max(p.y, p.y+height)
	half := width / 2
	box := image.Rect(int(p.x-half)-1, int(top)-1, int(p.x+half)+2, int(bottom)+2).Intersect(c.clip)
	// How far a pixel lies inside the triangle is the smaller of its distances
	// from the slanted side next to it (by symmetry, one formula for both) and
	// from the base.
	size := math.Hypot(half, height)
	m := &c.pal.mix[i]
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			ex, ey := math.Abs(float64(x)+0.5-p.x), float64(y)+0.5-p.y
			if height < 0 {
				ey = -ey
			}
			side := (float64(ey*half) - float64(ex*math.Abs(height))) / size
			inside := min(side, math.Abs(height)-ey) + 0.5
			o := y*c.w + x
			c.pix[o] = m[level(inside)][c.pix[o]]
		}
	}
}
