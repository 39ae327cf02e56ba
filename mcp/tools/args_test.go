package tools

import (
	"encoding/json"
	"strings"
	"testing"
)

func parsed(t *testing.T, text string) args {
	t.Helper()
	a, err := parseArgs(json.RawMessage(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

// TestTolerance: what models send instead of what the schema asks for.
func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		name, text string
		got        func(a args) (any, error)
		want       string // as JSON
	}{
		{"number as a string", `{"n":"42"}`, func(a args) (any, error) { return a.int("n", 1, 0, 100) }, `42`},
		{"whole number with a point", `{"n":42.0}`, func(a args) (any, error) { return a.int("n", 1, 0, 100) }, `42`},
		{"null for absent", `{"n":null}`, func(a args) (any, error) { return a.int("n", 7, 0, 100) }, `7`},
		{"absent", `{}`, func(a args) (any, error) { return a.int("n", 7, 0, 100) }, `7`},
		{"empty string for absent", `{"s":""}`, func(a args) (any, error) { return a.choice("s", "def", "def", "other") }, `"def"`},
		{"any case of a word", `{"s":"OTHER"}`, func(a args) (any, error) { return a.choice("s", "def", "def", "other") }, `"other"`},
		{"number for a string", `{"s":240}`, func(a args) (any, error) { return a.text("s") }, `"240"`},
		{"blanks around a string", `{"s":" btc "}`, func(a args) (any, error) { return a.text("s") }, `"btc"`},
		{"second name", `{"ticker":"X"}`, func(a args) (any, error) { return a.text("symbol", "ticker") }, `"X"`},
		{"null first, second name given", `{"symbol":null,"ticker":"X"}`, func(a args) (any, error) { return a.text("symbol", "ticker") }, `"X"`},
		{"one string for an array", `{"l":"rsi"}`, func(a args) (any, error) { return a.texts("l") }, `["rsi"]`},
		{"commas for an array", `{"l":"rsi, macd,"}`, func(a args) (any, error) { return a.texts("l") }, `["rsi","macd"]`},
		{"an array spelled in a string", `{"l":"[\"rsi\",\"macd\"]"}`, func(a args) (any, error) { return a.texts("l") }, `["rsi","macd"]`},
		{"one object for an array", `{"l":{"name":"rsi"}}`, func(a args) (any, error) { return a.list("l") }, `[{"name":"rsi"}]`},
		{"truth as a string", `{"b":"true"}`, func(a args) (any, error) { return a.bool("b") }, `true`},
		{"truth as a number", `{"b":1}`, func(a args) (any, error) { return a.bool("b") }, `true`},
		{"no arguments at all", ``, func(a args) (any, error) { return a.bool("b") }, `false`},
		{"null arguments", `null`, func(a args) (any, error) { return a.bool("b") }, `false`},
	} {
		got, err := c.got(parsed(t, c.text))
		if err != nil {
			t.Errorf("%s: %s: %v", c.name, c.text, err)
			continue
		}
		if text := encode(got); text != c.want {
			t.Errorf("%s: %s gives %s, want %s", c.name, c.text, text, c.want)
		}
	}
}

// TestRefusals: every refusal names the argument and what would be right.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, text string
		got        func(a args) (any, error)
		want       string
	}{
		{"too large", `{"n":101}`, func(a args) (any, error) { return a.int("n", 1, 0, 100) }, "n 101 is out of bounds, 0 to 100"},
		{"too small", `{"n":"-1"}`, func(a args) (any, error) { return a.int("n", 1, 0, 100) }, "n -1 is out of bounds, 0 to 100"},
		{"a fraction", `{"n":1.5}`, func(a args) (any, error) { return a.int("n", 1, 0, 100) }, "not a whole number from 0 to 100"},
		{"NaN", `{"n":"NaN"}`, func(a args) (any, error) { return a.int("n", 1, 0, 100) }, "not a whole number"},
		{"infinity", `{"n":"1e400"}`, func(a args) (any, error) { return a.int("n", 1, 0, 100) }, "not a whole number"},
		{"an object for a number", `{"n":{}}`, func(a args) (any, error) { return a.int("n", 1, 0, 100) }, "n must be a string"},
		{"a wrong word", `{"s":"x"}`, func(a args) (any, error) { return a.choice("s", "a", "a", "b") }, `s "x" is not one of a, b`},
		{"missing", `{}`, func(a args) (any, error) { return a.required("symbol") }, "symbol is required"},
		{"a number in a list of words", `{"l":[1]}`, func(a args) (any, error) { return a.texts("l") }, "l must hold strings"},
		{"a number for a list", `{"l":1}`, func(a args) (any, error) { return a.list("l") }, "l must be an array"},
		{"a long text", `{"s":"` + strings.Repeat("x", 500) + `"}`, func(a args) (any, error) { return a.choice("s", "a", "a") }, "…"},
	} {
		got, err := c.got(parsed(t, c.text))
		if err == nil {
			t.Errorf("%s: accepted as %v", c.name, got)
		} else if !strings.Contains(err.Error(), c.want) || len(err.Error()) > 200 {
			t.Errorf("%s: %q, want it short and with %q", c.name, err, c.want)
		}
	}
	for _, text := range []string{`[]`, `"x"`, `1`, `{`} {
		if _, err := parseArgs(json.RawMessage(text)); err == nil {
			t.Errorf("arguments %s accepted", text)
		}
	}
}
