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

// message has the names that the tests read: as a call it skips the arguments.
var (
	message = Names{"id": nil, "method": nil, "params": {"name": nil, "arguments": nil, "answers": {"": {"action": nil}}}}
	call    = Names{"id": nil, "method": nil, "params": {"name": nil, "arguments": Skip, "answers": {"": {"action": nil}}}}
)

// TestCheck: what can be read in two ways is refused, at any depth, and names what it is.
func TestCheck(t *testing.T) {
	many := `{"n0":1`
	for i := range 99 {
		many += fmt.Sprintf(`,"n%d":1`, i+1)
	}
	for _, c := range []struct {
		text  string
		names Names
		most  int
		want  string
	}{
		{`{"a":1,"a":2}`, nil, 0, "a is there twice: nobody can know which one was meant"},
		{`{"a":1,"\u0061":2}`, nil, 0, "a is there twice: nobody can know which one was meant"},
		{`{"":1 , "" : 2}`, nil, 0, " is there twice: nobody can know which one was meant"},
		{`[1,{"x":[{"b":1},{"b":2,"b":3}]}]`, nil, 0, "b is there twice: nobody can know which one was meant"},
		{`{"params":{"arguments":{"x":1},"arguments":{"x":2}}}`, call, 0, "arguments is there twice: nobody can know which one was meant"},
		{`{"params":{"arguments":{"x":1,"x":2}}}`, message, 0, "x is there twice: nobody can know which one was meant"},
		{`{"params":{"arguments":{"x":1,"x":{"y":[1,{"z":1,"z":2}]}},"name":1}}`, call, 0, ""},
		{`{"params":{"arguments":[{"x":1,"x":2}],"name":1,"NAME":2}}`, call, 0, `"NAME" is there where "name" would be right: names are case-sensitive`},
		{`{"params":{"arguments":"x","x":{"y":1,"y":2}}}`, call, 0, "y is there twice: nobody can know which one was meant"},
		{`{"arguments":{"x":1,"x":2}}`, call, 0, "x is there twice: nobody can know which one was meant"},
		{`{"Method":1}`, message, 0, `"Method" is there where "method" would be right: names are case-sensitive`},
		{`{"paramſ":{}}`, message, 0, `"paramſ" is there where "params" would be right: names are case-sensitive`},
		{`{"params":{"answers":{"Any Name":{"Action":1}}}}`, message, 0, `"Action" is there where "action" would be right: names are case-sensitive`},
		{`{"Method":1,"x":{"a":1,"a":2}}`, message, 0, "a is there twice: nobody can know which one was meant"},
		{`{"x":{"Method":1},"y":[{"Params":1}],"a":1,"A":2}`, message, 0, ""},
		{`[{"id":1},{"id":2}]`, nil, 0, ""}, {`{"a":{"id":1},"id":"id\":"}`, nil, 0, ""}, {`"a"`, nil, 0, ""}, {`1`, nil, 0, ""}, {`[[{}]]`, nil, 0, ""},
		{many + `}`, nil, 100, ""}, {many + `}`, nil, 99, "an object has too many names"}, {`[{"x":` + many + `}}]`, nil, 99, "an object has too many names"},
		{many + `,"N3":1}`, nil, 0, ""}, {many + `,"n\u0033":1}`, nil, 0, "n3 is there twice: nobody can know which one was meant"}, {many + `,"n99":1}`, nil, 0, "n99 is there twice: nobody can know which one was meant"},
	} {
		got := ""
		if err := Check([]byte(c.text), c.names, c.most); err != nil {
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
		`{"s":{"n":""},"a":"x"}`: Type,
	} {
		var v struct {
			A int `json:"a"`
			S struct {
				N int `json:"n"`
			} `json:"s"`
		}
		e := Unmarshal([]byte(text), &v, func() Names { return NamesOf(reflect.TypeOf(v)) })
		if (e != nil) != (want != 0) || e != nil && e.Kind != want {
			t.Errorf("%.40q: %v, want kind %d", text, e, want)
		}
		if strings.Contains(text, `"s"`) && e.Name != "s.n" {
			t.Errorf("%s: the first of a wrong type is %q", text, e.Name)
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
		Text    string                   `json:"text"`
		Raw     json.RawMessage          `json:"raw"`
		In      inner                    `json:"in"`
		Pointer *string                  `json:"pointer"`
		Lenient Lenient[map[string]bool] `json:"lenient"`
		List    []string                 `json:"list"`
	}
	for _, text := range []string{
		`{"text":"a\u0062\"","raw":[1, {"x":"}"} ],"in":{"name":"n","raw":null},"pointer":"p","lenient":{"a":true},"list":["a",null]}`,
		` { "te\u0078t" : "x" , "raw" : "\\" , "in" : null , "pointer" : null , "lenient" : 5 , "list" : {} } `, `{"text":null,"raw":-1.5e3}`, `{"text":1,"in":[]}`, `[]`, `null`, `{}`,
		`{"lenient":null,"raw":{"a":[{"b":"]"}]},"text":"\ud800"}`,
	} {
		f.Add([]byte(text))
	}
	names := NamesOf(reflect.TypeFor[outer]())
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want outer
		e := Unmarshal(text, &got, func() Names { return names })
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

// TestMembers: names are exact, others are ignored whatever their values are, and a name
// that is there twice is refused.
func TestMembers(t *testing.T) {
	var name string
	into := map[string]any{"name": &name}
	for text, want := range map[string]string{`{"name":"a","other":{"x":[1]},"NAME":2}`: "a", `{"Name":"b"}`: "", `{"name":null}`: ""} {
		name = ""
		if err := Members([]byte(text), into); err != nil || name != want {
			t.Errorf("%s: %q, %v, want %q", text, name, err, want)
		}
	}
	for _, text := range []string{`[]`, `null`, `"name"`, `{"name":1}`, `{"name":"a"`, `{"name":"a"}{}`, `{"name":"a","name":"a"}`, `{"x":1,"x":2}`, "{\"name\":\"\xff\"}"} {
		if err := Members([]byte(text), into); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// TestNamesOf: the names of a type are those of its tags, also inside maps and values that
// may have a wrong type.
func TestNamesOf(t *testing.T) {
	type inner struct {
		Action string `json:"action"`
	}
	type outer struct {
		Plain   string                    `json:"plain,omitempty"`
		Answers Lenient[map[string]inner] `json:"answers"`
		hidden  bool
	}
	want := Names{"plain": nil, "answers": {"": {"action": nil}}}
	if got := NamesOf(reflect.TypeFor[outer]()); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	var v outer
	if err := json.Unmarshal([]byte(`{"answers":5,"plain":"x"}`), &v); err != nil || !v.Answers.Wrong || v.Plain != "x" || v.hidden {
		t.Errorf("%+v, %v", v, err)
	}
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
		for _, names := range []Names{nil, call} {
			want, found := tokenWalk{json.NewDecoder(bytes.NewReader(text)), names != nil, 0, false}.twice()
			e := Check(text, names, 0)
			if twice := e != nil && e.Kind == Twice; twice != found || twice && e.Name != want {
				t.Errorf("%q: %v, want %q, %t", text, e, want, found)
			}
		}
		var read struct {
			ID     json.RawMessage `json:"id"`
			Method json.RawMessage `json:"method"`
		}
		names := NamesOf(reflect.TypeOf(read))
		if Unmarshal(text, &read, func() Names { return names }) == nil {
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
	call  bool // the arguments of its params are passed over
	depth int  // how many objects and arrays are open

	inParams bool // the next value is the params of a message
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
		if w.call && w.depth == 2 && w.inParams && name == "arguments" {
			var skipped json.RawMessage
			w.d.Decode(&skipped)
		} else if name, found := (tokenWalk{w.d, w.call, w.depth, name == "params" && w.depth == 1}).twice(); found {
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
