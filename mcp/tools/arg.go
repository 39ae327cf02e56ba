package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wick/exact"
	"wick/indicators"
	"wick/limit"
	"wick/market"
)

// arg declares one argument of a tool. The schema that clients see, the reader,
// the default, the aliases and the table in docs/tools.md all come from it.
//
// Like a flag of package flag it is bound to the variable that receives the
// value: a tool's request is a struct, and its method args binds every argument
// to a field. The constructors below make one for each kind of value.
type arg struct {
	name   string
	doc    string        // what it means, for language models
	schema func() string // the members of its JSON Schema beside description and default

	// def is the default, as JSON. It is announced in the schema and read like
	// a value that a client sent, so the two cannot differ. Empty means that
	// the variable keeps its zero value.
	def string

	need    string // for a required argument, what would be right; empty for an optional one
	unless  string // an argument that may be given in place of a required one
	aliases []string
	listed  bool // the schema lists the aliases too
	empty   bool // "" is passed to set, which takes it for an empty list or refuses it; else "" means absent

	// spell returns the same text for all spellings of a value, so that a value sent
	// under two names in different spellings counts as the same; nil if each value has
	// only one spelling.
	spell func(string) string

	set   func(json.RawMessage) error // reads a value that is not null into the variable
	given *bool                       // if not nil, is set to true when a client sent the argument
}

// noting returns a so that it sets given when a client sends the argument. It is for
// defaults that depend on other arguments.
func (a arg) noting(given *bool) arg {
	a.given = given
	return a
}

// keeping returns a so that it also stores the value as the client wrote it.
func (a arg) keeping(value *json.RawMessage) arg {
	set := a.set
	a.set = func(v json.RawMessage) error {
		*value = v
		return set(v)
	}
	return a
}

// required makes the argument required. If it is missing, need ends the text of the
// refusal, for example "such as BTCUSDT".
func (a arg) required(need string) arg {
	a.need, a.def = need, ""
	return a
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
func single(name string, read func(s string) error) func(json.RawMessage) error {
	return func(v json.RawMessage) error {
		s, err := readText(name, v)
		if err != nil {
			return err
		}
		return read(s)
	}
}

// text declares a string of at most most characters, without the blanks around it.
func text(p *string, name, doc string, most int) arg {
	schema := func() string { return fmt.Sprintf(`"type":"string","maxLength":%d`, most) }
	return arg{name: name, doc: doc, schema: schema, set: single(name, func(s string) error {
		if n := utf8.RuneCountInString(s); n > most {
			return fmt.Errorf("%s has %d characters, at most %d are taken", name, n, most)
		}
		*p = s
		return nil
	})}
}

// word declares one of a few words, in upper or lower case. An empty def means that there
// is no default.
func word[T ~string](p *T, name, doc string, def T, words ...T) arg {
	schema := func() string { return `"type":"string","enum":` + encode(words) }
	a := arg{name: name, doc: doc, schema: schema, set: func(v json.RawMessage) (err error) {
		*p, err = readWord(name, v, words)
		return err
	}}
	if def != "" {
		a.def = `"` + string(def) + `"` // a word of ours
	}
	return a
}

// whole declares a whole number from lo to hi. A def below lo means that there is no
// default.
func whole(p *int, name, doc string, def, lo, hi int) arg {
	schema := func() string { return fmt.Sprintf(`"type":"integer","minimum":%d,"maximum":%d`, lo, hi) }
	a := arg{name: name, doc: doc, schema: schema, set: single(name, func(s string) error {
		f, err := strconv.ParseFloat(s, 64) // 200.0 is a whole number too
		if err != nil || f != float64(int64(f)) {
			return fmt.Errorf("%s %q is not a whole number from %d to %d", name, limit.Clip(s), lo, hi)
		}
		if f < float64(lo) || f > float64(hi) {
			return fmt.Errorf("%s %s is out of bounds, %d to %d", name, limit.Clip(s), lo, hi)
		}
		*p = int(f)
		return nil
	})}
	if def >= lo {
		a.def = strconv.Itoa(def)
	}
	return a
}

// between declares a number from lo to hi.
func between(p *float64, name, doc string, def, lo, hi float64) arg {
	schema := func() string { return fmt.Sprintf(`"type":"number","minimum":%g,"maximum":%g`, lo, hi) }
	return arg{name: name, doc: doc, schema: schema, def: strconv.FormatFloat(def, 'g', -1, 64), set: single(name, func(s string) (err error) {
		if *p, err = strconv.ParseFloat(s, 64); err != nil || !(*p >= lo && *p <= hi) {
			return fmt.Errorf("%s %q is not a number from %g to %g", name, limit.Clip(s), lo, hi)
		}
		return nil
	})}
}

// boolean declares true or false; absent means false. An empty text is refused: an order
// whose dry_run is empty must not be placed.
func boolean(p *bool, name, doc string) arg {
	return arg{name: name, doc: doc, schema: members(`"type":"boolean"`), def: "false", empty: true, set: func(v json.RawMessage) error {
		w, err := readWord(name, v, []string{"true", "false", "1", "0", "yes", "no"})
		*p = w == "true" || w == "1" || w == "yes"
		return err
	}}
}

// decimal declares a number above zero. It is read digit by digit, never as a float. The
// variable stays zero when the argument is absent.
func decimal(p *exact.Decimal, name, doc string) arg {
	return arg{name: name, doc: doc, schema: members(`"type":"number","exclusiveMinimum":0`), set: single(name, func(s string) (err error) {
		if *p, err = exact.Parse([]byte(s)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if *p <= 0 {
			return fmt.Errorf("%s %s must be above 0", name, *p)
		}
		return nil
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
	return arg{name: name, doc: doc, schema: schema, empty: true, set: func(v json.RawMessage) (err error) {
		*p, err = readTexts(name, v)
		if err == nil && len(*p) > most {
			err = fmt.Errorf("%s has %d items: at most %d a call", name, len(*p), most)
		}
		return err
	}}
}

// symbol declares the symbol of a market as the client writes it; ticker is another name
// for it. The source decides which market it means: see [market.Resolve].
func symbol(p *string, doc string) arg {
	return arg{name: "symbol", doc: doc, schema: members(`"type":"string"`), aliases: []string{"ticker"}, spell: strings.ToUpper, set: func(v json.RawMessage) (err error) {
		*p, err = readText("symbol", v)
		return err
	}}
}

// everything is the word, in requests and replies, for a filter that lets everything
// through. An empty list would look as if nothing passed. As a symbol it is written in
// small letters: a market may be called ALL.
const everything = "all"

// interval declares the length of a bar, in any usual spelling; timeframe is another name
// for it. An empty def means that there is no default.
func interval(p *market.Interval, doc string, def market.Interval) arg {
	a := word(p, "interval", doc, def, market.Intervals()...).also("timeframe")
	a.spell = func(s string) string {
		if iv, err := market.ParseInterval(s); err == nil {
			return string(iv)
		}
		return s
	}
	a.set = single("interval", func(s string) (err error) {
		*p, err = market.ParseInterval(s)
		return err
	})
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
// parameters; panels and indicator are other names for it. Def is a JSON array.
func requests(p *[]indicators.Request, doc, def string) arg {
	schema := func() string {
		return fmt.Sprintf(`"type":"array","maxItems":%d,"items":{"anyOf":[{"type":"string"},`+
			`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}]}`, maxIndicators)
	}
	return arg{name: "indicators", doc: doc, schema: schema, def: def, aliases: []string{"panels", "indicator"}, empty: true, set: func(v json.RawMessage) (err error) {
		items, err := readList("indicators", v)
		if err != nil {
			return err
		}
		if len(items) > maxIndicators {
			return fmt.Errorf("%d indicators are too many: at most %d a call", len(items), maxIndicators)
		}
		if *p, err = indicators.Parse(items); err != nil {
			return err
		}
		studies := 0
		for _, r := range *p {
			studies += r.Studies()
		}
		if studies > maxStudies {
			return fmt.Errorf("%d indicators in rules and formulas are too many: at most %d a call", studies, maxStudies)
		}
		return nil
	}}
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
				properties = append(properties, encode(alias)+":{"+a.schema()+`,"description":`+encode("Same as "+a.name+".")+"}")
			}
		}
		if a.need != "" && a.unless == "" { // with unless, another argument may be given in its place
			required = append(required, a.name)
		}
	}
	schema := `{"type":"object","properties":{` + strings.Join(properties, ",") + "}"
	if len(required) > 0 {
		schema += `,"required":` + encode(required)
	}
	return json.RawMessage(schema + "}")
}

// read sets the variables of the declared arguments from raw, a JSON object. It returns
// the names in raw that no argument has, in alphabetical order, but not those whose value
// is null. The error names everything that is wrong, a line each, so that a model can
// correct all of it in the next call.
func read(declared []arg, raw json.RawMessage) (unknown []string, err error) {
	given, err := readObject(raw)
	if err != nil {
		return nil, err
	}
	for _, a := range declared {
		// What the client sent comes first, then the default. Only without both is a required
		// argument missing.
		v, wrong := a.find(given)
		switch {
		case wrong != nil:
		case v != nil:
			wrong = a.set(v)
			if a.given != nil {
				*a.given = true
			}
		case a.def != "":
			wrong = a.set(json.RawMessage(a.def))
		case a.need != "" && given[a.unless] == nil:
			wrong = fmt.Errorf("%s is required, %s", a.name, a.need)
			if a.unless != "" {
				wrong = fmt.Errorf("%w; %s may be given in its place", wrong, a.unless)
			}
		}
		err = errors.Join(err, wrong)
	}
	// Names that belong to no argument.
	for name := range given {
		if !slices.ContainsFunc(declared, func(a arg) bool { return slices.Contains(a.names(), name) }) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown, err
}

// find returns the value that was given under the argument's name or an alias, or nil.
// It is an error if two of its names have different values: nobody can know which one was
// meant.
func (a arg) find(given map[string]json.RawMessage) (json.RawMessage, error) {
	var found json.RawMessage
	for _, name := range a.names() {
		v, ok := given[name]
		// Models send "" for what they leave out.
		if !ok || string(v) == `""` && !a.empty {
			continue
		}
		if found != nil && a.plain(v) != a.plain(found) {
			return nil, fmt.Errorf("%s and %s are one argument and were given different values: send %s alone", a.name, name, a.name)
		}
		if found == nil {
			found = v
		}
	}
	return found, nil
}

// plain returns a text that is the same for two values exactly if the argument reads them
// as the same: what spell makes of a single value, and any other value as it is written.
func (a arg) plain(v json.RawMessage) string {
	s, err := readText(a.name, v)
	switch {
	case err != nil:
		return string(v)
	case a.spell != nil:
		return a.spell(s)
	}
	return s
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
