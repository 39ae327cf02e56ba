package chart

import (
	"image"
	"iter"
	"math/bits"
	"slices"
)

// room knows which parts of a pane already hold something, so that texts can be put where
// there is nothing. The pane is divided into small square cells, and a cell counts as
// taken if anything touches it. That keeps texts away from things by less than a cell too
// much, and checking a box takes the same time however many lines there are.
type room struct {
	limit image.Rectangle // texts must stay within it
	cell  int             // width and height of a cell in pixels
	cols  int
	rows  int
	words int      // of a row of cells
	taken []uint64 // a bit for each cell, row by row from limit's upper left corner
}

// newRoom returns the room that shapes leave in a pane. Fills and profile bars leave all:
// text over them is readable on its backing.
func (p *picture) newRoom(pn *pane, shapes []shape) *room {
	limit := image.Rect(p.px(2), pn.legend.Max.Y, p.axisX-p.px(2), pn.floor)
	o := &room{limit: limit, cell: max(2, p.px(3))}
	// The plot is divided into cells of a few pixels: fine enough for text, and few
	// enough to be searched quickly.
	o.cols, o.rows = limit.Dx()/o.cell+1, limit.Dy()/o.cell+1
	o.words = (o.cols + 63) / 64
	o.taken = make([]uint64, o.words*o.rows)
	for i := range shapes {
		// Values beyond the pane do no harm: line and take ignore what is outside the limit.
		s := &shapes[i]
		switch {
		case s.reach == 0:
		case len(s.pts) == 0:
			o.take(s.box)
		default:
			for k, b := range s.pts {
				o.line(s.pts[max(0, k-1)], b, s.reach)
			}
		}
	}
	return o
}

// line takes the cells within reach of the straight line from a to b, where a.x <= b.x. In
// each column of cells these are the rows between the heights at which the line enters and
// leaves the column, plus reach on either side.
func (o *room) line(a, b point, reach float64) {
	s := segment{a: a, b: b, slope: (b.y - a.y) / (b.x - a.x)}
	size, left, top := float64(o.cell), float64(o.limit.Min.X), float64(o.limit.Min.Y)
	first := max(0, int((a.x-reach-left)/size))
	last := min(o.cols-1, int((b.x+reach-left)/size))
	for col := first; col <= last; col++ {
		x := left + float64(col)*size
		upper, lower := s.at(x-reach), s.at(x+size+reach)
		if upper > lower {
			upper, lower = lower, upper
		}
		from := max(0, int((upper-reach-top)/size))
		to := min(o.rows-1, int((lower+reach-top)/size))
		for k := from*o.words + col/64; from <= to; from++ {
			o.taken[k] |= 1 << (col % 64)
			k += o.words
		}
	}
}

func (o *room) take(r image.Rectangle) {
	r = o.cells(r.Intersect(o.limit))
	for col := r.Min.X; col < r.Max.X; col = (col/64 + 1) * 64 {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			o.taken[y*o.words+col/64] |= word(col, r.Max.X)
		}
	}
}

func (o *room) free(box image.Rectangle) bool {
	if !box.In(o.limit) {
		return false
	}
	r := o.cells(box)
	for col := r.Min.X; col < r.Max.X; col = (col/64 + 1) * 64 {
		cells := word(col, r.Max.X)
		for k := r.Min.Y*o.words + col/64; k < r.Max.Y*o.words; k += o.words {
			if o.taken[k]&cells != 0 {
				return false
			}
		}
	}
	return true
}

// word returns the bits of the cells from col to end, end excluded, that share a word with
// the cell in col.
func word(col, end int) uint64 {
	width := min(end, (col/64+1)*64) - col
	return (1<<width - 1) << (col % 64)
}

// cells returns the cells that r, which lies within the limit, touches.
func (o *room) cells(r image.Rectangle) image.Rectangle {
	if r.Empty() {
		return image.Rectangle{}
	}
	// Cells count from the limit; the last pixel decides the last cell.
	r = r.Sub(o.limit.Min)
	return image.Rect(r.Min.X/o.cell, r.Min.Y/o.cell, (r.Max.X-1)/o.cell+1, (r.Max.Y-1)/o.cell+1)
}

// annotation returns a label with its box, at the origin.
func (p *picture) annotation(kind labelKind, text string, i ink) label {
	return label{
		kind: kind, font: p.mark, text: text, ink: i, backing: true,
		x: p.px(3), base: p.px(1) + p.mark.ascent(),
		box: image.Rect(0, 0, p.mark.width(text)+2*p.px(3), p.mark.ascent()+p.mark.descent()+p.px(2)),
	}
}

// spot is a place for a text: its upper left corner and, if it lies away from what it
// names, the dotted line between the two.
type spot struct {
	left, top int
	leader    image.Rectangle
}

// put adds l at the first of the spots that is free, and reports whether there is one. All
// texts within a plot are placed by it; who calls it says which places are good, the best
// first.
func (p *picture) put(o *room, l label, spots iter.Seq[spot]) bool {
	for s := range spots {
		box := l.box.Add(image.Pt(s.left, s.top))
		// The name of a level in one line with the price at the end of a wick, and near, would be read
		// as one with it: as the price of the level.
		near := image.Rect(box.Min.X-4*box.Dy(), box.Min.Y, box.Max.X+4*box.Dy(), box.Max.Y)
		readAsOne := func(other label) bool {
			return (l.kind == lineText && other.kind == extremeText || l.kind == extremeText && other.kind == lineText) && near.Overlaps(other.box)
		}
		if !o.free(box) || !s.leader.Empty() && !o.free(s.leader) || slices.ContainsFunc(p.labels, readAsOne) {
			continue
		}
		l.box, l.x, l.base, l.leader = box, l.x+s.left, l.base+s.top, s.leader
		o.take(l.box)
		o.take(l.leader)
		p.labels = append(p.labels, l)
		return true
	}
	return false
}

// strip is the row of cells under a text whose box begins at row top.
type strip struct {
	top    int
	taken  []uint64 // a bit for each column in which any of its cells is taken
	widest int      // the pixels of its widest free stretch
}

// strips returns the strips under a text h high at each of the tops, without those in which it
// would leave the limit.
func (o *room) strips(h int, tops ...int) (all []strip) {
	for _, top := range tops {
		rows := image.Rect(o.limit.Min.X, top, o.limit.Max.X, top+h)
		if !rows.In(o.limit) {
			continue
		}
		r, s := o.cells(rows), strip{top: top, taken: make([]uint64, o.words)}
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for k, cells := range o.taken[y*o.words:][:o.words] {
				s.taken[k] |= cells
			}
		}
		for from, end := 0, 0; from < o.cols; from = first(false, s.taken, end, o.cols) {
			end = first(true, s.taken, from, o.cols)
			s.widest = max(s.widest, (end-from)*o.cell)
		}
		all = append(all, s)
	}
	return all
}

// leftwards yields the free places of l from right to left, in steps, down to column from: in
// each column first in the first of the strips. Most of a row may be taken, so it goes from one
// free stretch to the next.
func (o *room) leftwards(l label, from, step int, strips []strip) iter.Seq[spot] {
	return func(yield func(spot) bool) {
		w, from := l.box.Dx(), max(from, o.limit.Min.X)
		for left := o.limit.Max.X - w; left >= from; {
			next := from - 1
			begin, end := (left-o.limit.Min.X)/o.cell, (left+w-1-o.limit.Min.X)/o.cell+1
			for _, s := range strips {
				switch col := first(true, s.taken, begin, end); {
				case s.widest < w:
				case col < end: // it must end before that
					away := left + w - o.limit.Min.X - col*o.cell
					next = max(next, left-(away+step-1)/step*step)
				case !yield(spot{left: left, top: s.top}):
					return
				default:
					next = max(next, left-step)
				}
			}
			left = next
		}
	}
}

// first returns the first of the cells from col to end that is taken, or free, or else end.
func first(taken bool, cells []uint64, col, end int) int {
	for ; col < end; col = (col/64 + 1) * 64 {
		found := cells[col/64]
		if !taken {
			found = ^found
		}
		if found &= word(col, end); found != 0 {
			return col/64*64 + bits.TrailingZeros64(found)
		}
	}
	return end
}

// beside returns the places left and right of what is named, the nearest first, at most reach
// pixels away. From some distance on a dotted line in row y connects the two. It ends a cell
// before what is named, whose own cells are taken.
func (p *picture) beside(o *room, l label, named image.Rectangle, top, y, reach int) (spots []spot) {
	w := l.box.Dx()
	spots = make([]spot, 0, 2*reach/p.px(8))
	for off := p.px(3); off < reach; off += p.px(8) {
		right, left := spot{left: named.Max.X + off, top: top}, spot{left: named.Min.X - off - w, top: top}
		if off >= p.px(10) {
			right.leader = image.Rect(named.Max.X+p.px(1)+o.cell, y, right.left, y+p.thin)
			left.leader = image.Rect(left.left+w, y, named.Min.X-p.px(1)-o.cell, y+p.thin)
		}
		spots = append(spots, right, left)
	}
	return spots
}
