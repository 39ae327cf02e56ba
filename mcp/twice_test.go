package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// twice returns the name that misnamed finds twice in a message.
func twice(text []byte, call bool) []byte {
	name, _, _ := misnamed(text, messageShape, call)
	return name
}

// doubled are messages that a proxy on the way could read in another way than the standard
// decoder does.
var doubled = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1},"arguments":{"x":2}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\u0061me":"b"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{},"inputResponses":{"approve":{"action":"accept","content":{"approve":false,"approve":true}}}}}`,
	`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":[{"b":1},{"b":2,"b":3}]}}}`,
	`{"jsonrpc":"2.0","id":"a","method":"ping","params":{"a":1,"a":2}}`,
	`{"jsonrpc":"2.0","id":1,"method":"ping","":1 , "" : 2}`,
	`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"a","arguments":{"x":"1","x":"2"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{},"argument":{},"context":{"arguments":{"x":"1","x":"2"}}}}`,
	`{"a":{"arguments":{"x":1}},"b":1,"b":2}`,
}

// sound are messages in which no name is there twice, except inside the arguments of a
// call, which the tool checks itself.
var sound = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"x":2,"y":{"z":[1,{"q":1,"q":2}]}},"_meta":{"name":1}}}`,
	`{"jsonrpc":"2.0","id":"id\":","method":"ping","params":{"name":"method","uri":"\"id\":1"}}`,
	`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"example.com/a":1,"example.com/A":2}},"x":1,"X":2}`,
	`[{"id":1},{"id":2}]`, `{"a":{"id":1},"id":2}`, `{"arguments":[{"a":1},{"a":1,"A":2}],"a":1}`, `{"arguments":"a","a":"arguments"}`,
	`"a"`, `1`, `[]`, `{}`, `[[{}]]`,
}

// TestTwice: a message that can be read in two ways is refused. The refusal has its id,
// unless the id is what is there twice. Other messages are not refused, even in the same
// batch.
func TestTwice(t *testing.T) {
	for _, text := range doubled {
		if twice([]byte(text), strings.Contains(text, "tools/call")) == nil {
			t.Errorf("%s passes", text)
		}
	}
	for _, text := range sound {
		if name := twice([]byte(text), true); name != nil {
			t.Errorf("%s has %q twice", text, name)
		}
	}
	for _, text := range doubled[:len(doubled)-1] {
		id := "1"
		switch {
		case strings.Contains(text, `"id":2`):
			id = ""
		case strings.Contains(text, `"id":"a"`):
			id = `"a"`
		}
		batch := `[` + text + `,{"jsonrpc":"2.0","id":5,"method":"ping"}]`
		for _, sent := range []string{text, batch} {
			msgs, _, refused := decode([]byte(sent))
			if refused != nil || msgs[0].refused == nil || msgs[0].refused.Code != codeInvalidRequest || !strings.Contains(msgs[0].refused.Message, "twice") || string(msgs[0].ID) != id {
				t.Errorf("%s: %v, %+v; want it refused with the id %s", sent, refused, msgs, id)
			}
			if len(msgs) == 2 && msgs[1].refused != nil {
				t.Errorf("%s: the other is refused, too: %v", sent, msgs[1].refused)
			}
		}
	}
	// More names than are compared one by one.
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"n%d":0,`, i)
	}
	if name := twice([]byte("{"+many.String()+`"other":1}`), true); name != nil {
		t.Errorf("%q is there once", name)
	}
	for _, again := range []string{"n3", "n99"} {
		if name := twice([]byte("{"+many.String()+`"`+again+`":1}`), true); string(name) != again {
			t.Errorf("%q is found, want %q", name, again)
		}
	}
	// Another case is another name.
	for again, want := range map[string]bool{"N3": false, "n3": true, `n\u0033`: true, "n99": true} {
		if name, found := Twice([]byte("{" + many.String() + `"` + again + `":1}`)); found != want {
			t.Errorf("%s: %q is found: %t, want %t", again, name, found, want)
		}
	}
}

// FuzzTwice compares both searches, in a message and in its arguments, with a walk over the
// tokens of the standard decoder. Both must find the same name first.
func FuzzTwice(f *testing.F) {
	for _, text := range append(doubled, sound...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		walk := tokenWalk{text, json.NewDecoder(bytes.NewReader(text)), true, 0}
		want, found := walk.twice()
		if got := twice(text, true); (got != nil) != found || string(plain(got)) != want {
			t.Errorf("message %q: %q, want %q, %t", text, got, want, found)
		}
		walk = tokenWalk{text, json.NewDecoder(bytes.NewReader(text)), false, 0}
		want, found = walk.twice()
		if got, ok := Twice(text); ok != found || got != want {
			t.Errorf("%q: %q, %t, want %q, %t", text, got, ok, want, found)
		}
	})
}

// tokenWalk is a walk over text, of which d is a decoder.
type tokenWalk struct {
	text    []byte
	d       *json.Decoder
	message bool // the arguments of its params are passed over
	depth   int  // how many objects and arrays are open
}

// twice returns a name that an object of the next value has twice.
func (w tokenWalk) twice() (string, bool) {
	open, _ := w.d.Token()
	if open != json.Delim('{') && open != json.Delim('[') {
		return "", false
	}
	w.depth++
	var names []string
	for w.d.More() {
		written := ""
		if open == json.Delim('{') {
			start := w.d.InputOffset()
			key, _ := w.d.Token()
			written = strings.TrimLeft(string(w.text[start:w.d.InputOffset()]), ", \t\r\n")
			name := key.(string)
			for _, other := range names {
				if name == other {
					return name, true
				}
			}
			names = append(names, name)
		}
		if w.message && w.depth == 2 && written == `"arguments"` {
			var skipped json.RawMessage
			w.d.Decode(&skipped)
		} else if name, found := w.twice(); found {
			return name, true
		}
	}
	w.d.Token()
	return "", false
}

// TestNestedTooDeeply: a message that is nested deeper than encoding/json reads is refused
// for that, alone and in a batch: it is valid JSON. One that ends too early is not.
func TestNestedTooDeeply(t *testing.T) {
	nested := func(depth int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}}`
	}
	for sent, want := range map[string]string{
		nested(9_998):                         "",
		nested(9_999):                         "nested too deeply",
		"[" + nested(9_998) + "]":             "nested too deeply",
		strings.Repeat("[", 9_000):            "not valid JSON",
		strings.TrimRight(nested(9_000), "}"): "not valid JSON",
	} {
		_, _, refused := decode([]byte(sent))
		if got := refused == nil; got != (want == "") || refused != nil && (refused.Code != codeParse || !strings.Contains(refused.Message, want)) {
			t.Errorf("%.20s of %d bytes: %v, want %q", sent, len(sent), refused, want)
		}
	}
}
