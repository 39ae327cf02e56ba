package rules

import "math"

// since counts at most MaxBack bars, so a comparison with a larger number says the same on
// every bar: an alert on it would never fire, or at once. Such comparisons are found by the
// range of values that each side can have.

// bounds returns the least and the greatest value that n can have. Only counts of since, clocks
// and what is computed of them and of constants is bounded.
func (n *node) bounds() (lo, hi float64) {
	switch n.kind {
	case kindNumber:
		return n.value, n.value
	case kindSince:
		return 0, MaxBack + 1
	case kindClock:
		return clocks[n.name].lo, clocks[n.name].hi
	case kindBack, kindPlace:
		return n.args[0].bounds()
	case kindNegative:
		lo, hi = n.args[0].bounds()
		return -hi, -lo
	case kindArithmetic, kindSeveral, kindWindow:
		lo, hi = n.args[0].bounds()
		for _, arg := range n.args[1:] {
			l, h := arg.bounds()
			lo, hi = n.combined(lo, hi, l, h)
		}
		if len(n.args) == 1 {
			lo, hi = n.ofOne(lo, hi)
		}
		if lo <= hi { // not NaN, as 0 times infinity is
			return lo, hi
		}
	}
	return math.Inf(-1), math.Inf(1)
}

// combined returns the bounds of what n makes of two values with these bounds.
func (n *node) combined(lo, hi, l, h float64) (float64, float64) {
	f := operators[n.name]
	switch n.name {
	case "min":
		return min(lo, l), min(hi, h)
	case "max":
		return max(lo, l), max(hi, h)
	case "%":
		return math.Inf(-1), math.Inf(1)
	case "/":
		if l <= 0 && h >= 0 {
			return math.Inf(-1), math.Inf(1)
		}
	}
	// The rest is monotonic in both values, so the extremes are at the ends.
	ends := []float64{f(lo, l), f(lo, h), f(hi, l), f(hi, h)}
	least, most := ends[0], ends[0]
	for _, y := range ends {
		least, most = min(least, y), max(most, y)
	}
	return least, most
}

// ofOne returns the bounds of what n makes of a value, or of several bars of it.
func (n *node) ofOne(lo, hi float64) (float64, float64) {
	switch n.name {
	case "abs":
		return max(0, lo, -hi), max(-lo, hi)
	case "sum":
		return lo * float64(n.n), hi * float64(n.n)
	case "change":
		return lo - hi, hi - lo
	}
	return lo, hi
}

// checkCounts returns an error if a comparison or a cross in n says the same on every bar
// because a count of since, or a clock, is bounded.
func (n *node) checkCounts() (err error) {
	n.walk(func(c *node) bool {
		always, of := c.decided(), c.counts()
		switch {
		case err != nil || always == "" || of == nil:
		case of.kind == kindSince:
			err = mistake(c.at, "%s is %s: since counts to %d bars, and %d stands for more", c.text, always, MaxBack, MaxBack+1)
		default:
			err = mistake(c.at, "%s is %s: %s is %v to %v", c.text, always, of.text, clocks[of.name].lo, clocks[of.name].hi)
		}
		return err == nil
	})
	return err
}

// decided returns "always true" or "never true" if the bounds of its two sides decide the
// comparison or cross n, and "" otherwise.
func (n *node) decided() string {
	if n.kind != kindCompare && n.kind != kindCross {
		return ""
	}
	lo, hi := n.args[0].bounds()
	l, h := n.args[1].bounds()
	is, cross := outcomes[n.name], n.kind == kindCross
	switch crossings[n.name] { // the comparison that becomes true in a crossing
	case 1:
		is = outcomes[">"]
	case -1:
		is = outcomes["<"]
	}
	// Which of less, equal and greater can happen at all.
	can := [3]bool{lo < h, lo <= h && l <= hi, hi > l}
	never, always := true, true
	for i, possible := range can {
		never = never && !(possible && is[i] == 1)
		always = always && !(possible && is[i] == 0)
	}
	switch {
	case never, always && cross: // what is always above comes from nowhere
		return "never true"
	case always:
		return "always true"
	}
	return ""
}

// counts returns the count of since, or the clock, that n itself compares, and not those in
// conditions whose values it compares; nil if there is none.
func (n *node) counts() (found *node) {
	for _, arg := range n.args {
		arg.walk(func(x *node) bool {
			if x.kind == kindSince || x.kind == kindClock {
				found = x
			}
			return !x.isCondition() && x.kind != kindSince
		})
	}
	return found
}

// Bounds returns the range that the values of e never leave, and false if there is none.
func (e *Expr) Bounds() (lo, hi float64, ok bool) {
	if e.Condition() {
		return 0, 1, true
	}
	lo, hi = e.root.bounds()
	return lo, hi, !math.IsInf(lo, 0) && !math.IsInf(hi, 0)
}
