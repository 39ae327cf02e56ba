package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestCheck: what can be read in two ways is refused, at any depth, and names what it is.
func TestCheck(t *testing.T) {
	many := `{"n0":1`
	for i := range 99 {
		many += fmt.Sprintf(`,"n%d":1`, i+1)
	}
	for _, c := range []struct {
		text, skip string
		most       int
		want       string
	}{
		{`{"a":1,"a":2}`, "", 0, "a is there twice: nobody can know which one was meant"},
		{`{"a":1,"\u0061":2}`, "", 0, "a is there twice: nobody can know which one was meant"},
		{`{"":1 , "" : 2}`, "", 0, " is there twice: nobody can know which one was meant"},
		{`[1,{"x":[{"b":1},{"b":2,"b":3}]}]`, "", 0, "b is there twice: nobody can know which one was meant"},
		{`{"params":{"arguments":{"x":1},"arguments":{"x":2}}}`, "arguments", 0, "arguments is there twice: nobody can know which one was meant"},
		{`{"params":{"arguments":{"x":1,"x":2}}}`, "", 0, "x is there twice: nobody can know which one was meant"},
		{`{"params":{"arguments":{"x":1,"x":{"y":[1,{"z":1,"z":2}]}},"name":1}}`, "arguments", 0, ""},
		{`{"params":{"arguments":"x","x":{"y":1,"y":2}}}`, "arguments", 0, "y is there twice: nobody can know which one was meant"},
		{`{"arguments":{"x":1,"x":2}}`, "arguments", 0, "x is there twice: nobody can know which one was meant"},
		{`{"Method":1,"x":{"a":1,"a":2}}`, "", 0, "a is there twice: nobody can know which one was meant"},
		{`{"x":{"Method":1},"y":[{"Params":1}],"a":1,"A":2}`, "", 0, ""},
		{`[{"id":1},{"id":2}]`, "", 0, ""}, {`{"a":{"id":1},"id":"id\":"}`, "", 0, ""}, {`"a"`, "", 0, ""}, {`1`, "", 0, ""}, {`[[{}]]`, "", 0, ""},
		{many + `}`, "", 100, ""}, {many + `}`, "", 99, "an object has too many names"}, {`[{"x":` + many + `}}]`, "", 99, "an object has too many names"},
		{many + `,"N3":1}`, "", 0, ""}, {many + `,"n\u0033":1}`, "", 0, "n3 is there twice: nobody can know which one was meant"}, {many + `,"n99":1}`, "", 0, "n99 is there twice: nobody can know which one was meant"},
	} {
		got := ""
		if err := Check([]byte(c.text), c.skip, c.most); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%.80s: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestUnmarshal: what is no JSON, no UTF-8, too deep or of a wrong type is told apart.
func TestUnmarshal(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, want := range map[string]Kind{
		`{"a":1}`: 0, `{"a":"x"}`: Type, `{"a":`: Syntax, ``: Syntax, `{} {}`: Syntax, "{\"a\":\"\xff\"}": Encoding, `{"a":1,"a":1}`: Twice, `{"A":1}`: Case,
		`{"b":` + deep(9_999) + `}`: 0, `{"b":` + deep(10_000) + `}`: Deep, strings.Repeat("[", 9_000): Syntax, ` {"a":1} `: 0, `[]`: Type, `null`: 0,
		`{"s":{"n":""},"a":"x"}`: Type, `{"s":{"n":"","N":1}}`: Case, `{"a":"x","ſ":{}}`: Case, `{"A":1,"x":{"b":1,"b":2}}`: Twice, `{"x":{"A":1}}`: 0,
		`{"m":{"Any Name":{"n":1}}}`: 0, `{"m":{"Any Name":{"N":1}}}`: Case, `{"m":5,"a":"x"}`: Type, `{"m":{"n":{"n":""}}}`: 0, `{"m":[]}`: 0,
	} {
		var v struct {
			A int `json:"a"`
			S struct {
				N int `json:"n"`
			} `json:"s"`
			M Lenient[map[string]struct {
				N int `json:"n"`
			}] `json:"m"`
		}
		e := Unmarshal([]byte(text), &v, "")
		if (e != nil) != (want != 0) || e != nil && e.Kind != want {
			t.Errorf("%.40q: %v, want kind %d", text, e, want)
		}
		if want == Type && strings.Contains(text, `"s"`) && e.Name != "s.n" {
			t.Errorf("%s: the first of a wrong type is %q", text, e.Name)
		}
		if want != Case && v.M.Wrong != (text == `{"m":5,"a":"x"}` || text == `{"m":{"n":{"n":""}}}` || text == `{"m":[]}`) {
			t.Errorf("%s: of a wrong type %t", text, v.M.Wrong)
		}
	}
}

// FuzzUnmarshal compares what is read with what encoding/json reads: that takes names in any
// case, so only texts are compared which have none of another case. A wrong type leaves out
// that value alone.
func FuzzUnmarshal(f *testing.F) {
	type inner struct {
		Name string          `json:"name"`
		Raw  json.RawMessage `json:"raw"`
	}
	type outer struct {
		Text    string           `json:"text"`
		Raw     json.RawMessage  `json:"raw"`
		In      inner            `json:"in"`
		Pointer *string          `json:"pointer"`
		Map     map[string]inner `json:"map"`
		List    []string         `json:"list"`
	}
	for _, text := range []string{
		`{"text":"a\u0062\"","raw":[1, {"x":"}"} ],"in":{"name":"n","raw":null},"pointer":"p","map":{"a":{"name":"n"},"":{}},"list":["a",null]}`,
		` { "te\u0078t" : "x" , "raw" : "\\" , "in" : null , "pointer" : null , "map" : null , "list" : {} } `, `{"text":null,"raw":-1.5e3}`, `{"text":1,"in":[]}`, `[]`, `null`, `{}`,
		`{"map":{"a":null},"raw":{"a":[{"b":"]"}]},"text":"\ud800"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want outer
		e := Unmarshal(text, &got, "")
		err := json.Unmarshal(text, &want)
		if e != nil && e.Kind != Type {
			return // see TestUnmarshal and FuzzCheck
		}
		if (e != nil) != (err != nil) {
			t.Errorf("%q: %v, and encoding/json says %v", text, e, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %+v, by encoding/json as %+v", text, got, want)
		}
	})
}

// FuzzCheck compares the search with a walk over the tokens of the standard decoder: both
// must find the same name, that of the object which ends first. Of a text that passes only exact names are read.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		`{"id":1,"method":"a","params":{"name":"a","arguments":{"x":1,"x":2},"arguments":{}}}`, `{"a":[{"b":1},{"b":2,"b":3}]}`, `{"":1 , "" : 2}`,
		`{"params":{"arguments":[{"a":1,"a":2}]},"b":"\"b\":"}`, `{"ID":1,"Params":{"NAME":1}}`, `[[{}]]`, `"a"`,
	} {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"a":1,"a":{"x":0,"x":0}}`)) // the inner object ends first
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		for _, skip := range []string{"", "arguments"} {
			want, found := tokenWalk{json.NewDecoder(bytes.NewReader(text)), skip, 0}.twice()
			e := Check(text, skip, 0)
			if twice := e != nil && e.Kind == Twice; twice != found || twice && e.Name != want {
				t.Errorf("%q: %v, want %q, %t", text, e, want, found)
			}
		}
		var read struct {
			ID     json.RawMessage `json:"id"`
			Method json.RawMessage `json:"method"`
		}
		if Unmarshal(text, &read, "") == nil {
			var exact map[string]json.RawMessage
			if json.Unmarshal(text, &exact) == nil && (string(read.ID) != string(exact["id"]) || string(read.Method) != string(exact["method"])) {
				t.Errorf("%q is read as %q %q", text, read.ID, read.Method)
			}
		}
	})
}

// tokenWalk is a walk over the tokens of a text.
type tokenWalk struct {
	d     *json.Decoder
	skip  string // members of this name at the second level are passed over
	depth int    // how many objects and arrays are open
}

// twice returns the name that an object of the next value has twice: of the object that ends
// first, and there the first in order.
func (w tokenWalk) twice() (string, bool) {
	open, _ := w.d.Token()
	if open != json.Delim('{') && open != json.Delim('[') {
		return "", false
	}
	w.depth++
	var names []string
	for w.d.More() {
		name := ""
		if open == json.Delim('{') {
			key, _ := w.d.Token()
			name = key.(string)
			names = append(names, name)
		}
		if w.skip != "" && w.depth == 2 && name == w.skip {
			var skipped json.RawMessage
			w.d.Decode(&skipped)
		} else if name, found := (tokenWalk{w.d, w.skip, w.depth}).twice(); found {
			return name, true
		}
	}
	w.d.Token()
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i-1] == names[i] {
			return names[i], true
		}
	}
	return "", false
}
