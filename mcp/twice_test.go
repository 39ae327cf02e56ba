package mcp

import (
	"strings"
	"testing"

	"wick/internal/strictjson"
)

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
	for _, text := range sound {
		if err := strictjson.Check([]byte(text), "arguments", 0); err != nil && strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: %v", text, err)
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
			msgs, _, refused := parse([]byte(sent))
			if refused != nil || msgs[0].refused == nil || msgs[0].refused.Code != codeInvalidRequest || !strings.Contains(msgs[0].refused.Message, "twice") || string(msgs[0].ID) != id {
				t.Errorf("%s: %v, %+v; want it refused with the id %s", sent, refused, msgs, id)
			}
			if len(msgs) == 2 && msgs[1].refused != nil {
				t.Errorf("%s: the other is refused, too: %v", sent, msgs[1].refused)
			}
		}
	}
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
		_, _, refused := parse([]byte(sent))
		if got := refused == nil; got != (want == "") || refused != nil && (refused.Code != codeParse || !strings.Contains(refused.Message, want)) {
			t.Errorf("%.20s of %d bytes: %v, want %q", sent, len(sent), refused, want)
		}
	}
}

// TestWrongTypes: a member of a wrong type in params does not hide a method of a wrong type,
// whichever comes first, and makes no response of a message. By itself it is left to the method.
func TestWrongTypes(t *testing.T) {
	const noMethod = "not a JSON-RPC message: method must be a string"
	for sent, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":5,"params":{"name":5}}`:                 noMethod,
		`{"jsonrpc":"2.0","id":1,"params":{"name":5},"method":5}`:                 noMethod,
		`{"jsonrpc":"2.0","id":1,"params":[],"method":5}`:                         noMethod,
		`{"jsonrpc":"2.0","id":1,"result":1,"params":{"name":5},"method":5}`:      noMethod,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`:      "",
		`{"jsonrpc":"2.0","id":1,"params":{"ref":{"type":[]}},"method":"x"}`:      "",
		`{"jsonrpc":"2.0","id":1,"params":[],"method":"tools/call"}`:              "params must be an object",
		`{"jsonrpc":"2.0","id":1,"params":"x","method":"tools/call","result":{}}`: "params must be an object",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`:            "",
	} {
		all, _, refused := parse([]byte(sent))
		if refused != nil {
			t.Errorf("%s: %v", sent, refused)
			continue
		}
		got := ""
		for _, why := range []*Error{all[0].refused, all[0].wrong} {
			if why != nil && got == "" {
				got = why.Message
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", sent, got, want)
		}
	}
}
