package chart

import (
	"image"
	"iter"
	"math"
	"slices"
	"strconv"

	"wick/indicators"
	"wick/market"
)

// picture is a chart that has been measured but not painted yet. plan fills it, and the
// painting methods only read it.
type picture struct {
	metrics
	Options // Scale is what is drawn
	prices
	scene

	view    *View
	s       *market.Series
	n       int // bars; 0 when none of them can be drawn
	missing Undrawn

	header, timeAxis image.Rectangle
	axisX            int // where the plots end and the axis begins
	panes            []*pane

	x0, pitch  float64 // left end of bar 0, and pixels from bar to bar
	ahead      int     // bars to come that are shown, right of the last
	body, wick int
	candles    []candle

	bars   []barTime
	drawn  ohlc       // what candles show
	err    error      // why it cannot be painted as asked
	own    []ownLevel // levels of the account and of the caller's marks
	untold int        // what is not drawn in panes that have no room to say so

	times  []timeTick
	breaks []int // columns where the days of the zone begin
	labels []label
	marks  []mark
}

// Undrawn tells what of a [View] is missing in its picture. The picture says so too, in a
// word or two, which not every reader sees. Signals and fills do not count here: the legend
// counts all of them.
type Undrawn struct {
	Panels []string // the keys of panels for which the picture is not high enough
	// Outside has the places in View.Marks of those that lie outside the times or prices
	// shown, without the levels that are named at the edge beyond which they lie.
	Outside []int
	Unnamed []int // places in View.Marks of those whose text has no room
}

// pane is the price with its overlays, or one panel below it. Rows count from the top
// of the picture, so top is less than bottom.
type pane struct {
	price       bool
	frame       image.Rectangle // its rows, over the whole width
	legend      image.Rectangle // rows kept free of data
	plot        image.Rectangle // the frame left of the axis: data are clipped to it
	top, bottom int             // rows between which the scale lies
	floor       int             // end of the plot without the volume strip
	scale       scale
	studies     []*study
	unmarked    int // how many signals, orders, alerts, fills, marks and texts are not drawn
	ticks       []tick
	tags        []tag
}

type study struct {
	*indicators.Result
	compare bool       // other symbols: shown in percent, and never cut off
	key     string     // as the client asked for it, "compare" for other symbols
	needs   func() int // nil when unknown
	lines   []look     // parallel to Lines
	shade   ink        // of shaded bars and of their marks; 0 if it shades none
}

// tick is a value with a grid line and, unless something covers it, a label. Tests
// read value; the picture needs only the row and the text.
type tick struct {
	value float64
	y     int // row of its grid line
	text  string
	level bool // the level of an oscillator, whose own line replaces the grid line
	shown bool // the label fits
}

type tag struct {
	y       int // row it points at
	box     image.Rectangle
	text    string
	ink     ink
	outline bool // a level; else filled
}

// candle is a bar, or all bars of a column, in rows and columns. Rows grow downwards,
// so high is less than low.
type candle struct {
	x                   int // left column of the wick
	high, low           int // rows of the wick, low excluded
	bodyTop, bodyBottom int
	first, last         int  // rows of open and close
	ink                 ink  // its colour
	filled              bool // closed below its open
	forming             bool // not closed: it will change
	rising              bool // the price closed at or above its open: colours volume
	volume              float64
}

type ohlc struct{ open, high, low, close []float64 }

// barTime is when a bar begins on the wall clock of the chart's zone.
type barTime struct {
	wall             int64 // seconds since 1970 as that clock counts them
	year, month, day int
	full             int // which of the days with bars this is, see countDays
}

// timeTick is a bar that gets a grid line and a label.
type timeTick struct {
	bar    int
	rank   int // how much begins with the bar: 3 a year, 2 a month, 1 a day
	text   string
	strong bool // a new year, month, or day of an intraday chart
	box    image.Rectangle
}

// mark is the triangle of a signal, or of a fill, which has no Signal.
type mark struct {
	indicators.Signal
	box   image.Rectangle
	tip   point
	up    bool // points up, below its bar
	ink   ink
	named bool // an alert waits for the signal: it is named before others
	pale  bool // an older one of its kind
}

// ownLevel is a price with a line over the whole width that is not an indicator's:
// a mark of the caller's own, the entry of a position, an order, an alert.
type ownLevel struct {
	price   float64
	text    string
	ink     ink
	on, off float64 // lengths of dashes and gaps; no gap makes it solid
	number  int     // of a mark: its place in View.Marks, counted from 1; 0 for others
	numbers string  // the end of text that is never cut off
}

// labelKind says what a text is, for the tests that tell them apart.
type labelKind uint8

const (
	headerText labelKind = iota
	legendText
	tickText
	timeText
	zoneText // in the corner below the price axis
	extremeText
	signalText
	lineText // the name of a line or level, at its end
	noticeText
)

type label struct {
	kind    labelKind
	box     image.Rectangle // what it may cover
	font    *atlas
	text    string
	x, base int // where the text begins, and its baseline
	ink     ink
	backing bool            // data may pass under it
	fill    bool            // a badge: text on a filled box
	leader  image.Rectangle // a dotted line to what it names, or empty
}

// write adds a text at x, with capitals centred on row y, and returns its label, which is good
// until the next one is written: callers may change its box, which is as wide as the text.
func (p *picture) write(kind labelKind, a *atlas, text string, x, y int, i ink) *label {
	base := a.baseline(y)
	p.labels = append(p.labels, label{
		kind: kind, font: a, text: text, x: x, base: base, ink: i,
		box: image.Rect(x, base-a.ascent(), x+a.width(text), base+a.descent()),
	})
	return &p.labels[len(p.labels)-1]
}

func (p *picture) undrawn() Undrawn {
	slices.Sort(p.missing.Outside) // levels were looked at first
	slices.Sort(p.missing.Unnamed)
	return p.missing
}

func (p *picture) barX(i int) float64 { return p.x0 + (float64(i)+0.5)*p.pitch }

// dense reports whether bars are closer together than the thinnest stroke. Then the bars
// of a column are drawn as one.
func (p *picture) dense() bool { return p.pitch < float64(p.thin) }

// stretches yields the first of each stretch of n bars, and the first after it: a bar is in the
// stretch of the one before it if joined says so.
func stretches(n int, joined func(i int) bool) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from, to := 0, 0; from < n; from = to {
			for to = from + 1; to < n && joined(to); to++ {
			}
			if !yield(from, to) {
				return
			}
		}
	}
}

// drawnAsOne yields the stretches of n bars that share a column: in all but a dense chart each
// bar by itself. The first of them is bar first of the picture.
func (p *picture) drawnAsOne(first, n int) iter.Seq2[int, int] {
	return stretches(n, func(i int) bool { return p.dense() && p.column(first+i) == p.column(first+i-1) })
}

// column returns the pixel column of the middle of bar i. Columns of a dense
// chart are as far apart as the thinnest stroke is wide.
func (p *picture) column(i int) int {
	x := math.Floor(p.barX(i))
	if !p.dense() || p.thin == 1 {
		return int(x)
	}
	// Columns of a dense chart are p.thin pixels wide; a bar belongs to the column in which
	// its middle is.
	left := int(math.Floor(p.x0))
	return left + (int(x)-left)/p.thin*p.thin + p.thin/2
}

// timeX returns the column of a time: that of the bar which begins then or is the last
// to begin before. A time before or after all bars is as many bars away as it is intervals away.
// Without bars every time is out of sight.
func (p *picture) timeX(t int64) float64 {
	if p.n == 0 {
		return far
	}
	i, found := slices.BinarySearch(p.s.Time[:p.n], t)
	if !found && (i == p.n || t < p.s.BeganAt(i)) {
		i--
	}
	at := float64(i)
	step := float64(max(p.s.Interval.Seconds(), 1))
	switch {
	case i < 0:
		at = -float64(p.s.Time[0]-t) / step
	case i == p.n-1 && t >= p.s.DueAt(i): // not within the last bar
		at += float64(t-p.s.Time[i]) / step
	}
	return min(max(p.x0+(at+0.5)*p.pitch, -far), far)
}

func (p *picture) bodyRect(c candle) image.Rectangle {
	left := c.x - (p.body-p.wick)/2
	return image.Rect(left, c.bodyTop, left+p.body, c.bodyBottom)
}

// path returns the points of a line from left to right. These are its ends; and if one is
// before the first or after the last bar, the point at that bar. Nobody knows how many bars
// there are up to such an end, so the height at the bar follows from the share of the time.
func (p *picture) path(pn *pane, m Mark) []point {
	a := point{p.timeX(m.Time) + 0.5, pn.scale.y(m.Price)}
	b := point{p.timeX(m.Time2) + 0.5, pn.scale.y(m.Price2)}
	if a.x > b.x {
		a, b, m.Time, m.Time2 = b, a, m.Time2, m.Time
	}
	path := append(make([]point, 0, 4), a)
	for _, i := range [...]int{0, p.n - 1} {
		if x := p.barX(i) + 0.5; path[len(path)-1].x < x && x < b.x {
			share := float64(p.s.Time[i]-m.Time) / float64(m.Time2-m.Time)
			path = append(path, point{x, a.y + float64((b.y-a.y)*share)})
		}
	}
	return append(path, b)
}

// inPlot returns the ends of the part of a line that is in the plot, of a line that bends
// there the longest from left to right; ok is false if there is none.
func (p *picture) inPlot(pn *pane, m Mark) (a, b point, ok bool) {
	turned := func(q point) point { return point{q.y, q.x} }
	path := p.path(pn, m)
	for k := range path[1:] {
		from, to, in := withinRows(path[k], path[k+1], float64(pn.legend.Max.Y), float64(pn.frame.Max.Y))
		if !in {
			continue
		}
		// Columns are cut like rows.
		from, to, in = withinRows(turned(from), turned(to), 0, float64(p.axisX))
		from, to = turned(from), turned(to)
		if in && (!ok || to.x-from.x > b.x-a.x) {
			a, b, ok = from, to, true
		}
	}
	return a, b, ok
}

func (p *picture) zoneRect(pn *pane, m Mark) image.Rectangle {
	// A time that is not given means the edge of the plot.
	left, right := 0.0, float64(p.axisX)
	if m.Time != 0 {
		left = p.timeX(m.Time) - p.pitch/2
	}
	if m.Time2 != 0 {
		right = p.timeX(m.Time2) + p.pitch/2
	}
	top, bottom := pn.scale.row(max(m.Price, m.Price2)), pn.scale.row(min(m.Price, m.Price2))
	return image.Rect(int(left), top, int(math.Ceil(max(right, left))), max(bottom, top+1))
}

// inside reports whether v is within the scale of a pane. A level that is not has no tag,
// which would be at the edge.
func (pn *pane) inside(v float64) bool {
	y := pn.scale.y(v)
	return usable(v) && y >= float64(pn.legend.Max.Y) && y <= float64(pn.floor)
}

// notDrawn returns the text that says how many marks and texts had no room, so that a
// reader knows that there are more.
func notDrawn(n int) string { return strconv.Itoa(n) + " more not drawn" }

func (p *picture) hasVolume() bool { return slices.ContainsFunc(p.s.Volume[:p.n], positive) }

func upTo(values []float64, n int) []float64 { return values[:min(n, len(values))] }

// extended returns values followed by ahead, the values for future bars. If values does
// not cover all bars, it returns only values, since ahead would be at the wrong place.
func (p *picture) extended(values, ahead []float64) []float64 {
	values = upTo(values, p.n)
	if len(ahead) == 0 || len(values) < p.n {
		return values
	}
	return slices.Concat(values, upTo(ahead, p.ahead))
}

// asDrawn returns the values of l by the bars at which they are drawn.
func (p *picture) asDrawn(l *indicators.Line) []float64 {
	values := p.extended(l.Values, l.Ahead)
	return values[min(l.Back, len(values)):]
}

// lastValue returns the value at the last of n bars.
func lastValue(values []float64, n int) (v float64, ok bool) {
	if n == 0 || len(values) < n || !usable(values[n-1]) {
		return math.NaN(), false
	}
	return values[n-1], true
}

// bounds returns the usual range of the study, such as 0 to 100, wider if values leave it;
// ok is false when there is none.
func (st *study) bounds() (s span, ok bool) {
	lo, hi, ok := st.Range()
	if st.YRange == nil || !ok || !usable(lo) || !usable(hi) {
		return s, false
	}
	return span{lo, hi}, true
}

// changeInk returns the colour of a change.
func changeInk(before, now float64) ink {
	if now < before {
		return inkDown
	}
	return inkUp
}

func (p *picture) barInk(i int) ink { return changeInk(p.s.Open[i], p.s.Close[i]) }

// priceInk returns the colour of the last price: that of its bar, or of the
// line that shows it.
func (p *picture) priceInk(i int) ink {
	if p.Type == LineType || p.Type == Area {
		return inkProfile
	}
	return p.barInk(i)
}

// digits returns how many decimals values on the price axis need: those of the
// prices, and enough to tell values apart that differ by a hundredth of the
// range. Otherwise three averages of a price of 0.06 would all be 0.06.
func (p *picture) digits() int {
	sc := p.panes[0].scale
	if !(sc.hi > sc.lo) || sc.empty {
		return p.precision
	}
	return min(max(p.precision, int(math.Ceil(-math.Log10((sc.hi-sc.lo)/100)))), max(tiny-1, p.precision))
}
