package rules

import (
	"maps"
	"math"
)

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

// drift says what becomes of a value if the bars begin elsewhere. A running sum such as obv
// is then higher or lower by a constant on every bar, and a running product such as nvi is
// multiplied by one. A drift has, for each running total, how often that constant is added
// to the value, or how often the value is multiplied by it. It is empty if the value stays
// the same.
type drift map[string]int

// plus returns d with times e added to it.
func (d drift) plus(e drift, times int) drift {
	sum := drift{}
	maps.Copy(sum, d)
	for total, n := range e {
		if sum[total] += times * n; sum[total] == 0 {
			delete(sum, total)
		}
	}
	return sum
}

// drift returns that of the number n on the bars of a place, of running products or of
// running sums. It is not ok if n depends on where the bars begin in another way, as a sum
// divided by the close does.
func (n *node) drift(around Place, products bool) (d drift, ok bool) {
	switch {
	case n.kind == kindPlace:
		return n.args[0].drift(n.place.within(around), products)
	case n.kind == kindStudy:
		if total, product := n.study.Total(); total != "" && product == products {
			d = drift{total + around.String(): 1}
		}
		return d, true
	case n.kind == kindSince || n.isCondition():
		return nil, true // checkTotals looks at the comparisons in it
	}
	list := make([]drift, max(len(n.args), 2)) // a missing argument is like a number
	alike := true
	for i, arg := range n.args {
		if list[i], ok = arg.drift(around, products); !ok {
			return nil, false
		}
		alike = alike && maps.Equal(list[i], list[0])
	}
	more, less := "+", "-"
	if products {
		more, less = "*", "/"
	}
	switch n.name {
	case more:
		return list[0].plus(list[1], 1), true
	case less:
		return list[0].plus(list[1], -1), true
	case "highest", "lowest", "avg", "min", "max":
		return list[0], alike
	case "change":
		if !products {
			return nil, true
		}
	}
	// Whatever else is done with a product keeps a factor that all its arguments have. With a
	// sum nothing else can be done but to look back.
	return list[0], alike && (products || n.kind == kindBack || len(list[0]) == 0)
}

// checkTotals returns an error if a condition in n depends on a study that runs from the
// first bar, or a comparison or a cross on the level of a running total. It would be true on
// one chart and false on another that shows the same bar. A product may be compared with 0,
// which a factor leaves as it is.
func (n *node) checkTotals(around Place) error {
	if n.kind == kindPlace {
		around = n.place.within(around)
	}
	if n.kind.condition() {
		if err := n.checkEndless(); err != nil {
			return err
		}
	}
	if n.kind == kindCompare || n.kind == kindCross {
		for _, products := range []bool{false, true} {
			a, known := n.args[0].drift(around, products)
			b, knownToo := n.args[1].drift(around, products)
			zero := products && (n.args[0].text == "0" || n.args[1].text == "0")
			if !known || !knownToo || !zero && !maps.Equal(a, b) {
				total := n.total(products)
				return mistake(n.at, "%s is a running total from the first bar loaded, so its level means nothing: compare it with itself, as in %s > avg(%s, 20) or change(%s, 10) > 0", total, total, total, total)
			}
		}
	}
	for _, arg := range n.args {
		if err := arg.checkTotals(around); err != nil {
			return err
		}
	}
	return nil
}

// Level returns an error if the number e depends on where the bars begin, as the level of
// a running total does: markets cannot be ranked by it.
func (e *Expr) Level() error {
	if err := e.root.checkEndless(); err != nil {
		return err
	}
	for i, moved := range []string{"change(%[1]s, 10)", "%[1]s / %[1]s[10]"} { // of sums and of products
		if d, known := e.root.drift(Place{}, i == 1); !known || len(d) > 0 {
			return mistake(e.root.at, "%[1]s is a running total from the first bar loaded, so its level means nothing: take how it moved, as in "+moved, e.root.total(i == 1))
		}
	}
	return nil
}

// checkEndless returns an error if n reads a study that runs from the first bar.
func (n *node) checkEndless() (err error) {
	n.walk(func(arg *node) bool {
		if arg.study != nil && arg.study.Endless() != "" {
			err = mistake(arg.at, "%s runs from the first bar loaded, so its values depend on how many bars there are: set %s", arg.study, arg.study.Endless())
		}
		return err == nil
	})
	return err
}

// total returns the text of the last running product or running sum in n.
func (n *node) total(products bool) (text string) {
	n.walk(func(arg *node) bool {
		if arg.kind == kindStudy {
			if name, product := arg.study.Total(); name != "" && product == products {
				text = arg.text
			}
		}
		return true
	})
	return text
}
