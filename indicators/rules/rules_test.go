package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// shelf is a catalogue with one indicator: mean(n), with the lines mean and
// double, and the signal up at bars whose mean is above the one before.
type shelf struct{}

func (shelf) Study(name string, args []Arg, line string) (Study, error) {
	s := mean{n: 3, line: line}
	if name != "mean" && name != "max" {
		return nil, fmt.Errorf("unknown indicator %q, did you mean %q?", name, "mean")
	}
	for _, a := range args {
		if a.Name != "" && a.Name != "length" {
			return nil, fmt.Errorf("mean has no parameter %q", a.Name)
		}
		if err := json.Unmarshal([]byte(a.Text), &s.n); err != nil || s.n < 1 || s.n > 50 {
			return nil, errors.New("length is out of bounds, 1 to 50")
		}
	}
	if !slices.Contains([]string{"", "mean", "double", "none"}, line) {
		return nil, fmt.Errorf("mean has no line %q", line)
	}
	return s, nil
}

func (shelf) Interval(name string) (string, error) {
	if name != "1d" && name != "1w" {
		return "", fmt.Errorf("unknown interval %q", name)
	}
	return name, nil
}

func (shelf) Symbol(name string) (string, error) { return strings.ToUpper(name), nil }

func (shelf) Time(text string) (int64, error) {
	at, err := time.Parse("2006-01-02T15:04", text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		at, err = time.Parse(time.RFC3339, text)
	}
	return at.Unix(), err
}

type mean struct {
	n    int
	line string
}

func (m mean) String() string {
	text := fmt.Sprintf("mean(%d)", m.n)
	if m.line != "" {
		text += "." + m.line
	}
	return text
}
func (m mean) Warmup(string) int     { return m.n - 1 }
func (m mean) Signals() []string     { return []string{"up"} }
func (m mean) Silent(string) string  { return "" }
func (m mean) HasLine() bool         { return m.line != "none" }
func (m mean) Total() (string, bool) { return "", false }
func (m mean) Endless() string       { return "" }

// at is the definition of the indicator's line, one bar at a time.
func (m mean) at(closes []float64, i int) float64 {
	if i < m.n-1 {
		return math.NaN()
	}
	sum := 0.0
	for _, c := range closes[i-m.n+1 : i+1] {
		sum += c
	}
	if m.line == "double" {
		sum *= 2
	}
	return sum / float64(m.n)
}

// table is bars, with those of other places.
type table struct {
	opened  []int64
	zone    *time.Location
	columns map[string][]float64
	others  map[Place]*table
	at      map[Place][]int
}

func (b *table) Len() int { return len(b.columns["close"]) }
func (b *table) Column(name string) []float64 {
	o, h, l, c := b.columns["open"], b.columns["high"], b.columns["low"], b.columns["close"]
	mean := func(of func(i int) float64) []float64 {
		out := make([]float64, len(c))
		for i := range out {
			out[i] = of(i)
		}
		return out
	}
	switch name {
	case "hl2":
		return mean(func(i int) float64 { return (h[i] + l[i]) / 2 })
	case "hlc3":
		return mean(func(i int) float64 { return (h[i] + l[i] + c[i]) / 3 })
	case "ohlc4":
		return mean(func(i int) float64 { return (o[i] + h[i] + l[i] + c[i]) / 4 })
	}
	return b.columns[name]
}
func (b *table) Opened() ([]int64, *time.Location) { return b.opened, b.zone }

func (b *table) Other(p Place) (Bars, []int) { return b.others[p], b.at[p] }

func (b *table) Line(s Study) []float64 {
	out := make([]float64, b.Len())
	for i := range out {
		out[i] = s.(mean).at(b.columns["close"], i)
	}
	return out
}

func (b *table) Signal(s Study, label string) []float64 {
	x := b.Line(s)
	out := make([]float64, len(x))
	for i := range out {
		out[i] = truth(i > 0 && x[i] > x[i-1])
	}
	return out
}

// random returns n bars, and daily bars and another market beside them; every
// seventh of ours ends a day, and the other market has gaps.
func random(r *rand.Rand, n int) *table {
	bars := func(n int) map[string][]float64 {
		c := make(map[string][]float64)
		price := 100.0
		for range n {
			open := price
			price = math.Round(100*math.Max(1, price+r.NormFloat64()*2)) / 100
			c["open"], c["close"] = append(c["open"], open), append(c["close"], price)
			c["high"], c["low"] = append(c["high"], math.Max(open, price)+float64(r.IntN(3))), append(c["low"], math.Min(open, price)-float64(r.IntN(3))/4)
			c["volume"] = append(c["volume"], float64(r.IntN(100)))
		}
		return c
	}
	b := &table{columns: bars(n), others: make(map[Place]*table), at: make(map[Place][]int)}
	for _, p := range []Place{{Interval: "1d"}, {Symbol: "ETH"}, {Symbol: "ETH", Interval: "1d"}} {
		b.others[p] = &table{columns: bars(n/7 + 1), others: b.others, at: b.at}
		for i := range n {
			b.at[p] = append(b.at[p], (i+1)/7-1)
		}
	}
	return b
}

// plain evaluates a node at one bar by the words of the package comment: no
// columns, no memory. It is the independent reading that Values is held to.
func plain(b *table, n *node, i int) float64 {
	if i < 0 {
		return math.NaN()
	}
	arg := func(k, back int) float64 { return plain(b, n.args[k], i-back) }
	nan := math.NaN()
	switch n.kind {
	case kindNumber:
		return n.value
	case kindColumn:
		o, h, l, c := b.columns["open"][i], b.columns["high"][i], b.columns["low"][i], b.columns["close"][i]
		return map[string]float64{"open": o, "high": h, "low": l, "close": c, "volume": b.columns["volume"][i], "hl2": (h + l) / 2, "hlc3": (h + l + c) / 3, "ohlc4": (o + h + l + c) / 4}[n.name]
	case kindStudy:
		return n.study.(mean).at(b.columns["close"], i)
	case kindSignal:
		m := n.study.(mean)
		if i > 0 && m.at(b.columns["close"], i) > m.at(b.columns["close"], i-1) {
			return 1
		}
		return 0
	case kindNegative:
		return -arg(0, 0)
	case kindBack:
		return arg(0, n.n)
	case kindPlace:
		j := b.at[n.place][i]
		if j < 0 {
			return nan
		}
		return plain(b.others[n.place], n.args[0], j)
	case kindWindow:
		if n.name == "change" {
			return add(arg(0, 0), -arg(0, n.n))
		}
		var list []float64
		for back := range n.n {
			list = append(list, arg(0, back))
			if math.IsNaN(list[back]) {
				return nan
			}
		}
		slices.Reverse(list)
		sum := 0.0
		for _, x := range list {
			sum = add(sum, x)
		}
		return map[string]float64{"highest": slices.Max(list), "lowest": slices.Min(list), "sum": sum, "avg": sum / float64(n.n)}[n.name]
	case kindSeveral:
		if n.name == "abs" {
			return math.Abs(arg(0, 0))
		}
		var list []float64
		for k := range n.args {
			list = append(list, arg(k, 0))
			if math.IsNaN(list[k]) {
				return nan
			}
		}
		if n.name == "min" {
			return slices.Min(list)
		}
		return slices.Max(list)
	case kindSince:
		known := true
		for back := 0; back <= MaxBack; back++ {
			if back <= i && arg(0, back) == 1 {
				return float64(back)
			}
			known = known && back <= i && !math.IsNaN(arg(0, back))
		}
		if known {
			return MaxBack + 1
		}
		return nan
	case kindLogic:
		a := arg(0, 0)
		if n.name == "not" {
			return 1 - a
		}
		c := arg(1, 0)
		switch {
		case n.name == "and" && (a == 0 || c == 0):
			return 0
		case n.name == "or" && (a == 1 || c == 1):
			return 1
		}
		return a * c // 1, or unknown, or both false of an or
	case kindCross:
		// before <= than and a > c: one that is false decides.
		a, c, before, than := arg(0, 0), arg(1, 0), arg(0, 1), arg(1, 1)
		if n.name == "crosses_below" {
			a, c, before, than = c, a, than, before
		}
		switch {
		case before > than && !near(before, than) || a <= c || near(a, c):
			return 0
		case math.IsNaN(a + c + before + than):
			return nan
		}
		return 1
	}
	return plainPair(n, arg(0, 0), arg(1, 0))
}

func plainPair(n *node, a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	yes := false
	switch n.name {
	case "+":
		return add(a, b)
	case "-":
		return add(a, -b)
	case "*":
		return a * b
	case "/":
		if b == 0 {
			return math.NaN()
		}
		return a / b
	case "%":
		return math.Mod(a, b)
	case "<":
		yes = a < b && !near(a, b)
	case "<=":
		yes = a <= b || near(a, b)
	case ">":
		yes = a > b && !near(a, b)
	case ">=":
		yes = a >= b || near(a, b)
	case "==":
		yes = near(a, b)
	case "!=":
		yes = !near(a, b)
	}
	return truth(yes)
}

// near reports whether two values are equal but for rounding: a part in 1e12.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b)) }

// add returns a+b, and 0 if only rounding is left of it.
func add(a, b float64) float64 {
	if near(a, -b) {
		return 0
	}
	return a + b
}

// write makes up an expression: a number or a condition.
func write(r *rand.Rand, depth int, cond bool) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	num := func() string { return write(r, depth-1, false) }
	con := func() string { return write(r, depth-1, true) }
	if cond {
		switch {
		case depth > 1 && r.IntN(2) == 0:
			return pick("("+con()+" and "+con()+")", "("+con()+" or "+con()+")", "not "+con(), "("+con()+")["+fmt.Sprint(r.IntN(4))+"]", "("+con()+")@1d")
		case r.IntN(3) == 0:
			return pick("crosses_above", "crosses_below") + "(" + num() + ", " + num() + ")"
		case r.IntN(4) == 0:
			return `signal(mean(` + fmt.Sprint(1+r.IntN(9)) + `), "up")`
		}
		return "(" + num() + pick(" < ", " <= ", " > ", " >= ", " == ", " != ") + num() + ")"
	}
	if depth <= 0 || r.IntN(4) == 0 {
		return pick("open", "high", "low", "close", "volume", "hl2", "hlc3", "ohlc4", "mean(5)", "mean(length=7).double", "ta.max", "3", "0.5", "close:eth", "mean(2)@1d", "close@1d:eth")
	}
	switch r.IntN(6) {
	case 0:
		return pick("highest", "lowest", "sum", "avg", "change") + "(" + num() + ", " + fmt.Sprint(1+r.IntN(30)) + ")"
	case 1:
		return pick("min", "max") + "(" + num() + ", " + num() + ")"
	case 2:
		return pick("abs("+num()+")", "-("+num()+")", "("+num()+")["+fmt.Sprint(r.IntN(5))+"]")
	case 3:
		return "since(" + con() + ")"
	}
	return "(" + num() + pick(" + ", " - ", " * ", " / ", " % ") + num() + ")"
}

// TestAgainstPlain holds a thousand made-up expressions, on bars with unknown
// starts, other intervals and other markets, to the plain reading; and their
// values on the first half of the bars to those on all: nothing looks ahead.
func TestAgainstPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	kinds := make(map[nodeKind]int)
	expressions := 1000 // with -short fewer, of which each kind of node must still be among
	if testing.Short() {
		expressions = 150
	}
	for range expressions {
		text := write(r, 1+r.IntN(3), r.IntN(2) == 0)
		e, err := Parse(text, shelf{})
		if err != nil {
			if strings.Contains(err.Error(), "characters") || strings.Contains(err.Error(), "operators") {
				continue
			}
			t.Fatalf("%s: %v", text, err)
		}
		count(e.root, kinds)
		again, err := Parse(e.String(), shelf{})
		if err != nil || again.String() != e.String() {
			t.Fatalf("%s is written as %s, which reads as %v, %v", text, e, again, err)
		}
		b := random(r, 60)
		got := NewEvaluator(b).Values(e)
		half := NewEvaluator(b.head(30)).Values(e)
		for i := range got {
			want := plain(b, e.root, i)
			if !equal(got[i], want) {
				t.Fatalf("%s at bar %d: %v, want %v", text, i, got[i], want)
			}
			if i < 30 && !equal(half[i], got[i]) {
				t.Fatalf("%s at bar %d: %v of 30 bars, %v of 60", text, i, half[i], got[i])
			}
		}
	}
	for k := kindNumber; k <= kindSignal; k++ {
		if kinds[k] < expressions/50 && k != kindClock && k != kindLine { // TestClock and TestLine have those
			t.Errorf("only %d nodes of kind %d were tried", kinds[k], k)
		}
	}
}

func count(n *node, kinds map[nodeKind]int) {
	kinds[n.kind]++
	for _, arg := range n.args {
		count(arg, kinds)
	}
}

// head returns the first n bars, with those of other places that were closed.
func (b *table) head(n int) *table {
	h := &table{columns: make(map[string][]float64), others: make(map[Place]*table), at: b.at}
	for name, c := range b.columns {
		h.columns[name] = c[:n]
	}
	for p, o := range b.others {
		cut := &table{columns: make(map[string][]float64), others: o.others, at: o.at}
		for name, c := range o.columns {
			cut.columns[name] = c[:n/7]
		}
		h.others[p] = cut
	}
	for _, o := range h.others {
		o.others = h.others
	}
	return h
}

func equal(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b))
}

// TestWarmup: with the bars that Warmup asks for before it, a bar has the value
// that all history gives it.
func TestWarmup(t *testing.T) {
	for text, want := range map[string]int{
		"close": 0, "mean(5)": 4, "mean(5)[3]": 7, "highest(mean(5), 10)": 14, "crosses_above(mean(9), close)": 9, "since(mean(2) > close)": MaxBack + 1, "change(close, 4)": 4,
	} {
		e, err := Parse(text, shelf{})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Warmup("1h")[Place{}]; got != want {
			t.Errorf("%s needs %d bars, want %d", text, got, want)
		}
	}
	e, err := Parse("mean(5)[2]@1d > avg(close, 3)[4]", shelf{})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Warmup("1h"); got[Place{}] != 7 || got[Place{Interval: "1d"}] != 6 || len(got) != 2 {
		t.Errorf("needs %v", got)
	}
}

// TestMistakes: the error points at the column of the mistake and says what is wrong or what would
// be right.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "column 1: a value is expected",
		"close >":                    "column 8: a value is expected here, not the end",
		"close > open &&  1 < 2":     "column 14: write and in place of &&",
		"rsy(14) < 30":               `column 1: unknown indicator "rsy", did you mean`,
		"mean(99)":                   "column 1: length is out of bounds, 1 to 50",
		"mean(5).none":               "column 1: mean draws no line",
		"mean(5).upper":              `column 1: mean has no line "upper"`,
		"1 < close < 2":              "column 11: compare two values at a time",
		"close and open":             "column 1: close is a number, but and needs a condition",
		"(close > 1) + 2":            "column 2: (close > 1) is a condition, but + needs a number",
		"highest(close)":             "highest needs a number of bars, as in highest(close, 20)",
		"highest(close, 501)":        "column 16: highest takes a whole number of bars from 1 to 500",
		"close[-1]":                  "column 7: a look back takes a whole number",
		"close[1.5]":                 "a look back takes a whole number",
		"close@2d":                   `column 7: unknown interval "2d"`,
		"close @":                    "column 8: the end is no name",
		"max(close)":                 "over bars it is highest(x, n), and the indicator is ta.max",
		`signal(mean(3), "down")`:    `column 17: "down" is no signal of mean(3); it has up`,
		"signal(close, \"up\")":      "unknown indicator",
		"mean(close)":                "column 1: length is out of bounds",
		"close:\"\x0f\" > 1":         `column 8: '\x0f' stands in no name of a market or a signal`,
		`signal(mean(3), 'a"')`:      "column 19: '\"' stands in no name of a market or a signal",
		"close:^ > 1":                `column 7: after : comes a name, such as close@1d or close:"BTC-USD"`,
		"sma(close / rsy(3), 5) > 1": `column 13: unknown indicator "rsy"`,
		`hour("Mars/Olympus") > 1`:   `column 6: hour takes the name of a time zone, as in hour("America/New_York"), not "Mars/Olympus"`,
		`hour("Local") > 1`:          "column 6: hour takes the name of a time zone",
		`line("2026-11-01", 1, "2026-10-01", 2) > close`: "column 23: the second point of a line must be later than the first",
		`line("soon", 1, "2026-10-01", 2) > close`:       "column 6: line takes a time, a price, a later time and a price",
		`line("2026-11-01", close, "2026-12-01", 2) > 1`: "column 20: close is computed: the price of a point is a number",
		"mean(1+2)":                   `column 7: "+" is not expected here: mean takes numbers and words, not computed values; the mean of those is avg(x, n)`,
		"mean(mean(2), 3)":            `column 10: "(" is not expected here: mean takes numbers and words`,
		"rsy(mean(2) > 1)":            `column 1: unknown indicator "rsy"`,
		"close > 1 and sar(mean(2))":  `column 15: unknown indicator "sar"`,
		"close crosses open":          `column 7: "crosses" is not expected here; say which way, as in "a crosses above b"`,
		"mean(5) above 70":            `column 9: "above" is not expected here; write > in its place`,
		"(mean(5) is below 70)":       `column 10: "is" is not expected here; compare with <, <=, >, >=, == or !=`,
		"(close > 1) crosses above 2": "column 2: (close > 1) is a condition, but crosses_above needs a number",
		"cross(close, open)":          "column 1: unknown indicator \"cross\"; write crosses_above(a, b) or crosses_below(a, b)",
		"shift(close, 1)":             "write x[1]",
		"Price > 12":                  `column 1: unknown indicator "price"; write close`,
		"ETHUSDT.close > 1":           `column 1: unknown indicator "ethusdt", did you mean "mean"?; the value of another market is written close:ETHUSDT`,
		"ETHUSDT.mean(5) > 1":         "is written mean:ETHUSDT",
		"close@ETHUSDT > 1":           `column 7: unknown interval "ETHUSDT"; another market is written with a colon, as in close:ETHUSDT`,
		"close:1d > 1":                "column 7: 1d is an interval, which is written close@1d",
		"close > 1 open":              `column 11: "open" is not expected here; join conditions with and, or`,
		"(close > 1":                  "column 11: ) is expected here to close the parenthesis",
		`close > "a`:                  `column 9: the text that begins here has no end`,
		"close # 2":                   "column 7: '#' has no meaning here",
		"1e999 < close":               "column 1: \"1e999\" is no number",
		"since(close)":                "column 7: close is a number, but since needs a condition",
		"not close":                   "column 5: close is a number, but not needs a condition",
		"not":                         "column 4: a value is expected here, not the end",
		"-":                           "column 2: a value is expected here, not the end",
		"-(close > 1)":                "column 3: (close > 1) is a condition, but - needs a number",
		"ta rsi":                      "column 4: . is expected here before the name of an indicator",
		"ta.5":                        `column 4: "5" is no name of an indicator`,
		"mean(5).>":                   `column 9: ">" is no name of a line`,
		"mean(length=>)":              `column 13: ">" is no argument of an indicator: those are numbers and names, not computed values`,
		`mean(-"up")`:                 `column 7: "up" is no argument of an indicator`,
		"mean(-5)":                    "column 1: length is out of bounds",
		"mean(1e999)":                 `column 6: "1e999" is no number that can be computed with`,
		"highest close":               "column 9: ( is expected here after highest",
		"highest(close, 5":            "column 17: ) is expected here after the number of bars",
		"abs close":                   "column 5: ( is expected here after abs",
		"abs(close, open)":            "column 1: abs takes one value",
		"abs(close > 1)":              "column 5: (close > 1) is a condition, but abs needs a number",
		"crosses_above(close)":        "column 1: crosses_above takes two values, as in crosses_above(close, ema(20))",
		"crosses_above(close > 1, 2)": "column 15: (close > 1) is a condition, but crosses_above needs a number",
		"since close > 1":             "column 7: ( is expected here after since",
		"signal mean":                 "column 8: ( is expected here after signal",
		`signal("up", mean(3))`:       `column 8: signal takes an indicator and a label, as in signal(rsi(14), "bull_div")`,
		"signal(mean(3))":             "column 15: , is expected here after the indicator",
		`signal(mean(3), "up"`:        "column 21: ) is expected here after the label",
		"max(close:a, close:b, close:c, close:d, close:e)":  "at most 4 are read",
		"max(max(max(close@1d, 1)@1w, 2):a, 3):b + close:c": "at most 4 are read",
		strings.Repeat("-", 401):                            "at most 400 are taken",
		"close" + strings.Repeat("+1", 60):                  "more than 100 numbers, columns, calls and operators",
		"\xff":                                              "not valid UTF-8",
	} {
		_, err := Parse(text, shelf{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %T has no column", text, err)
		}
	}
}

// TestOneText: blanks, case and superfluous parentheses do not matter.
func TestOneText(t *testing.T) {
	for text, want := range map[string]string{
		"MEAN( 5 )<30 AND((Close)>open)": "((mean(5) < 30) and (close > open))",
		"close>1 or close<2 and open>3":  "((close > 1) or ((close < 2) and (open > 3)))",
		"1+2*3-4":                        "((1 + (2 * 3)) - 4)",
		"-close[1]":                      "(-close[1])",
		"- 5 < .5":                       "(-5 < 0.5)",
		"+close > 2e-1":                  "(close > 0.2)",
		"2E+1 < + 3e1":                   "(20 < 30)",
		"not close > 1 and open > 1":     "((not (close > 1)) and (open > 1))",
		"close = 5":                      "(close == 5)",
		`close:"btc-usd"`:                `close:"BTC-USD"`,
		"close:^gspc < open":             `(close:"^GSPC" < open)`,
		"close[0]":                       "close",
		"mean.mean > 1":                  "(mean(3).mean > 1)",

		// What other languages and plain English write for a cross and for since.
		"close crosses above mean(5)":                      "crosses_above(close, mean(5))",
		"Close Crosses Below open + 1 and open > 1":        "(crosses_below(close, (open + 1)) and (open > 1))",
		"not close crosses_above 5":                        "(not crosses_above(close, 5))",
		"(mean(5) crosses over 0)[2]":                      "crosses_above(mean(5), 0)[2]",
		"close crossunder open":                            "crosses_below(close, open)",
		"crossover(close, open) or cross_below(open, low)": "(crosses_above(close, open) or crosses_below(open, low))",
		"ta.crossover(close, open)":                        "crosses_above(close, open)",
		"ta.barssince(close > 1) < 3":                      "(since((close > 1)) < 3)",
		"bars_since(close crosses above 1) < 3":            "(since(crosses_above(close, 1)) < 3)",

		// A market and an interval name one place, in either order.
		"close@1d:eth > 1":               `(close@1d:"ETH" > 1)`,
		"close:eth@1d > 1":               `(close@1d:"ETH" > 1)`,
		"(close:eth)@1d > 1":             `(close@1d:"ETH" > 1)`,
		"((close + open)@1d)[2]:eth > 1": `((close + open)@1d[2]:"ETH" > 1)`,

		// The mean of what is computed, as other languages write it.
		"sma(close / close:eth, 50)":               `avg((close / close:"ETH"), 50)`,
		"ta.sma(sma(high - low, 3) * 2, 5)[1] > 1": "(avg((avg((high - low), 3) * 2), 5)[1] > 1)",
	} {
		e, err := Parse(text, shelf{})
		if err != nil || e.String() != want {
			t.Errorf("%s reads as %v, %v; want %s", text, e, err, want)
		}
	}
}

// TestTwoPlaces: a value with two markets or two intervals reads only one of them. If an
// exchange is written before a market, as charts do, the exchange would be read as the
// market.
func TestTwoPlaces(t *testing.T) {
	for text, two := range map[string]bool{
		"close:BBB@1d > 1": false, "close@1d:BBB > 1": false, "close:BBB > close:CCC": false, "avg(close:BBB, 3):CCC > 1": false,
		"close@1d[2]@1w > 1": false, "highest(close@1d, 3)@1w > 1": false, "(close@1d - 1)@1w > 1": false, "close@1d[0]@1w > 1": true,
		"close:AAA:BBB > 1": true, "close@1d@1w > 1": true, "close:AAA@1d:BBB > 1": true, "1 < (close:AAA):BBB": true,
	} {
		e, err := Parse(text, shelf{})
		if err != nil {
			t.Fatal(text, err)
		}
		if err := e.Silent(); (err != nil) != two {
			t.Errorf("%s: %v, want an error: %t", text, err, two)
		}
	}
}

// TestUnquoted: a market with a dash or another sign that was written without quotes is not
// taken for a difference with an indicator that nobody knows: the error says to quote it.
func TestUnquoted(t *testing.T) {
	for text, want := range map[string]string{
		"close:ETH-USD > 1":         `column 11: unknown indicator "usd", did you mean "mean"?; a market with other characters stands in quotes, as in close:"ETH-USD"`,
		"1 < mean(5):eth/usdt":      `as in close:"ETH/USDT"`,
		"close:ES=F > 1":            `as in close:"ES=F"`,
		"close > 2 * close:BRK.B":   `column 22: "." is not expected here; a market with other characters stands in quotes, as in close:"BRK.B"`,
		"close:ETH - usd > 1":       `unknown indicator "usd", did you mean "mean"?`,
		"close:ETH -usd > 1":        `unknown indicator "usd", did you mean "mean"?`,
		"close:ETH-cross(1, 2) > 1": `as in close:"ETH-CROSS"`,
	} {
		_, err := Parse(text, shelf{})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Parse("close:ETH-close > 1", shelf{}); err != nil {
		t.Errorf("a difference with a column: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"mean(5) < 30 and close > mean(20)@1d", `signal(mean, "up")[3]`, "crosses_above(close:eth, avg(close, 9))", "-1 % .5e3", "((("} {
		f.Add(text)
	}
	b := random(rand.New(rand.NewPCG(3, 4)), 40)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text, shelf{})
		if err != nil {
			return
		}
		again, err := Parse(e.String(), shelf{})
		if len(e.String()) <= MaxText && (err != nil || again.String() != e.String()) {
			t.Errorf("%q is written as %s, which reads as %v, %v", text, e, again, err)
		}
		var places []Place
		e.root.collect(nil, &places, new([][]Place))
		for _, p := range places {
			if b.others[p] == nil {
				return
			}
		}
		for i, v := range NewEvaluator(b).Values(e) {
			if math.IsInf(v, 0) || e.Condition() && v != 0 && v != 1 && !math.IsNaN(v) {
				t.Errorf("%q at bar %d: %v", text, i, v)
			}
		}
	})
}

func BenchmarkValues(b *testing.B) {
	bars := random(rand.New(rand.NewPCG(5, 6)), 5000)
	e, err := Parse("crosses_above(close, mean(20)) and volume > avg(volume, 50) and close > mean(50)[5]", shelf{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		NewEvaluator(bars).Values(e)
	}
}

// TestSince: bars since a condition was true; 501 stands for more than 500, and
// it is unknown where the history is too short to tell.
func TestSince(t *testing.T) {
	closes := make([]float64, 1200)
	closes[100] = 1
	b := &table{columns: map[string][]float64{"open": closes, "high": closes, "low": closes, "close": closes, "volume": closes}}
	e, err := Parse("since(close > 0)", shelf{})
	if err != nil {
		t.Fatal(err)
	}
	got := NewEvaluator(b).Values(e)
	for bar, want := range map[int]float64{0: math.NaN(), 99: math.NaN(), 100: 0, 101: 1, 600: 500, 601: 501, 1199: 501} {
		if !equal(got[bar], want) {
			t.Errorf("bar %d: %v, want %v", bar, got[bar], want)
		}
	}
	closes[100] = 0
	if got := NewEvaluator(b).Values(e); !math.IsNaN(got[499]) || got[500] != 501 {
		t.Errorf("never true: %v and %v, want unknown and 501", got[499], got[500])
	}
}

// TestSinceBeyondItsBound: since counts to 500 bars, so a comparison that this decides
// whatever the bars are is refused, and one that the bars decide is not.
func TestSinceBeyondItsBound(t *testing.T) {
	for text, always := range map[string]string{
		"since(close > 1) < 600":             "always true",
		"since(close > 1) > 600":             "never true",
		"since(close > 1) >= 502":            "never true",
		"since(close > 1) <= 501":            "always true",
		"since(close > 1) == 700":            "never true",
		"since(close > 1) != 700":            "always true",
		"since(close > 1) crosses above 501": "never true",
		"since(close > 1) crosses below 600": "never true",
		"since(close > 1)@1d > 800":          "never true",
		"since(since(close > 1) > 600) < 5":  "never true",
	} {
		e, err := Parse(text, shelf{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if err := e.Silent(); err == nil || !strings.Contains(err.Error(), always) || !strings.Contains(err.Error(), "500") {
			t.Errorf("%s: %v; want the bound 500 and %q", text, err, always)
		}
	}
	for _, text := range []string{
		"since(close > 1) < 10", "since(close > 1) > 500", "since(close > 1) >= 501", "since(close > 1) == 501", "since(close > 1) crosses above 500",
		"since(close > 1) > since(close > 2)", "since(close > 1) * close > 5000", "change(since(close > 1), 2) > 600 - close", "5 > 3", "since(close > 1) % 7 == 2",
	} {
		e, err := Parse(text, shelf{})
		if err == nil {
			err = e.Silent()
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// clockTable is two bars: the first opens at half past nine of a Monday in New York, after the
// clocks there went back, the other five minutes to midnight UTC on the last day of a year.
func clockTable(t *testing.T) *table {
	t.Helper()
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	opened := []int64{time.Date(2026, 11, 2, 14, 30, 0, 0, time.UTC).Unix(), time.Date(2026, 12, 31, 23, 55, 0, 0, time.UTC).Unix()}
	return &table{opened: opened, zone: newYork, columns: map[string][]float64{"close": {100, 100}}}
}

// TestClock: a clock is that of the exchange, or of the zone that is named, when the bar opens.
func TestClock(t *testing.T) {
	for text, want := range map[string][]float64{
		"hour": {9, 18}, "minute": {30, 55}, "weekday": {1, 4}, "day": {2, 31}, "month": {11, 12}, "year": {2026, 2026},
		`hour("UTC")`: {14, 23}, `hour("Asia/Tokyo")`: {23, 8}, `day("Asia/Tokyo")`: {2, 1}, `year("Asia/Tokyo")`: {2026, 2027}, `weekday("Asia/Tokyo")`: {1, 5},
		"hour >= 9 and weekday < 2": {1, 0}, "hour[1]": {math.NaN(), 9}, "60 * hour + minute": {570, 1135},
	} {
		e, err := Parse(text, shelf{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := Parse(e.String(), shelf{})
		if err != nil || again.String() != e.String() || e.Silent() != nil {
			t.Errorf("%s: %v, %v", text, err, e.Silent())
		}
		if got := NewEvaluator(clockTable(t)).Values(e); !equalColumns(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"hour > 23": "(hour > 23) is never true: hour is 0 to 23", "weekday <= 7": "is always true: weekday is 1 to 7", `month("UTC") == 13`: `never true: month("UTC") is 1 to 12`,
	} {
		e, err := Parse(text, shelf{})
		if err != nil || e.Silent() == nil || !strings.Contains(e.Silent().Error(), want) {
			t.Errorf("%s: %v, %v, want %q", text, err, e.Silent(), want)
		}
	}
}

// TestLine: a line is straight in time, unknown before its first point, and goes on.
func TestLine(t *testing.T) {
	bars := &table{zone: time.UTC, columns: map[string][]float64{"close": {100, 100, 125, 100}}}
	for _, day := range []int{31, 32, 36, 51} { // the last of October, and November 1, 5 and 20
		bars.opened = append(bars.opened, time.Date(2026, 10, day, 0, 0, 0, 0, time.UTC).Unix())
	}
	for text, want := range map[string][]float64{
		`line("2026-11-01T00:00", 100, "2026-11-11T00:00", 120)`:         {math.NaN(), 100, 108, 138},
		`line("2026-11-01", 10, "2026-11-11", -10)`:                      {math.NaN(), 10, 2, -28},
		`close crosses above line("2026-10-31", 101, "2026-11-11", 112)`: {0, 0, 1, 0},
	} {
		e, err := Parse(text, shelf{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again, err := Parse(e.String(), shelf{}); err != nil || again.String() != e.String() {
			t.Errorf("%s: %v", e, err)
		}
		if got := NewEvaluator(bars).Values(e); !equalColumns(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// equalColumns reports whether two columns have the same values, to a part in a billion.
func equalColumns(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x != x && y != y || math.Abs(x-y) < 1e-9 })
}
