package rules

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/internal/limit"
)

// parser reads tokens and builds checked nodes, so that a mistake is reported with its
// place before anything is evaluated. It looks one token ahead; only sma and the words of a
// cross need more.
type parser struct {
	tokens    []token
	at        int // index of the next token
	nodes     int
	err       error // the first mistake, after which the text counts as ended
	silent    error // the first part without effect, see [Expr.Silent]
	catalogue Catalogue
}

// Parse reads an expression and checks it against the catalogue. The error says what was
// expected, and at which character.
func Parse(text string, c Catalogue) (*Expr, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, catalogue: c}
	root := p.or()
	if t := p.peek(); t.kind != tokenEnd {
		if market := p.unquoted(p.at); market != "" {
			p.fail(t.at, "%s is not expected here; a market with other characters stands in quotes, as in close:%q", t.spelled(), market)
		}
		p.fail(t.at, "%s is not expected here; %s", t.spelled(), cmp.Or(advice[t.text], "join conditions with and, or"))
	}
	if p.err != nil {
		return nil, p.err
	}
	e := &Expr{root: root, source: strings.Join(strings.Fields(text), " "), silent: p.silent}
	var places []Place
	root.collect(nil, &places, &e.others)
	if len(places) > MaxOthers {
		return nil, mistake(0, "%d other markets and intervals: at most %d are read", len(places), MaxOthers)
	}
	if e.silent == nil {
		e.silent = cmp.Or(root.checkCounts(), root.checkTotals(Place{}))
	}
	return e, nil
}

// fail notes a mistake unless there was one before, and ends the text: what reads on finds
// nothing there, and what it makes is never used. It returns a node for the callers to return.
func (p *parser) fail(at int, format string, args ...any) *node {
	if p.err == nil {
		p.err = mistake(at, format, args...)
	}
	p.at = len(p.tokens) - 1
	return &node{}
}

// peek returns the next token without moving on.
func (p *parser) peek() token { return p.tokens[p.at] }

// take returns the next token and moves on; it does not move past the end.
func (p *parser) take() token {
	t := p.peek()
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// accept takes the next token if it is one of these marks or names. A text in quotes
// is never taken for an operator.
func (p *parser) accept(texts ...string) (token, bool) {
	t := p.peek()
	if (t.kind == tokenMark || t.kind == tokenName) && slices.Contains(texts, t.text) {
		return p.take(), true
	}
	return t, false
}

// expect takes the next token, which must be text. Otherwise the mistake says what was
// expected and why.
func (p *parser) expect(text, why string) {
	if t, ok := p.accept(text); !ok {
		if advised := advice[t.text]; advised != "" {
			p.fail(t.at, "%s is not expected here; %s", t.spelled(), advised)
		}
		p.fail(t.at, "%s is expected here %s, not %s", text, why, t.spelled())
	}
}

// spelled returns a token as errors name it.
func (t token) spelled() string {
	if t.kind == tokenEnd {
		return "the end"
	}
	return strconv.Quote(limit.Clip(t.text))
}

// node counts a node and sets its canonical text. There may be too many; all nodes are made
// here, so the bound holds for every text.
func (p *parser) node(n node) *node {
	if p.nodes++; p.nodes > MaxNodes {
		return p.fail(n.at, "more than %d numbers, columns, calls and operators together", MaxNodes)
	}
	n.text = n.spell()
	return &n
}

// number notes a mistake if n, an operand of the token of, is not a number; condition if it is
// not a condition.
func (p *parser) number(n *node, of token) {
	if n.isCondition() {
		p.fail(n.at, "%s is a condition, but %s needs a number", limit.Clip(n.text), of.text)
	}
}
func (p *parser) condition(n *node, of token) {
	if !n.isCondition() {
		p.fail(n.at, "%s is a number, but %s needs a condition; compare it, as in %s > 0", limit.Clip(n.text), of.text, limit.Clip(n.text))
	}
}

// binary reads operands with next, joined by operators, and groups them from the left. The
// nodes nest as deep as there are operators, which MaxNodes bounds.
func (p *parser) binary(next func() *node, kind nodeKind, check func(*node, token), operators ...string) *node {
	left := next()
	for {
		op, ok := p.accept(operators...)
		if !ok {
			return left
		}
		right := next()
		check(left, op)
		check(right, op)
		left = p.node(node{kind: kind, at: left.at, name: op.text, args: []*node{left, right}})
	}
}

// From here down to primary, each function reads operators that bind tighter than those of
// the one before: or, and, not, comparisons, sums, products, signs, what follows a value,
// and values.
func (p *parser) or() *node  { return p.binary(p.and, kindLogic, p.condition, "or") }
func (p *parser) and() *node { return p.binary(p.not, kindLogic, p.condition, "and") }

// not reads a negation, which may be repeated, or a comparison.
func (p *parser) not() *node {
	op, ok := p.accept("not")
	if !ok {
		return p.comparison()
	}
	// The recursion is bounded by the length of the text: each call takes a token.
	x := p.not()
	p.condition(x, op)
	return p.node(node{kind: kindLogic, at: op.at, name: "not", args: []*node{x}})
}

// comparison reads a sum, or a comparison of two. a < b < c is refused: it would compare a
// condition with a number. "a crosses above b" is a comparison too.
func (p *parser) comparison() *node {
	operators := []string{"<=", ">=", "==", "!=", "<", ">", "="}
	left := p.sum()
	kind := kindCompare
	op, ok := p.accept(operators...)
	if !ok {
		if op, ok = p.crossing(); !ok {
			return left
		}
		kind = kindCross
	}
	if op.text == "=" {
		op.text = "=="
	}
	right := p.sum()
	p.number(left, op)
	p.number(right, op)
	if t, again := p.accept(operators...); again {
		p.fail(t.at, "compare two values at a time: write a < b and b < c")
	}
	return p.node(node{kind: kind, at: left.at, name: op.text, args: []*node{left, right}})
}

// crossing takes the words of a cross between two values, "a crosses above b" or
// "a crosses_above b", and returns them as the name of the function.
func (p *parser) crossing() (token, bool) {
	t := p.peek()
	if t.kind != tokenName {
		return t, false
	}
	words := 1 // there always is a next token, since the end of the text is one
	if way := p.tokens[p.at+1]; way.kind == tokenName && (t.text == "crosses" || t.text == "cross") {
		t.text, words = t.text+way.text, 2
	}
	if t.text = canonical(t.text); t.text != "crosses_above" && t.text != "crosses_below" {
		return t, false
	}
	p.at += words
	return t, true
}

// sum reads sums and differences, product products, quotients and remainders, both from left to
// right.
func (p *parser) sum() *node { return p.binary(p.product, kindArithmetic, p.number, "+", "-") }
func (p *parser) product() *node {
	return p.binary(p.unary, kindArithmetic, p.number, "*", "/", "%")
}

// unary reads signs before a value.
func (p *parser) unary() *node {
	op, ok := p.accept("-", "+")
	if !ok {
		return p.postfix()
	}
	x := p.unary()
	p.number(x, op)
	switch {
	case op.text == "+": // it has no effect and makes no node
		return x
	case x.kind == kindNumber: // a negative constant is not an operation
		x.value = -x.value
		x.text = x.spell()
		return x
	}
	return p.node(node{kind: kindNegative, at: op.at, args: []*node{x}})
}

// postfix reads what may follow a value: [3], @1d, :ETHUSDT.
func (p *parser) postfix() *node {
	x := p.primary()
	for {
		switch t, ok := p.accept("[", "@", ":"); {
		case !ok:
			return x
		case t.text == "[":
			x = p.back(x)
		default:
			x = p.place(x, t)
		}
	}
}

// back reads the number of bars of a look back; x[0] is x.
func (p *parser) back(x *node) *node {
	n := p.count("a look back", 0)
	p.expect("]", "after the number of bars")
	if n == 0 {
		return x
	}
	return p.node(node{kind: kindBack, at: x.at, n: n, args: []*node{x}})
}

// count reads a whole number of bars from least to MaxBack. The bound keeps both the
// work and the history of an expression small.
func (p *parser) count(what string, least int) int {
	t := p.take()
	n, err := strconv.Atoi(t.text)
	if t.kind != tokenNumber || err != nil || n < least || n > MaxBack {
		p.fail(t.at, "%s takes a whole number of bars from %d to %d, not %s", what, least, MaxBack, t.spelled())
	}
	return n
}

// place reads the market or interval that follows a value. Each has its own mark, : or @.
func (p *parser) place(x *node, mark token) *node {
	t := p.take()
	if t.kind != tokenPlace && t.kind != tokenText {
		return p.fail(t.at, "%s is no name of a market or an interval", t.spelled())
	}
	if p.silent == nil && (mark.text == ":" && x.place.Symbol != "" || mark.text == "@" && x.place.Interval != "") {
		p.silent = mistake(mark.at, "a value has one market and one interval: name one, without the exchange before it")
	}
	n := node{kind: kindPlace, at: x.at, args: []*node{x}}
	interval, err := p.catalogue.Interval(t.text)
	switch {
	case mark.text == "@" && err != nil:
		return p.fail(t.at, "%v; another market is written with a colon, as in close:%s", err, limit.Clip(t.text))
	case mark.text == "@":
		n.place.Interval = interval
	case err == nil && t.kind == tokenPlace: // in quotes it may be a market's name
		return p.fail(t.at, "%s is an interval, which is written close@%s", t.text, t.text)
	default:
		if n.place.Symbol, err = p.catalogue.Symbol(t.text); err != nil {
			return p.fail(t.at, "%v", err)
		}
	}
	// A market and an interval after one value are one place: in either order they mean
	// the newest bar there that has closed, and no other bars are read on the way.
	if x.kind == kindPlace {
		n.place, n.args = x.place.within(n.place), x.args
	}
	return p.node(n)
}

// primary reads a number, an expression in parentheses, or something with a name. The
// words and, or and not are not names, so that the error for a missing value before one of
// them says just that.
func (p *parser) primary() *node {
	t := p.take()
	switch {
	case t.kind == tokenNumber:
		return p.node(node{kind: kindNumber, at: t.at, value: p.value("", t)})
	case t.kind == tokenMark && t.text == "(":
		x := p.or()
		p.expect(")", "to close the parenthesis")
		return x
	case t.kind == tokenName && !slices.Contains([]string{"and", "or", "not"}, t.text):
		return p.named(t)
	}
	return p.fail(t.at, "a value is expected here, not %s", t.spelled())
}

// value returns the number that t is, after a sign.
func (p *parser) value(sign string, t token) float64 {
	v, err := strconv.ParseFloat(sign+t.text, 64)
	if err != nil { // too large
		p.fail(t.at, "%s is no number that can be computed with", t.spelled())
	}
	return v
}

// named reads a column, a function or an indicator. Names of the language come before
// those of the catalogue. After "ta." it is the other way round: ta.max is the indicator
// max, and ta.crossover is the function, since there is no such indicator.
func (p *parser) named(t token) *node {
	ours := true // the name may be a function of the language
	if t.text == "ta" {
		p.expect(".", "before the name of an indicator")
		if t = p.take(); t.kind != tokenName {
			return p.fail(t.at, "%s is no name of an indicator", t.spelled())
		}
		_, unknown := p.catalogue.Study(t.text, nil, "")
		ours = unknown != nil
	} else if slices.Contains(columns, t.text) {
		return p.node(node{kind: kindColumn, at: t.at, name: t.text})
	} else if _, ok := clocks[t.text]; ok {
		return p.clock(t)
	}
	if f, ok := functions[canonical(t.text)]; ok && ours {
		t.text = canonical(t.text)
		p.expect("(", "after "+t.text)
		return f(p, t)
	}
	return p.study(t, true)
}

// study reads the arguments of an indicator and, if lines is set, the name of a line. Only
// sma takes computed values, and then it is the function avg. The name is checked after the
// arguments were read. If both are wrong, the mistake is about the name.
func (p *parser) study(t token, lines bool) *node {
	// sma(close - open, 20) is not a call of the indicator, whose arguments are numbers and
	// words. So it is read again as the function avg.
	start := p.at
	args := p.studyArgs(t)
	if wrong := p.err; wrong != nil && t.text == "sma" && lines {
		p.at, p.err = start+1, nil // after the parenthesis, without which there is no mistake
		mean := p.window(token{t.kind, "avg", t.at})
		if p.err == nil || column(p.err) > column(wrong) { // the reading that got further is what was meant
			return mean
		}
		p.err = wrong
	}
	line := ""
	if _, ok := p.accept("."); ok && lines {
		l := p.take()
		if l.kind != tokenName && l.kind != tokenNumber { // ema_stack.200
			return p.fail(l.at, "%s is no name of a line", l.spelled())
		}
		line = l.text
	}
	if p.err != nil {
		if _, unknown := p.catalogue.Study(t.text, nil, ""); unknown != nil { // the name itself is wrong
			p.err = nil
			return p.misnamed(t, "", unknown)
		}
		return &node{}
	}
	s, err := p.catalogue.Study(t.text, args, line)
	if err != nil {
		// If the name without arguments is not known either, the mistake is about the name.
		if _, unknown := p.catalogue.Study(t.text, nil, ""); unknown != nil {
			return p.misnamed(t, line, unknown)
		}
		return p.fail(t.at, "%v", err)
	}
	if lines && !s.HasLine() {
		return p.fail(t.at, "%s draws no line; wait for one of its signals, as in signal(%s, %q)", t.text, s, slices.Concat(s.Signals(), []string{"label"})[0])
	}
	return p.node(node{kind: kindStudy, at: t.at, study: s})
}

// misnamed notes a name that is not known; err says why. If the name is followed by a dot and a
// column or a call, it was meant as a market, and the mistake says how to write that.
func (p *parser) misnamed(t token, line string, err error) *node {
	market := p.unquoted(slices.IndexFunc(p.tokens, func(of token) bool { return of.at == t.at }) - 1)
	switch right := replacements[t.text]; {
	case market != "":
		return p.fail(t.at, "%v; a market with other characters stands in quotes, as in close:%q", err, market)
	case right != "":
		return p.fail(t.at, "unknown indicator %q; write %s", t.text, right) // what err proposes is not meant
	case slices.Contains(columns, line) || line != "" && p.peek().text == "(":
		return p.fail(t.at, "%v; the value of another market is written %s:%s", err, limit.Clip(line), limit.Clip(strings.ToUpper(t.text)))
	}
	return p.fail(t.at, "%v", err)
}

// unquoted returns the market that was meant if the token at index i follows that of a place
// and is followed by another, all without blanks: ETH-USD for the dash in close:ETH-USD. It
// returns "" if there is none.
func (p *parser) unquoted(i int) string {
	if i < 1 || i+1 >= len(p.tokens) || !slices.Contains([]string{"-", "/", "=", "."}, p.tokens[i].text) {
		return ""
	}
	before, sign, after := p.tokens[i-1], p.tokens[i], p.tokens[i+1]
	if before.kind != tokenPlace || after.kind != tokenName || before.at+len(before.text) != sign.at || after.at != sign.at+1 {
		return ""
	}
	return strings.ToUpper(before.text + sign.text + after.text)
}

// studyArgs reads the arguments of the indicator t, such as (20, mult=2, ma_type=ema), if
// there are any.
func (p *parser) studyArgs(t token) (args []Arg) {
	if _, ok := p.accept("("); !ok {
		return nil
	}
	if _, ok := p.accept(")"); ok {
		return nil
	}
	for {
		args = append(args, p.studyArg())
		if _, ok := p.accept(","); ok {
			continue
		}
		// Here often the mean of an expression was meant.
		if end := p.peek(); end.kind != tokenEnd && end.text != ")" {
			p.fail(end.at, "%s is not expected here: %s takes numbers and words, not computed values; the mean of those is avg(x, n)", end.spelled(), t.text)
		}
		p.expect(")", "after the arguments")
		return args
	}
}

// studyArg reads one argument: a number with or without a sign, a word or a text, and
// before it the name of the parameter if one is given.
func (p *parser) studyArg() (a Arg) {
	t := p.take()
	if t.kind == tokenName {
		if _, ok := p.accept("="); ok {
			a.Name, t = t.text, p.take()
		}
	}
	sign := ""
	if t.kind == tokenMark && t.text == "-" {
		sign, t = "-", p.take()
	}
	switch {
	case t.kind == tokenNumber:
		// 14 and 14.0 become the same text, so that two rules with them share their values.
		a.Text = strconv.FormatFloat(p.value(sign, t), 'g', -1, 64)
	case sign == "" && (t.kind == tokenName || t.kind == tokenText):
		b, _ := json.Marshal(t.text) // a text can always be encoded
		a.Text = string(b)
	default:
		p.fail(t.at, "%s is no argument of an indicator: those are numbers and names, not computed values", t.spelled())
	}
	return a
}

// functions are the functions of the language, by name. Each reads what follows the opening
// parenthesis of a call.
var functions map[string]func(p *parser, t token) *node

func init() { // in a literal the compiler would see an initialization cycle through the parser
	window := (*parser).window
	functions = map[string]func(p *parser, t token) *node{
		"highest": window, "lowest": window, "sum": window, "avg": window, "change": window,
		"crosses_above": (*parser).crosses, "crosses_below": (*parser).crosses,
		"abs": (*parser).several, "min": (*parser).several, "max": (*parser).several,
		"since": (*parser).since, "signal": (*parser).signal, "line": (*parser).line,
	}
}

// Names returns the columns, the clocks and the functions of the language.
func Names() []string {
	return slices.Concat(columns, slices.Sorted(maps.Keys(clocks)), slices.Sorted(maps.Keys(functions)))
}

// Builtin reports whether a name belongs to the language. An indicator of that name must
// be written ta.name.
func Builtin(name string) bool {
	return slices.Contains(Names(), canonical(name)) || slices.Contains([]string{"and", "or", "not", "ta"}, name)
}

// window reads highest(x, n) and similar functions; change(x) is change(x, 1).
func (p *parser) window(t token) *node {
	x, n := p.numberArg(t), 1
	if _, ok := p.accept(","); ok {
		n = p.count(t.text, 1)
	} else if t.text != "change" {
		return p.fail(p.peek().at, "%s needs a number of bars, as in %s(%s, 20)", t.text, t.text, limit.Clip(x.text))
	}
	p.expect(")", "after the number of bars")
	return p.node(node{kind: kindWindow, at: t.at, name: t.text, n: n, args: []*node{x}})
}

// numberArg reads an argument that must be a number.
func (p *parser) numberArg(of token) *node {
	x := p.or()
	p.number(x, of)
	return x
}

// args reads the arguments of a function call, which must be numbers.
func (p *parser) args(t token) (list []*node) {
	for {
		list = append(list, p.numberArg(t))
		if _, ok := p.accept(","); !ok {
			p.expect(")", "after the arguments of "+t.text)
			return list
		}
	}
}

// crosses reads crosses_above(a, b) and crosses_below(a, b).
func (p *parser) crosses(t token) *node {
	args := p.args(t)
	if len(args) != 2 {
		return p.fail(t.at, "%s takes two values, as in %s(close, ema(20))", t.text, t.text)
	}
	return p.node(node{kind: kindCross, at: t.at, name: t.text, args: args})
}

// several reads abs(x), min(a, b, …) and max(a, b, …).
func (p *parser) several(t token) *node {
	args := p.args(t)
	switch {
	case t.text == "abs" && len(args) != 1:
		return p.fail(t.at, "abs takes one value")
	case t.text != "abs" && len(args) < 2:
		hint := map[string]string{"min": "lowest", "max": "highest"}[t.text]
		return p.fail(t.at, "%s takes two values or more; over bars it is %s(x, n), and the indicator is ta.%s", t.text, hint, t.text)
	}
	return p.node(node{kind: kindSeveral, at: t.at, name: t.text, args: args})
}

// since reads since(condition).
func (p *parser) since(t token) *node {
	x := p.or()
	p.condition(x, t)
	p.expect(")", "after the condition")
	return p.node(node{kind: kindSince, at: t.at, name: t.text, args: []*node{x}})
}

// clock reads hour, or hour("America/New_York"), and the like.
func (p *parser) clock(t token) *node {
	n := node{kind: kindClock, at: t.at, name: t.text}
	if _, ok := p.accept("("); ok {
		name := p.take()
		zone, err := time.LoadLocation(name.text)
		if name.kind != tokenText || err != nil || name.text == "" || name.text == "Local" { // that of this machine
			return p.fail(name.at, "%s takes the name of a time zone, as in %s(\"America/New_York\"), not %s; without one it is that of the exchange", t.text, t.text, name.spelled())
		}
		p.expect(")", "after the time zone")
		n.zone = zone
	}
	return p.node(n)
}

// line reads line("2026-11-01T00:00", 100, "2026-11-10T00:00", 120).
func (p *parser) line(t token) *node {
	n := node{kind: kindLine, at: t.at, name: t.text}
	for i := range n.points {
		if i > 0 {
			p.expect(",", "between the two points")
		}
		text := p.take()
		at, err := p.catalogue.Time(text.text)
		if text.kind != tokenText || err != nil {
			return p.fail(text.at, `line takes a time, a price, a later time and a price, as in line("2026-11-01T00:00", 100, "2026-11-10T00:00", 120), not %s`, text.spelled())
		}
		if i > 0 && at <= n.points[0].at {
			return p.fail(text.at, "the second point of a line must be later than the first")
		}
		p.expect(",", "after the time of a point")
		price := p.unary()
		if price.kind != kindNumber {
			return p.fail(price.at, "%s is computed: the price of a point is a number", limit.Clip(price.text))
		}
		n.points[i] = point{at, price.value}
	}
	p.expect(")", "after the second point")
	return p.node(n)
}

// signal reads signal(rsi(14), "bull_div").
func (p *parser) signal(t token) *node {
	name := p.take()
	if name.text == "ta" {
		if _, ok := p.accept("."); ok {
			name = p.take()
		}
	}
	if name.kind != tokenName {
		return p.fail(name.at, `signal takes an indicator and a label, as in signal(rsi(14), "bull_div")`)
	}
	s := p.study(name, false)
	if s.study == nil {
		return s
	}
	p.expect(",", "after the indicator")
	label := p.take()
	if label.kind != tokenText && label.kind != tokenName || !slices.Contains(s.study.Signals(), label.text) {
		return p.fail(label.at, "%s is no signal of %s; it has %s", label.spelled(), s.text, strings.Join(s.study.Signals(), ", "))
	}
	if set := s.study.Silent(label.text); set != "" && p.silent == nil {
		p.silent = mistake(label.at, "with these parameters %s never emits %s: set %s", s.text, label.spelled(), set)
	}
	p.expect(")", "after the label")
	return p.node(node{kind: kindSignal, at: t.at, name: label.text, study: s.study})
}
