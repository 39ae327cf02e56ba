// Package rules is a small language for conditions and formulas on bars:
//
//	rsi(14) < 30 and close > ema(200)@1d
//	crosses_above(macd(12, 26, 9).macd, macd(12, 26, 9).signal)
//	(close - lowest(low, 20)) / (highest(high, 20) - lowest(low, 20))
//
// [Parse] turns text into an [Expr], or returns an error with the column of the
// mistake. An Expr is evaluated over [Bars], one value per bar;
// [Expr.Warmup] says how much history that needs.
//
// # The language
//
// There are numbers and conditions. Numbers are the columns open, high, low,
// close, volume, hl2, hlc3 and ohlc4, the clock of a bar (hour, weekday …), lines of the
// indicators of the catalogue (ema(200), bbands(length=20, mult=2).upper), constants, and the
// results of + - * / % and of functions. Conditions are comparisons, crosses_above,
// crosses_below and signal, joined by and, or and not. x[3] is x three bars
// ago. x@1d is x on daily bars and x:ETHUSDT is x on another market: both use
// closed bars only, so a bar never knows more than was known when it closed.
//
// A value that is not known yet (an indicator that has too few bars) is unknown,
// and so is everything computed from it, unless its value makes no difference:
// "false and unknown" is false, "true or unknown" is true. An unknown condition
// counts as not true.
//
// Values that differ by no more than [kernel.Rounding] are equal, and their difference is
// exactly 0.
//
// There are no loops, no variables and no state, so every expression ends, and
// the same bars always give the same values.
//
// # Security considerations
//
// Text comes from language models and so from anybody. It is at most [MaxText]
// characters and [MaxNodes] operations and operands, nests at most [MaxNodes] deep, looks
// back at most [MaxBack] bars at a time and reaches at most [MaxOthers] other
// markets and intervals.
package rules

import (
	"errors"
	"fmt"
	"time"
)

// The bounds of an expression.
const (
	MaxText   = 400 // characters
	MaxNodes  = 100 // constants, columns, calls and operators
	MaxBack   = 500 // bars of one window or one look back
	MaxOthers = 4   // other markets and intervals
)

// Error is a mistake in an expression, and where it is. The text is shown to the author of
// the expression, so it says what would be right.
type Error struct {
	Column int // of the text, from 1, in characters
	Text   string
}

// Error returns the mistake with its column.
func (e *Error) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Text) }

// mistake returns an Error at a column counted from 0, as in tokens.
func mistake(at int, format string, args ...any) error {
	return &Error{at + 1, fmt.Sprintf(format, args...)}
}

// column returns the column of a mistake, or 0 if err is not an Error.
func column(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Column
	}
	return 0
}

// Place is another market, another interval or both. An empty field means the
// chart's own.
type Place struct{ Symbol, Interval string }

// String writes p as it follows a value in an expression, such as @1d or
// :ETHUSDT@1d.
func (p Place) String() string {
	text := ""
	if p.Symbol != "" {
		text = ":" + p.Symbol
	}
	if p.Interval != "" {
		text += "@" + p.Interval
	}
	return text
}

// Catalogue knows the indicators, intervals and markets that an expression may name.
type Catalogue interface {
	// Study checks a call such as bbands(length=20, mult=2).upper and returns the
	// indicator with all its parameters. Name and line are in lower case; line is empty
	// if none was named. The error is shown to the author of the expression.
	Study(name string, args []Arg, line string) (Study, error)
	// Interval checks the name of an interval and returns its canonical form.
	Interval(name string) (string, error)
	// Symbol checks the name of a market and returns its canonical form.
	Symbol(name string) (string, error)
	// Time reads a moment, in UTC unless it says otherwise, and returns it in unix seconds.
	Time(text string) (int64, error)
}

// Arg is an argument of an indicator: a number, or a text such as a choice.
type Arg struct {
	Name string // empty if it was given by position
	Text string // the value as JSON
}

// Study is an indicator with all its parameters, and one of its lines.
type Study interface {
	// String returns the canonical call.
	String() string
	// Warmup returns how many bars of an interval, empty for the chart's own, the study
	// needs before the first bar whose value is used.
	Warmup(interval string) int
	// Signals returns the labels of the signals that the study may emit.
	Signals() []string

	// Silent returns which parameter keeps the study from ever emitting one of its
	// signals, and the value that it needs, such as "divergence to all"; "" if none does.
	Silent(label string) string
	// HasLine reports whether the study has values; some only emit signals.
	HasLine() bool
	// Total names the running total that the lines of the study follow, "" if there is
	// none, and says whether it is a product and not a sum. Its level depends on where the
	// bars begin.
	Total() (name string, product bool)
	// Endless returns which parameter makes the study run from the first bar, and the value
	// that it needs, such as "anchor to day"; "" if none does. All its values then depend on
	// where the bars begin.
	Endless() (set string)
}

// Bars is what an expression is evaluated over.
type Bars interface {
	Len() int
	// Column returns open, high, low, close, volume, hl2, hlc3 or ohlc4.
	Column(name string) []float64
	// Opened returns when each bar opened, in unix seconds, and the zone of the exchange,
	// by whose clock it is read.
	Opened() ([]int64, *time.Location)
	// Line returns the line of a study, NaN where it is not known.
	Line(s Study) []float64
	// Signal returns 1 at bars where the study emits the label, else 0.
	Signal(s Study, label string) []float64
	// Other returns the bars of another place and, for each of ours, the index
	// of the newest of them that was closed when ours closed, -1 if there is
	// none.
	Other(p Place) (Bars, []int)
}

// Expr is an expression that was read and checked. It can be evaluated over any bars,
// and by several goroutines at once.
type Expr struct {
	root   *node
	others [][]Place
	source string // as it was written, with single blanks
	silent error  // see Silent
}

// Silent returns an error if a part of the expression has no effect: a signal that its
// indicator never emits with these parameters, or one of two markets or intervals after the
// same value; or if a comparison says the same on every bar because since counts no further
// than [MaxBack]. It does so as well if the expression depends on the level of a running
// total, which means nothing, or on a study that runs from the first bar loaded. The error says
// where, and what to write instead. Parse accepts all these, since expressions that an
// earlier version accepted must still be read.
func (e *Expr) Silent() error { return e.silent }

// Condition reports whether the expression is a condition and not a number.
func (e *Expr) Condition() bool { return e.root.isCondition() }

// String returns the canonical text of the expression: expressions that differ only in
// blanks, case and superfluous parentheses have the same text.
func (e *Expr) String() string { return e.root.text }

// Source returns the expression as it was written, with single blanks between its words.
func (e *Expr) Source() string { return e.source }

// Others returns the ways to the other markets and intervals whose values the expression
// reads, each once. The last place of a way is the one that is read, and those before it
// are the places through which it is reached: avg(close:ETHUSDT, 3)@1d goes through the
// chart's own days, each of which reads the newest day of ETHUSDT that had closed.
func (e *Expr) Others() [][]Place { return e.others }

// Studies returns the indicators that the expression reads, each once.
func (e *Expr) Studies() []Study {
	var list []Study
	seen := make(map[string]bool)
	e.root.walk(func(n *node) bool {
		if n.study != nil && !seen[n.study.String()] {
			seen[n.study.String()] = true
			list = append(list, n.study)
		}
		return true
	})
	return list
}

// Operands returns the values that the expression compares, each once and without
// constants: for "rsi(14) < 30 and close > ema(200)" they are rsi(14), close and ema(200).
// Comparisons on the bars of another place are left out. The facts of a rule show the
// values of the operands.
func (e *Expr) Operands() []*Expr {
	var list []*Expr
	seen := make(map[string]bool)
	e.root.walk(func(n *node) bool {
		for _, arg := range n.args {
			compared := n.kind == kindCompare || n.kind == kindCross
			if compared && arg.kind != kindNumber && !seen[arg.text] {
				seen[arg.text] = true
				list = append(list, &Expr{root: arg, source: arg.text})
			}
		}
		return n.kind != kindPlace
	})
	return list
}

// Slopes returns how much the drawn lines of the expression rise in a day, as they are written: they
// are straight in time, whatever the length of a bar.
func (e *Expr) Slopes() (slopes []float64) {
	e.root.walk(func(n *node) bool {
		if n.kind == kindLine {
			a, b := n.points[0], n.points[1]
			slopes = append(slopes, (b.y-a.y)/float64(b.at-a.at)*24*3600)
		}
		return true
	})
	return slopes
}

// Warmup returns, for each place, how many bars are needed before the first bar for which
// the expression is computed. The zero Place stands for the chart's own bars, whose
// interval is given.
func (e *Expr) Warmup(interval string) map[Place]int {
	need := make(map[Place]int)
	e.root.warmup(Place{}, interval, 0, need)
	return need
}
