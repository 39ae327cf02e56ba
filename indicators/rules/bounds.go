package rules

import "math"

// since counts at most MaxBack bars, and a clock shows so many hours, so a comparison with a
// number beyond that says the same on every bar: an alert on it would never fire, or at once.

// bounds returns the count of since or the clock that n is, perhaps some bars ago or elsewhere,
// and the least and the greatest value that it can have; nil if n is neither.
func (n *node) bounds() (of *node, lo, hi float64) {
	switch n.kind {
	case kindSince:
		return n, 0, MaxBack + 1
	case kindClock:
		return n, clocks[n.name].lo, clocks[n.name].hi
	case kindBack, kindPlace:
		return n.args[0].bounds()
	}
	return nil, 0, 0
}

// checkCounts returns an error if a comparison or a cross in n says the same on every bar
// because a count of since, or a clock, is bounded.
func (n *node) checkCounts() (err error) {
	n.walk(func(c *node) bool {
		if c.kind != kindCompare && c.kind != kindCross || err != nil {
			return err == nil
		}
		for i, arg := range c.args {
			of, lo, hi := arg.bounds()
			to := c.args[1-i]
			if of == nil || to.kind != kindNumber {
				continue
			}
			always := c.decided([3]bool{lo < to.value, lo <= to.value && to.value <= hi, hi > to.value}, i == 1)
			switch {
			case always == "":
			case of.kind == kindSince:
				err = mistake(c.at, "%s is %s: since counts to %d bars, and %d stands for more", c.text, always, MaxBack, MaxBack+1)
			default:
				err = mistake(c.at, "%s is %s: %s is %v to %v", c.text, always, of.text, lo, hi)
			}
		}
		return err == nil
	})
	return err
}

// decided returns "always true" or "never true" if it follows from which of less, equal and
// greater can happen, and "" otherwise. The other way round the two sides are exchanged.
func (n *node) decided(can [3]bool, round bool) string {
	is, cross := outcomes[n.name], n.kind == kindCross
	switch crossings[n.name] { // the comparison that becomes true in a crossing
	case 1:
		is = outcomes[">"]
	case -1:
		is = outcomes["<"]
	}
	if round {
		can[0], can[2] = can[2], can[0]
	}
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

// Bounds returns the range that the values of e never leave, and false if it is not known.
func (e *Expr) Bounds() (lo, hi float64, ok bool) {
	if e.Condition() {
		return 0, 1, true
	}
	of, lo, hi := e.root.bounds()
	return lo, hi, of != nil && !math.IsInf(hi, 0)
}
