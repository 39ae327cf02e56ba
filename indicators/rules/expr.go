package rules

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

// Warmup returns, for each place, how many bars are needed before the first bar for which
// the expression is computed. The zero Place stands for the chart's own bars, whose
// interval is given.
func (e *Expr) Warmup(interval string) map[Place]int {
	need := make(map[Place]int)
	e.root.warmup(Place{}, interval, 0, need)
	return need
}
