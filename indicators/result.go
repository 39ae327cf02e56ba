package indicators

import (
	"encoding/json"
	"math"
	"slices"
	"sort"
	"strconv"
)

// Result is what an indicator computed: up to seven channels, each of which
// may be empty. Series in it have one value per bar of the input.
type Result struct {
	Label   string // title with parameters; written by Request.Compute
	Overlay bool   // copied from the record by Request.Compute

	// Unsettled says that a longer history would give other values, because there were
	// too few bars before the first one. The code that loads the bars sets it, and Tail.
	Unsettled bool

	// Settles is the first bar whose values no longer depend on where the history began.
	// It is for an indicator that only an event makes independent of it, such as a stop
	// when it turns; it is 0 for one that becomes independent with time. Tail sets
	// Unsettled if the bars that are left begin before it.
	Settles int

	// YRange is the usual range of a panel, such as 0 to 100. Nil means that the range
	// follows the values. Method Range has what is shown.
	YRange *[2]float64

	Lines     []Line
	Histogram []Histogram
	Signals   []Signal // in order of bar
	HLines    []HLine
	Fills     []Fill
	HBars     []HBar
	DivLines  []DivLine

	// Sessions are the bars on which the sessions of a profile begin, in order; nil if
	// there are none. A session that began before the first bar has a number below zero.
	// A legend shows the latest and how many there are.
	Sessions []int

	// Shaded are the bars that are shaded from top to bottom, because a rule holds
	// on them; nil for none.
	Shaded []bool

	// Told says that the facts tell what the signals mark: a summary does not list those.
	Told bool

	// Facts are what the summary says in addition to values and signals, in order.
	Facts []Fact

	// From, if not nil, returns the result for only the bars from the given one on, such
	// as that of a backtest which begins there. Tail calls it once; the result that it
	// returns has no From.
	From func(bar int) *Result
}

// Fact is a named value for the summary.
type Fact struct {
	Name  string
	Value json.RawMessage
}

// Tone says what a mark means; the theme turns it into a colour. Auto takes
// the next free line colour of the panel.
type Tone uint8

// The tones.
const (
	Auto    Tone = iota
	Primary      // the main line of an oscillator
	Second       // its companion: a signal line, %D
	Up           // rising, bullish
	Down         // falling, bearish
	Muted        // secondary: middle lines, levels
	Band         // edges and fills of bands
	Accent       // the one thing to look at: point of control, warnings
)

// Style says how a line is drawn.
type Style uint8

// The styles.
const (
	Solid Style = iota
	Dashed
	Dots // unconnected discs: parabolic SAR, supertrend flips
	Step // levels that hold for a session: no slanted joins
)

// Line is one value per bar. A NaN breaks it.
type Line struct {
	Label  string
	Tone   Tone
	Style  Style
	Values Values

	// Ahead are values already known for the bars after the last one, such as
	// those of a cloud that is moved forward; nil for none.
	Ahead Values

	// Back is how many bars earlier a value is drawn than the bar that it belongs to, as in a
	// lagging span. The values stay at their bars, so that none comes from a later one.
	Back int
}

// Histogram is one bar from zero per bar. It is drawn in four tones, by sign
// and direction, unless Tone says otherwise.
type Histogram struct {
	Label  string
	Tone   Tone
	Values Values
}

// Signal is an event on the bar where it became true.
type Signal struct {
	Bar   int // index into the bars
	Y     float64
	Label string // one of the labels in labels.go, or of a candle pattern
	Tone  Tone   // Up is drawn below, Down above

	// Silent marks an event that comes often: an alert may wait for it and lists
	// show it, but it is not drawn.
	Silent bool

	// Strength is how sure a candle pattern is, as TA-Lib says it: 80 for a weaker
	// form, 100 for the usual one, 200 for a confirmed one; 0 for other signals.
	Strength int
}

// Mark returns a signal on the given bar.
func Mark(bar int, y float64, label string, tone Tone) Signal {
	return Signal{Bar: bar, Y: y, Label: label, Tone: tone}
}

// HLine is a level over the whole width.
type HLine struct {
	Y     float64
	Label string // empty for a plain level; "POC" and the like get a tag
	Tone  Tone
}

// Fill shades the region between two series. Its tone is Tone, or where Y1 is below Y2
// the tone Below, if that is set.
type Fill struct {
	Y1, Y2      Values
	Tone, Below Tone

	Ahead1, Ahead2 Values // the two series after the last bar; nil for none
}

// HBar is a horizontal bar at a price, for profiles.
type HBar struct {
	Y      float64 // price at its middle
	Height float64 // in price units
	Width  float64 // 0 to 1, fraction of the chart's width
	Offset float64 // 0 to 1, where it begins, measured from its edge
	Left   bool    // anchored at the left edge
	Tone   Tone
	Strong bool // inside the value area
}

// DivLine joins two points of a divergence.
type DivLine struct {
	X1     int
	Y1     float64
	X2     int
	Y2     float64
	Dashed bool // hidden divergences are dashed, regular ones solid
	Tone   Tone // Up for bullish, Down for bearish
}

// Tail returns the part of r that belongs to the last n of total bars. Series share memory
// with r. Signals before these bars and divergences that begin before them are left out. A
// session that began before them and reaches into them stays, with a bar below zero.
func (r *Result) Tail(total, n int) *Result {
	copied := *r // r may be read by others
	r = &copied
	r.Unsettled = r.Unsettled || r.Settles > max(0, total-n)
	cut := max(0, total-n)
	// The result is computed again for the bars that are left, and then cut like any other.
	if r.From != nil {
		label, overlay := r.Label, r.Overlay
		r = r.From(cut)
		r.Label, r.Overlay = label, overlay
	}
	if cut == 0 {
		return r
	}
	// Everything with a value per bar is cut; levels, profiles and facts stay as they are.
	t := *r
	t.Settles = max(0, r.Settles-cut)
	t.Lines, t.Histogram, t.Fills = slices.Clone(r.Lines), slices.Clone(r.Histogram), slices.Clone(r.Fills)
	t.series(func(v *Values) { *v = (*v)[cut:] })
	if r.Shaded != nil {
		t.Shaded = r.Shaded[cut:]
	}
	first := sort.Search(len(r.Signals), func(i int) bool { return r.Signals[i].Bar >= cut })
	t.Signals = slices.Clone(r.Signals[first:])
	for i := range t.Signals {
		t.Signals[i].Bar -= cut
	}
	t.DivLines = nil
	for _, d := range r.DivLines {
		if d.X1 >= cut {
			d.X1 -= cut
			d.X2 -= cut
			t.DivLines = append(t.DivLines, d)
		}
	}
	t.Sessions = nil
	for i, from := range r.Sessions {
		// A session has ended before the cut if the next one begins at the cut or before it.
		if i+1 == len(r.Sessions) || r.Sessions[i+1] > cut {
			t.Sessions = append(t.Sessions, from-cut)
		}
	}
	return &t
}

// series calls f with every column of r that has one value per bar, in a fixed order.
func (r *Result) series(f func(v *Values)) {
	for i := range r.Lines {
		f(&r.Lines[i].Values)
	}
	for i := range r.Histogram {
		f(&r.Histogram[i].Values)
	}
	for i := range r.Fills {
		f(&r.Fills[i].Y1)
		f(&r.Fills[i].Y2)
	}
}

// Range returns the range of a panel, which holds all values of its lines and histograms:
// the usual one, wider if values leave it, or else that of the values, with zero if there is
// a histogram. Values that are all the same have some room on both sides. It is not ok if
// there is neither a usual range nor a value.
func (r *Result) Range() (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	widen := func(values ...float64) {
		for _, v := range values {
			if v < lo && !math.IsInf(v, -1) { // not of NaN, which the built-in min and max take three times as long to look for
				lo = v
			}
			if v > hi && !math.IsInf(v, 1) {
				hi = v
			}
		}
	}
	if r.YRange != nil {
		widen(r.YRange[0], r.YRange[1])
	}
	for _, l := range r.Lines {
		widen(l.Values...)
	}
	for _, h := range r.Histogram {
		widen(h.Values...)
		widen(0)
	}
	if lo == hi {
		room := math.Abs(lo) / 100
		if room == 0 {
			room = 1
		}
		return lo - room, hi + room, true
	}
	return lo, hi, lo < hi
}

// Values is one number per bar. NaN and the infinities, which JSON cannot
// hold, are written as null; only this type and AppendValue decide that.
type Values []float64

// MarshalJSON writes v as an array of numbers with ten significant digits.
func (v Values) MarshalJSON() ([]byte, error) {
	return v.AppendJSON(make([]byte, 0, 2+12*len(v))), nil
}

// AppendJSON appends v to b as MarshalJSON writes it.
func (v Values) AppendJSON(b []byte) []byte {
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendValue(b, x)
	}
	return append(b, ']')
}

// AppendValue appends x to b as JSON: ten significant digits, no exponent
// within reason, null for what JSON cannot hold.
func AppendValue(b []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(b, "null"...)
	}
	if x == 0 {
		return append(b, '0') // never -0
	}
	if a := math.Abs(x); a >= 1e21 || a < 1e-9 {
		return strconv.AppendFloat(b, x, 'e', 9, 64)
	}
	// Ten significant digits: so many decimals, without the zeros at the end.
	decimals := 9 - int(math.Floor(math.Log10(math.Abs(x))))
	b = strconv.AppendFloat(b, x, 'f', max(0, decimals), 64)
	if decimals > 0 {
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
		if b[len(b)-1] == '.' {
			b = b[:len(b)-1]
		}
	}
	return b
}
