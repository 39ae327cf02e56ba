package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"wick/indicators"
	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// sample has an argument of every kind.
type sample struct {
	S  string
	W  string
	N  int
	D  exact.Decimal
	B  bool
	L  []string
	Y  string
	I  market.Interval
	R  []indicators.Request
	no int
}

func (r *sample) args() []arg {
	return []arg{
		text(&r.S, "s", "A text.", 20).also("s2"), word(&r.W, "w", "A word.", "def", "def", "other"), whole(&r.N, "n", "A number.", 7, 0, 100),
		decimal(&r.D, "d", "Money."), boolean(&r.B, "b", "A switch."), words(&r.L, "l", "A list.", 3), symbol(&r.Y, "A symbol."),
		interval(&r.I, "A length.", "4h"), requests(&r.R, "Indicators.", `["rsi"]`), whole(&r.no, "none", "No default.", -1, 0, 9),
	}
}

// TestTolerance: what models send instead of what the schema asks for.
func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		name, arguments, field string
		want                   string // as JSON
	}{
		{"number as a string", `{"n":"42"}`, "N", `42`},
		{"whole number with a point", `{"n":42.0}`, "N", `42`},
		{"null for absent", `{"n":null}`, "N", `7`},
		{"absent", `{}`, "N", `7`},
		{"empty string for absent", `{"w":""}`, "W", `"def"`},
		{"any case of a word", `{"w":"OTHER"}`, "W", `"other"`},
		{"number for a string", `{"s":240}`, "S", `"240"`},
		{"blanks around a string", `{"s":" btc "}`, "S", `"btc"`},
		{"alias", `{"s2":"X"}`, "S", `"X"`},
		{"null first, alias given", `{"s":null,"s2":"X"}`, "S", `"X"`},
		{"both names with one value", `{"s":"X","s2":"X"}`, "S", `"X"`},
		{"one symbol under two names", `{"symbol":"BTCUSDT","ticker":"BTCUSDT"}`, "Y", `"BTCUSDT"`},
		{"characters of two bytes", `{"s":"éééééééééééééééééééé"}`, "S", `"éééééééééééééééééééé"`},
		{"one string for an array", `{"l":"rsi"}`, "L", `["rsi"]`},
		{"commas for an array", `{"l":"rsi, macd,"}`, "L", `["rsi","macd"]`},
		{"commas in parentheses", `{"l":"MACD(12, 26, 9), rsi,f(g(1,2),3),"}`, "L", `["MACD(12, 26, 9)","rsi","f(g(1,2),3)"]`},
		{"a parenthesis too many or too few", `{"l":"a),b,c(1,é"}`, "L", `["a)","b","c(1,é"]`},
		{"an array spelled in a string", `{"l":"[\"rsi\",\"macd\"]"}`, "L", `["rsi","macd"]`},
		{"truth as a string", `{"b":"true"}`, "B", `true`},
		{"truth as a number", `{"b":1}`, "B", `true`},
		{"an exact number as a string", `{"d":"0.10"}`, "D", `0.1`},
		{"a ticker for a symbol", `{"ticker":"btcusdt"}`, "Y", `"btcusdt"`},
		{"another spelling of an interval", `{"timeframe":"240"}`, "I", `"4h"`},
		{"no arguments at all", ``, "B", `false`},
		{"null arguments", `null`, "B", `false`},
	} {
		var r sample
		if _, unknown, err := read(r.args(), json.RawMessage(c.arguments)); err != nil || len(unknown) > 0 {
			t.Errorf("%s: %s: unknown %q, %v", c.name, c.arguments, unknown, err)
			continue
		}
		if got := encode(reflect.ValueOf(r).FieldByName(c.field).Interface()); got != c.want {
			t.Errorf("%s: %s gives %s, want %s", c.name, c.arguments, got, c.want)
		}
	}
	var r sample
	for _, arguments := range []string{`{"panels":{"name":"rsi","length":21}}`, `{"panels":"{\"name\":\"rsi\",\"length\":21}"}`} {
		if _, _, err := read(r.args(), json.RawMessage(arguments)); err != nil || len(r.R) != 1 || r.R[0].Label() != "RSI(21)" {
			t.Errorf("one object for an array of indicators gives %v, %v", r.R, err)
		}
	}
}

// TestRefusals: every refusal names the argument and what would be right.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, arguments, want string }{
		{"a fraction", `{"n":1.5}`, "not a whole number from 0 to 100"},
		{"NaN", `{"n":"NaN"}`, "not a whole number"},
		{"infinity", `{"n":"1e400"}`, "not a whole number"},
		{"an object for a number", `{"n":{}}`, "n must be a single value"},
		{"a wrong word", `{"w":"x"}`, `w "x" is not one of def, other`},
		{"a number in a list of words", `{"l":[1]}`, "l must hold strings"},
		{"a number for a list", `{"l":1}`, "l must be an array"},
		{"a long text", `{"w":"` + strings.Repeat("x", 500) + `"}`, "…"},
		{"two names, two values", `{"s":"X","s2":"Y"}`, "s and s2 are one argument"},
		{"two symbols", `{"symbol":"BTCUSDT","ticker":"ETHUSDT"}`, "symbol and ticker are one argument"},
		{"two intervals", `{"interval":"1m","timeframe":"1M"}`, "interval and timeframe are one argument"},
		{"two spellings of one symbol", `{"symbol":"BTCUSDT","ticker":"btcusdt"}`, "symbol and ticker are one argument"},
		{"an interval and none", `{"interval":"4h","timeframe":"x"}`, "interval and timeframe are one argument"},
		{"a word for money", `{"d":"five"}`, "it is no plain number"},
		{"truth for money", `{"d":true}`, "it is no plain number"},
		{"two mistakes", `{"n":101,"w":"x"}`, "w \"x\" is not one of def, other\nn 101 is out of bounds"},
	} {
		var r sample
		_, _, err := read(r.args(), json.RawMessage(c.arguments))
		if err == nil {
			t.Errorf("%s: accepted as %v", c.name, r)
		} else if !strings.Contains(err.Error(), c.want) || len(err.Error()) > 200 {
			t.Errorf("%s: %q, want it short and with %q", c.name, err, c.want)
		}
	}
	for _, text := range []string{`[]`, `"x"`, `1`} {
		if _, _, err := read(nil, json.RawMessage(text)); err == nil {
			t.Errorf("arguments %s accepted", text)
		}
	}
}

// TestRefusalsInPlainWords sends every argument of every tool, and what objects hold, in
// every JSON type: no refusal has the words of encoding/json, which name types of Go.
func TestRefusalsInPlainWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDesk(t, t.TempDir())
		defer d.stop()
		values := []string{`5`, `1e400`, `true`, `"x"`, `""`, `"{"`, `"[5]"`, `[]`, `[null]`, `[5]`, `["x"]`, `[[1]]`, `[{}]`, `{}`, `{"x":1}`}
		for _, member := range []string{
			`[{"type":%s}]`, `[{"type":"level","price":%s}]`, `[{"type":"text","price":1,"time":%s,"text":%[1]s,"color":%[1]s}]`, // marks
			`[{"name":%s}]`, `[{"name":"rsi","length":%s}]`, `[{"name":"rsi","source":%s,"params":%[1]s}]`, `[{"name":"rule","when":%s}]`, `[{"name":"ratio","versus":%s}]`, // indicators
			`{"price_above":%s}`, `{"indicator_signal":%s}`, `{"indicator_signal":{"indicator":%s,"signal":%[1]s}}`, `{"rule":%s}`, // conditions
			`{"indicator_signal":{"indicator":"rsi","signal":"crosses_above","level":%s,"line":%[1]s}}`,
			`{"stop_price":%s,"price":%[1]s}`, // oco
		} {
			for _, v := range values[:15] {
				values = append(values, fmt.Sprintf(member, v))
			}
		}
		// With the rest as it should be, so that the value gets as far as it can.
		rest := map[string]map[string]string{
			"generate_chart": {"format": `"summary"`, "bars": "5"}, "get_indicators": {"symbol": `"BTCUSDT"`, "indicators": `"rsi"`},
			"set_alert":   {"symbol": `"BTCUSDT"`, "condition": `{"price_above":1}`},
			"place_order": {"symbol": `"BTCUSDT"`, "side": `"buy"`, "type": `"limit"`, "price": "1", "quantity": "1", "dry_run": "true"},
		}
		for _, tool := range d.tools {
			var schema struct{ Properties map[string]json.RawMessage }
			if err := json.Unmarshal(tool.Schema, &schema); err != nil {
				t.Fatal(err)
			}
			for name := range schema.Properties {
				for _, v := range values {
					arguments := map[string]json.RawMessage{name: json.RawMessage(v)}
					for other, usual := range rest[tool.Name] {
						if other != name {
							arguments[other] = json.RawMessage(usual)
						}
					}
					_, err := d.call(trader, tool.Name, encode(arguments))
					if err != nil && (strings.Contains(err.Error(), "json:") || strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "unmarshal")) {
						t.Errorf("%s %s %s: %v", tool.Name, name, v, err)
					}
				}
			}
		}
	})
}

// TestDefaults: a schema's default is what a call without the argument gets, a
// required argument has none, and a call without it is refused by its name.
func TestDefaults(t *testing.T) {
	for _, tool := range newHandlers(Deps{Source: &fixed{}}).all() {
		var schema struct {
			Properties map[string]struct{ Default json.RawMessage }
			Required   []string
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		for _, a := range tool.declared {
			announced := string(schema.Properties[a.name].Default)
			if announced != a.def {
				t.Errorf("%s %s: the schema says %s, the reader takes %s", tool.Name, a.name, announced, a.def)
			}
			if a.def != "" {
				if err := a.set(json.RawMessage(a.def)); err != nil {
					t.Errorf("%s %s: the default %s is refused: %v", tool.Name, a.name, a.def, err)
				}
			}
		}
		for _, name := range schema.Required {
			if d := schema.Properties[name].Default; d != nil {
				t.Errorf("%s: %s is required and has the default %s", tool.Name, name, d)
			}
			if _, _, err := read(tool.declared, nil); err == nil || !strings.Contains(err.Error(), name+" is required, ") {
				t.Errorf("%s without %s: %v", tool.Name, name, err)
			}
		}
	}
}

// TestGivenTwice: a name that is there twice is refused at any depth. Colons within strings
// or after escaped quotes do not make a text a name.
func TestGivenTwice(t *testing.T) {
	for raw, twice := range map[string]bool{
		`{}`: false, `{"a":1,"b":2}`: false, `{"a":{"b":1},"b":2}`: false, `{"a":[{"b":1},{"b":2}]}`: false,
		`{"a":":","b":"\":\"","c\\":3}`: false, `{"a:b":1,"a":2}`: false,
		`{"a":1,"a":1}`: true, `{"a":1,"\u0061":2}`: true, `{"a":{"b":1,"b":2}}`: true, `{"a":[[{"b":1,"c":{},"b":2}]]}`: true,
		`{"a":null,"a":null}`: true, `{"x\"":1,"x\"":2}`: true, `{"":1,"":2}`: true,
	} {
		if _, err := readObject(json.RawMessage(raw)); (err != nil) != twice {
			t.Errorf("%s: %v, want a refusal: %v", raw, err, twice)
		}
	}
}

// TestGivenTwiceInString: a name that is there twice is refused also in JSON inside a string.
func TestGivenTwiceInString(t *testing.T) {
	for raw, twice := range map[string]bool{
		`"{\"name\":\"rsi\",\"length\":7,\"length\":9}"`: true, `"[{\"name\":\"rsi\",\"length\":7,\"length\":9}]"`: true,
		`"[{\"name\":\"rsi\",\"length\":7}]"`: false, `"rsi, macd"`: false, `"{broken"`: false, `["rsi"]`: false, `{"name":"rsi"}`: false,
	} {
		if _, err := readList("indicators", json.RawMessage(raw)); (err != nil && strings.Contains(err.Error(), "twice")) != twice {
			t.Errorf("%s: %v, want a refusal: %t", raw, err, twice)
		}
	}
	for raw, wrong := range map[string]bool{
		`"{\"price_above\":20,\"price_above\":30}"`: true, `"{\"price_above\":30}"`: false, `{"price_above":30}`: false,
		`{"indicator_signal":{"indicator":"rsi","signal":"rsi_oversold","length":7,"params":{"length":9}}}`: false, // the engine's to refuse
	} {
		var c book.Condition
		if err := condition(&c).set(json.RawMessage(raw)); (err != nil) != wrong {
			t.Errorf("%s: %v, want a refusal: %t", raw, err, wrong)
		}
	}
	var stop book.OCO
	if err := oco(&stop).set(json.RawMessage(`"{\"stop_price\":95}"`)); err != nil || stop.StopPrice != 95*exact.One {
		t.Errorf("oco in a string: %v, %v", stop, err)
	}
}
