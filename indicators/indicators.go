// Package indicators is the catalogue of technical indicators and the kernels
// they are made of.
//
// An [Indicator] is a record: its names, its parameters with their bounds, the
// signals it may emit, and one pure function from a market.Series and [Args]
// to a [Result]. The catalogue is one slice of such records; lookup, the list a
// client sees, the checks on an alert and the documentation are all read from
// it, so an indicator is written down once.
//
// A [Request] is an indicator with its parameters settled, and [Parse] makes
// them from what a client sent: a name, or an object with a name and overrides.
//
// Every series in a Result has one value per bar. A bar before the indicator
// has enough history holds NaN, which [Values] writes as null; values never
// depend on later bars unless the record says Repaints. Definitions follow
// TA-Lib; what TA-Lib lacks follows TradingView, and each record's text says
// which. To whom a comment attributes an indicator is what is commonly said; the
// publications were not looked up.
//
// The package reads no clock, opens nothing but the table of time zones and keeps
// nothing between calls but that.
package indicators

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"wick/limit"
	"wick/market"
	"wick/rules"
)

// Indicator is one entry of the catalogue.
type Indicator struct {
	Name     string   // as list_indicators shows it: lower case, unique
	Title    string   // as a legend shows it, such as "RSI"
	Aliases  []string // further names that Lookup accepts
	Also     []string // names in other programs that it accepts too and lists leave out
	Category string   // one of Categories
	Doc      string   // what it shows, whose definition it follows
	Formula  string   // the definition in one line of plain text
	Overlay  bool     // drawn over the price, not in a panel of its own
	Repaints bool     // later bars may change earlier values

	// VisibleOnly marks an indicator that describes the bars on display (a
	// volume profile): it is computed from them alone, without warm-up.
	VisibleOnly bool

	// Total marks a running total that begins at the first bar loaded: only its
	// changes mean anything, its level depends on where the history begins.
	Total bool

	// Since returns the moment, in unix seconds, that an indicator accumulates
	// from; 0 means the first bar loaded. Nil if it does not.
	Since func(a Args) int64

	Params  []Param
	Ignores []string // parameters of other systems, colours, that are accepted and change nothing; Doc says so
	Signals []string // labels it may emit; an alert may name no other
	// ZoneLine is the label of the line whose entries into the zones are signals;
	// empty means the first.
	ZoneLine string

	// Meanings says when a signal fires whose label means something special
	// here; Meaning tells it of all.
	Meanings map[string]string

	Needs []string // columns of Series.Extra it cannot do without

	// Warmup returns how many bars before the first one shown make that bar's
	// values what a longer history would give. Nil means defaultWarmup.
	Warmup func(a Args) int

	// History stands in Warmup's place for an indicator that follows the
	// calendar: it returns how many seconds before the first bar shown it
	// needs, at the given interval.
	History func(a Args, iv market.Interval) int64

	// Compute returns the values for every bar of s. It must not write to s
	// and must take any number of bars, none included.
	Compute func(s *market.Series, a Args) *Result
}

// Categories, in the order in which the documentation lists them.
const (
	Trend      = "trend"
	Momentum   = "momentum"
	Volatility = "volatility"
	Volume     = "volume"
	Price      = "price"
	Statistics = "statistics"
	Cycle      = "cycle"
	Pattern    = "pattern"
	External   = "external"
	Rules      = "rules"
)

// Categories returns the categories there are.
func Categories() []string {
	return []string{Trend, Momentum, Volatility, Volume, Price, Statistics, Cycle, Pattern, External, Rules}
}

// Kind says what values a parameter takes.
type Kind uint8

// The kinds of parameters. A Number is the zero value.
const (
	Number     Kind = iota // any number within the bounds
	Int                    // a whole number within the bounds
	Bool                   // true or false
	Choice                 // one of Param.Choices
	Date                   // a moment: unix seconds, or a date such as 2025-10-01
	Expression             // in the language of package rules
	Symbol                 // another market, in any spelling that its source takes
)

// Param is one parameter of an indicator.
type Param struct {
	Name     string
	Aliases  []string // other spellings people use, such as "period" for "length"
	Doc      string
	Kind     Kind
	Default  float64  // for Bool 0 or 1, for Choice an index into Choices
	Min, Max float64  // bounds, both allowed; for Number and Int
	Choices  []string // what a Choice may be
	Quiet    bool     // left out of the label: levels, ways of drawing
	Percent  bool     // a number that may be written with a percent sign
	Many     bool     // a Choice that takes several: an array, or names divided by commas; an Expression that takes several, divided by semicolons

	Text      string // of a Symbol: the default; of an Expression: what stands for it until a client gives one, an example if it is Required
	Required  bool   // an Expression that a client must give: see [Request.Missing]
	Condition bool   // an Expression that must be true or false, not a number
}

// Args are the settled parameters of one request: every parameter of the
// indicator has a value within its bounds.
type Args struct {
	ind    *Indicator
	values []float64        // parallel to ind.Params
	chosen map[string][]int // of parameters that take several choices: which

	texts map[string]string   // symbols, by parameter
	of    map[string]*Request // under "source": the request whose line stands for the price, if one was given

	exprs map[string][]*rules.Expr // of expressions, by parameter; empty for none
	given map[string]bool          // expressions that a client gave
	needs *sync.Map                // what history returned, by interval
	memo  Memo                     // shared with other requests; nil for none

	linesOnly bool // nobody reads the signals: the costly ones may be left out
	newest    int  // how many of the newest bars are read: what is before may be left out; 0 for all
}

// firstRead returns the first of total bars that is read.
func (a Args) firstRead(total int) int {
	if a.newest == 0 {
		return 0
	}
	return max(0, total-a.newest)
}

// Float returns the parameter called name. Asking for a parameter that the
// indicator does not have is a mistake in the catalogue and panics.
func (a Args) Float(name string) float64 { return a.values[a.ind.mustHave(name)] }

// Int returns the whole-number parameter called name.
func (a Args) Int(name string) int { return int(a.Float(name)) }

// Bool returns the true-or-false parameter called name.
func (a Args) Bool(name string) bool { return a.Float(name) != 0 }

// Choice returns the chosen word of the parameter called name.
func (a Args) Choice(name string) string {
	i := a.ind.mustHave(name)
	return a.ind.Params[i].Choices[int(a.values[i])]
}

// mustHave returns the index of the parameter called name, and panics if there is
// none.
func (ind *Indicator) mustHave(name string) int {
	if i := ind.index(name); i >= 0 {
		return i
	}
	panic("indicators: " + ind.Name + " has no parameter " + name)
}

// index returns the index of the parameter called name, or -1.
func (ind *Indicator) index(name string) int {
	for i := range ind.Params { // by index: a Param is too large to copy for each look
		if ind.Params[i].Name == name {
			return i
		}
	}
	return -1
}

// Chosen returns the words of the parameter called name, which takes several, in
// the order of its choices; its default if none was given.
func (a Args) Chosen(name string) []string {
	i := a.ind.index(name)
	var words []string
	for _, k := range a.chosen[name] {
		words = append(words, a.ind.Params[i].Choices[k])
	}
	if words == nil {
		words = []string{a.Choice(name)}
	}
	return words
}

// Text returns the symbol that the parameter called name was given.
func (a Args) Text(name string) string { return a.texts[name] }

// ErrParam reports a parameter that an indicator lacks or a value it refuses.
var ErrParam = errors.New("bad indicator parameter")

// Resolve settles the parameters of ind: the defaults, then overrides by name
// or alias in any case. It refuses unknown names, values of the wrong kind and
// values out of bounds, and says what would be right.
func (ind *Indicator) Resolve(overrides map[string]json.RawMessage) (Args, error) {
	// Defaults first. Expressions are parsed here too: they hold state of one request.
	a := Args{ind: ind, values: make([]float64, len(ind.Params)), needs: new(sync.Map)}
	for i := range ind.Params {
		p := &ind.Params[i]
		a.values[i] = p.Default
		switch {
		case p.Kind == Symbol:
			put(&a.texts, p.Name, p.Text)
		case p.Text != "":
			list, err := p.readExpressions(p.Text)
			if err != nil {
				return Args{}, fmt.Errorf("default %s of %s: %w", p.Name, ind.Name, err)
			}
			put(&a.exprs, p.Name, list)
		}
	}
	// Sorted, so that of several mistakes the same one is reported every time.
	under := make(map[int]string, len(overrides)) // the name under which a parameter was given
	for _, name := range sortedKeys(overrides) {
		i := ind.param(name)
		if i < 0 && slices.Contains(ind.Ignores, strings.ToLower(name)) {
			continue
		}
		if i < 0 {
			return Args{}, ind.unknownParam(name)
		}
		raw := overrides[name]
		if string(raw) == "null" {
			continue // models write null for "leave it"
		}
		if other, ok := under[i]; ok && string(overrides[other]) != string(raw) {
			return Args{}, fmt.Errorf("%w: %s and %s are one parameter of %s and were given different values: send %s alone", ErrParam,
				limit.Clip(other), limit.Clip(name), ind.Name, ind.Params[i].Name)
		}
		under[i] = name
		if err := a.set(i, raw); err != nil {
			return Args{}, fmt.Errorf("%w: %s of %s: %w", ErrParam, ind.Params[i].Name, ind.Name, err)
		}
	}
	return a, a.checkOrder()
}

// ordered are the pairs of parameters of which the first must lie below the
// second, or may equal it.
var ordered = []struct {
	low, high string
	equal     bool
}{
	{"oversold", "overbought", false},
	{"wt_oversold", "wt_overbought", false},
	{"lower", "upper", false},
	{"minimum", "maximum", true},
}

// checkOrder reports bounds that make no sense together, such as an oversold
// level above the overbought one.
func (a Args) checkOrder() error {
	for _, pair := range ordered {
		i, k := a.ind.index(pair.low), a.ind.index(pair.high)
		if i < 0 || k < 0 {
			continue
		}
		if low, high := a.values[i], a.values[k]; low > high || low == high && !pair.equal {
			return fmt.Errorf("%w: %s of %s is %s and %s is %s; the first must be the lower one", ErrParam,
				pair.low, a.ind.Name, number(low), pair.high, number(high))
		}
	}
	return nil
}

// put sets m[key], and makes the map with its first member: most requests have none.
func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = make(map[string]V)
	}
	(*m)[key] = v
}

// set gives parameter i the value that a client sent for it.
func (a *Args) set(i int, raw json.RawMessage) (err error) {
	p := a.ind.Params[i]
	switch {
	case p.Kind == Expression:
		return a.setExpression(p, raw)
	case p.Kind == Symbol:
		text, err := readSymbol(raw)
		put(&a.texts, p.Name, text)
		return err
	case p.Name == "source" && slices.Equal(p.Choices, Sources):
		return a.setSource(i, raw)
	case !p.Many:
		a.values[i], err = p.parse(raw)
		return err
	}
	// A parameter that takes several: an array, or one text with commas.
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		for text := range strings.SplitSeq(strings.Trim(string(raw), `" `), ",") {
			items = append(items, json.RawMessage(strconv.Quote(text)))
		}
	}
	if len(items) == 0 {
		return fmt.Errorf("names nothing; it is one or more of %s", strings.Join(p.Choices, ", "))
	}
	for _, item := range items {
		v, err := p.parse(item)
		if err != nil {
			return err
		}
		a.values[i] = v
		if !slices.Contains(a.chosen[p.Name], int(v)) {
			put(&a.chosen, p.Name, append(a.chosen[p.Name], int(v)))
		}
	}
	slices.Sort(a.chosen[p.Name])
	return nil
}

// setExpression gives p the expression that a client sent; an empty text is none.
func (a *Args) setExpression(p Param, raw json.RawMessage) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf("%s is not a text; it is an expression such as %q", limit.Clip(string(raw)), cmp.Or(p.Text, "rsi(14) > 70"))
	}
	if strings.TrimSpace(text) == "" && !p.Required {
		delete(a.exprs, p.Name)
		return nil
	}
	list, err := p.readExpressions(text)
	put(&a.exprs, p.Name, list)
	put(&a.given, p.Name, true)
	return err
}

// param returns the index of the parameter that name spells, or -1. Names of
// other programs count where ind has no parameter of that name itself.
func (ind *Indicator) param(name string) int {
	// From the spelling given to ever freer ones; the names of other programs come
	// last.
	key := snake(name)
	for _, key := range append([]string{strings.ToLower(name), key, strings.ReplaceAll(key, "_", "")}, spellings[key]...) {
		for i, p := range ind.Params {
			if p.Name == key || slices.Contains(p.Aliases, key) {
				return i
			}
		}
	}
	return -1
}

// spellings are names of parameters in TradingView, TA-Lib and pandas-ta and what
// they may be here, the likeliest first.
var spellings = map[string][]string{
	"std": {"mult", "std_dev", "bb_mult"}, "stdev": {"mult", "std_dev"}, "std_dev": {"mult"}, "bb_std_dev": {"mult", "bb_mult"},
	"nbdev_up": {"mult"}, "nbdev_dn": {"mult_lower"}, "upper_std": {"mult"}, "lower_std": {"mult_lower"},
	"scalar": {"mult"}, "atr_multiplier": {"mult"}, "factor": {"mult"}, "multiplier": {"mult", "factor"},
	"signal_smoothing": {"signal"}, "signal_length": {"signal"}, "signal_period": {"signal"}, "sig": {"signal"},
	"fast_length": {"fast"}, "fast_period": {"fast"}, "short_length": {"fast", "short"}, "short_period": {"fast", "short"},
	"slow_length": {"slow"}, "slow_period": {"slow"}, "long_length": {"slow", "long"}, "long_period": {"slow", "long"},
	"di_length": {"length"}, "adx_length": {"length"}, "lensig": {"length"}, "atr_period": {"length", "atr_length"}, "atr_length": {"length"},
	"rsi_period": {"rsi_length", "length"}, "stoch_period": {"stoch_length", "length"}, "stochastic_length": {"stoch_length", "length"},
	"k_length": {"length"}, "k_period": {"length"}, "fast_k_period": {"length", "stoch_length"}, "slow_k_period": {"smooth"}, "slow_d_period": {"d"},
	"k_smoothing": {"smooth", "k"}, "d_smoothing": {"d"}, "smooth_k": {"smooth", "k"}, "smooth_d": {"d"}, "smoothing": {"smooth", "ma_type"},
	"time_period": {"length"}, "lookback": {"length", "range_bars"}, "look_back": {"length"}, "bars_back": {"length"},
	"mamode": {"ma_type", "type"}, "ma_mode": {"ma_type", "type"}, "ma": {"ma_type", "type"}, "average_type": {"ma_type", "type"},
	"conversion_line_length": {"conversion"}, "base_line_length": {"base"}, "leading_span_b_length": {"span_b"}, "leading_span_blength": {"span_b"}, "lagging_span": {"displacement"},
	"af0": {"start"}, "af_initial": {"start"}, "max_af": {"maximum"}, "max_value": {"maximum"}, "acceleration_factor": {"start"},
	"channel_length": {"channel"}, "average_length": {"average"}, "roc_length": {"roc", "length"}, "annual_length": {"periods"},
	"upper_band": {"overbought"}, "lower_band": {"oversold"}, "upper_limit": {"overbought"}, "lower_limit": {"oversold"},
	"applied_price": {"source"}, "series": {"source"}, "data": {"source"}, "on": {"source"},
	"depth": {"left", "side"}, "deviations": {"mult", "deviation"}, "anchor_period": {"anchor"},
}

// unknownParam returns the error for a name that param does not find. It names the
// parameters there are, the nearest first as a question.
func (ind *Indicator) unknownParam(name string) error {
	if len(ind.Params) == 0 {
		return fmt.Errorf("%w: %s has no parameter %q, it takes none", ErrParam, ind.Name, limit.Clip(name))
	}
	var names []string
	for _, p := range ind.Params {
		names = append(names, p.Name)
	}
	return fmt.Errorf("%w: %s has no parameter %q%s; it has %s", ErrParam, ind.Name, limit.Clip(name),
		didYouMean(name, names), strings.Join(names, ", "))
}

// oneWord takes out what people divide words with: "Morning Star" and
// "morning_star" are the choice "morningstar".
var oneWord = strings.NewReplacer(" ", "", "_", "", "-", "")

// parse reads a value that a client sent for p. Numbers may come as strings:
// models send both.
func (p Param) parse(raw json.RawMessage) (float64, error) {
	text := strings.TrimSpace(string(raw))
	// A text is unquoted and then read like a bare value.
	if len(text) > 0 && text[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return 0, fmt.Errorf("%s is not a value", limit.Clip(text))
		}
		text = strings.TrimSpace(s)
	}
	switch p.Kind {
	case Bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes", "on":
			return 1, nil
		case "false", "0", "no", "off":
			return 0, nil
		}
		return 0, fmt.Errorf("%q is neither true nor false", limit.Clip(text))
	case Choice:
		for i, c := range p.Choices {
			if strings.EqualFold(oneWord.Replace(c), oneWord.Replace(text)) {
				return float64(i), nil
			}
		}
		return 0, fmt.Errorf("%q is not one of %s%s", limit.Clip(text), strings.Join(p.Choices, ", "), didYouMean(text, p.Choices))
	}
	// What is no date may still be a number of seconds.
	if p.Kind == Date {
		if at, ok := parseDate(text); ok {
			text = strconv.FormatInt(at, 10)
		}
	}
	if p.Percent {
		text = strings.TrimSpace(strings.TrimSuffix(text, "%"))
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", limit.Clip(text))
	}
	if p.Kind == Int && v != math.Trunc(v) {
		return 0, fmt.Errorf("%s is not a whole number", limit.Clip(text))
	}
	if v < p.Min || v > p.Max {
		return 0, fmt.Errorf("%s is out of bounds, %s to %s", limit.Clip(text), number(p.Min), number(p.Max))
	}
	return v, nil
}

// parseDate reads a date or a time, in UTC unless it says otherwise, and returns it
// in unix seconds.
func parseDate(text string) (int64, bool) {
	for _, layout := range []string{time.DateOnly, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Unix(), true
		}
	}
	return 0, false
}

// label writes the indicator's title and its numeric parameters, as a legend
// shows them: "MACD(12, 26, 9)". Choices appear only when they are not the
// default, switches and quiet parameters never.
func (a Args) label() string {
	var parts []string
	for i, p := range a.ind.Params {
		switch {
		case p.Quiet:
		case p.Many && len(a.chosen[p.Name]) > 1:
			parts = append(parts, strings.Join(a.Chosen(p.Name), " "))
		case p.Kind == Symbol:
			parts = append(parts, a.texts[p.Name])
		case a.of[p.Name] != nil:
			parts = append(parts, a.of[p.Name].Label())
		case p.Kind == Choice && a.values[i] != p.Default:
			parts = append(parts, p.Choices[int(a.values[i])])
		case p.Kind == Expression:
			for _, e := range a.exprs[p.Name] {
				parts = append(parts, limit.Clip(e.Source()))
			}
		case p.Kind == Number || p.Kind == Int:
			parts = append(parts, number(a.values[i]))
		}
	}
	if len(parts) == 0 {
		return a.ind.Title
	}
	return a.ind.Title + "(" + strings.Join(parts, ", ") + ")"
}

// number writes v in the shortest plain form.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
