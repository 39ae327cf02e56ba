package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// doubled are messages that a reader on the way could take for something else than
// what the standard decoder makes of them.
var doubled = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1},"arguments":{"x":2}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1},"argumentſ":{"x":2}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","NAME":"b"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\u0061me":"b"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`,
	`{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"PARAMS":{"name":"a"}}`,
	`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":[{"b":1},{"b":2,"B":3}]}}}`,
	`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"id":3,"method":"ping"}]`,
	`{"jsonrpc":"2.0","id":1,"method":"ping","":1 , "" : 2}`,
	`{"a":{"arguments":{"x":1}},"b":1,"B":2}`,
}

// sound are messages in which no name is there twice, or only where the tool looks
// for itself.
var sound = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"x":2,"y":{"z":[1,{"q":1,"q":2}]}},"_meta":{"name":1}}}`,
	`{"jsonrpc":"2.0","id":"id\":","method":"ping","params":{"name":"method","uri":"\"id\":1"}}`,
	`[{"id":1},{"id":2}]`, `{"a":{"id":1},"id":2}`, `{"arguments":[{"a":1},{"a":1,"A":2}],"a":1}`, `{"arguments":"a","a":"arguments"}`,
	`"a"`, `1`, `[]`, `{}`, `[[{}]]`,
}

// TestTwice: a message that can be read in two ways is refused as a whole, and nothing
// of it runs; others are not.
func TestTwice(t *testing.T) {
	for _, text := range doubled {
		if twice([]byte(text)) == nil {
			t.Errorf("%s passes", text)
		}
	}
	for _, text := range sound {
		if name := twice([]byte(text)); name != nil {
			t.Errorf("%s has %q twice", text, name)
		}
	}
	for _, text := range doubled[:10] {
		_, _, refused := decode([]byte(text))
		if refused == nil || refused.Code != CodeInvalidRequest || !strings.Contains(refused.Message, "twice") {
			t.Errorf("%s: %v", text, refused)
		}
	}
	// More names than are compared one by one.
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"n%d":0,`, i)
	}
	if name := twice([]byte("{" + many.String() + `"other":1}`)); name != nil {
		t.Errorf("%q is there once", name)
	}
	for _, again := range []string{"N3", "N99"} {
		if name := twice([]byte("{" + many.String() + `"` + again + `":1}`)); string(name) != again {
			t.Errorf("%q is found, want %q", name, again)
		}
	}
}

// FuzzTwice compares with a walk over the standard decoder's tokens.
func FuzzTwice(f *testing.F) {
	for _, text := range append(doubled, sound...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		if got, want := twice(text) != nil, plainTwice(json.NewDecoder(bytes.NewReader(text))); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	})
}

// plainTwice reports whether an object of the next value has a name twice, but for what
// lies within arguments.
func plainTwice(d *json.Decoder) bool {
	open, _ := d.Token()
	if open != json.Delim('{') && open != json.Delim('[') {
		return false
	}
	var names []string
	found := false
	for d.More() {
		name := ""
		if open == json.Delim('{') {
			key, _ := d.Token()
			name = key.(string)
			for _, other := range names {
				found = found || strings.EqualFold(name, other)
			}
			names = append(names, name)
		}
		if strings.EqualFold(name, "arguments") {
			var skipped json.RawMessage
			d.Decode(&skipped)
		} else if plainTwice(d) {
			found = true
		}
	}
	d.Token()
	return found
}
