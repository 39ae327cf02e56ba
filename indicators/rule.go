package indicators

import (
	"encoding/json"
	"slices"
	"time"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
	"wick/rules"
)

var indRule = Indicator{
	Name: "rule", Title: "Rule", Also: []string{"condition", "conditions", "alert_rule"}, Category: Rules, Overlay: true,
	Doc: "A condition of your own, such as rsi(14) < 30 and close > ema(200)@1d: shaded where it is true, with a signal where that begins and ends. " +
		"Indicators are functions: macd(12,26,9).signal, signal(rsi(14), \"bull_div\"); ema(50) crosses above ema(200); x[3] looks back, @1d reads the newest closed day, close:ETHUSDT another market. An unknown value is not true.",
	Formula: "becomes_true: when is true and was not true on the bar before",
	Params:  []Param{condition("when", "rsi(14) < 30", "the condition, such as close crosses above ema(20); list_indicators names [rule] teaches the language", "condition", "rule", "expr", "expression", "if")},
	Signals: []string{shape.BecomesTrue, shape.BecomesFalse},
	History: expressionHistory,
	Compute: computeRule,
}

// Language teaches the language of expressions in a few lines.
const Language = rules.Language

// condition returns a parameter that is a condition and must be given.
func condition(name, example, doc string, aliases ...string) Param {
	return Param{Name: name, Aliases: aliases, Doc: doc, Kind: Expression, Text: example, Required: true, Condition: true}
}

// computeRule shades the bars on which the condition is true and marks where it
// turns. A condition that is not known shades nothing.
func computeRule(s *market.Series, a Args) *Result {
	v, when := a.evaluator(s), a.exprs["when"][0]
	values := v.Values(when)
	r := &Result{Shaded: make([]bool, len(values))}
	for i, x := range values {
		r.Shaded[i] = x == 1
	}
	flips, total := turns(values)
	r.Signals = slices.Grow(r.Signals, total) // at once: a thousand alerts do this on every bar
	for i, turn := range flips {
		// The end of a condition is silent: a chart that shades the bars shows it
		// already.
		switch turn {
		case 1:
			r.Signals = append(r.Signals, shape.Mark(i, s.Close[i], shape.BecomesTrue, Up))
		case -1:
			r.Signals = append(r.Signals, Signal{Bar: i, Y: s.Close[i], Label: shape.BecomesFalse, Tone: Down, Silent: true})
		}
	}
	if len(values) > 0 && a.memo == nil { // a caller with a memo evaluates many rules and reads no facts
		r.Facts = ruleFacts(s, v, when, values)
	}
	return r
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
		facts = append(facts, Fact{Name: e.String(), Value: shape.AppendValue(nil, v.Values(e)[last])})
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
