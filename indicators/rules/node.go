package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// node is one operation of an expression. Which fields count depends on kind.
type node struct {
	kind  nodeKind
	text  string  // canonical; equal texts have equal values on the same bars
	at    int     // column in the source, from 0
	name  string  // operator, column, function or label
	value float64 // of a constant
	n     int     // bars of a window or a look back
	study Study
	place Place
	args  []*node

	zone   *time.Location // of a clock; nil for that of the exchange
	points [2]point       // of a line
}

// point is a price at a moment, in unix seconds.
type point struct {
	at int64
	y  float64
}

// nodeKind says what a node does. Those from kindCompare on are conditions.
type nodeKind uint8

const (
	kindNumber     nodeKind = iota // 14
	kindColumn                     // close
	kindClock                      // hour, hour("Asia/Tokyo")
	kindLine                       // line("2026-11-01", 100, "2026-11-10", 120)
	kindStudy                      // ema(200)
	kindArithmetic                 // a + b
	kindNegative                   // -a
	kindWindow                     // highest(a, 20)
	kindSeveral                    // max(a, b)
	kindSince                      // since(c)
	kindBack                       // a[3], of a number or a condition
	kindPlace                      // a@1d, a:ETHUSDT, a@1d:ETHUSDT, ditto
	kindCompare                    // a < b
	kindLogic                      // c and d
	kindCross                      // crosses_above(a, b)
	kindSignal                     // signal(rsi(14), "bull_div")
)

// condition reports whether nodes of the kind are always conditions.
func (k nodeKind) condition() bool { return k >= kindCompare }

// isCondition reports whether n is a condition and not a number. A look back and a value
// of another place are conditions if their argument is one.
func (n *node) isCondition() bool {
	if n.kind == kindBack || n.kind == kindPlace {
		return n.args[0].isCondition()
	}
	return n.kind.condition()
}

// spell returns the canonical text of n; the texts of its arguments must be set. Parsing
// the canonical text gives the same expression. Calls are written as calls, operators in
// parentheses, so that the text shows how the expression was understood.
func (n *node) spell() string {
	var list []string
	for _, arg := range n.args {
		list = append(list, arg.text)
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	switch n.kind {
	case kindNumber:
		return number(n.value)
	case kindColumn:
		return n.name
	case kindStudy:
		return n.study.String()
	case kindNegative:
		return "(-" + list[0] + ")"
	case kindBack:
		return list[0] + "[" + strconv.Itoa(n.n) + "]"
	case kindPlace:
		text := list[0]
		if n.place.Interval != "" {
			text += "@" + n.place.Interval
		}
		if n.place.Symbol != "" {
			text += ":" + strconv.Quote(n.place.Symbol)
		}
		return text
	case kindArithmetic, kindCompare, kindLogic:
		if n.name == "not" {
			return "(not " + list[0] + ")"
		}
		return "(" + list[0] + " " + n.name + " " + list[1] + ")"
	case kindSignal:
		return "signal(" + n.study.String() + ", " + strconv.Quote(n.name) + ")"
	case kindClock:
		if n.zone == nil {
			return n.name
		}
		list = append(list, strconv.Quote(n.zone.String()))
	case kindLine:
		for _, p := range n.points {
			list = append(list, strconv.Quote(time.Unix(p.at, 0).UTC().Format(time.RFC3339)), number(p.y))
		}
	case kindWindow:
		list = append(list, strconv.Itoa(n.n))
	}
	return n.name + "(" + strings.Join(list, ", ") + ")"
}

// within returns the place that p means inside the place around: what p leaves out comes
// from around. In avg(close:ETHUSDT, 3)@1d the column is that of daily bars of ETHUSDT.
func (p Place) within(around Place) Place {
	return Place{cmp.Or(p.Symbol, around.Symbol), cmp.Or(p.Interval, around.Interval)}
}

// collect adds the places under which n and its arguments stand to places, each once. Of
// those at which a column or an indicator is read it adds the way there to ways. A place
// inside another is joined with it, as within does. Way is the way to n.
func (n *node) collect(way []Place, places *[]Place, ways *[][]Place) {
	switch n.kind {
	case kindPlace:
		p := n.place
		if len(way) > 0 {
			p = p.within(way[len(way)-1])
		}
		way = append(slices.Clone(way), p)
		if !slices.Contains(*places, p) {
			*places = append(*places, p)
		}
	case kindColumn, kindStudy, kindSignal, kindClock, kindLine:
		known := slices.ContainsFunc(*ways, func(w []Place) bool { return slices.Equal(w, way) })
		if len(way) > 0 && !known {
			*ways = append(*ways, way)
		}
	}
	for _, arg := range n.args {
		arg.collect(way, places, ways)
	}
}

// warmup notes in need how many bars n needs if its value of back bars ago is used. A value
// of another place is read there for the same moment, so back starts again at 0 with each
// place.
func (n *node) warmup(around Place, interval string, back int, need map[Place]int) {
	need[around] = max(need[around], back)
	switch n.kind {
	case kindStudy, kindSignal:
		need[around] = max(need[around], back+n.study.Warmup(cmp.Or(around.Interval, interval)))
	// Arguments are read further back: by the bars of the look back or the window, by one
	// for a cross, and by MaxBack for since.
	case kindBack, kindWindow:
		back += n.n
	case kindCross:
		back++
	case kindSince:
		back += MaxBack
	case kindPlace:
		around, back = n.place.within(around), 0
	}
	for _, arg := range n.args {
		arg.warmup(around, interval, back, need)
	}
}

// walk calls f with n and, if f returns true, walks its arguments.
func (n *node) walk(f func(*node) bool) {
	if !f(n) {
		return
	}
	for _, arg := range n.args {
		arg.walk(f)
	}
}
