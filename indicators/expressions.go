package indicators

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"wick/indicators/kernel"
	"wick/indicators/rules"
	"wick/internal/limit"
	"wick/market"
)

// expressions take texts in the language of package rules.
var expressions = []Indicator{
	{Name: "rule", Title: "Rule", Also: "condition conditions alert_rule", Category: Rules, Traits: Overlay,
		Doc: "A condition of your own, such as rsi(14) < 30 and close > ema(200)@1d: shaded where it is true, with a signal where that begins and ends. " +
			"Indicators are functions: macd(12,26,9).signal, signal(rsi(14), \"bull_div\"); ema(50) crosses above ema(200); x[3] looks back, @1d reads the newest closed day, close:ETHUSDT another market. An unknown value is not true.",
		Formula: "becomes_true: when is true and was not true on the bar before",
		Params:  []Param{condition("when", "rsi(14) < 30", "the condition, such as close crosses above ema(20); list_indicators names [rule] teaches the language", "condition", "rule", "expr", "expression", "if")},
		Events:  []Event{emits(BecomesTrue, BecomesFalse)}, Memory: Memory{seconds: expressionHistory},
		// A condition that is not known shades nothing.
		Draw: func(in Input) *Result {
			v, when := in.evaluator(in.Series), in.exprs["when"][0]
			values := v.Values(when)
			r := &Result{Shaded: make([]bool, len(values))}
			flips, total := turns(values)
			r.Signals = make([]Signal, 0, total) // at once: a thousand alerts do this on every bar
			for i, turn := range flips {
				r.Shaded[i] = values[i] == 1
				// The end is silent: a chart that shades the bars shows it already.
				switch turn {
				case 1:
					r.Signals = append(r.Signals, Mark(i, in.Close[i], BecomesTrue, Up))
				case -1:
					r.Signals = append(r.Signals, Signal{Bar: i, Y: in.Close[i], Label: BecomesFalse, Tone: Down, Silent: true})
				}
			}
			if len(values) > 0 && in.memo == nil { // a caller with a memo evaluates many rules and reads no facts
				r.Facts = ruleFacts(in.Series, v, when, values)
			}
			return r
		}},
	{Name: "formula", Title: "Formula", Also: "expression custom_formula", Category: Rules,
		Doc: "Lines of your own, such as close / sma(200) or macd(12,26,9).macd - macd(12,26,9).signal; several stand between semicolons. " +
			"The language is that of rule; a condition is drawn as 1 and 0. Signals are of the first line.",
		Formula: "one value per bar; unknown where a part is unknown or divided by zero",
		Params: []Param{
			{Name: "expr", Aliases: []string{"expression", "formula", "value"}, Doc: "the lines, divided by semicolons", Kind: Expression, Text: "close / sma(50)", Required: true, Many: true},
			quiet(toggle("overlay", false, "drawn over the price: for what is a price itself")),
		},
		Events: []Event{silently(zero(""))}, // of the first line; zero need not mean anything to a formula
		Memory: Memory{seconds: expressionHistory},
		Draw: func(in Input) *Result {
			v := in.evaluator(in.Series)
			r := &Result{Overlay: in.Bool("overlay")}
			for _, e := range in.exprs["expr"] {
				r.Lines = append(r.Lines, Line{Label: e.Source(), Values: v.Values(e)})
			}
			return r
		}},
}

// Language teaches the language of expressions in a few lines.
const Language = rules.Language

// condition returns a parameter that is a condition and must be given.
func condition(name, example, doc string, aliases ...string) Param {
	return Param{Name: name, Aliases: aliases, Doc: doc, Kind: Expression, Text: example, Required: true, Condition: true}
}

// turns returns for each bar 1 if a condition becomes true on it, -1 if it is no longer
// true, and otherwise 0; and how many are not 0. An unknown value counts as not true. But
// the first known value is not a turn, since the values before it are unknown only because
// the history begins there. Rules and backtests both use it.
func turns(values []float64) (at []int8, total int) {
	at = make([]int8, len(values))
	known := false
	for i, x := range values {
		if known && (x == 1) != (values[i-1] == 1) {
			total++
			at[i] = -1
			if x == 1 {
				at[i] = 1
			}
		}
		known = known || x == x
	}
	return at, total
}

// ruleFacts returns whether the rule is true on the newest bar, null if that is not known;
// since which bar; the values that it compares; and which bars of other intervals and
// markets they come from. If no earlier bar is known to be different, "at_least" says that
// it may have been so for longer.
func ruleFacts(s *market.Series, v *rules.Evaluator, when *rules.Expr, values []float64) []Fact {
	last := len(values) - 1
	since, first := runOf(values)
	known := json.RawMessage("null")
	if values[last] == values[last] {
		known = fact(values[last] == 1)
	}
	facts := []Fact{
		{Name: "true", Value: known},
		{Name: "since", Value: fact(date(s.Time[since]))},
		{Name: "bars", Value: fact(last - since + 1)},
	}
	if since == first {
		facts = append(facts, Fact{Name: AtLeast, Value: fact(true)})
	}
	for _, e := range when.Operands() {
		facts = append(facts, Fact{Name: e.String(), Value: AppendValue(nil, v.Values(e)[last])})
	}
	if bars := otherBars(s, when); len(bars) > 0 {
		facts = append(facts, Fact{Name: OtherBars, Value: fact(bars)})
	}
	return facts
}

// runOf returns since, the first bar of the run of equal values that the newest bar ends,
// and first, the first bar with a known value; both are 0 if there is none. The run does not
// reach back beyond first, since the values before it are unknown only because the history
// begins there. After first an unknown value counts as not true.
func runOf(values []float64) (since, first int) {
	first = kernel.FirstValid(values)
	if first == len(values) {
		return 0, 0
	}
	since = len(values) - 1
	for since > first && (values[since-1] == 1) == (values[len(values)-1] == 1) {
		since--
	}
	return since, first
}

// AtLeast is the name of the fact that says that a rule has had its value on all bars that
// are known, so that "since" and "bars" are minimums and not exact.
const AtLeast = "at_least"

// OtherBars is the name of the fact that says which bars beside those of the chart
// the newest value of a rule was read from.
const OtherBars = "other_bars"

// otherBars returns, for each other place whose values when reads, the start of the bar
// that the newest bar of s reads there, by the name that when gives the place: the newest
// that was closed by then, or of another market the forming one beside a forming one. A
// place may be reached through another, whose bars then decide, and in several ways; then
// the newest of these bars counts.
func otherBars(s *market.Series, when *rules.Expr) map[string]string {
	bars := make(map[string]string)
	for _, way := range when.Others() {
		bar := s.Slice(s.Len()-1, s.Len())
		for _, p := range way {
			there := s.Other(market.Other{Symbol: p.Symbol, Interval: market.Interval(p.Interval)})
			at := -1
			if bar.Len() > 0 {
				at = newestClosed(bar, there)[0]
			}
			bar = there.Slice(max(at, 0), at+1) // none if at is -1
		}
		if name := way[len(way)-1].String(); bar.Len() > 0 {
			bars[name] = max(bars[name], date(bar.Time[0]))
		}
	}
	return bars
}

// date writes a moment in unix seconds.
func date(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

// fact returns a value of ours as JSON.
func fact(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("indicators: " + err.Error()) // texts and counts always encode
	}
	return text
}

// Expressions of package rules as parameters: the indicators they name, what history
// they need, and the bars they are evaluated over. request.go reads them.

// study is an indicator in an expression, and which of its lines is meant.
type study struct {
	Request
	call string // identifies the request: the same for all its lines
	line string // the key of its label; empty for none
	text string // a call that reads as this study again
}

// settle finds the line that is meant: the first if line is empty, otherwise the one with
// this name, or the only one whose name begins with it, as hist for histogram. Histograms
// count as lines.
func (st *study) settle(line string) error {
	st.call = st.Identity()
	st.text = st.call
	names := st.lineNames()
	for i, name := range names {
		names[i] = lineKey(name)
	}
	at, begins := slices.Index(names, line), func(name string) bool { return strings.HasPrefix(name, line) }
	if first := slices.IndexFunc(names, begins); at < 0 && first >= 0 && (line == "" || !slices.ContainsFunc(names[first+1:], begins)) {
		at = first
	}
	if at < 0 && line != "" {
		return fmt.Errorf("%s has no line %q%s; it has %s", st.Ind.Name, limit.Clip(line), didYouMean(line, names), strings.Join(names, ", "))
	}
	if at >= 0 {
		st.line = names[at]
	}
	// The first line is what the call means by itself and needs no name.
	if at > 0 {
		st.text += "." + st.line
	}
	return nil
}

// lineKey returns how an expression names a line: its label in snake case, with
// the signs written out that tell +DI from -DI.
func lineKey(label string) string {
	for sign, word := range map[string]string{"+": "plus", "-": "minus"} {
		if rest, ok := strings.CutPrefix(label, sign); ok {
			label = word + " " + rest
		}
		if rest, ok := strings.CutSuffix(label, sign); ok {
			label = rest + " " + word
		}
	}
	return snake(label)
}

// What package rules asks of a Study.
func (st *study) String() string    { return st.text }
func (st *study) Signals() []string { return st.Ind.Signals }
func (st *study) HasLine() bool     { return st.line != "" }

// Total returns the name of the entry and of the price that it adds up. The other
// parameters are of averages and signals: all lines of obv(20) and obv(50) follow one total.
func (st *study) Total() (name string, product bool) {
	switch {
	case !st.Ind.IsTotal():
		return "", false
	case st.Ind.index("source") >= 0:
		return st.Ind.Name + " of " + st.Args.Choice("source"), st.Ind.Memory.begins == runningProduct
	}
	return st.Ind.Name, st.Ind.Memory.begins == runningProduct
}

// Warmup returns the warm-up that a chart of the interval loads for it.
func (st *study) Warmup(interval string) int { return st.Request.Warmup(market.Interval(interval)) }

// expressions yields the expressions in the order of their parameters.
func (a Args) expressions() iter.Seq[*rules.Expr] {
	var all []*rules.Expr
	for _, p := range a.ind.Params {
		all = append(all, a.exprs[p.Name]...)
	}
	return slices.Values(all)
}

// history returns, for each place, how many bars the expressions need before the first one
// shown. The zero Place stands for the chart's own bars.
//
// Each number is rounded up to a power of two, so that rules which need about the same
// history start at the same bar and can share what they compute.
func (a Args) history(iv market.Interval) map[rules.Place]int {
	if len(a.exprs) == 0 {
		return nil
	}
	need := a.need(iv)
	// A number beyond what may be loaded stays as it is, so that the caller can see it.
	for place, n := range need {
		if rounded := 1 << bits.Len(uint(max(n, 32)-1)); n <= MaxWarmup {
			need[place] = min(rounded, MaxWarmup)
		}
	}
	return need
}

// expressionHistory is how far the Memory reaches of an entry with expressions: the bars that they need,
// in seconds. It adds one bar, because signals compare a bar with the one before.
func expressionHistory(a Args, iv market.Interval) int64 {
	return int64(a.history(iv)[rules.Place{}]) * iv.Seconds()
}

// Others returns the bars of other markets and intervals that r reads on charts of the
// given interval, in a fixed order. It refuses intervals shorter than the chart's, since
// several of their bars would end within one bar of the chart.
func (r Request) Others(iv market.Interval) ([]market.OtherBars, error) {
	bars := make(map[market.Other]int)
	// Symbols that the indicator compares with, and those of the indicators that are its
	// sources. They need no bars before the chart's first.
	for q := &r; q != nil; q = q.Args.of {
		for _, symbol := range q.Args.texts {
			bars[market.Other{Symbol: symbol}] = 0
		}
	}
	for place, n := range r.Args.history(iv) {
		o := market.Other{Symbol: place.Symbol, Interval: market.Interval(place.Interval)}
		if o.Interval != "" && o.Interval.Seconds() < iv.Seconds() {
			return nil, fmt.Errorf("%w: %s reads %s bars, which are shorter than the %s bars of the chart: choose a shorter interval for the chart or a longer one in the rule",
				errParam, r.Ind.Name, o.Interval, iv)
		}
		if o.Interval == iv {
			o.Interval = ""
		}
		if o != (market.Other{}) {
			bars[o] = max(bars[o], n)
		}
	}
	var list []market.OtherBars
	for _, o := range slices.SortedFunc(maps.Keys(bars), func(a, b market.Other) int {
		return strings.Compare(a.Symbol+"@"+string(a.Interval), b.Symbol+"@"+string(b.Interval))
	}) {
		list = append(list, market.OtherBars{Other: o, Warmup: bars[o], Extra: r.Needs()})
	}
	return list, nil
}

// Needs returns the columns of Series.Extra that r needs: those of its record, of its
// source if that is an indicator, and of the indicators that its expressions name.
func (r Request) Needs() []string {
	needs := slices.Clone(r.Ind.Needs)
	if inner := r.Args.of; inner != nil {
		needs = append(needs, inner.Needs()...)
	}
	for e := range r.Args.expressions() {
		for _, st := range e.Studies() {
			needs = append(needs, st.(*study).Ind.Needs...)
		}
	}
	slices.Sort(needs)
	return slices.Compact(needs)
}

// Studies returns how many indicators the expressions of r name, each counted once in an
// expression.
func (r Request) Studies() (n int) {
	for e := range r.Args.expressions() {
		n += len(e.Studies())
	}
	return n
}

// Known reports whether r has a value on any bar of s. Alerts use it to distinguish a
// condition that is false from one that is not known yet.
func (r Request) Known(s *market.Series) bool {
	known := false
	for e := range r.Args.expressions() {
		known = known || kernel.FirstValid(r.Args.evaluator(s).Values(e)) < s.Len()
	}
	result, lines := r.Compute(s), 0
	for _, values := range columns(result) {
		lines++
		known = known || kernel.FirstValid(values) < s.Len()
	}
	return known || len(r.Args.exprs) == 0 && lines == 0 // candles have signals only
}

// Slopes returns how much the drawn lines in the expressions of r rise in a day.
func (r Request) Slopes() (slopes []float64) {
	for e := range r.Args.expressions() {
		slopes = append(slopes, e.Slopes()...)
	}
	return slopes
}

// With returns r with a memo that it shares with other requests.
func (r Request) With(m Memo) Request {
	r.Args.memo = m
	return r
}

// evaluator returns an evaluator for the bars of s, shared with other requests that
// start at the same bar and read the same other bars. Without a memo each call has an
// evaluator of its own.
func (a Args) evaluator(s *market.Series) *rules.Evaluator {
	need := a.history(s.Interval)
	fresh := func() *rules.Evaluator {
		return rules.NewEvaluator(&expressionBars{s: s, chart: s, need: need, results: make(map[computed]*Result)})
	}
	if a.memo == nil || s.Len() == 0 {
		return fresh()
	}
	// The key contains everything that the values depend on: the bars, the columns loaded
	// for them, and how far back the bars of other places go.
	key := fmt.Sprint(s.Time[0], s.Len(), slices.Sorted(maps.Keys(s.Extra)))
	for _, place := range slices.SortedFunc(maps.Keys(need), func(a, b rules.Place) int {
		return strings.Compare(a.Symbol+"@"+a.Interval, b.Symbol+"@"+b.Interval)
	}) {
		key += fmt.Sprint(" ", place.Symbol, "@", place.Interval, " ", need[place])
	}
	if a.memo[key] == nil {
		a.memo[key] = fresh()
	}
	return a.memo[key]
}

// expressionBars are the bars that expressions are evaluated over; package rules reads
// them through the interface [rules.Bars]. There is one for each place that an expression
// names.
type expressionBars struct {
	s       *market.Series      // of this place
	chart   *market.Series      // the chart's, which knows those of the other places
	need    map[rules.Place]int // bars before the first one of the chart, by place
	place   rules.Place         // what s is, zero for the chart's own
	results map[computed]*Result
}

// computed is an indicator that an expression reads, and whether the result has signals too,
// which take at least as long as the lines.
type computed struct {
	call    string
	signals bool
}

// Len returns the number of bars.
func (b *expressionBars) Len() int { return b.s.Len() }

// Column returns a column of the bars.
func (b *expressionBars) Column(name string) []float64 { return columnOf(b.s, name) }

// Opened returns when the bars opened, and the zone of the exchange. Bars of a day or longer
// begin at midnight UTC of their date.
func (b *expressionBars) Opened() ([]int64, *time.Location) {
	if b.s.Zone == nil || b.s.Interval.Seconds() >= market.Day1.Seconds() {
		return b.s.Time, time.UTC
	}
	return b.s.Time, b.s.Zone
}

// result computes an indicator once, however many of its lines are read.
func (b *expressionBars) result(st *study, signals bool) *Result {
	key := computed{st.call, signals}
	if b.results[key] == nil {
		r := st.Request
		r.Args.linesOnly = !signals
		b.results[key] = r.Compute(b.s)
	}
	return b.results[key]
}

// Line returns the values of the line that the study means.
func (b *expressionBars) Line(s rules.Study) []float64 {
	st := s.(*study)
	for label, values := range columns(b.result(st, false)) {
		if lineKey(label) == st.line {
			return values
		}
	}
	return slices.Repeat([]float64{nan}, b.Len()) // a line that only some bars have
}

// Signal returns 1 on the bars that have a signal with this label.
func (b *expressionBars) Signal(s rules.Study, label string) []float64 {
	out := make([]float64, b.Len())
	for _, signal := range b.result(s.(*study), true).Signals {
		if signal.Label == label {
			out[signal.Bar] = 1
		}
	}
	return out
}

// Other returns the bars of another place, and for each of our bars the index of the newest
// one there that was closed when ours closed. For our forming bar that is the newest one
// closed so far, or of another market at the chart's interval the forming one. If the bars
// of the place were not loaded, there are none.
//
// The bars begin as far before the chart's first bar as the expressions need, however many
// were loaded, so that values do not depend on what else was asked for.
func (b *expressionBars) Other(p rules.Place) (rules.Bars, []int) {
	if p.Symbol == "" {
		p.Symbol = b.place.Symbol
	}
	if p.Interval == "" {
		p.Interval = b.place.Interval
	}
	there := b.chart.Other(market.Other{Symbol: p.Symbol, Interval: market.Interval(p.Interval)})
	at := newestClosed(b.s, there)
	// The bars needed are counted back from the one that the chart's first bar reads.
	if first := newestClosed(b.chart.Slice(0, min(1, b.chart.Len())), there); len(first) > 0 {
		if cut := first[0] - b.need[p]; cut > 0 {
			there = there.Slice(cut, there.Len())
			for i := range at {
				at[i] = max(at[i]-cut, -1)
			}
		}
	}
	return &expressionBars{s: there, chart: b.chart, need: b.need, place: p, results: make(map[computed]*Result)}, at
}

// newestClosed returns for each bar of s the index of the newest bar of other that
// closed no later than it did, -1 if there is none. Both series may be of any interval. If
// it is the same, a forming bar of s reads the last one of other, whose forming bar is there
// only if it goes with that of s; see [market.Series.Other].
func newestClosed(s, other *market.Series) []int {
	at := make([]int, s.Len())
	closes := func(j int) int64 { // asked once for each bar: the hours of a market take time to look up
		if j == other.Len() {
			return math.MaxInt64
		}
		return other.ClosedAt(j)
	}
	j, next := -1, closes(0) // they only grow, since the bars of both series are in order
	for i := range at {
		for closed := s.ClosedAt(i); next <= closed; next = closes(j + 1) {
			j++
		}
		at[i] = j
	}
	if s.Forming && other.Interval == s.Interval {
		at[len(at)-1] = other.Len() - 1
	}
	return at
}

// readable returns an error if expressions cannot read this entry, because its values at a
// bar depend on more than the bars before it: a rule must mean the same on every chart. The
// error says what to write instead, or why there is no way.
func (ind *Indicator) readable() error {
	switch {
	case slices.ContainsFunc(ind.Params, func(p Param) bool { return p.Kind == Expression }):
		return fmt.Errorf("%s cannot stand within an expression: write what it computes instead", ind.Name)
	case slices.ContainsFunc(ind.Params, func(p Param) bool { return p.Kind == Symbol }):
		return fmt.Errorf("%s compares with another market: write that market's price instead, as in close / close:ETHUSDT", ind.Name)
	case ind.Traits.Has(Repaints):
		return fmt.Errorf("%s changes earlier values when new bars come: no rule can rely on it", ind.Name)
	case ind.VisibleOnly() || ind.Memory.since != nil:
		return fmt.Errorf("%s depends on where a chart begins: no rule can rely on it", ind.Name)
	}
	return nil
}

// placed returns the arguments by the names of their parameters.
func (ind *Indicator) placed(args []rules.Arg) (map[string]json.RawMessage, error) {
	overrides := make(map[string]json.RawMessage)
	numbers, words := 0, 0 // where the next parameter is looked for that takes a number, or a word
	for _, arg := range args {
		name := arg.Name
		if name == "" {
			next, isWord := &numbers, strings.HasPrefix(arg.Text, `"`)
			if isWord {
				next = &words
			}
			for name == "" && *next < len(ind.Params) {
				p := ind.Params[*next]
				if *next++; isWord == (p.Kind == Choice || p.Kind == Bool) {
					name = p.Name
				}
			}
			if name == "" {
				return nil, fmt.Errorf("%s takes no further argument %s", ind.Name, limit.Clip(arg.Text))
			}
		}
		if _, twice := overrides[name]; twice {
			return nil, fmt.Errorf("%s gets %s twice", ind.Name, limit.Clip(name))
		}
		overrides[name] = json.RawMessage(arg.Text)
	}
	return overrides, nil
}
