package indicators

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"wick/indicators/rules"
	"wick/internal/limit"
	"wick/market"
)

// This file reads requests. It is one file because reading a request may read others: a
// source may be a request, and an expression names indicators, each of which is one too.

// Parse reads what a client sent: each item a name, or an object with "name"
// and parameters, either beside it or in an object "params".
func Parse(items []json.RawMessage) ([]Request, error) {
	requests := make([]Request, 0, len(items))
	seen := make(map[string]int)
	for _, item := range items {
		r, err := parseItem(item)
		if err != nil {
			return nil, err
		}
		seen[r.Key]++
		if n := seen[r.Key]; n > 1 {
			r.Key += "#" + strconv.Itoa(n)
		}
		requests = append(requests, r)
	}
	return requests, nil
}

// parseItem reads one item: a text is a name, an object has the name and parameters.
func parseItem(item json.RawMessage) (Request, error) {
	var name string
	var overrides map[string]json.RawMessage
	// Null can be unmarshalled into anything, and leaves it as it is.
	if err := json.Unmarshal(item, &name); err != nil || string(item) == "null" {
		if err := json.Unmarshal(item, &overrides); err != nil || overrides == nil {
			return Request{}, fmt.Errorf("%w: %s is neither a name nor an object with a name", errParam, limit.Clip(string(item)))
		}
		if err := json.Unmarshal(overrides["name"], &name); err != nil || string(overrides["name"]) == "null" {
			return Request{}, fmt.Errorf(`%w: an indicator object needs "name", such as {"name":"rsi","length":21}`, errParam)
		}
		delete(overrides, "name")
	}
	overrides, err := Flat(overrides)
	if err != nil {
		return Request{}, err
	}
	r, err := New(name, overrides)
	if err != nil {
		return Request{}, err
	}
	return r, r.Check()
}

// Flat returns parameters without the object "params" into which some clients put them: its
// members stand beside the others. Null means absent in both places.
func Flat(given map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	raw, nested := given["params"]
	if !nested {
		return given, nil
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(raw, &inner) != nil {
		return nil, fmt.Errorf(`%w: "params" is %s, an object is right`, errParam, limit.Clip(string(raw)))
	}
	flat := maps.Clone(given)
	delete(flat, "params")
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		switch value, beside := string(inner[name]), string(flat[name]); {
		case beside == "" || beside == "null":
			flat[name] = inner[name]
		case value != "null" && value != beside:
			return nil, fmt.Errorf(`%w: %s is given beside "params" and in it, with different values`, errParam, limit.Clip(name))
		}
	}
	return flat, nil
}

// New returns a request for the indicator called name with some parameters
// overridden; a nil map leaves the defaults.
func New(name string, overrides map[string]json.RawMessage) (Request, error) {
	ind, lengths, err := lookup(name)
	if err != nil {
		return Request{}, err
	}
	preset, err := ind.preset(overrides)
	if err != nil {
		return Request{}, err
	}
	// The numbers in the name, as in "EMA(20)", are for the parameters that a label shows.
	named := make(map[string]json.RawMessage)
	for _, p := range ind.Params {
		if len(lengths) > 0 && !p.Quiet && (p.Kind == Int || p.Kind == Number) {
			named[p.Name], lengths = json.RawMessage(lengths[0]), lengths[1:]
		}
	}
	if len(lengths) > 0 {
		return Request{}, fmt.Errorf("%w: %q gives %s more numbers than it has", errParam, limit.Clip(name), ind.Name)
	}
	if ind.index("pattern") >= 0 {
		if pattern := strings.TrimPrefix(loose(snake(limit.Clip(name))), "cdl"); slices.Contains(patternNames(), pattern) {
			named["pattern"] = json.RawMessage(strconv.Quote(pattern))
		}
	}
	if preset != nil {
		overrides = maps.Clone(overrides)
		delete(overrides, "preset")
	}
	args, err := ind.resolve(preset, named, overrides)
	if err != nil {
		return Request{}, err
	}
	return Request{Key: strings.TrimSpace(name), Ind: ind, Args: args}, nil
}

// Check returns an error if r is most likely a mistake: an expression that it needs was not
// given, so that the example of the record would be computed; an expression has a part
// without effect (see [rules.Expr.Silent]); or the entry's own Check fails. New accepts all of them, so that requests which an earlier version accepted can
// still be computed.
func (r Request) Check() error {
	if r.Ind.Check != nil {
		if err := r.Ind.Check(r.Args); err != nil {
			return fmt.Errorf("%w: %w", errParam, err)
		}
	}
	for _, p := range r.Ind.Params {
		if p.Required && !r.Args.given[p.Name] && !r.Args.replaced(p) {
			return fmt.Errorf("%w: %s needs %q, such as {%q:%q}", errParam, r.Ind.Name, p.Name, p.Name, p.Text)
		}
		for _, e := range r.Args.exprs[p.Name] {
			if err := e.Silent(); err != nil {
				return fmt.Errorf("%w: %s of %s: %q: %w", errParam, p.Name, r.Ind.Name, limit.Clip(e.Source()), err)
			}
		}
	}
	return nil
}

// replaced reports whether what may be given in place of p was given.
func (a Args) replaced(p Param) bool { return p.Instead != "" && a.Float(p.Instead) != 0 }

// CanRank returns an error if markets cannot be ranked by the formula r: it has several
// lines, or depends on where the bars begin.
func (r Request) CanRank() error {
	list := r.Args.exprs["expr"]
	if len(list) != 1 {
		return fmt.Errorf("%w: %d expressions cannot rank: give one", errParam, len(list))
	}
	return list[0].Level()
}

// resolve returns the parameters of ind: the defaults, replaced by those of each layer in turn,
// which may use names or aliases in upper or lower case. It refuses unknown names, values of the
// wrong kind and values out of bounds, and says what would be right.
func (ind *Indicator) resolve(layers ...map[string]json.RawMessage) (Args, error) {
	a := Args{ind: ind, values: make([]float64, len(ind.Params))}
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
	for _, layer := range layers {
		if err := a.apply(layer); err != nil {
			return Args{}, err
		}
	}
	for _, p := range ind.Params {
		if a.replaced(p) && !a.given[p.Name] {
			delete(a.exprs, p.Name)
		}
	}
	// Of some pairs of parameters the first must lie below the second; a range may be one value.
	for _, pair := range [][2]string{{"oversold", "overbought"}, {"wt_oversold", "wt_overbought"}, {"lower", "upper"}, {"minimum", "maximum"}} {
		i, k := ind.index(pair[0]), ind.index(pair[1])
		if i >= 0 && k >= 0 && (a.values[i] > a.values[k] || a.values[i] == a.values[k] && pair[0] != "minimum") {
			return a, fmt.Errorf("%w: %s of %s is %s and %s is %s; the first must be the lower one", errParam,
				pair[0], ind.Name, number(a.values[i]), pair[1], number(a.values[k]))
		}
	}
	return a, nil
}

// apply gives parameters the values of a layer, in a fixed order, so that of several mistakes
// the same one is reported every time.
func (a *Args) apply(layer map[string]json.RawMessage) error {
	ind := a.ind
	under := make(map[int]string, len(layer)) // the name under which a parameter was given
	for _, name := range slices.Sorted(maps.Keys(layer)) {
		i, raw := ind.param(name), layer[name]
		switch {
		case i < 0 && slices.Contains(ind.Ignores, strings.ToLower(name)):
			continue
		case i < 0:
			return ind.unknownParam(name)
		case string(raw) == "null":
			continue // models write null for "leave it"
		}
		if other, ok := under[i]; ok && string(layer[other]) != string(raw) {
			return fmt.Errorf("%w: %s and %s are one parameter of %s and were given different values: send %s alone", errParam,
				limit.Clip(other), limit.Clip(name), ind.Name, ind.Params[i].Name)
		}
		under[i] = name
		if err := a.set(i, raw); err != nil {
			return fmt.Errorf("%w: %s of %s: %w%s", errParam, ind.Params[i].Name, ind.Name, err, ind.elsewhere(name))
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
		// A market is resolved when it is loaded. The bound keeps short what later messages repeat.
		var text string
		if err := json.Unmarshal(raw, &text); err != nil || strings.TrimSpace(text) == "" || len(text) > 40 {
			return fmt.Errorf("%s is not a symbol such as \"ETHUSDT\"", limit.Clip(string(raw)))
		}
		put(&a.texts, p.Name, strings.ToUpper(strings.TrimSpace(text)))
		return nil
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
	// Each is compared with every choice.
	if len(items) > len(p.Choices) {
		return fmt.Errorf("names %d, more than the %d there are", len(items), len(p.Choices))
	}
	if len(items) == 0 {
		return fmt.Errorf("names nothing; it is one or more of %s", strings.Join(p.Choices, ", "))
	}
	var chosen []int
	for _, item := range items {
		if a.values[i], err = p.parse(item); err != nil {
			return err
		}
		chosen = append(chosen, int(a.values[i]))
	}
	slices.Sort(chosen)
	put(&a.chosen, p.Name, slices.Compact(chosen))
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

// readExpressions reads the text of a parameter of kind Expression: one
// expression, or several between semicolons where the parameter takes several.
func (p Param) readExpressions(text string) ([]*rules.Expr, error) {
	// The bound holds for all expressions of the parameter together.
	if n := len([]rune(text)); n > rules.MaxText {
		return nil, fmt.Errorf("has %d characters, at most %d are taken", n, rules.MaxText)
	}
	parts := []string{text}
	if p.Many {
		parts = strings.Split(text, ";")
	}
	var list []*rules.Expr
	for _, part := range parts {
		e, err := rules.Parse(part, vocabulary{})
		if err == nil && p.Condition && !e.Condition() {
			err = fmt.Errorf("%s is a number: write a condition, such as %s > 0", limit.Clip(e.String()), limit.Clip(e.String()))
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", limit.Clip(strings.TrimSpace(part)), err)
		}
		list = append(list, e)
	}
	return list, nil
}

// vocabulary is the catalogue for package rules, which calls it while it parses and knows
// no indicators itself.
type vocabulary struct{}

// Interval returns the canonical name of an interval.
func (vocabulary) Interval(name string) (string, error) {
	iv, err := market.ParseInterval(name)
	return string(iv), err
}

// Symbol returns a symbol, which may be in any usual spelling, in capitals. The source of
// the chart decides which market it means.
func (vocabulary) Symbol(name string) (string, error) { return market.Written(name) }

// Time reads a moment, in UTC unless it says otherwise.
func (vocabulary) Time(text string) (int64, error) { return market.ParseTime(text, nil, false) }

// Study returns the indicator with a value for each parameter. A number without a name is
// for the next parameter that is a number, a word for the next that is a choice: macd(12,
// 26, 9), sma(20, hl2).
func (vocabulary) Study(name string, args []rules.Arg, line string) (rules.Study, error) {
	ind, err := Lookup(name)
	if err != nil {
		// A word of the language that is spelled much alike was meant, rather than an entry
		// of the catalogue that is less alike.
		if near := Nearest(name, slices.Concat(rules.Names(), allNames()), 3); slices.ContainsFunc(near, rules.Builtin) {
			return nil, fmt.Errorf("unknown name %q%s", limit.Clip(name), orList(near))
		}
		return nil, err
	}
	if err := ind.readable(); err != nil {
		return nil, err
	}
	overrides, err := ind.placed(args)
	if err != nil {
		return nil, err
	}
	r, err := New(name, overrides)
	if err != nil {
		return nil, err
	}
	if r.Args.of != nil {
		return nil, fmt.Errorf("%s of another indicator cannot stand within an expression", name)
	}
	// The line is found last: which lines there are may depend on the parameters.
	st := &study{Request: r}
	return st, st.settle(line)
}

// setSource gives parameter i, a source, what a client sent: a price, or a request.
func (a *Args) setSource(i int, raw json.RawMessage) (err error) {
	// A price comes before an indicator of the same name.
	if a.values[i], err = a.ind.Params[i].parse(raw); err == nil {
		a.of = nil
		return nil
	}
	inner, innerErr := parseSource(raw)
	// An object can only be a request, so the error is that of the request. A word may have
	// been meant as either.
	switch {
	case innerErr != nil && strings.HasPrefix(strings.TrimSpace(string(raw)), "{"):
		return innerErr
	case innerErr != nil:
		return fmt.Errorf("%w, nor an indicator", err)
	}
	a.values[i] = a.ind.Params[i].Default
	a.of = inner
	return nil
}

// maxSources bounds how deep requests may be nested.
const maxSources = 4

var errSources = fmt.Errorf("%w: more than %d indicators of each other", errParam, maxSources)

// parseSource reads a request whose line replaces the price. The key of the result is the
// label of that line.
func parseSource(raw json.RawMessage) (*Request, error) {
	// Each level of nesting reads everything inside it again. A level may have two pairs of
	// braces: its own and those of "params".
	if bytes.Count(raw, []byte("{")) > 2*maxSources {
		return nil, errSources
	}
	var members map[string]json.RawMessage
	var line string
	if json.Unmarshal(raw, &members) == nil {
		if text, ok := members["line"]; ok {
			if err := json.Unmarshal(text, &line); err != nil {
				return nil, fmt.Errorf(`%w: "line" %s is not the name of a line`, errParam, limit.Clip(string(text)))
			}
			delete(members, "line")
			raw, _ = json.Marshal(members) // an object that was read can be written
		}
	}
	r, err := parseItem(raw)
	if err != nil {
		return nil, err
	}
	if r.Ind.VisibleOnly() || r.Ind.Traits.Has(Repaints) {
		return nil, fmt.Errorf("%w: %s changes with the bars shown or after the fact: nothing can be computed of it", errParam, r.Ind.Name)
	}
	if slices.ContainsFunc(r.Ind.Params, func(p Param) bool { return p.Kind == Expression }) {
		return nil, fmt.Errorf("%w: %s cannot stand for a price: name the indicator in a formula instead", errParam, r.Ind.Name)
	}
	// Each level computes all bars again, and a client chooses the depth.
	depth := 1
	for inner := r.Args.of; inner != nil; inner = inner.Args.of {
		depth++
	}
	if depth > maxSources {
		return nil, errSources
	}
	r.Key, err = r.lineCalled(line, r.lineNames())
	return &r, err
}

// lineCalled returns the one of the labels that name means, in any case; the first one if name
// is empty.
func (r Request) lineCalled(name string, labels []string) (string, error) {
	for _, label := range labels {
		if name == "" || strings.EqualFold(label, name) {
			return label, nil
		}
	}
	if len(labels) == 0 {
		return "", fmt.Errorf("%w: %s has no lines", errParam, r.Ind.Name)
	}
	return "", fmt.Errorf("%w: %s has no line %q%s; it has %s", errParam, r.Ind.Name, limit.Clip(name), didYouMean(name, labels), strings.Join(labels, ", "))
}

// errParam reports a parameter that an indicator lacks or a value it refuses.
var errParam = errors.New("bad indicator parameter")

// param returns the index of the parameter that name means, or -1. A name from another
// program counts if ind has no parameter of that name itself.
func (ind *Indicator) param(name string) int {
	if len(name) > maxName {
		return -1
	}
	// The given spelling is tried first, then looser ones, and names of other programs last.
	key := snake(name)
	keys := append([]string{strings.ToLower(name), key, strings.ReplaceAll(key, "_", "")}, programs().Spellings[key]...)
	for _, word := range []string{"_period", "_length"} { // basePeriod is base
		if stem, ok := strings.CutSuffix(key, word); ok {
			keys = append(keys, stem)
		}
	}
	for _, key := range keys {
		for i, p := range ind.Params {
			if p.Name == key || slices.Contains(p.Aliases, key) {
				return i
			}
		}
	}
	return -1
}

// Spellings returns names that parameters have in other programs, and what each may mean here: in
// an entry the first of them that it has.
func Spellings() map[string][]string { return programs().Spellings }

// unknownParam returns the error for a name that param does not find. It names the
// parameters there are, the nearest first as a question.
func (ind *Indicator) unknownParam(name string) error {
	if len(ind.Params) == 0 {
		return fmt.Errorf("%w: %s has no parameter %q, it takes none", errParam, ind.Name, limit.Clip(name))
	}
	var names []string
	for _, p := range ind.Params {
		names = append(names, p.Name)
	}
	return fmt.Errorf("%w: %s has no parameter %q%s; it has %s%s", errParam, ind.Name, limit.Clip(name),
		didYouMean(name, names), strings.Join(names, ", "), ind.elsewhere(name))
}

// elsewhere names the entry that compares with another market if ind compares two columns
// and name is the parameter for the other market; "" otherwise.
func (ind *Indicator) elsewhere(name string) string {
	other, _ := find(ind.Name + "_versus")
	if other == nil || other.param(name) < 0 {
		return ""
	}
	return fmt.Sprintf("; another market is compared with by %q", other.Name)
}

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
		// What Clip shortens is longer than every choice.
		given := oneWord.Replace(limit.Clip(text))
		for i, c := range p.Choices {
			if strings.EqualFold(oneWord.Replace(c), given) {
				return float64(i), nil
			}
		}
		return 0, fmt.Errorf("%q is not one of %s%s", limit.Clip(text), strings.Join(p.Choices, ", "), didYouMean(text, p.Choices))
	case Date:
		return parseDate(text)
	}
	if p.Auto && strings.EqualFold(text, "auto") {
		return 0, nil
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

// oneWord removes the characters between words: "Morning Star" and "morning_star" are the
// choice "morningstar".
var oneWord = strings.NewReplacer(" ", "", "_", "", "-", "")

// parseDate reads a date or a time, in UTC unless it says otherwise, and returns it
// in unix seconds. 0 is no date: the indicator has a beginning of its own.
func parseDate(text string) (float64, error) {
	// Some programs write whole numbers with a point.
	if v, err := strconv.ParseFloat(text, 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1e14 {
		text = strconv.FormatInt(int64(v), 10)
	}
	if text == "0" {
		return 0, nil
	}
	at, err := market.ParseTime(text, nil, false)
	if err == nil && at <= 0 {
		err = fmt.Errorf("%s is before 1970", limit.Clip(text))
	}
	return float64(at), err
}

//go:embed programs.json
var programsText []byte

// programs is what is known of other programs. Presets are their defaults, by entry and
// program, where the program has the indicator. TA-Lib's are those that version 0.8.1 reports of
// itself (its abstract interface). TradingView's are the inputs that its built-in
// indicators are known to have; they could not be checked against the program.
// An empty set says that the defaults here are the same. Spellings are names of parameters in
// TradingView, TA-Lib and pandas-ta and what they may be here, the likeliest first.
var programs = sync.OnceValue(func() (known struct {
	Presets   map[string]map[string]map[string]json.RawMessage
	Spellings map[string][]string
}) {
	if err := json.Unmarshal(programsText, &known); err != nil {
		panic("indicators: programs.json: " + err.Error())
	}
	return known
})

// preset returns the defaults of the program that "preset" names, or none.
func (ind *Indicator) preset(given map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	// An indicator that has a parameter called preset keeps it to itself.
	raw, ok := given["preset"]
	if !ok || string(raw) == "null" || ind.param("preset") >= 0 {
		return nil, nil
	}
	// Names are compared without case, blanks, hyphens and underscores: "TA-Lib" is talib. An
	// unknown program is refused: with our defaults in its place the values would not be those
	// that were asked for.
	defaults, ok := programs().Presets[ind.Name][strings.ToLower(strings.Trim(oneWord.Replace(string(raw)), `"`))]
	if !ok {
		known := "none is known"
		if names := slices.Sorted(maps.Keys(programs().Presets[ind.Name])); len(names) > 0 {
			known = "it has " + strings.Join(names, ", ")
		}
		return nil, fmt.Errorf("%w: %s has no preset %s; %s", errParam, ind.Name, limit.Clip(string(raw)), known)
	}
	return defaults, nil
}
