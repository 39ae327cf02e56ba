package rules

// Expr is an expression that was read and checked. It can be evaluated over any bars,
// and by several goroutines at once.
type Expr struct {
	root   *node
	others []Place
	source string // as it was written, blanks around it taken off
	silent error  // see Silent
}

// Silent returns where the expression has a signal that never comes with the parameters
// of its indicator, or a value with two markets or intervals, of which one is without
// effect, and what to write instead; nil if it has neither. Parse takes both all the
// same: what an earlier version accepted must still be read.
func (e *Expr) Silent() error { return e.silent }

// Condition reports whether the expression is a condition and not a number.
func (e *Expr) Condition() bool { return e.root.isCondition() }

// String writes the expression in one canonical way: two that are equal but for
// blanks, case and superfluous parentheses give the same text.
func (e *Expr) String() string { return e.root.text }

// Source returns the expression as it was written.
func (e *Expr) Source() string { return e.source }

// Others returns the other markets and intervals that the expression reads.
func (e *Expr) Others() []Place { return e.others }

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

// Operands returns what the expression compares, each once and without constants: of
// "rsi(14) < 30 and close > ema(200)" it is rsi(14), close and ema(200). What is
// compared on another place's bars is left out. The facts of a rule show their
// values.
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

// Warmup returns how many bars are needed before the first one that is looked
// at: under the zero Place of the chart's own, whose interval is given, under the
// others of theirs.
func (e *Expr) Warmup(interval string) map[Place]int {
	need := make(map[Place]int)
	e.root.warmup(Place{}, interval, 0, need)
	return need
}
