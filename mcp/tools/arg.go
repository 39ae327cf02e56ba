package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wick/indicators"
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/internal/strictjson"
	"wick/market"
	"wick/mcp"
)

// arg declares one argument of a tool. The schema that clients see, the reader,
// the default, the aliases and the table in docs/ all come from it.
//
// Like a flag of package flag it is bound to the variable that receives the
// value: a tool's request is a struct, and its method args binds every argument
// to a field. The constructors below make one for each kind of value. Rules
// between arguments are in the request's method check.
type arg struct {
	name   string
	doc    string        // what it means, for language models
	schema func() string // the members of its JSON Schema beside description and default

	// def is the default, as JSON. It is announced in the schema and read like
	// a value that a client sent, so the two cannot differ. Empty means that
	// the variable keeps its zero value.
	def string

	need    string // for a required argument, what would be right; empty for an optional one
	aliases []string
	listed  bool // the schema lists the aliases too, of texts
	empty   bool // "" is passed to set, which takes it for an empty list or refuses it; else "" means absent

	set func(json.RawMessage) error // reads a value that is not null; after an error the variable is as it was
}

// also adds further names under which the argument is read.
func (a arg) also(names ...string) arg {
	a.aliases = append(names, a.aliases...)
	return a
}

// names returns all names under which the argument is read, its own first.
func (a arg) names() []string { return append([]string{a.name}, a.aliases...) }

// members returns a function that returns s, the members of a schema. Schemas are
// functions because args runs for every call of a tool, and the schema is needed only
// once, at the start.
func members(s string) func() string { return func() string { return s } }

// single returns the set function of an argument that is a single value. It calls read
// with the value as readText returns it.
func single[T any](p *T, name string, read func(s string) (T, error)) func(json.RawMessage) error {
	return func(v json.RawMessage) error {
		s, err := readText(name, v)
		if err != nil {
			return err
		}
		value, err := read(s)
		if err == nil {
			*p = value
		}
		return err
	}
}

// text declares a string of at most most characters, without the blanks around it.
func text(p *string, name, doc string, most int) arg {
	schema := func() string { return fmt.Sprintf(`"type":"string","maxLength":%d`, most) }
	return arg{name: name, doc: doc, schema: schema, set: single(p, name, func(s string) (string, error) {
		if n := utf8.RuneCountInString(s); n > most {
			return "", fmt.Errorf("%s has %d characters, at most %d are taken", name, n, most)
		}
		return s, nil
	})}
}

// word declares one of a few words, in upper or lower case. An empty def means that there
// is no default.
func word[T ~string](p *T, name, doc string, def T, words ...T) arg {
	schema := func() string { return `"type":"string","enum":` + encode(words) }
	a := arg{name: name, doc: doc, schema: schema, set: single(p, name, func(s string) (T, error) { return oneOf(name, s, words) })}
	if def != "" {
		a.def = strconv.Quote(string(def))
	}
	return a
}

// choice is word for a number that counts words, which begin with the default.
func choice[T ~uint8](p *T, name, doc string, words []string) arg {
	a := word(new(string), name, doc, words[0], words...)
	a.set = single(p, name, func(s string) (T, error) {
		w, err := oneOf(name, s, words)
		return T(slices.Index(words, w)), err
	})
	return a
}

// oneOf returns the one of words that s is, in upper or lower case.
func oneOf[T ~string](name, s string, words []T) (T, error) {
	var known []string
	for _, w := range words {
		if strings.EqualFold(s, string(w)) {
			return w, nil
		}
		known = append(known, string(w))
	}
	return "", fmt.Errorf("%s %q is not one of %s", name, limit.Clip(s), strings.Join(known, ", "))
}

// whole declares a whole number from lo to hi. A def below lo means that there is no
// default.
func whole(p *int, name, doc string, def, lo, hi int) arg {
	schema := func() string { return fmt.Sprintf(`"type":"integer","minimum":%d,"maximum":%d`, lo, hi) }
	a := arg{name: name, doc: doc, schema: schema, set: single(p, name, func(s string) (int, error) {
		f, err := strconv.ParseFloat(s, 64) // 200.0 is a whole number too
		if err != nil || f != float64(int64(f)) {
			return 0, fmt.Errorf("%s %q is not a whole number from %d to %d", name, limit.Clip(s), lo, hi)
		}
		if f < float64(lo) || f > float64(hi) {
			return 0, fmt.Errorf("%s %s is out of bounds, %d to %d", name, limit.Clip(s), lo, hi)
		}
		return int(f), nil
	})}
	if def >= lo {
		a.def = strconv.Itoa(def)
	}
	return a
}

// between declares a number from lo to hi.
func between(p *float64, name, doc string, def, lo, hi float64) arg {
	schema := func() string { return fmt.Sprintf(`"type":"number","minimum":%g,"maximum":%g`, lo, hi) }
	return arg{name: name, doc: doc, schema: schema, def: strconv.FormatFloat(def, 'g', -1, 64), set: single(p, name, func(s string) (float64, error) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || !(f >= lo && f <= hi) {
			return 0, fmt.Errorf("%s %q is not a number from %g to %g", name, limit.Clip(s), lo, hi)
		}
		return f, nil
	})}
}

// boolean declares true or false; absent means false. An empty text is refused: an order
// whose dry_run is empty must not be placed.
func boolean(p *bool, name, doc string) arg {
	return arg{name: name, doc: doc, schema: members(`"type":"boolean"`), def: "false", empty: true, set: single(p, name, func(s string) (bool, error) {
		w, err := oneOf(name, s, []string{"true", "false", "1", "0", "yes", "no"})
		return w == "true" || w == "1" || w == "yes", err
	})}
}

// decimal declares a number above zero. It is read digit by digit, never as a float. The
// variable stays zero when the argument is absent.
func decimal(p *exact.Decimal, name, doc string) arg {
	return arg{name: name, doc: doc, schema: members(`"type":"number","exclusiveMinimum":0`), set: single(p, name, func(s string) (exact.Decimal, error) {
		d, err := exact.Parse([]byte(s))
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s: %w", name, err)
		case d <= 0:
			return 0, fmt.Errorf("%s %s must be above 0", name, d)
		}
		return d, nil
	})}
}

// words declares a list of at most most strings. The schema says that each is one of
// enum, unless enum is empty; set does not check that.
func words(p *[]string, name, doc string, most int, enum ...string) arg {
	schema := func() string {
		items := `"type":"string"`
		if len(enum) > 0 {
			items += `,"enum":` + encode(enum)
		}
		return fmt.Sprintf(`"type":"array","maxItems":%d,"items":{%s}`, most, items)
	}
	return arg{name: name, doc: doc, schema: schema, empty: true, set: items(name, most, func(items []json.RawMessage) error {
		var texts []string
		for _, item := range items {
			if item[0] != '"' {
				return fmt.Errorf("%s must hold strings, not %s", name, limit.Clip(string(item)))
			}
			if s, _ := readText(name, item); s != "" {
				texts = append(texts, s)
			}
		}
		*p = texts
		return nil
	})}
}

// items returns the set function of a list of at most most items. It calls read with them.
func items(name string, most int, read func([]json.RawMessage) error) func(json.RawMessage) error {
	return func(v json.RawMessage) error {
		list, err := readList(name, v)
		if err == nil && len(list) > most {
			err = fmt.Errorf("%s has %d items: at most %d a call", name, len(list), most)
		}
		if err != nil {
			return err
		}
		return read(list)
	}
}

// symbol declares the symbol of a market as the client writes it; ticker is another name
// for it. The source decides which market it means: see [market.Resolve].
func symbol(p *string, doc string) arg {
	return arg{name: "symbol", doc: doc, schema: members(`"type":"string"`), aliases: []string{"ticker"}, set: single(p, "symbol", func(s string) (string, error) { return s, nil })}
}

// everything is the word, in requests and replies, for a filter that lets everything
// through. An empty list would look as if nothing passed. As a symbol it is written in
// small letters: a market may be called ALL.
const everything = "all"

// interval declares the length of a bar, in any usual spelling; timeframe is another name
// for it. An empty def means that there is no default.
func interval(p *market.Interval, doc string, def market.Interval) arg {
	a := word(p, "interval", doc, def, market.Intervals()...).also("timeframe")
	a.set = single(p, "interval", market.ParseInterval)
	return a
}

// What a call may ask for: so many indicators, and so many more in the expressions of its
// rules, formulas and backtests together. The slowest takes about 20 ms on the bars of one
// market.
const (
	maxIndicators = 16
	maxStudies    = 64
)

// requests declares a list of indicators, each a name or an object with a name and
// parameters; panels and indicator are other names for it. Def is a JSON array; without it
// at least one indicator is required.
func requests(p *[]indicators.Request, doc, def string) arg {
	schema := func() string {
		return fmt.Sprintf(`"type":"array","maxItems":%d,"items":{"anyOf":[{"type":"string"},`+
			`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}]}`, maxIndicators)
	}
	need := ""
	if def == "" {
		need = `an array of names such as ["rsi","macd"]; call list_indicators for the names`
	}
	return arg{name: "indicators", doc: doc, schema: schema, def: def, need: need, aliases: []string{"panels", "indicator"}, empty: true, set: items("indicators", maxIndicators, func(items []json.RawMessage) error {
		if len(items) == 0 && need != "" {
			return fmt.Errorf("indicators is required, %s", need)
		}
		parsed, err := indicators.Parse(items)
		if err != nil {
			return err
		}
		studies := 0
		for _, r := range parsed {
			studies += r.Studies()
		}
		if studies > maxStudies {
			return fmt.Errorf("%d indicators in rules and formulas are too many: at most %d a call", studies, maxStudies)
		}
		*p = parsed
		return nil
	})}
}

// schemaOf returns the JSON Schema of a tool's arguments. It stays within what
// all model vendors accept: an object at the top, no combinators there, no
// arrays of types, enums of strings.
func schemaOf(declared []arg) json.RawMessage {
	var properties, required []string
	for _, a := range declared {
		property := encode(a.name) + ":{" + a.schema() + `,"description":` + encode(a.doc)
		if a.def != "" {
			property += `,"default":` + a.def
		}
		properties = append(properties, property+"}")
		if a.listed {
			for _, alias := range a.aliases {
				properties = append(properties, encode(alias)+`:{"type":"string","description":`+encode("Same as "+a.name+".")+"}")
			}
		}
		if a.need != "" {
			required = append(required, a.name)
		}
	}
	schema := `{"type":"object","properties":{` + strings.Join(properties, ",") + "}"
	if len(required) > 0 {
		schema += `,"required":` + encode(required)
	}
	return json.RawMessage(schema + "}")
}

// sent holds the values that a client sent, as it wrote them, by the name of their argument.
type sent map[string]json.RawMessage

// read sets the variables of the declared arguments: to the default, and then to what is in
// raw, a JSON object. It returns what was sent, and the names in raw that no argument has,
// in alphabetical order, but not those whose value is null. The error names everything that
// is wrong, a line each, so that a model can correct all of it in the next call.
func read(declared []arg, raw json.RawMessage) (values sent, unknown []string, err error) {
	given, err := readObject(raw)
	if err != nil {
		return nil, nil, err
	}
	values = make(sent)
	for _, a := range declared {
		v, wrong := a.take(given)
		if v != nil {
			values[a.name] = v // also if it is refused: it is not missing
		}
		switch {
		case wrong != nil:
		case v != nil:
			wrong = a.set(v)
		case a.need != "":
			wrong = fmt.Errorf("%s is required, %s", a.name, a.need)
		}
		if a.def != "" && (v == nil || wrong != nil) { // what is checked together must not blame an argument that was refused for its zero value
			wrong = errors.Join(wrong, a.set(json.RawMessage(a.def)))
		}
		err = errors.Join(err, wrong)
	}
	return values, slices.Sorted(maps.Keys(given)), err
}

// take removes all names of the argument from given and returns its value, or nil. It is an
// error if two of its names have different values: nobody can know which one was meant.
func (a arg) take(given map[string]json.RawMessage) (value json.RawMessage, err error) {
	for _, name := range a.names() {
		v, ok := given[name]
		delete(given, name)
		switch {
		case !ok || string(v) == `""` && !a.empty: // models send "" for what they leave out
		case value == nil:
			value = v
		case !bytes.Equal(v, value):
			err = fmt.Errorf("%s and %s are one argument and were given different values: send %s alone", a.name, name, a.name)
		}
	}
	return value, err
}

// ignored is an argument that a tool does not know, as its reply shows it.
type ignored struct {
	Name    string `json:"name"`
	Nearest string `json:"nearest,omitempty"` // the declared name that is spelled most alike, if one is near
}

// maxUnknown is how many unknown arguments a reply names.
const maxUnknown = 10

// unread returns the unknown names as replies show them, each with the nearest declared
// name.
func unread(declared []arg, unknown []string) (out []ignored) {
	var known []string
	for _, a := range declared {
		known = append(known, a.names()...)
	}
	for _, name := range unknown[:min(len(unknown), maxUnknown)] {
		i := ignored{Name: limit.Clip(name)}
		if near := indicators.Nearest(name, known, 1); len(near) > 0 {
			i.Nearest = near[0]
			if a := declared[slices.IndexFunc(declared, func(a arg) bool { return slices.Contains(a.names(), near[0]) })]; !a.listed {
				i.Nearest = a.name // the client has not seen the alias
			}
		}
		out = append(out, i)
	}
	return out
}

// sentence returns a text for a refusal or a remark that names the arguments that a tool
// does not know, and those that it takes.
func sentence(tool string, declared []arg, unread []ignored) string {
	var names, takes []string
	for _, i := range unread {
		name := strconv.Quote(i.Name)
		if i.Nearest != "" {
			name += " (did you mean " + strconv.Quote(i.Nearest) + "?)"
		}
		names = append(names, name)
	}
	for _, a := range declared {
		takes = append(takes, a.name)
	}
	if len(takes) == 0 {
		takes = []string{"no arguments"}
	}
	return fmt.Sprintf("%s does not know %s; it takes %s", tool, strings.Join(names, ", "), strings.Join(takes, ", "))
}

// The readers below accept what models often send: a number may be a string, null means
// absent, and one string stands for an array. Each takes the name of the argument for its
// errors.

// maxArguments bounds the names of a call and of an object inside it. No tool has half as
// many, and each that a tool does not know is compared with all that it knows.
const maxArguments = 64

// readObject returns the members of an object that are not null. An empty text or null
// counts as an empty object.
func readObject(raw json.RawMessage) (map[string]json.RawMessage, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] != '{':
		return nil, errors.New("the arguments are not a JSON object: send {} or an object with named arguments")
	}
	if err := once(raw); err != nil {
		return nil, err
	}
	members := make(map[string]json.RawMessage)
	for name, value := range strictjson.Each(raw) {
		if string(value) != "null" {
			members[string(name)] = value
		}
	}
	return members, nil
}

// once returns an error if an object in raw, which must be valid JSON, has the same name
// twice, since an order must not depend on which of the two counts, or more than
// maxArguments names.
func once(raw json.RawMessage) error {
	switch e := strictjson.Check(raw, "", maxArguments); {
	case e == nil:
		return nil
	case e.Kind == strictjson.Many:
		return fmt.Errorf("an object has more than %d names: fewer are read", maxArguments)
	default:
		return fmt.Errorf("%q is given twice in one object: send it once, nobody can know which one was meant", limit.Clip(e.Name))
	}
}

// spelled returns v or, if v is a string, the text in it: models put the JSON of objects
// and arrays into strings.
func spelled(name string, v json.RawMessage) (json.RawMessage, error) {
	if v[0] != '"' {
		return v, nil
	}
	s, err := readText(name, v)
	if err == nil && json.Valid([]byte(s)) {
		err = once(json.RawMessage(s))
	}
	return json.RawMessage(s), err
}

// readText returns a string without the blanks around it. A number, true or false is
// returned as it is written.
func readText(name string, v json.RawMessage) (string, error) {
	switch v[0] {
	case '"':
		var s string
		_ = json.Unmarshal(v, &s) // v is a JSON string, and can be decoded
		return strings.TrimSpace(s), nil
	case '{', '[':
		return "", fmt.Errorf("%s must be a single value, not %s", name, limit.Clip(string(v)))
	}
	return string(v), nil
}

// readList returns the items of an array. A string may contain the JSON of an array or
// object, or items separated by commas, but not by those within parentheses, as in
// macd(12, 26, 9). An object counts as an array of one item.
func readList(name string, v json.RawMessage) (items []json.RawMessage, err error) {
	text, err := spelled(name, v)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(text, []byte("{")) && json.Valid(text):
		return []json.RawMessage{text}, nil
	case v[0] == '"' && !bytes.HasPrefix(text, []byte("[")):
		from, open := 0, 0
		for i, c := range string(text) + "," {
			switch {
			case c == '(':
				open++
			case c == ')':
				open = max(0, open-1)
			case c == ',' && (open == 0 || i == len(text)):
				if part := strings.TrimSpace(string(text[from:i])); part != "" {
					items = append(items, json.RawMessage(encode(part)))
				}
				from = i + 1
			}
		}
		return items, nil
	}
	if err := json.Unmarshal(text, &items); err != nil {
		return nil, fmt.Errorf("%s must be an array, not %s", name, limit.Clip(string(text)))
	}
	return items, nil
}

// encode returns v as compact JSON. Its type is ours, and can always be encoded.
func encode(v any) string { return string(mcp.Encode(v)) }
